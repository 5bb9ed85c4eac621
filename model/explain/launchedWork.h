// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"

namespace lanescope::explain {

/// Returns the main kind of a worker's launches: "; 21 kernels per step of 13.98 us each", or, if
/// these are more, "; 331 copies per step of 12.3 kB each, more than kernels". `per` is " per step", or
/// empty for a run as a whole. Empty if there is no work. O(contributors).
std::string launchedWork(const analysis::WorkerSummary& worker, std::string_view per);

/// Returns true if a step launches so few pieces of work that fewer launches cannot help.
bool hasFewLaunches(const analysis::WorkerSummary& worker);

/// Returns true if nearly each kernel is a compiled program of its own, as operations of JAX outside of jit are.
bool isDispatchedSingly(const analysis::WorkerSummary& worker);

/// Returns true if the GPU runs dry in so many waits of the thread that it can never launch far ahead.
bool isDrained(const analysis::WorkerSummary& worker);

/// Returns " 75.2 times per step the GPU runs out of work because the thread waits for it ..." if it waits so often
/// that it can never launch far ahead. Else empty. `per` is " per step", or empty for a run as a whole.
std::string drainedSentence(const analysis::WorkerSummary& worker, std::string_view per);

/// Measured duration of a launch without profiler, back to back: the call alone takes no longer (limits.md).
inline constexpr int64_t plainLaunchNs = 2'450;
/// Maximum profiler overhead of a launch on a busy machine. A longer launch waits for something.
inline constexpr int64_t maxOverheadNs = 10'000;

/// Returns the part of the mean step's launch time that may be profiler overhead: the time of each launch beyond one
/// without profiler. 0 for traces of third-party recorders, which were not measured.
int64_t overheadShareNs(const analysis::RunSummary& run, const analysis::WorkerSummary& worker);

/// Returns " Up to 2.983 ms per step more may be profiler overhead: ..." for `ns` of a mean step, by the
/// durations of its launches. Empty for 0. `per` is " per step", or empty for a run as a whole.
std::string overheadSentence(const analysis::WorkerSummary& worker, int64_t ns, std::string_view per);

}  // namespace lanescope::explain
