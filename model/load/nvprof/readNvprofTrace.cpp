// SPDX-License-Identifier: Apache-2.0
#include "model/load/nvprof/readNvprofTrace.h"

#include <array>

#include "model/load/nvprof/nvprofTables.h"
#include "model/load/sqlite/notShown.h"

namespace lanescope {

namespace {

constexpr std::array otherTables{
    UnreadTable{"CUPTI_ACTIVITY_KIND_METRIC", "values of metrics"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_METRIC_INSTANCE", "values of metrics by instance"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_EVENT", "values of hardware events"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_EVENT_INSTANCE", "values of hardware events by instance"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_PC_SAMPLING", "samples of the instructions of kernels"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION", "counts of executed instructions"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS", "counts of global memory accesses"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_SHARED_ACCESS", "counts of shared memory accesses"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_BRANCH", "counts of branches"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR", "lines of source"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_ENVIRONMENT", "samples of clocks, power and temperature"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", "events of unified memory"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_CDP_KERNEL", "kernels launched by kernels"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_PREEMPTION", "preemptions"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_DATA", "data operations of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "launches of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "other events of OpenACC"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_OPENMP", "events of OpenMP"},
    UnreadTable{"CUPTI_ACTIVITY_KIND_MEMORY", "allocations"},
};

}  // namespace

Result<void> readNvprofTrace(const Database& database, TraceBuilder& builder, unsigned threads,
                             const LoadProgress& progress) {
    LoadContext load(database, builder, threads, progress);
    builder.description().producer = "nvprof";
    NvprofContext context(load);
    readNvprofCalls(context);
    readNvprofWork(context);
    readNvprofWaits(context);
    readNvprofMarkers(context);
    readNvprofOverhead(context);
    readNvprofDevices(context);
    noteNotShown(load, otherTables);
    if (auto trouble = database.trouble()) return fail(std::move(*trouble));
    return {};
}

}  // namespace lanescope
