// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope::explain {

/// What can be found wrong with one run.
enum class Rule : uint8_t {
    LateRank,
    InputData,
    HostSynchronization,
    LaunchBound,
    Allocations,
    PageableCopies,
    ExposedCopies,
    NvlinkUnused,
    ExposedCommunication,
    OddSteps,
    Memsets,
    QueuedIdle,
    StepPattern,
    UnbalancedRanks,
    SynchronousCopies,
    SynchronousMemsets,
    HostWaits,
    GpuThrottled,
    IdleBetweenSteps,
    GpuIdle,
    HostWork,
    LongKernel,
    DataMovement,
    DoublePrecision,
};
inline constexpr size_t ruleCount = static_cast<size_t>(Rule::DoublePrecision) + 1;

/// A rule as people and programs know it.
struct RuleFacts {
    std::string_view identifier;  ///< "launch_bound".
    std::string_view finds;       ///< When it holds, in one sentence.
    std::string_view advice;      ///< What to try first.
    /// A query of the trace file that shows what the finding is about; empty if none does, or if it
    /// asks for names that each run has of its own (`queryOf`).
    std::string_view sql;
};
const RuleFacts& factsOf(Rule rule);
/// Nothing for a name that no rule has.
std::optional<Rule> ruleCalled(std::string_view identifier);

// From which share of the mean step on a rule speaks. Less is not worth a change, and two runs of
// one program differ by as much.
inline constexpr double leastShare = 0.03;
/// Of communication, which good programs have too: some of it cannot be hidden.
inline constexpr double leastCommunicationShare = 0.10;
/// Of idle time between pieces of work that were launched in time: switching takes its time.
inline constexpr double leastQueuedShare = 0.10;
/// Of time in which work comes late, in the mean and in the median step, without what calls that
/// are longer than usual show to be the recorder's (`LaunchTimes`). It makes what stands between
/// them longer, too: a program that does little else took 17 % longer with ours on a machine at
/// rest, which is 15 % of the recorded step (`tests/bench/overhead`), so less may not be there
/// without it.
inline constexpr double leastLaunchShare = 0.15;
/// Of idle time that no other rule tells of, which launches are most of in good programs.
inline constexpr double leastIdleShare = leastLaunchShare;
/// Of its highest clock, by which a GPU must run slower while a reason holds it down. NVML gives
/// whole steps of 15 MHz, and a GPU at work never stays at one of them.
inline constexpr double leastClockLoss = 0.03;
/// Of copies within the GPU and kernels that only move values, which good programs have, too: one
/// that computes in two types spent up to 22 % of its kernels' time on conversions.
inline constexpr double leastMovementShare = 1.0 / 3;
/// Of products in double precision beside others, of which a few may be meant.
inline constexpr double leastDoubleShare = 0.10;
/// Of what the steps of a pattern take beyond the others, spread over all steps: as much as it has
/// to take to be one (`patternOf`).
inline constexpr double leastPatternShare = 0.02;

}  // namespace lanescope::explain
