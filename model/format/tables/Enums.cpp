// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/Enums.h"

#include "model/format/tables/Ranges.h"

namespace lanescope {

namespace {

constexpr EnumRow cudaDevMemEventOper[] = {
    {0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"},
    {1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"},
};

constexpr EnumRow cudaFuncCacheConfig[] = {
    {0, "CU_FUNC_CACHE_PREFER_NONE", "None"},
    {1, "CU_FUNC_CACHE_PREFER_SHARED", "Shared"},
    {2, "CU_FUNC_CACHE_PREFER_L1", "L1"},
    {3, "CU_FUNC_CACHE_PREFER_EQUAL", "Equal"},
};

constexpr EnumRow cudaKernelLaunchType[] = {
    {0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    {1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    {2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    {3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};

constexpr EnumRow cudaMempoolOper[] = {
    {0, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID", "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID"},
    {1, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED", "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED"},
    {2, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED", "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED"},
    {3, "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED", "CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED"},
};

constexpr EnumRow cudaMempoolType[] = {
    {0, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID", "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID"},
    {1, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL", "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL"},
    {2, "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED", "CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED"},
};

constexpr EnumRow cudaSharedMemLimitConfig[] = {
    {0, "CUDA_SHARED_MEM_LIMIT_DEFAULT", "Default"},
    {1, "CUDA_SHARED_MEM_LIMIT_OPTIN", "Opt in"},
};

constexpr EnumRow cudaUnifMemAccessType[] = {
    {0, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN", "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN"},
    {1, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ", "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ"},
    {2, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE", "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE"},
    {3, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC", "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC"},
    {4, "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH", "CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH"},
};

constexpr EnumRow cudaUnifMemMigration[] = {
    {0, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_UNKNOWN", "Unknown"},
    {1, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_USER", "User prefetch"},
    {2, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE", "Page fault"},
    {3, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH", "Speculative prefecth"},
    {4, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION", "Eviction"},
    {5, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_ACCESS_COUNTERS", "Access counters"},
};

constexpr EnumRow cuptiOverheadType[] = {
    {0, "OVERHEAD_UNDEFINED", "Undefined"},
    {1, "OVERHEAD_UNKNOWN", "Unknown"},
    {2, "OVERHEAD_DRIVER_COMPILER", "Driver compiler"},
    {3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "CUPTI buffer flush"},
    {4, "OVERHEAD_CUPTI_INSTRUMENTATION", "CUPTI instrumentation"},
    {5, "OVERHEAD_CUPTI_RESOURCE", "CUPTI resource"},
    {6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime triggered module loading"},
    {7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading"},
    {8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full"},
};

constexpr EnumRow cuptiStreamType[] = {
    {0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"},
    {1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"},
    {2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"},
    {3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"},
};

constexpr EnumRow cuptiSyncType[] = {
    {0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};

constexpr EnumRow diagnosticSeverityLevel[] = {
    {0, "UnknownLevel", "Unknown"}, {1, "Info", "Info"},       {2, "Warning", "Warning"},
    {3, "Error", "Error"},          {4, "Verbose", "Verbose"},
};

constexpr EnumRow diagnosticSourceType[] = {
    {0, "UnknownSource", "Unknown"},
    {1, "Injection", "Injection"},
    {2, "Daemon", "Daemon"},
    {3, "Analysis", "Analysis"},
};

constexpr EnumRow diagnosticTimestampSource[] = {
    {0, "UnknownTimestamp", "Unknown"},
    {1, "TargetTimestamp", "Target"},
    {2, "HostTimestamp", "Host"},
};

constexpr int64_t idOf(NvtxEventType type) { return static_cast<int64_t>(type); }

constexpr EnumRow nsysEventType[] = {
    {32, "NvtxEvents", "NvtxEvents"},
    {idOf(NvtxEventType::CategoryName), "NvtxCategory", "NvtxCategory"},
    {idOf(NvtxEventType::Mark), "NvtxMark", "NvtxMark"},
    {idOf(NvtxEventType::OpenPush), "NvtxPushRange", "NvtxPushRange"},
    {36, "NvtxPopRange", "NvtxPopRange"},
    {idOf(NvtxEventType::OpenStart), "NvtxStartRange", "NvtxStartRange"},
    {38, "NvtxEndRange", "NvtxEndRange"},
    {39, "NvtxThread", "NvtxThread"},
    {idOf(NvtxEventType::PushPop), "NvtxPushPopRange", "NvtxPushPopRange"},
    {idOf(NvtxEventType::StartEnd), "NvtxStartEndRange", "NvtxStartEndRange"},
    {idOf(NvtxEventType::DomainName), "NvtxDomainCreate", "NvtxDomainCreate"},
    {76, "NvtxDomainDestroy", "NvtxDomainDestroy"},
    {97, "NvtxNameCudaDevice", "NvtxNameCudaDevice"},
    {98, "NvtxNameCudaContext", "NvtxNameCudaContext"},
    {99, "NvtxNameCudaStream", "NvtxNameCudaStream"},
};

constexpr EnumRow nsysEventClass[] = {
    {0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    {1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
    {6, "TRACE_PROCESS_EVENT_NVTX_START", "NVTX start"},
    {7, "TRACE_PROCESS_EVENT_NVTX_FINISH", "NVTX finish"},
    {10, "TRACE_PROCESS_EVENT_CUDA_START", "CUDA start"},
    {11, "TRACE_PROCESS_EVENT_CUDA_FINISH", "CUDA finish"},
    {12, "TRACE_PROCESS_EVENT_CUDA_INIT_ERROR", "CUDA init error"},
    {13, "TRACE_PROCESS_EVENT_CUDA_EGL_DRIVER", "CUDA EGL driver"},
    {26, "TRACE_PROCESS_EVENT_CUDA_API", "CUDA API"},
    {67, "TRACE_PROCESS_EVENT_CUDABACKTRACE", "CUDA backtrace"},
    {68, "TRACE_PROCESS_EVENT_CUDABACKTRACE_START", "CUDA backtrace start"},
    {69, "TRACE_PROCESS_EVENT_CUDABACKTRACE_FINISH", "CUDA backtrace finish"},
    {77, "TRACE_PROCESS_EVENT_CUDA_GRAPH_NODE_CREATION", "CUDA graph node creation"},
    {94, "TRACE_PROCESS_EVENT_CUDA_GRAPHEXEC_CREATION", "CUDA graph exec creation"},
    {95, "TRACE_PROCESS_EVENT_CUDA_GRAPH_CREATION", "CUDA graph creation"},
    {96, "TRACE_PROCESS_EVENT_CUDA_GRAPH_CLONE", "CUDA graph clone"},
    {102, "TRACE_PROCESS_EVENT_CUDA_JIT", "CUDA jit"},
    {103, "TRACE_PROCESS_EVENT_CUDA_OVERHEAD", "CUDA overhead"},
    {111, "TRACE_PROCESS_EVENT_CUDA_GRAPH_EXEC_NODE_SET_PARAMS", "CUDA graph exec node set params"},
};

constexpr EnumTable known[] = {
    {&tables::memoryOperations, cudaDevMemEventOper},
    {&tables::cacheConfigs, cudaFuncCacheConfig},
    {&tables::launchTypes, cudaKernelLaunchType},
    {&tables::poolOperations, cudaMempoolOper},
    {&tables::poolTypes, cudaMempoolType},
    {&tables::sharedMemoryLimits, cudaSharedMemLimitConfig},
    {&tables::faultAccesses, cudaUnifMemAccessType},
    {&tables::migrationCauses, cudaUnifMemMigration},
    {&tables::overheadTypes, cuptiOverheadType},
    {&tables::streamTypes, cuptiStreamType},
    {&tables::syncTypes, cuptiSyncType},
    {&tables::diagnosticSeverities, diagnosticSeverityLevel},
    {&tables::diagnosticSources, diagnosticSourceType},
    {&tables::diagnosticClocks, diagnosticTimestampSource},
    {&tables::eventTypes, nsysEventType},
    {&tables::eventClasses, nsysEventClass},
};

}  // namespace

std::span<const EnumTable> enumTables() { return known; }

}  // namespace lanescope
