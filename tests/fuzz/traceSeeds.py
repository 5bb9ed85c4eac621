# SPDX-License-Identifier: Apache-2.0
"""What our own traces hold and no golden file has rows of, as sheets (targets/Sheet.h): a sheet of each subject."""

PROCESS, THREAD, WORKER = 281475060137984, 281475060137985, 281475060137986

TEXTS = ("train.py", "step", "futex_wait", "python3", "libc.so", "forward", "cudaLaunchKernel_ptsz_v7000",
         "nccl%20domain", "a%20category", "{\"a\":1}", "cuLaunchKernel", "cudaGraphLaunch_v10000", "waitpid", "fsync",
         "epoll_wait", "pthread_mutex_lock", "ncclKernel", "odd_v1", "SMs%20Active%20[Throughput%20%25]",
         "PCIe%20Read%20Bytes%20[B]", "GPC%20Clock%20[MHz]", "NVLink%20TX%20User%20Data%20Bytes%20[B]",
         "NVLink%20RX%20User%20Data%20Bytes%20[B]", "Rate%20[B/s]")
STRINGS = "T StringIds id value\n" + "".join(f"R {number + 1} '{text}\n" for number, text in enumerate(TEXTS)) + \
    f"T PROCESSES globalPid pid name\nR {PROCESS} 7 '/usr/bin/python3\nR ~ 8 'nobody\n" \
    f"T ThreadNames nameId priority globalTid\nR 4 -1 {THREAD}\nR 6 0 {WORKER}\n"

STACKS = """T LANESCOPE_STACKS id parentId functionId fileId line
R 1 ~ 2 1 5
R 2 1 6 1 7
R 3 2 4 5 ~
"""

# A thread that the scheduler tells of and that was looked at meanwhile, before and behind.
LOOKS = f"""T LANESCOPE_THREAD_STATES start end globalTid state callchainId cpuNs delayNs callId holderTid holderCallchainId
R 50 150 {THREAD} 1 1 90 5 ~ ~ ~
R 150 220 {THREAD} 2 2 5 60 ~ ~ ~
R 160 180 {THREAD} 2 2 5 60 ~ ~ ~
R 220 390 {THREAD} 4 3 0 20 3 {WORKER} 2
R 390 560 {THREAD} 10 3 -5 9223372036854775807 13 7 99
R 900 990 {THREAD} 5 1 0 0 15 ~ ~
R 10 20 {WORKER} 3 1 0 0 ~ {THREAD} 1
R 30 ~ {WORKER} 99 1 0 0 ~ ~ ~
R 40 60 ~ 1 ~ 20 0 ~ ~ ~
"""
SWITCHES = f"""T SCHED_EVENTS start cpu isSchedIn globalTid isPreempted
R 100 1 1 {THREAD} ~
R 200 1 0 {THREAD} 1
R 250 2 1 {THREAD} ~
R 300 2 0 {THREAD} 0
R 400 2 1 {THREAD} ~
R 450 2 1 {THREAD} ~
R 500 1 0 {THREAD} 0
R 520 1 1 {THREAD} ~
R 600 1 0 {THREAD} ~
R 700 1 1 {THREAD} ~
R 20 3 1 {WORKER} ~
R ~ 3 0 {WORKER} ~
R 30 3 0 ~ ~
"""
SAMPLES = f"""T COMPOSITE_EVENTS id start cpu globalTid
R 1 110 1 {THREAD}
R 2 150 1 {THREAD}
R 1 190 1 {THREAD}
R 3 260 1 {THREAD}
R 9 5000000000 1 {THREAD}
R 2 20 1 {WORKER}
R ~ ~ ~ ~
T SAMPLING_CALLCHAINS id symbol module stackDepth line
R 1 3 5 0 ~
R 1 2 1 1 12
R 1 6 1 2 13
R 2 2 1 1 12
R 2 6 1 2 13
R 3 4 ~ 0 ~
R ~ 3 5 0 ~
R 3 99 5 1 ~
"""
SYSTEM_CALLS = f"""T OSRT_API start end globalTid nameId callchainId
R 3000 4000 {THREAD} 3 1
R 4000 4500 {THREAD} 13 2
R 4500 4600 {THREAD} 14 ~
R 4700 4800 {THREAD} 15 99
R 4900 4950 {THREAD} 16 1
R 4950 4960 {THREAD} 18 1
R 4960 4950 {WORKER} 3 1
R 4960 ~ ~ 3 1
T OSRT_CALLCHAINS id symbol module stackDepth
R 1 3 5 0
R 1 4 ~ 1
R 2 ~ 5 0
"""
GRAPHS = f"""T CUDA_GRAPH_NODE_EVENTS start end eventClass globalTid nameId graphNodeId originalGraphNodeId
R 100 100 77 {THREAD} 2 101 ~
R 110 110 77 {THREAD} 2 102 101
R 120 120 78 {THREAD} 2 103 101
R 130 130 77 ~ 2 104 ~
R ~ 130 77 {THREAD} 2 105 ~
T LANESCOPE_GRAPH_NODE_STACKS nodeRow callchainId
R 2 2
R 1 1
R 3 ~
R ~ 1
T LANESCOPE_GRAPH_NODES globalTid timestamp graphNodeId originalNodeId callchainId
R {THREAD} 140 201 101 1
R {THREAD} 150 202 ~ 99
R ~ 150 203 ~ ~
R {THREAD} ~ 203 ~ ~
T CUPTI_ACTIVITY_KIND_GRAPH_TRACE start end deviceId contextId greenContextId streamId correlationId globalPid graphId graphExecId
R 1000 2000 0 1 ~ 7 9 {PROCESS} 5 6
R 2000 1900 0 1 ~ 7 9 {PROCESS} 5 6
R ~ ~ ~ ~ ~ ~ ~ ~ ~ ~
T CUPTI_ACTIVITY_KIND_KERNEL start end deviceId contextId streamId correlationId globalPid shortName graphNodeId
R 1000 1100 0 1 7 9 {PROCESS} 17 101
R 1200 1300 0 1 7 9 {PROCESS} 17 102
R 1400 1500 0 1 7 9 {PROCESS} 17 777
T CUPTI_ACTIVITY_KIND_RUNTIME start end eventClass globalTid correlationId nameId returnValue callchainId
R 900 950 0 {THREAD} 9 12 0 3
R 960 970 0 {THREAD} 10 7 0 3
R 980 990 0 {THREAD} 11 18 700 ~
"""
# Every type of NVTX_EVENTS, with stacks, a backward, and what NCCL and its plugin told of them.
RANGES = f"""T NVTX_EVENTS start end eventType rangeId category color text globalTid endGlobalTid textId domainId uint64Value int64Value doubleValue uint32Value int32Value floatValue jsonTextId jsonText
R ~ ~ 75 ~ ~ ~ 'NCCL {THREAD} ~ ~ 3 ~ ~ ~ ~ ~ ~ ~ ~
R ~ ~ 75 ~ ~ ~ ~ {THREAD} ~ 8 4 ~ ~ ~ ~ ~ ~ ~ ~
R ~ ~ 33 ~ 2 ~ 'named {THREAD} ~ ~ 3 ~ ~ ~ ~ ~ ~ ~ ~
R 100 900 59 ~ 2 4278255360 'ncclAllReduce {THREAD} ~ ~ 3 7 ~ ~ ~ ~ ~ ~ ~
R 1000 1100 59 ~ 9 ~ ~ {THREAD} ~ 6 0 ~ -7 ~ ~ ~ ~ ~ ~
R 1200 1300 60 5 ~ ~ 'started {THREAD} {WORKER} ~ 0 ~ ~ 1.5 ~ ~ ~ ~ ~
R 1400 ~ 34 ~ ~ ~ 'a%20mark {THREAD} ~ ~ 4 ~ ~ ~ 3 ~ ~ ~ ~
R 1500 ~ 35 ~ ~ ~ 'open {THREAD} ~ ~ 9 ~ ~ ~ ~ -3 ~ ~ ~
R 1600 ~ 37 ~ ~ ~ 'open%20too {WORKER} ~ ~ 0 ~ ~ ~ ~ ~ 2.5 ~ ~
R 1700 1800 70 ~ ~ ~ ~ {WORKER} ~ 2 0 ~ ~ ~ ~ ~ ~ 10 ~
R 1700 1800 71 ~ ~ ~ 'imported {WORKER} ~ ~ 0 ~ ~ ~ ~ ~ ~ ~ '[1]
R 1700 ~ 65 ~ ~ ~ ~ {WORKER} ~ ~ 0 ~ ~ ~ ~ ~ ~ ~ ~
R 1700 1800 99 ~ ~ ~ 'odd {WORKER} ~ ~ 0 ~ ~ ~ ~ ~ ~ ~ ~
R 1900 2000 59 ~ ~ ~ 'ncclGather {THREAD} ~ ~ 3 ~ ~ ~ ~ ~ ~ ~ ~
R 2100 2200 59 ~ ~ ~ 'ncclAllReduce {THREAD} ~ ~ 3 ~ ~ ~ ~ ~ ~ ~ ~
R 1 2 59 ~ ~ ~ 'nobody ~ ~ ~ 0 ~ ~ ~ ~ ~ ~ ~ ~
T LANESCOPE_NVTX_STACKS nvtxRow callchainId
R 4 1
R 5 3
R 6 99
R ~ 1
T LANESCOPE_BACKWARDS forwardRow backwardRow
R 5 10
R 5 99
R ~ 5
T LANESCOPE_NCCL_OPERATIONS nvtxRow operation bytes communicator reduction root peer globalTid
R 4 'AllReduce 4096 77 0 -1 -1 {THREAD}
R 14 'Gather 4096 77 0 1 -1 {THREAD}
R 15 'AllReduce 512 77 0 -1 -1 {THREAD}
R 99 'Send 1 1 1 1 1 {THREAD}
R ~ ~ ~ ~ ~ ~ ~ ~
T LANESCOPE_NCCL_COMMUNICATORS globalPid communicator rank rankCount cudaDevice nodeCount name
R {PROCESS} 77 1 8 0 2 'data%20parallel
R ~ ~ ~ ~ ~ ~ ~
"""
PLUGIN = f"""T LANESCOPE_NCCL_PLUGIN_OPERATIONS globalTid start end operation datatype count bytes communicator rank root peer sequence algorithm protocol channels warps isCaptured enqueueGlobalTid enqueueStart enqueueEnd launchGlobalTid launchStart launchEnd callchainId
R {THREAD} 150 200 'AllReduce 'float32 1024 4096 77 1 -1 -1 5 'RING 'LL128 8 16 0 {THREAD} 210 220 {THREAD} 230 240 1
R {THREAD} 1910 1920 'Send 'int8 1024 1024 77 1 -1 3 ~ ~ 'SIMPLE 2 4 0 {THREAD} 1930 1940 {THREAD} 1950 1960 ~
R ~ ~ ~ 'AllReduce 'bfloat16 256 512 77 -1 -1 -1 6 'TREE 'LL 4 16 1 {THREAD} 2150 2160 ~ ~ ~ 2
R ~ ~ ~ 'AllReduce 'bfloat16 256 512 77 -1 -1 -1 6 'TREE 'LL 4 16 1 {THREAD} 2050 2060 ~ ~ ~ 2
R {WORKER} 3000 3100 'Broadcast ~ 9 9 0 0 0 -1 0 'NVLS ~ 1 1 0 {WORKER} 3050 3200 {WORKER} 3210 3220 ~
R {WORKER} 3000 3100 'Broadcast ~ 9 9 0 0 0 -1 0 'NVLS ~ 1 1 0 {WORKER} 3350 3400 {WORKER} 3410 3420 ~
R {WORKER} 3500 3600 'Reduce ~ -9 ~ ~ -5 99999999999 ~ ~ ~ ~ 999999999 -4 ~ ~ ~ ~ ~ ~ ~ ~
R ~ 3500 3600 'Reduce ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~
R ~ ~ ~ 'Reduce ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ {WORKER} 9 8 ~ ~ ~ ~
"""
COUNTERS = f"""T LANESCOPE_COUNTERS counterId source name title unit meaning gpuId globalPid link core device direction granularity wrapBits hostName intervalNs
R 1 'nvml 'power 'Power 'W 0 0 ~ ~ ~ ~ ~ 0.5 ~ ~ 100
R 2 'nvml 'nvlink 'Sent 'B 1 0 ~ 3 ~ ~ 'tx ~ 32 ~ ~
R 3 'host 'cpu ~ '% 2 ~ {PROCESS} ~ 4 'eth0 'rx ~ ~ 'far ~
R 4 'host 'temp 'T 'C 0 99 ~ -1 -1 ~ ~ ~ ~ ~ ~
R 5 'host 'clock 'T 'Hz 0 0 ~ ~ ~ ~ ~ ~ ~ ~ ~
R 6 'host 'energy 'T 'J 3 0 ~ ~ ~ ~ ~ ~ 64 ~ ~
R 7 'host 'why 'T 'flags 9 0 ~ ~ ~ ~ ~ ~ ~ ~ ~
R 8 'host 'rate 'T 'B/s 0 0 ~ ~ ~ ~ ~ ~ 99 ~ ~
R ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~ ~
T LANESCOPE_COUNTER_SAMPLES counterId timestamp value
R 1 100 300.5
R 1 200 300
R 1 150 'text
R 2 100 4294967290
R 2 200 5
R 3 100 1e300
R 6 100 1
R 6 200 2
R 7 100 4
R 99 100 4
R ~ 5 5
T GPU_METRICS timestamp typeId metricId value
R 100 256 1 50
R 200 256 1 60
R 100 256 2 1000
R 100 256 3 1980
R 100 256 4 5
R 100 256 5 5
R 100 256 6 5.5
R 100 999 9 5
R ~ 256 1 5
R 100 ~ ~ ~
T TARGET_INFO_GPU_METRICS typeId sourceId typeName metricId metricName
R 256 1 'gpu 1 'SMs%20Active%20[Throughput%20%25]
R 256 1 'gpu 2 20
R 256 1 'gpu 3 21
R 256 1 'gpu 4 22
R 256 1 'gpu 5 23
R 256 1 'gpu 6 24
R 256 1 'gpu ~ ~
T TARGET_INFO_GPU vmId id name busLocation totalMemory smCount uuid cuDevice
R 1 0 'GPU '0000:00:06.0 1000 4 'GPU-01000000-0000-0000-0000-000000000000 0
T LANESCOPE_LINK_PEAKS kind gpuId peerGpuId direction memory bytesPerSecond links generation width origin
R 'pcie 0 ~ 'tx 'pinned 1000 ~ 5 16 'nvml
R 'nvlink 0 1 'rx ~ 1000 18 ~ ~ 'measured
R 'dram 0 ~ ~ ~ 1000 ~ ~ ~ 'nvml
R 'host-copy 0 ~ 'DtoH 'pageable 1000 ~ ~ ~ 'measured
R 'odd 0 ~ ~ ~ 1000 ~ ~ ~ ~
T LANESCOPE_GPU_AFFINITY gpuId cpus numaNode
R 0 '0-7 1
R ~ ~ ~
T LANESCOPE_SAMPLING_MOMENTS timestamp range occurrence isEnd globalPid readStart readEnd
R 100 'step 0 0 {PROCESS} 90 110
R 200 'step 0 1 {PROCESS} 190 210
R 300 'step 1 0 ~ ~ ~
T LANESCOPE_GPU_PROCESSES timestamp gpuId pid name bytes smPercent
R 100 0 7 'python3 4096 5
R 200 0 7 ~ ~ ~
R 200 ~ 7 ~ ~ ~
"""
RECORDED = f"""T LANESCOPE_PROPERTIES globalPid name value
R ~ 'host 'box
R ~ 'cpuCount '64
R ~ 'gpu0.pcieWidth '16
R ~ 'gpu0.made-up 'x
R ~ 'gpu1.nvlinkCount '18
R ~ 'samplers 'nvml
R ~ 'gpuMetricsHz0 '10000
R ~ 'gpuMetricsLost0 '5
R ~ 'gpuMetricsHz1 'many
R ~ 'host1 'far
R ~ 'far%20samplers 'host
R ~ 'far%20gpuMetricsHz0 '10000
R ~ 'made-up '1
R {PROCESS} 'rank '3
R {PROCESS} 'rank '4
R {PROCESS} 'localRank '-1
R {PROCESS} 'worldSize '8
R {PROCESS} 'agentVersion '0.9
R {PROCESS} 'made-up 'x
R {PROCESS} ~ ~
T LANESCOPE_PROCESSES globalPid rank startNs endNs endedNormally exitStatus logFile localRank worldSize
R {PROCESS} 3 0 9000 0 137 'box.log 1 8
R ~ ~ ~ ~ ~ ~ ~ ~ ~
T LANESCOPE_WINDOWS globalPid index startNs endNs
R {PROCESS} 0 100 900
R {PROCESS} 1 800 1200
R {PROCESS} 2 2000 ~
R ~ ~ ~ ~
T LANESCOPE_GAPS globalPid what startNs endNs count
R {PROCESS} 1 300 400 5
R {PROCESS} -1 200 100 -5
R {PROCESS} 5000000000 ~ 100 ~
R ~ 1 1 1 1
T LANESCOPE_UNTIMED tableName globalPid globalTid deviceId contextId streamId correlationId nameId copyKind
R 'CUPTI_ACTIVITY_KIND_KERNEL {PROCESS} ~ 0 1 7 9 17 ~
R 'CUPTI_ACTIVITY_KIND_MEMCPY {PROCESS} ~ 0 1 7 9 ~ 11
R 'CUPTI_ACTIVITY_KIND_MEMCPY {PROCESS} ~ 0 1 7 9 ~ 1
R 'ODD ~ ~ ~ ~ ~ ~ ~ ~
T LANESCOPE_HEALTH severity code globalPid timestamp count sentence
R 2 'log-cut {PROCESS} 100 5 'A%20sentence.
R 9 'made-up ~ ~ ~ ~
T TARGET_INFO_SYSTEM_ENV globalVid devStateName name nameEnum value
R 0 'x 'Hostname 0 'box
R 0 'x 'CpuDescription 0 'EPYC
T TARGET_INFO_SESSION_START_TIME utcEpochNs utcTime localTime systemClockNs
R 1000000000000 ~ ~ ~
T ANALYSIS_DETAILS globalVid duration startTime stopTime
R 1 9000 0 9000
"""
OTHERS = f"""T MPI_P2P_EVENTS start end globalTid textId
R 1000 2000 {THREAD} 2
R 2000 1000 {THREAD} 2
R 1000 2000 ~ 2
T CUBLAS_EVENTS start end globalTid nameId
R 1100 1200 {THREAD} 6
R ~ 1200 {THREAD} 6
T MPI_RANKS globalTid rank
R {THREAD} 3
R {THREAD} -3
T TARGET_INFO_CUDA_GPU deviceId name pciBusId globalMemorySize globalMemoryBandwidth numMultiprocessors computeCapabilityMajor computeCapabilityMinor
R 0 'GPU '0000:00:06.0 1000 1000 132 9 0
R 0 'again '0000:00:06.0 1000 1000 132 9 0
R ~ ~ ~ ~ ~ ~ ~ ~
T GENERIC_EVENTS rawTimestamp typeId
R 1 2
""" + "".join(f"T OF_A_NEWER_PROFILER_{number} start end\nR 1 2\n" for number in range(24))

# More rows than one thread reads alone: all, and with some left out in between.
MANY = STRINGS + f"""T CUPTI_ACTIVITY_KIND_RUNTIME start end eventClass globalTid correlationId nameId returnValue callchainId
M 16400 1000+10 1005+10 0 {THREAD} 1+1 7 0 ~
R 1000000 1000010 0 {THREAD} 20000 'odd 0 ~
"""
# A column of the name of the numbers of rows, by which they cannot be taken apart.
ROWID = f"""T CUPTI_ACTIVITY_KIND_RUNTIME start end rowid globalTid correlationId nameId
R 1000 1100 7 {THREAD} 1 'cudaMalloc_v3020
R 1.5 'x x00 1e99 ~ ~
"""

TABLES = {
    "threads": STACKS + LOOKS + SWITCHES, "looks": STACKS + LOOKS, "samples": SWITCHES + SAMPLES,
    "system-calls": SYSTEM_CALLS, "graphs": STACKS + GRAPHS, "ranges": STACKS + RANGES,
    "plugin": STACKS + RANGES + PLUGIN, "plugin-alone": STACKS + PLUGIN, "counters": COUNTERS, "recorded": RECORDED,
    "others": OTHERS,
}


def own():
    """Of our own traces, by name."""
    everything = STACKS + LOOKS + SWITCHES + SAMPLES + SYSTEM_CALLS + GRAPHS + RANGES + PLUGIN + COUNTERS + RECORDED
    return {**{name: STRINGS + tables for name, tables in TABLES.items()}, "many": MANY, "rowid": ROWID,
            "everything": STRINGS + everything}


def foreign():
    """The same of exports of Nsight Systems, which have none of our tables, and of ours that lost their mark."""
    def without_ours(sheet):
        kept, is_ours = [], False
        for line in sheet.splitlines():
            is_ours = line.startswith("T LANESCOPE_") or is_ours and not line.startswith("T ")
            if not is_ours:
                kept.append(line)
        return "\n".join(kept) + "\n"

    made = own()
    return {**{f"export-{name}": without_ours(sheet) for name, sheet in made.items()},
            **{f"unmarked-{name}": sheet for name, sheet in made.items() if "T LANESCOPE_" in sheet}}
