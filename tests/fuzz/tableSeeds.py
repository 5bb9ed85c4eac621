# SPDX-License-Identifier: Apache-2.0
"""Tables that no file at hand has rows of, as sheets (targets/Sheet.h)."""

# A call with a stack of three frames, one that knows no parent, and one that is its own.
STACKS = """T StringIds id value
R 1 'train.py
R 2 'step
R 3 'cuLaunchKernel
T LANESCOPE_STACKS id parentId functionId fileId line
R 1 ~ 2 1 5
R 2 1 2 1 7
R 3 2 ~ ~ 9
R 4 99 2 1 1
R 5 5 2 1 1
R 1 2 2 1 1
T CUPTI_ACTIVITY_KIND_RUNTIME start end eventClass globalTid correlationId nameId returnValue callchainId
R 1000 1500 0 281475060137985 1 3 0 3
R 2000 2500 0 281475060137985 2 3 0 77
T CUPTI_ACTIVITY_KIND_KERNEL start end deviceId contextId streamId correlationId globalPid shortName
R 1600 1900 0 1 7 1 281475060137984 2
"""

# Of other libraries, the scheduler and samples, and of a profiler that is newer than this program.
NSIGHT = """T StringIds id value
R 1 'MPI_Allreduce
R 2 'pthread_cond_wait
R 3 'libc.so
R 4 'main
T MPI_COLLECTIVES_EVENTS start end globalTid textId
R 1000 2000 281475060137985 1
R 2000 1000 281475060137985 1
R 1000 2000 ~ 1
T CUBLAS_EVENTS start end globalTid nameId
R 1100 1200 281475060137985 4
T MPI_RANKS globalTid rank
R 281475060137985 3
R 281475060137985 -3
T OSRT_API start end globalTid nameId callchainId
R 3000 4000 281475060137985 2 1
R 4000 4500 281475060137985 2 99
T OSRT_CALLCHAINS id symbol module stackDepth
R 1 2 3 0
R 1 4 3 1
R 2 ~ 3 0
T COMPOSITE_EVENTS id start globalTid
R 1 5000 281475060137985
R 2 6000 281475060137985
R 7 6500 281475060137985
R ~ ~ ~
T SAMPLING_CALLCHAINS id symbol module stackDepth
R 1 2 3 0
R 1 4 3 1
R 2 4 3 0
T SCHED_EVENTS start cpu isSchedIn globalTid
R 100 1 1 281475060137985
R 200 1 0 281475060137985
R 250 1 0 281475060137985
R 300 1 1 281475060137985
T GENERIC_EVENTS rawTimestamp typeId
R 1 2
T OF_A_NEWER_PROFILER start end
R 1 2
T META_DATA_EXPORT name value
R 'EXPORT_PRODUCT_NAME 'NVIDIA%20Nsight%20Systems
R 'EXPORT_PRODUCT_VERSION '2026.1
R 'EXPORT_SCHEMA_VERSION_MAJOR '9
T DIAGNOSTIC_EVENT timestamp timestampType source severity text globalPid
R 10 1 1 1 'Something. 281475060137984
R 20 0 2 3 'Something%20worse. ~
T TARGET_INFO_SYSTEM_ENV globalVid devStateName name nameEnum value
R 0 'CpuInfo 'Host 0 'box
R 0 'OsVersion 'OsVersion 0 'Linux
T ThreadNames nameId priority globalTid
R 4 0 281475060137985
T PROCESSES globalPid pid name
R 281475060137984 7 '/usr/bin/python
"""

# What AMD's older recorder writes: calls, operations of GPUs, and how they are joined.
RPD = """T rocpd_string id string
R 1 'hipLaunchKernel
R 2 'gemm(float*)
R 3 'KernelExecution
R 4 'CopyHostToDevice
R 5 'CopyDeviceToDevice
R 6 'FillBuffer
R 7 'UserMarker
R 8 'step%201
R 9 'hipExtModuleLaunchKernel
R 10 'Odd
R 11 'CopyDeviceToHost
T rocpd_api id pid tid start end apiName_id args_id
R 1 7 7 1000 1500 1 2
R 2 7 7 1600 1700 9 2
R 3 7 8 1800 1900 7 8
R 4 7 8 2000 1900 7 8
R 0 7 8 2000 2100 1 ~
T rocpd_op id gpuId queueId start end description_id opType_id
R 1 0 1 2000 2500 2 3
R 2 0 1 3000 3500 ~ 4
R 3 1 1 3600 3700 ~ 5
R 4 1 2 3800 3900 ~ 6
R 5 1 2 4000 4100 ~ 10
R 6 -3 2 4000 4100 2 3
R 7 0 2 5000 5100 ~ 11
R 8 0 2 5200 5300 ~ 3
R 9 0 ~ 5200 ~ ~ 3
T rocpd_api_ops id api_id op_id
R 1 1 1
R 2 2 8
R 3 1 2
R 4 2 3
R 5 1 4
T rocpd_copyapi api_ptr_id size kind dstDevice srcDevice
R 1 4096 1 0 -1
R 2 8192 3 1 0
T rocpd_kernelapi api_ptr_id gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize kernelName_id
R 1 64 1 1 32 1 1 128 2
R 2 640 1 1 32 1 0 128 2
T rocpd_monitor deviceType deviceId monitorType start end value
R 'gpu 0 'sclk 1000 2000 '1500
R 'gpu 0 'power 1000 2000 '99.5
R 'gpu 0 'odd 2000 3000 '7
R 'cpu 0 'sclk 1000 2000 '1500
R 'gpu 0 'temp 1000 2000 'hot
T rocpd_barrierop op_ptr_id signalCount
R 1 1
"""

# What its newer one writes: each process has tables of its own.
ROCPD = """T rocpd_string_0a id guid string
R 1 'g 'HIP_RUNTIME_API_EXT
R 2 'g 'hipLaunchKernel
R 3 'g 'MARKER_CORE_API
R 4 'g 'roctxRangePushA
R 5 'g 'MEMORY_COPY_HOST_TO_DEVICE
R 6 'g 'HSA_CORE_API
R 7 'g 'Other
R 8 'g 'MEMORY_COPY_DEVICE_TO_HOST
T rocpd_info_node_0a id guid hostname
R 1 'g 'box
R 2 'g 'far
T rocpd_info_process_0a id guid nid pid command end
R 1 'g 1 77 '/usr/bin/python%20train.py 9000
R 2 'g 2 78 'x 9000
T rocpd_info_thread_0a id guid pid tid name
R 1 'g 1 77 'main
R 2 'g 2 79 ~
T rocpd_info_agent_0a id guid type type_index product_name model_name name nid
R 0 'g 'CPU 0 'EPYC ~ 'cpu 1
R 1 'g 'GPU 0 'MI300X ~ 'gfx942 1
R 2 'g 'GPU 1 ~ 'MI300X 'gfx942 1
R 3 'g 'GPU 999 ~ ~ ~ 2
T rocpd_info_kernel_symbol_0a id guid kernel_name display_name arch_vgpr_count
R 1 'g '_Z4gemmPf.kd 'gemm(float*) 32
R 2 'g ~ 'named 8
T rocpd_event_0a id guid category_id stack_id correlation_id extdata
R 1 'g 1 11 0 '{}
R 2 'g 3 12 0 '{"message":"step%201"}
R 3 'g 6 0 13 ~
R 4 'g 7 0 0 '[1]
T rocpd_region_0a id guid pid tid start end name_id event_id
R 1 'g 1 1 1000 1500 2 1
R 2 'g 1 1 900 2500 4 2
R 3 'g 1 1 1600 1700 2 3
R 4 'g 2 2 1800 1800 7 4
R 5 'g 9 9 1800 1900 7 99
R 6 'g 1 1 1900 1800 7 4
T rocpd_kernel_dispatch_0a pid agent_id kernel_id stream_id start end group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z event_id
R 1 1 1 1 2000 2500 64 32 1 1 1024 1 1 1
R 1 2 2 1 2600 2700 64 0 0 0 7 1 1 ~
R 1 0 1 1 2600 2700 64 32 1 1 1024 1 1 1
T rocpd_memory_copy_0a pid start end name_id dst_agent_id src_agent_id size stream_id event_id
R 1 3000 3100 5 1 0 4096 1 1
R 1 3200 3300 8 0 1 4096 1 3
R 1 3400 3500 8 1 2 4096 1 ~
R 1 3600 3700 8 1 1 4096 1 ~
R 1 3600 3700 8 0 0 4096 1 ~
T rocpd_memory_allocate_0a pid agent_id type level start address size event_id
R 1 1 'ALLOC 'REAL 4000 4096 65536 1
R 1 ~ 'FREE 'REAL 4100 4096 0 ~
R 1 ~ 'FREE 'REAL 4200 8192 0 ~
R 1 1 'ALLOC 'SCRATCH 4000 4096 65536 1
R 1 0 'ALLOC 'REAL 4000 12288 65536 1
T rocpd_pmc_event_0a id value
R 1 5
T rocpd_sample_0a id timestamp
R 1 5
"""

# Of each table of nvprof that is read, with what stands in its columns.
NVPROF = {
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": {
        "start": 2000, "end": 2500, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 1, "name": 1,
        "gridX": 1, "gridY": 1, "gridZ": 1, "blockX": 32, "blockY": 1, "blockZ": 1, "registersPerThread": 8,
        "staticSharedMemory": 0, "dynamicSharedMemory": 64},
    "CUPTI_ACTIVITY_KIND_MEMCPY": {
        "start": 3000, "end": 3500, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 2,
        "bytes": 4096, "copyKind": 1, "srcKind": 2, "dstKind": 3},
    "CUPTI_ACTIVITY_KIND_MEMCPY2": {
        "start": 3600, "end": 3700, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 3,
        "bytes": 4096, "copyKind": 10, "srcKind": 3, "dstKind": 3, "srcDeviceId": 0, "dstDeviceId": 1},
    "CUPTI_ACTIVITY_KIND_MEMSET": {
        "start": 4000, "end": 4100, "deviceId": 0, "contextId": 1, "streamId": 7, "correlationId": 4,
        "bytes": 64, "value": 0, "memoryKind": 3},
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": {
        "start": 4200, "end": 4300, "type": 4, "contextId": 1, "streamId": 4294967295, "correlationId": 5},
    "CUPTI_ACTIVITY_KIND_RUNTIME": {
        "start": 1000, "end": 1500, "cbid": 211, "processId": 7, "threadId": 7, "correlationId": 1, "returnValue": 0},
    "CUPTI_ACTIVITY_KIND_OVERHEAD": {"start": 100, "end": 200},
    "CUPTI_ACTIVITY_KIND_CONTEXT": {"contextId": 1, "deviceId": 0, "nullStreamId": 7},
    "CUPTI_ACTIVITY_KIND_NAME": {"objectKind": 2, "objectId": "x0700000007000000", "name": 2},
    "CUPTI_ACTIVITY_KIND_DEVICE": {
        "id": 0, "name": 2, "globalMemorySize": 1000, "globalMemoryBandwidth": 1000, "numMultiprocessors": 4,
        "computeCapabilityMajor": 9, "computeCapabilityMinor": 0, "uuid": "x00112233445566778899aabbccddeeff"},
    "CUPTI_ACTIVITY_KIND_MARKER": {
        "flags": 2, "timestamp": 900, "id": 1, "objectKind": 2, "objectId": "x0700000007000000", "name": 2,
        "domain": 0},
}


def nvprof_sheet():
    """Begins with rows of the table of texts, which stands before each input."""
    lines = ["R 1 'kernel(float*)", "R 2 'a%20name"]
    for table, row in NVPROF.items():
        lines.append(" ".join(["T", table, *row]))
        lines.append(" ".join(["R", *map(str, row.values())]))
        if table.endswith("_MARKER"):
            lines.append(" ".join(["R", *map(str, {**row, "flags": 4, "timestamp": 5000}.values())]))
            lines.append(" ".join(["R", *map(str, {**row, "flags": 1, "id": 2}.values())]))
    return "\n".join(lines) + "\n"
