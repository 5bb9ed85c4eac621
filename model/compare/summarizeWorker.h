// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/GpuWork.h"
#include "model/compare/RunSummary.h"
#include "model/compare/loaderTimes.h"
#include "model/compare/workerConditions.h"
#include "model/steps/StepSelection.h"
#include "model/trace/RowsByOwner.h"

namespace lanescope::compare {

/// What summaries of workers rest on, beside their timelines, worked out once for all of them.
/// Immutable; refers to the trace.
struct SummarySources {
    /// O(n log n) in threads and counters, and the states of threads.
    explicit SummarySources(const Trace& trace);

    const std::vector<uint32_t> places;  ///< By stack: `ownPlaces`.
    const RowsByOwner threads;           ///< By process.
    const LoaderThreads loaders;
    const MachineCounters counters;
};

/// Explains the steps of one process on one of its GPUs: parts, contributors, outliers. Who the
/// worker is (`pid`, `rank` ...) is left to the caller. O(n log n) in its work, and in what the
/// threads that launch it did.
WorkerSummary summarizeWorker(const RunContext& run, const SummarySources& sources,
                              const WorkerSteps& steps);

}  // namespace lanescope::compare
