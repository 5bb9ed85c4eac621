// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lanescope::explain {

/// Problems that can be found in one run.
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

/// Texts of a rule.
struct RuleFacts {
    std::string_view identifier;  ///< "launch_bound".
    std::string_view finds;       ///< Its condition, in one sentence.
    std::string_view advice;      ///< First advice.
    /// A query of the trace file that shows the finding; empty if none does, or if it needs names
    /// of the run (`queryOf`).
    std::string_view sql;
};
const RuleFacts& factsOf(Rule rule);
/// Returns nullopt for a name that no rule has.
std::optional<Rule> ruleCalled(std::string_view identifier);

// Minimum share of the mean step for a finding. Less is not worth a change, and two runs of one
// program differ by as much.
inline constexpr double minShare = 0.03;
/// Communication, which good programs have too, since some of it cannot be overlapped.
inline constexpr double minCommunicationShare = 0.10;
/// Idle time between pieces of work launched in time: switching takes its time.
inline constexpr double minQueuedShare = 0.10;
/// Time in which work comes late, in the mean and in the median step, without probable profiler
/// overhead in calls that are longer than normal (`LaunchTimes`). The profiler also lengthens the
/// time between calls: a program that does little else took 17 % longer on a machine at rest, which
/// is 15 % of the recorded step (`tests/bench/overhead`). Less may thus not exist without the
/// profiler.
inline constexpr double minLaunchShare = 0.15;
/// Idle time without another rule, which in good programs is mostly launches.
inline constexpr double minIdleShare = minLaunchShare;
/// Minimum relative slowdown against a GPU's highest clock while it is throttled. NVML reports
/// whole steps of 15 MHz, and a GPU at work never stays at one of them.
inline constexpr double minClockLoss = 0.03;
/// Copies within the GPU and kernels that only move values, which good programs have, too: a
/// program that computes in two types spent up to 22 % of its kernels' time on conversions.
inline constexpr double minMovementShare = 1.0 / 3;
/// Products in double precision among others, of which a few may be intended.
inline constexpr double minDoubleShare = 0.10;
/// Excess time of a pattern's steps, spread over all steps; equal to the minimum of a pattern
/// (`patternOf`).
inline constexpr double minPatternShare = 0.02;

}  // namespace lanescope::explain
