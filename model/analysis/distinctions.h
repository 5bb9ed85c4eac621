// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope {
struct WorkerSteps;
}

namespace lanescope::analysis {

struct RunContext;
struct RunSummary;

enum class DistinctionOf : uint8_t {
    Pattern,   ///< Only the steps of the worker's pattern (`patternOf`) have it.
    Outliers,  ///< Only the worker's outliers have it.
    Rank,      ///< Only this worker has it, of all workers.
};
/// For files and programs: "pattern", "outliers", "rank".
std::string_view identifier(DistinctionOf of);

enum class DistinctionKind : uint8_t {
    Range,
    Line,
    Thread,
    Process,  ///< Processes that start there.
    Loader,   ///< Data loading processes that start there.
};
/// For files and programs: "range", "line", "thread", "process", "loader".
std::string_view identifier(DistinctionKind kind);

/// Something that only longer steps of the program, but for a few others, or only one rank have: the likely cause.
struct Distinction {
    DistinctionOf of = DistinctionOf::Pattern;
    DistinctionKind kind = DistinctionKind::Range;
    std::string name;    ///< "tokenizer hiccup", "train.py:88 in load", "thread reader", "python3.12".
    int64_t steps = 0;   ///< Steps that have it.
    int64_t ns = 0;      ///< Its mean time in one of them; 0 for processes, which go on.
    int64_t count = 0;   ///< Processes that start in all of these steps.
    int64_t others = 0;  ///< Other steps that have it; few.
    bool operator==(const Distinction&) const = default;
};

/// Sets `WorkerSummary::distinctions` of otherwise complete workers: per kind of steps the processes that start, or
/// else the range, line or thread with most time. `steps` are those of the workers. O(ranges + calls + samples).
void findDistinctions(const RunContext& run, RunSummary& summary, const std::vector<const WorkerSteps*>& steps);

}  // namespace lanescope::analysis
