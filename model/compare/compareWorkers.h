// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunComparison.h"

namespace lanescope::compare {

/// One pair of workers, but for its place in the runs: with times of the mean step as they are
/// shown, and to the nanosecond.
struct ComparedWorkers {
    WorkerComparison shown, exact;
};

/// Compares a worker with its counterpart. O(n log n), and quadratic in renamed kernels.
ComparedWorkers compareWorkers(const WorkerSummary& baseline, const WorkerSummary& candidate);

}  // namespace lanescope::compare
