// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/causality/CausalGraph.h"
#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope::causality {

/// Kind of thing that a change is about.
enum class Subject : uint8_t {
    Kernel,   ///< Kernels whose name contains a text.
    Family,   ///< Kernels of a family, by its identifier.
    Kernels,  ///< All kernels but those of collectives.
    Nccl,     ///< Collectives: the time in which they move data.
    Copy,     ///< Copies, of one kind ("HtoD") if named.
    Memset,
    Launch,      ///< Calls that launch kernels, graphs, copies and memsets.
    Sync,        ///< Calls that wait for the GPU.
    Allocation,  ///< Calls that allocate or free memory.
    Host,        ///< Host code between calls.
    Loader,      ///< Getting the next batch.
    Line,        ///< Calls and work of a Python line: "train.py:212".
    Rank,        ///< Host code and calls of a rank.
};
inline constexpr size_t subjectCount = 13;
/// For files and programs: "kernel".
std::string_view identifier(Subject subject);

/// A change of a program.
struct Change {
    Subject subject = Subject::Kernel;
    std::string name;        ///< Text, family, kind, line or rank; empty for all.
    double factor = 1;       ///< Of its time.
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
    std::vector<size_t> selected;  ///< By change.
};
Scales scalesOf(const Trace& trace, const CausalGraph& graph, std::span<const Change> changes);

}  // namespace lanescope::causality
