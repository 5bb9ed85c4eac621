// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/compare/RunSummary.h"
#include "model/export/comparison/RunHistory.h"
#include "model/format/Result.h"
#include "model/requests/makeComparison.h"

namespace lanescope {

/// A run among the earlier ones of its folder.
struct HistoryOfRun {
    report::RunHistory history;
    std::vector<compare::RunSummary> level;  ///< Those that it is put against, oldest first.
    std::vector<std::string> sentences;      ///< What there is to say of them.
};

/// The earlier runs of a folder to put a run against: the last `most` that are like it and were
/// begun before it, from the latest change of their level on if there are three since. Fails with a
/// sentence if there are fewer than three.
Result<HistoryOfRun> historyOf(const compare::RunSummary& run, const std::string& folder,
                               size_t most, const CompareSelection& selection,
                               const TraceOpener& open);

}  // namespace lanescope
