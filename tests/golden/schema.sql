CREATE TABLE StringIds (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "demangledName" INTEGER NOT NULL,
    "shortName" INTEGER NOT NULL,
    "mangledName" INTEGER,
    "launchType" INTEGER,
    "cacheConfig" INTEGER,
    "registersPerThread" INTEGER NOT NULL,
    "gridX" INTEGER NOT NULL,
    "gridY" INTEGER NOT NULL,
    "gridZ" INTEGER NOT NULL,
    "blockX" INTEGER NOT NULL,
    "blockY" INTEGER NOT NULL,
    "blockZ" INTEGER NOT NULL,
    "staticSharedMemory" INTEGER NOT NULL,
    "dynamicSharedMemory" INTEGER NOT NULL,
    "localMemoryPerThread" INTEGER NOT NULL,
    "localMemoryTotal" INTEGER NOT NULL,
    "gridId" INTEGER NOT NULL,
    "sharedMemoryExecuted" INTEGER,
    "graphNodeId" INTEGER,
    "sharedMemoryLimitConfig" INTEGER,
    "qmdBulkReleaseDone" INTEGER,
    "qmdPreexitDone" INTEGER,
    "qmdLastCtaDone" INTEGER,
    "graphId" INTEGER,
    "clusterX" INTEGER,
    "clusterY" INTEGER,
    "clusterZ" INTEGER,
    "clusterSchedulingPolicy" INTEGER,
    "maxPotentialClusterSize" INTEGER,
    "maxActiveClusters" INTEGER,
    "sharedMemoryRequestedPercentage" INTEGER,
    "tensorSizeMinusOneElements" TEXT
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "bytes" INTEGER NOT NULL,
    "copyKind" INTEGER NOT NULL,
    "deprecatedSrcId" INTEGER,
    "srcKind" INTEGER,
    "dstKind" INTEGER,
    "srcDeviceId" INTEGER,
    "srcContextId" INTEGER,
    "dstDeviceId" INTEGER,
    "dstContextId" INTEGER,
    "migrationCause" INTEGER,
    "graphNodeId" INTEGER,
    "virtualAddress" INTEGER,
    "copyCount" INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "value" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "graphNodeId" INTEGER,
    "memKind" INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "eventClass" INTEGER NOT NULL,
    "globalTid" INTEGER,
    "correlationId" INTEGER,
    "nameId" INTEGER NOT NULL,
    "returnValue" INTEGER NOT NULL,
    "callchainId" INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "deprecatedSyncType" INTEGER,
    "syncType" INTEGER NOT NULL,
    "eventId" INTEGER NOT NULL,
    "eventSyncId" INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (
    "timestamp" INTEGER,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "eventId" INTEGER NOT NULL,
    "eventSyncId" INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "eventClass" INTEGER NOT NULL,
    "globalTid" INTEGER,
    "correlationId" INTEGER,
    "nameId" INTEGER,
    "overheadType" INTEGER NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "greenContextId" INTEGER,
    "streamId" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "globalPid" INTEGER,
    "graphId" INTEGER NOT NULL,
    "graphExecId" INTEGER NOT NULL
);
CREATE TABLE CUDA_GRAPH_NODE_EVENTS (
    "start" INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    "eventClass" INTEGER NOT NULL,
    "globalTid" INTEGER,
    "nameId" INTEGER NOT NULL,
    "graphNodeId" INTEGER NOT NULL,
    "originalGraphNodeId" INTEGER
);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (
    "start" INTEGER NOT NULL,
    "globalPid" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "address" INTEGER NOT NULL,
    "pc" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "memKind" INTEGER NOT NULL,
    "memoryOperationType" INTEGER NOT NULL,
    "name" TEXT,
    "correlationId" INTEGER,
    "streamId" INTEGER,
    "localMemoryPoolAddress" INTEGER,
    "localMemoryPoolReleaseThreshold" INTEGER,
    "localMemoryPoolSize" INTEGER,
    "localMemoryPoolUtilizedSize" INTEGER,
    "importedMemoryPoolAddress" INTEGER,
    "importedMemoryPoolProcessId" INTEGER
);
CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS (
    "start" INTEGER NOT NULL,
    "globalPid" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "address" INTEGER NOT NULL,
    "operationType" INTEGER NOT NULL,
    "poolType" INTEGER NOT NULL,
    "correlationId" INTEGER,
    "minBytesToKeep" INTEGER,
    "localMemoryPoolReleaseThreshold" INTEGER,
    "localMemoryPoolSize" INTEGER,
    "localMemoryPoolUtilizedSize" INTEGER
);
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (
    "start" INTEGER,
    "globalPid" INTEGER NOT NULL,
    "address" INTEGER NOT NULL,
    "originalFaultPc" INTEGER,
    "CpuInstruction" INTEGER NOT NULL,
    "module" INTEGER,
    "unresolvedFaultPc" INTEGER,
    "sourceFile" INTEGER,
    "sourceLine" INTEGER
);
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (
    "start" INTEGER,
    "end" INTEGER,
    "globalPid" INTEGER NOT NULL,
    "deviceId" INTEGER NOT NULL,
    "address" INTEGER NOT NULL,
    "numberOfPageFaults" INTEGER NOT NULL,
    "faultAccessType" INTEGER NOT NULL
);
CREATE TABLE NVTX_EVENTS (
    "start" INTEGER,
    "end" INTEGER,
    "eventType" INTEGER NOT NULL,
    "rangeId" INTEGER,
    "category" INTEGER,
    "color" INTEGER,
    "text" TEXT,
    "globalTid" INTEGER,
    "endGlobalTid" INTEGER,
    "textId" INTEGER,
    "domainId" INTEGER,
    "uint64Value" INTEGER,
    "int64Value" INTEGER,
    "doubleValue" REAL,
    "uint32Value" INTEGER,
    "int32Value" INTEGER,
    "floatValue" REAL,
    "jsonTextId" INTEGER,
    "jsonText" TEXT,
    "binaryData" TEXT
);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS (
    "domainId" INTEGER,
    "schemaId" INTEGER,
    "name" TEXT,
    "type" INTEGER,
    "flags" INTEGER,
    "numEntries" INTEGER,
    "payloadSize" INTEGER,
    "alignTo" INTEGER
);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (
    "domainId" INTEGER NOT NULL,
    "schemaId" INTEGER NOT NULL,
    "idx" INTEGER NOT NULL,
    "flags" INTEGER,
    "type" INTEGER,
    "name" TEXT,
    "description" TEXT,
    "arrayOrUnionDetail" INTEGER,
    "offset" INTEGER
);
CREATE TABLE GPU_METRICS (
    "timestamp" INTEGER,
    "typeId" INTEGER NOT NULL,
    "metricId" INTEGER NOT NULL,
    "value" INTEGER
);
CREATE TABLE TARGET_INFO_GPU_METRICS (
    "typeId" INTEGER NOT NULL,
    "sourceId" INTEGER NOT NULL,
    "typeName" TEXT NOT NULL,
    "metricId" INTEGER NOT NULL,
    "metricName" TEXT NOT NULL
);
CREATE TABLE ThreadNames (
    "nameId" INTEGER NOT NULL,
    "priority" INTEGER,
    "globalTid" INTEGER
);
CREATE TABLE PROCESSES (
    "globalPid" INTEGER,
    "pid" INTEGER,
    "name" TEXT
);
CREATE TABLE TARGET_INFO_GPU (
    "vmId" INTEGER,
    "id" INTEGER,
    "name" TEXT,
    "busLocation" TEXT,
    "isDiscrete" INTEGER,
    "l2CacheSize" INTEGER,
    "totalMemory" INTEGER,
    "memoryBandwidth" INTEGER,
    "clockRate" INTEGER,
    "smCount" INTEGER,
    "pwGpuId" INTEGER,
    "uuid" TEXT,
    "luid" INTEGER,
    "chipName" TEXT,
    "cuDevice" INTEGER,
    "ctxswDevPath" TEXT,
    "ctrlDevPath" TEXT,
    "revision" INTEGER,
    "nodeMask" INTEGER,
    "constantMemory" INTEGER,
    "maxIPC" INTEGER,
    "maxRegistersPerBlock" INTEGER,
    "maxShmemPerBlock" INTEGER,
    "maxShmemPerBlockOptin" INTEGER,
    "maxShmemPerSm" INTEGER,
    "maxRegistersPerSm" INTEGER,
    "threadsPerWarp" INTEGER,
    "asyncEngines" INTEGER,
    "maxWarpsPerSm" INTEGER,
    "maxBlocksPerSm" INTEGER,
    "maxThreadsPerBlock" INTEGER,
    "maxBlockDimX" INTEGER,
    "maxBlockDimY" INTEGER,
    "maxBlockDimZ" INTEGER,
    "maxGridDimX" INTEGER,
    "maxGridDimY" INTEGER,
    "maxGridDimZ" INTEGER,
    "computeMajor" INTEGER,
    "computeMinor" INTEGER,
    "smMajor" INTEGER,
    "smMinor" INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (
    "gpuId" INTEGER,
    "cudaId" INTEGER,
    "pid" INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (
    "nullStreamId" INTEGER,
    "hwId" INTEGER,
    "vmId" INTEGER,
    "processId" INTEGER,
    "deviceId" INTEGER,
    "contextId" INTEGER,
    "parentContextId" INTEGER,
    "isGreenContext" INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_STREAM (
    "streamId" INTEGER NOT NULL,
    "hwId" INTEGER NOT NULL,
    "vmId" INTEGER NOT NULL,
    "processId" INTEGER NOT NULL,
    "contextId" INTEGER NOT NULL,
    "priority" INTEGER NOT NULL,
    "flag" INTEGER NOT NULL
);
CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (
    "streamId" INTEGER,
    "hwId" INTEGER,
    "vmId" INTEGER,
    "processId" INTEGER,
    "deviceId" INTEGER,
    "contextId" INTEGER
);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (
    "utcEpochNs" INTEGER,
    "utcTime" TEXT,
    "localTime" TEXT,
    "systemClockNs" INTEGER
);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (
    "globalVid" INTEGER,
    "devStateName" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "nameEnum" INTEGER NOT NULL,
    "value" TEXT NOT NULL
);
CREATE TABLE META_DATA_CAPTURE (
    "name" TEXT NOT NULL,
    "value" TEXT
);
CREATE TABLE META_DATA_EXPORT (
    "name" TEXT NOT NULL,
    "value" TEXT
);
CREATE TABLE ANALYSIS_DETAILS (
    "globalVid" INTEGER NOT NULL,
    "duration" INTEGER NOT NULL,
    "startTime" INTEGER NOT NULL,
    "stopTime" INTEGER NOT NULL
);
CREATE TABLE DIAGNOSTIC_EVENT (
    "timestamp" INTEGER NOT NULL,
    "timestampType" INTEGER NOT NULL,
    "source" INTEGER NOT NULL,
    "severity" INTEGER NOT NULL,
    "text" TEXT NOT NULL,
    "globalPid" INTEGER
);
CREATE TABLE SCHED_EVENTS (
    "start" INTEGER,
    "cpu" INTEGER,
    "isSchedIn" INTEGER,
    "globalTid" INTEGER,
    "isPreempted" INTEGER
);
CREATE TABLE COMPOSITE_EVENTS (
    "id" INTEGER,
    "start" INTEGER,
    "cpu" INTEGER,
    "globalTid" INTEGER
);
CREATE TABLE SAMPLING_CALLCHAINS (
    "id" INTEGER,
    "symbol" INTEGER,
    "module" INTEGER,
    "stackDepth" INTEGER,
    "line" INTEGER
);
CREATE TABLE LANESCOPE_NCCL_OPERATIONS (
    "nvtxRow" INTEGER NOT NULL,
    "operation" TEXT,
    "bytes" INTEGER,
    "communicator" INTEGER,
    "reduction" INTEGER,
    "root" INTEGER,
    "peer" INTEGER,
    "globalTid" INTEGER
);
CREATE TABLE LANESCOPE_NCCL_COMMUNICATORS (
    "globalPid" INTEGER,
    "communicator" INTEGER,
    "rank" INTEGER,
    "rankCount" INTEGER,
    "cudaDevice" INTEGER,
    "nodeCount" INTEGER,
    "name" TEXT
);
CREATE TABLE LANESCOPE_NCCL_PLUGIN_OPERATIONS (
    "globalTid" INTEGER,
    "start" INTEGER,
    "end" INTEGER,
    "operation" TEXT,
    "datatype" TEXT,
    "count" INTEGER,
    "bytes" INTEGER,
    "communicator" INTEGER,
    "rank" INTEGER,
    "root" INTEGER,
    "peer" INTEGER,
    "sequence" INTEGER,
    "algorithm" TEXT,
    "protocol" TEXT,
    "channels" INTEGER,
    "warps" INTEGER,
    "isCaptured" INTEGER,
    "enqueueGlobalTid" INTEGER,
    "enqueueStart" INTEGER,
    "enqueueEnd" INTEGER,
    "launchGlobalTid" INTEGER,
    "launchStart" INTEGER,
    "launchEnd" INTEGER,
    "callchainId" INTEGER
);
CREATE TABLE LANESCOPE_HEALTH (
    "severity" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "globalPid" INTEGER,
    "timestamp" INTEGER,
    "count" INTEGER,
    "sentence" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_PROPERTIES (
    "globalPid" INTEGER,
    "name" TEXT NOT NULL,
    "value" TEXT
);
CREATE TABLE LANESCOPE_PROCESSES (
    "globalPid" INTEGER NOT NULL,
    "rank" INTEGER,
    "startNs" INTEGER,
    "endNs" INTEGER,
    "endedNormally" INTEGER,
    "exitStatus" INTEGER,
    "logFile" TEXT,
    "localRank" INTEGER,
    "worldSize" INTEGER
);
CREATE TABLE LANESCOPE_WINDOWS (
    "globalPid" INTEGER NOT NULL,
    "index" INTEGER NOT NULL,
    "startNs" INTEGER NOT NULL,
    "endNs" INTEGER
);
CREATE TABLE LANESCOPE_GAPS (
    "globalPid" INTEGER NOT NULL,
    "what" INTEGER NOT NULL,
    "startNs" INTEGER NOT NULL,
    "endNs" INTEGER NOT NULL,
    "count" INTEGER
);
CREATE TABLE LANESCOPE_CLOCKS (
    "globalPid" INTEGER,
    "realtimeNs" INTEGER,
    "monotonicNs" INTEGER,
    "cuptiNs" INTEGER
);
CREATE TABLE LANESCOPE_TOPOLOGY (
    "gpuId" INTEGER,
    "peerGpuId" INTEGER,
    "nvlinkCount" INTEGER,
    "connection" TEXT,
    "abbreviation" TEXT
);
CREATE TABLE LANESCOPE_GPU_AFFINITY (
    "gpuId" INTEGER NOT NULL,
    "cpus" TEXT,
    "numaNode" INTEGER
);
CREATE TABLE LANESCOPE_LINK_PEAKS (
    "kind" TEXT NOT NULL,
    "gpuId" INTEGER,
    "peerGpuId" INTEGER,
    "direction" TEXT,
    "memory" TEXT,
    "bytesPerSecond" INTEGER NOT NULL,
    "links" INTEGER,
    "generation" INTEGER,
    "width" INTEGER,
    "origin" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_ROOFS (
    "kind" TEXT NOT NULL,
    "gpuId" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "m" INTEGER,
    "n" INTEGER,
    "k" INTEGER,
    "perSecond" INTEGER NOT NULL,
    "smClockHz" INTEGER,
    "powerMilliwatts" INTEGER,
    "temperature" INTEGER,
    "software" TEXT
);
CREATE TABLE LANESCOPE_COUNTERS (
    "counterId" INTEGER NOT NULL PRIMARY KEY,
    "source" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "title" TEXT,
    "unit" TEXT NOT NULL,
    "meaning" INTEGER NOT NULL,
    "gpuId" INTEGER,
    "globalPid" INTEGER,
    "link" INTEGER,
    "core" INTEGER,
    "device" TEXT,
    "direction" TEXT,
    "granularity" REAL,
    "wrapBits" INTEGER,
    "hostName" TEXT,
    "intervalNs" INTEGER
);
CREATE TABLE LANESCOPE_COUNTER_SAMPLES (
    "counterId" INTEGER NOT NULL,
    "timestamp" INTEGER NOT NULL,
    "value"
);
CREATE TABLE LANESCOPE_GPU_PROCESSES (
    "timestamp" INTEGER NOT NULL,
    "gpuId" INTEGER NOT NULL,
    "pid" INTEGER NOT NULL,
    "name" TEXT,
    "bytes" INTEGER,
    "smPercent" REAL
);
CREATE TABLE LANESCOPE_SAMPLING_MOMENTS (
    "timestamp" INTEGER NOT NULL,
    "range" TEXT NOT NULL,
    "occurrence" INTEGER NOT NULL,
    "isEnd" INTEGER NOT NULL,
    "globalPid" INTEGER,
    "readStart" INTEGER,
    "readEnd" INTEGER
);
CREATE TABLE LANESCOPE_STACKS (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "parentId" INTEGER,
    "functionId" INTEGER NOT NULL,
    "fileId" INTEGER,
    "line" INTEGER,
    "moduleId" INTEGER,
    "operatorsId" INTEGER,
    "codeId" INTEGER
);
CREATE TABLE LANESCOPE_THREAD_STATES (
    "start" INTEGER,
    "end" INTEGER,
    "globalTid" INTEGER,
    "state" INTEGER NOT NULL,
    "callchainId" INTEGER,
    "cpuNs" INTEGER NOT NULL,
    "delayNs" INTEGER NOT NULL,
    "callId" INTEGER,
    "holderTid" INTEGER,
    "holderCallchainId" INTEGER
);
CREATE TABLE LANESCOPE_NVTX_STACKS (
    "nvtxRow" INTEGER NOT NULL,
    "callchainId" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_BACKWARDS (
    "forwardRow" INTEGER NOT NULL,
    "backwardRow" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_GRAPH_NODE_STACKS (
    "nodeRow" INTEGER NOT NULL,
    "callchainId" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_UNTIMED (
    "tableName" TEXT NOT NULL,
    "globalPid" INTEGER NOT NULL,
    "globalTid" INTEGER,
    "deviceId" INTEGER,
    "contextId" INTEGER,
    "streamId" INTEGER,
    "correlationId" INTEGER,
    "nameId" INTEGER,
    "copyKind" INTEGER
);
CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_FUNC_CACHE_CONFIG (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_MEMPOOL_OPER (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_MEMPOOL_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_UNIF_MEM_ACCESS_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_UNIF_MEM_MIGRATION (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUPTI_STREAM_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUPTI_SYNC_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_SOURCE_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_NSYS_EVENT_CLASS (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE ENUM_CUDA_MEM_KIND (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT,
    "label" TEXT
);
CREATE TABLE LANESCOPE_STORED (
    "name" TEXT NOT NULL,
    "value"
);
CREATE TABLE LANESCOPE_STORED_HEALTH (
    "severity" INTEGER NOT NULL,
    "code" TEXT NOT NULL,
    "globalPid" INTEGER,
    "count" INTEGER,
    "sentence" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_STORED_WORKERS (
    "worker" INTEGER NOT NULL,
    "pid" INTEGER NOT NULL,
    "rank" INTEGER,
    "processName" TEXT,
    "gpuId" INTEGER NOT NULL,
    "gpuName" TEXT,
    "endedAbnormally" INTEGER NOT NULL,
    "foundSteps" INTEGER NOT NULL,
    "warmUpSteps" INTEGER NOT NULL,
    "isLastLeftOut" INTEGER NOT NULL,
    "workNs" INTEGER NOT NULL,
    "pauses" INTEGER NOT NULL,
    "pauseNs" INTEGER NOT NULL,
    "pauseIdleNs" INTEGER NOT NULL,
    "longestPauseStartNs" INTEGER NOT NULL,
    "longestPauseNs" INTEGER NOT NULL,
    "highestSmClockHz" INTEGER NOT NULL,
    "heldBackNs" INTEGER,
    "loaderThreads" INTEGER NOT NULL,
    "loaderKnownNs" INTEGER NOT NULL,
    "loaderRanNs" INTEGER NOT NULL,
    "loaderNoCoreNs" INTEGER NOT NULL,
    "loaderInputNs" INTEGER NOT NULL,
    "noCoreThreads" INTEGER,
    "noCoreNs" INTEGER,
    "launches" INTEGER NOT NULL,
    "launchNs" INTEGER NOT NULL,
    "launchPlace" TEXT NOT NULL,
    "launchLine" TEXT NOT NULL,
    "launchesThere" INTEGER NOT NULL,
    "allocations" INTEGER NOT NULL,
    "frees" INTEGER NOT NULL,
    "freedAt" TEXT NOT NULL,
    "freeLine" TEXT NOT NULL,
    "freeCaller" TEXT NOT NULL,
    "recompiled" TEXT NOT NULL,
    "compilations" INTEGER NOT NULL,
    "hasTensorFloat" INTEGER NOT NULL,
    "drains" INTEGER NOT NULL,
    "orderedStreams" INTEGER NOT NULL,
    "defaultOperations" INTEGER NOT NULL,
    "delayedCopyNs" INTEGER NOT NULL,
    "awaitedStream" INTEGER NOT NULL,
    "copiesWaitAt" TEXT NOT NULL,
    "returnedBytes" INTEGER NOT NULL,
    "leaveAt" TEXT NOT NULL,
    "returnAt" TEXT NOT NULL,
    "usedMemoryBytes" INTEGER NOT NULL,
    "memoryBytes" INTEGER NOT NULL,
    "singleRate" INTEGER NOT NULL,
    "tensorFloatRate" INTEGER NOT NULL,
    "restNs" INTEGER NOT NULL,
    "restCause" INTEGER
);
CREATE TABLE LANESCOPE_STORED_GPU_CLOCKS (
    "worker" INTEGER NOT NULL,
    "reasons" INTEGER NOT NULL,
    "ns" INTEGER NOT NULL,
    "smClockHz" INTEGER NOT NULL,
    "longestStartNs" INTEGER NOT NULL,
    "longestNs" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_STEPS (
    "worker" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "name" TEXT,
    "startNs" INTEGER NOT NULL,
    "wallNs" INTEGER NOT NULL,
    "onCpuNs" INTEGER,
    "activePerSecond" INTEGER
);
CREATE TABLE LANESCOPE_STORED_PARTS (
    "worker" INTEGER NOT NULL,
    "step" INTEGER NOT NULL,
    "part" TEXT NOT NULL,
    "ns" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_CONTRIBUTORS (
    "worker" INTEGER NOT NULL,
    "part" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "trait" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "cause" INTEGER,
    "path" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "exposedNs" INTEGER NOT NULL,
    "totalNs" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "busBytes" INTEGER NOT NULL,
    "firstPlace" INTEGER NOT NULL,
    "waitedNs" INTEGER NOT NULL,
    "workedNs" INTEGER NOT NULL,
    "longCount" INTEGER NOT NULL,
    "gilNs" INTEGER NOT NULL,
    "launched" TEXT NOT NULL,
    "launchedLine" TEXT NOT NULL,
    "caller" TEXT NOT NULL,
    "isOfCaller" INTEGER NOT NULL,
    "phase" TEXT
);
CREATE TABLE LANESCOPE_STORED_OUTLIERS (
    "worker" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "name" TEXT,
    "startNs" INTEGER NOT NULL,
    "wallNs" INTEGER NOT NULL,
    "excessNs" INTEGER NOT NULL,
    "part" TEXT NOT NULL,
    "partExcessNs" INTEGER NOT NULL,
    "contributor" TEXT NOT NULL,
    "cause" INTEGER,
    "path" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_STORED_FORECASTS (
    "worker" INTEGER NOT NULL,
    "subject" TEXT NOT NULL,
    "savedNs" INTEGER NOT NULL,
    "marginNs" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_PATHS (
    "worker" INTEGER NOT NULL,
    "part" TEXT NOT NULL,
    "rank" INTEGER,
    "pid" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "line" TEXT NOT NULL,
    "ns" INTEGER NOT NULL,
    "count" REAL NOT NULL
);
CREATE TABLE LANESCOPE_STORED_DISTINCTIONS (
    "worker" INTEGER NOT NULL,
    "of" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "steps" INTEGER NOT NULL,
    "ns" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "others" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_KERNEL_GROUPS (
    "worker" INTEGER NOT NULL,
    "family" TEXT NOT NULL,
    "precision" TEXT NOT NULL,
    "trait" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "sequence" TEXT NOT NULL,
    "isSmallGrid" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "exposedNs" INTEGER NOT NULL,
    "sequences" INTEGER NOT NULL,
    "savedNs" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "launched" TEXT NOT NULL,
    "written" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_STORED_USES (
    "worker" INTEGER NOT NULL,
    "precision" TEXT NOT NULL,
    "sheetPerSecond" INTEGER NOT NULL,
    "measuredPerSecond" INTEGER NOT NULL,
    "sampler" TEXT NOT NULL,
    "activePerSecond" INTEGER NOT NULL,
    "readings" INTEGER NOT NULL,
    "readingNs" INTEGER NOT NULL,
    "knownNs" INTEGER NOT NULL,
    "readSteps" INTEGER NOT NULL,
    "isShared" INTEGER NOT NULL,
    "countedSteps" INTEGER NOT NULL,
    "countedNs" INTEGER NOT NULL,
    "modelPerStep" INTEGER NOT NULL,
    "repeatedPerStep" INTEGER NOT NULL,
    "kernelNs" INTEGER NOT NULL,
    "knownKernelNs" INTEGER NOT NULL,
    "mfu" REAL
);
CREATE TABLE LANESCOPE_STORED_SHAPES (
    "worker" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "shape" TEXT NOT NULL,
    "precision" TEXT NOT NULL,
    "place" TEXT NOT NULL,
    "kernel" TEXT NOT NULL,
    "isRecomputed" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "kernelNs" INTEGER NOT NULL,
    "flops" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "roofNs" INTEGER NOT NULL,
    "isMemoryBound" INTEGER NOT NULL,
    "isMeasured" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_CAUSES (
    "cause" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "api" TEXT NOT NULL,
    "call" TEXT NOT NULL,
    "copy" TEXT NOT NULL,
    "isPageable" INTEGER NOT NULL,
    "thread" TEXT NOT NULL,
    "threadName" TEXT NOT NULL,
    "file" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "function" TEXT NOT NULL,
    "work" TEXT NOT NULL,
    "observation" TEXT NOT NULL,
    "state" INTEGER NOT NULL,
    "holder" TEXT NOT NULL,
    "holderName" TEXT NOT NULL,
    "holderFile" TEXT NOT NULL,
    "holderLine" INTEGER NOT NULL,
    "holderFunction" TEXT NOT NULL
);
CREATE TABLE LANESCOPE_STORED_PLACES (
    "worker" INTEGER NOT NULL,
    "host" TEXT,
    "bootId" TEXT,
    "localRank" INTEGER,
    "worldSize" INTEGER,
    "gpuUuid" TEXT,
    "startNs" INTEGER NOT NULL,
    "endNs" INTEGER NOT NULL,
    "clockErrorNs" INTEGER,
    "clockMostErrorNs" INTEGER
);
CREATE TABLE LANESCOPE_STORED_CLOCKS (
    "worker" INTEGER NOT NULL,
    "realtimeNs" INTEGER,
    "monotonicNs" INTEGER
);
CREATE TABLE LANESCOPE_STORED_COMMUNICATORS (
    "worker" INTEGER NOT NULL,
    "communicator" INTEGER NOT NULL,
    "name" TEXT,
    "rank" INTEGER,
    "ranks" INTEGER,
    "calls" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_COLLECTIVES (
    "worker" INTEGER NOT NULL,
    "communicator" INTEGER NOT NULL,
    "operation" TEXT NOT NULL,
    "place" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "isNumbered" INTEGER NOT NULL,
    "bytes" INTEGER,
    "step" INTEGER,
    "callNs" INTEGER NOT NULL,
    "callEndNs" INTEGER NOT NULL,
    "gpuNs" INTEGER,
    "gpuEndNs" INTEGER,
    "sharedBy" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_KERNELS (
    "worker" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "step" INTEGER NOT NULL,
    "steps" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "totalNs" INTEGER NOT NULL,
    "mostNs" INTEGER NOT NULL
);
CREATE TABLE LANESCOPE_STORED_COUNTERS (
    "key" TEXT NOT NULL,
    "gpuId" INTEGER,
    "gpuUuid" TEXT,
    "link" INTEGER,
    "device" TEXT,
    "mean" REAL NOT NULL,
    "least" REAL NOT NULL,
    "greatest" REAL NOT NULL
);
CREATE TABLE LANESCOPE_STORED_CODE (
    "worker" INTEGER NOT NULL,
    "place" TEXT NOT NULL,
    "line" TEXT NOT NULL,
    "code" TEXT NOT NULL
);
