// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/causality/CausalGraph.h"
#include "model/causality/Subject.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

/// A change of a program.
struct Change {
    Subject subject = Subject::Kernel;
    /// Text or pattern ('*' matches any text), family, kind, line or rank; empty for all.
    std::string name;
    double factor = 1;       ///< Factor for its time.
    bool isRemoved = false;  ///< Also without its waits.
    bool operator==(const Change&) const = default;

    /// Returns "kernel:gemm=0.5", "no loader".
    std::string text() const;
};

/// Parses "kernel:gemm=0.5" or "nccl=0".
Result<Change> parseScale(std::string_view text);
/// Parses "loader" or "line:train.py:212" as a removal.
Result<Change> parseRemoval(std::string_view text);

/// Returns the scale of each group of a graph after all changes, and the number of groups that each selects.
struct Scales {
    std::vector<Scale> ofGroup;
    std::vector<size_t> selected;                     ///< By change.
    std::vector<std::set<std::string_view>> kernels;  ///< By change: short names of its kernels, in `Trace::strings`.
};
Scales scalesOf(const Trace& trace, const CausalGraph& graph, std::span<const Change> changes);

}  // namespace lanescope::causality
