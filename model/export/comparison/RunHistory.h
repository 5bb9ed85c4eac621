// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/compare/changePoint.h"

namespace lanescope::report {

/// One run of a program in the order in which they were made.
struct HistoricRun {
    std::string title;
    int64_t startUtcNs = 0;  ///< Since 1970; 0 if unknown.
    double medianNs = 0;     ///< Its median step.
};

/// Earlier runs of the program that a report is about.
struct RunHistory {
    std::string folder;
    std::vector<HistoricRun> runs;  ///< Oldest first; the last is the one asked about.
    int64_t others = 0;             ///< Traces of the folder that are of something else.
    size_t compared = 0;            ///< So many of the earlier ones it is put against.
    /// The latest change of their level; `first` is an index into `runs`.
    std::optional<compare::ChangePoint> change;
};

}  // namespace lanescope::report
