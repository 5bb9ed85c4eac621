// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

inline constexpr struct Gpus : TableOf<Gpus> {
    constexpr Gpus() : TableOf("TARGET_INFO_GPU", "a GPU of the machine") {}
    OptionalInteger<"vmId"> vmId{this, "virtual machine number; 1 in Lanescope traces"};
    OptionalInteger<"id"> id{this, "GPU number shown to users"};
    OptionalText<"name"> name{this, "GPU name reported by the driver"};
    OptionalText<"busLocation"> busLocation{this, "PCI address"};
    OptionalInteger<"isDiscrete"> isDiscrete{this, "1: GPU with its own memory"};
    OptionalInteger<"l2CacheSize"> l2CacheSize{this, "L2 cache size, bytes"};
    OptionalInteger<"totalMemory"> totalMemory{this, "memory size, bytes"};
    OptionalInteger<"memoryBandwidth"> memoryBandwidth{this, "memory bandwidth, bytes per second"};
    OptionalInteger<"clockRate"> clockRate{this, "clock rate, Hz"};
    OptionalInteger<"smCount"> smCount{this, "number of streaming multiprocessors"};
    OptionalInteger<"pwGpuId"> pwGpuId{this, "NULL in Lanescope traces"};
    OptionalText<"uuid"> uuid{this, "UUID, \"GPU-...\", or \"MIG-...\" for a MIG instance"};
    OptionalInteger<"luid"> luid{this, "NULL in Lanescope traces"};
    OptionalText<"chipName"> chipName{this, "NULL in Lanescope traces"};
    OptionalInteger<"cuDevice"> cuDevice{this, "CUDA ordinal in a process that used the GPU"};
    OptionalText<"ctxswDevPath"> ctxswDevPath{this, "NULL in Lanescope traces"};
    OptionalText<"ctrlDevPath"> ctrlDevPath{this, "NULL in Lanescope traces"};
    OptionalInteger<"revision"> revision{this, "NULL in Lanescope traces"};
    OptionalInteger<"nodeMask"> nodeMask{this, "NULL in Lanescope traces"};
    OptionalInteger<"constantMemory"> constantMemory{this, "constant memory, bytes"};
    OptionalInteger<"maxIPC"> maxIpc{this, "NULL in Lanescope traces"};
    OptionalInteger<"maxRegistersPerBlock"> maxRegistersPerBlock{this, "maximum of 32-bit registers per block"};
    OptionalInteger<"maxShmemPerBlock"> maxShmemPerBlock{this, "maximum shared memory per block, bytes"};
    OptionalInteger<"maxShmemPerBlockOptin"> maxShmemPerBlockOptin{
        this, "maximum opt-in shared memory per block, bytes; NULL in Lanescope traces"};
    OptionalInteger<"maxShmemPerSm"> maxShmemPerSm{this, "maximum shared memory per SM, bytes"};
    OptionalInteger<"maxRegistersPerSm"> maxRegistersPerSm{this, "maximum of 32-bit registers per SM"};
    OptionalInteger<"threadsPerWarp"> threadsPerWarp{this, "threads per warp"};
    OptionalInteger<"asyncEngines"> asyncEngines{this, "number of copy engines"};
    OptionalInteger<"maxWarpsPerSm"> maxWarpsPerSm{this, "maximum warps per SM"};
    OptionalInteger<"maxBlocksPerSm"> maxBlocksPerSm{this, "maximum blocks per SM"};
    OptionalInteger<"maxThreadsPerBlock"> maxThreadsPerBlock{this, "maximum threads per block"};
    OptionalInteger<"maxBlockDimX"> maxBlockDimX{this, "maximum block size in x, threads"};
    OptionalInteger<"maxBlockDimY"> maxBlockDimY{this, "maximum block size in y, threads"};
    OptionalInteger<"maxBlockDimZ"> maxBlockDimZ{this, "maximum block size in z, threads"};
    OptionalInteger<"maxGridDimX"> maxGridDimX{this, "maximum grid size in x, blocks"};
    OptionalInteger<"maxGridDimY"> maxGridDimY{this, "maximum grid size in y, blocks"};
    OptionalInteger<"maxGridDimZ"> maxGridDimZ{this, "maximum grid size in z, blocks"};
    OptionalInteger<"computeMajor"> computeMajor{this, "major compute capability"};
    OptionalInteger<"computeMinor"> computeMinor{this, "minor compute capability"};
    OptionalInteger<"smMajor"> smMajor{this, "same as computeMajor"};
    OptionalInteger<"smMinor"> smMinor{this, "same as computeMinor"};
} gpus;

inline constexpr struct CudaDevices : TableOf<CudaDevices> {
    constexpr CudaDevices() : TableOf("TARGET_INFO_CUDA_DEVICE", "a CUDA device of a process") {}
    OptionalInteger<"gpuId"> gpuId{this, "GPU number, id in TARGET_INFO_GPU"};
    OptionalInteger<"cudaId"> cudaId{this, "CUDA ordinal within the process"};
    OptionalInteger<"pid"> pid{this, "PID, or packed process id; readers accept both"};
} cudaDevices;

inline constexpr struct Contexts : TableOf<Contexts> {
    constexpr Contexts() : TableOf("TARGET_INFO_CUDA_CONTEXT_INFO", "a CUDA context") {}
    OptionalInteger<"nullStreamId"> nullStreamId{this, "CUPTI id of the default stream"};
    OptionalInteger<"hwId"> hwId{this, "host number"};
    OptionalInteger<"vmId"> vmId{this, "virtual machine number; 1 in Lanescope traces"};
    OptionalInteger<"processId"> processId{this, "PID (not packed)"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI context id"};
    OptionalInteger<"parentContextId"> parentContextId{this, "NULL in Lanescope traces"};
    OptionalInteger<"isGreenContext"> isGreenContext{this, "NULL in Lanescope traces"};
} contexts;

inline constexpr struct Streams : TableOf<Streams> {
    constexpr Streams() : TableOf("TARGET_INFO_CUDA_STREAM", "a CUDA stream") {}
    Integer<"streamId"> streamId{this, "CUPTI stream id"};
    Integer<"hwId"> hwId{this, "host number"};
    Integer<"vmId"> vmId{this, "virtual machine number; 1 in Lanescope traces"};
    Integer<"processId"> processId{this, "PID (not packed)"};
    Integer<"contextId"> contextId{this, "CUPTI context id"};
    Integer<"priority"> priority{this, "CUDA stream priority; lower numbers first"};
    Integer<"flag"> flag{this, "kind of stream, as in ENUM_CUPTI_STREAM_TYPE"};
} streams;

inline constexpr struct NullStreams : TableOf<NullStreams> {
    constexpr NullStreams() : TableOf("TARGET_INFO_CUDA_NULL_STREAM", "the default stream of a context") {}
    OptionalInteger<"streamId"> streamId{this, "CUPTI stream id"};
    OptionalInteger<"hwId"> hwId{this, "host number"};
    OptionalInteger<"vmId"> vmId{this, "virtual machine number; 1 in Lanescope traces"};
    OptionalInteger<"processId"> processId{this, "PID (not packed)"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI context id"};
} nullStreams;

inline constexpr struct Topology : TableOf<Topology> {
    constexpr Topology() : TableOf("LANESCOPE_TOPOLOGY", "a connection between two GPUs") {}
    OptionalInteger<"gpuId"> gpuId{this, "number of the first GPU"};
    OptionalInteger<"peerGpuId"> peerGpuId{this, "number of the second GPU"};
    OptionalInteger<"nvlinkCount"> nvlinkCount{this, "number of NVLinks between the GPUs"};
    OptionalText<"connection"> connection{this,
                                          "connection, for example \"NVLink\", \"PCIe switch\" or \"host bridge\""};
    OptionalText<"abbreviation"> abbreviation{this,
                                              "abbreviation of nvidia-smi topo -m: \"NV18\", \"PIX\", \"PXB\", "
                                              "\"PHB\", \"NODE\", \"SYS\", or \"X\" for the same GPU"};
} topology;

inline constexpr struct Affinities : TableOf<Affinities> {
    constexpr Affinities() : TableOf("LANESCOPE_GPU_AFFINITY", "the CPU cores and NUMA node near a GPU") {}
    Integer<"gpuId"> gpuId{this, "GPU number"};
    OptionalText<"cpus"> cpus{this, "CPU cores, for example \"0-31,64-95\""};
    OptionalInteger<"numaNode"> numaNode{this,
                                         "NUMA node; NULL on machines with one node or if not reported by the driver"};
} affinities;

inline constexpr struct LinkPeaks : TableOf<LinkPeaks> {
    constexpr LinkPeaks()
        : TableOf("LANESCOPE_LINK_PEAKS",
                  "a peak rate of a link; a link may have several rows, and measured rates take precedence over "
                  "computed rates") {}
    Text<"kind"> kind{this, "link, 'pcie', 'nvlink', 'dram' or 'host-copy'"};
    OptionalInteger<"gpuId"> gpuId{this, "GPU number"};
    OptionalInteger<"peerGpuId"> peerGpuId{this,
                                           "number of the other GPU; NULL for the host or for all peers together"};
    OptionalText<"direction"> direction{this,
                                        "'tx', 'rx', 'read' or 'write'; 'host-copy': 'rx' is HtoD, 'tx' is DtoH. NULL: "
                                        "each direction, or both together for 'dram'"};
    OptionalText<"memory"> memory{this, "host memory of a measured copy, 'pinned' or 'pageable'"};
    Integer<"bytesPerSecond"> bytesPerSecond{this,
                                             "peak rate, bytes per second. PCIe: lanes x rate x encoding, without "
                                             "packet headers. NVLink: links x rate. DRAM: clock x 2 x bus width"};
    OptionalInteger<"links"> links{this, "number of NVLinks"};
    OptionalInteger<"generation"> generation{
        this, "PCIe generation; determines the encoding (8b/10b, 128b/130b, from generation 6 on 242 of 256 bytes)"};
    OptionalInteger<"width"> width{this, "number of PCIe lanes, or memory bus width in bits"};
    Text<"origin"> origin{this, "origin of the rate, 'nvml' (computed from driver data), 'cuda' or 'measured'"};
} linkPeaks;

inline constexpr struct Roofs : TableOf<Roofs> {
    constexpr Roofs() : TableOf("LANESCOPE_ROOFS", "a peak rate of a GPU, measured by 'lanescope doctor --measure'") {}
    Text<"kind"> kind{this, "'gemm' (matrix product) or 'dram' (GPU memory)"};
    Integer<"gpuId"> gpuId{this, "GPU number"};
    Text<"operation"> operation{
        this, "'bf16', 'fp16', 'fp8', 'tf32', 'fp32' or 'fp64' for products; 'read', 'write' or 'copy' for memory"};
    OptionalInteger<"m"> m{this, "rows of the product; NULL for memory"};
    OptionalInteger<"n"> n{this, "columns of the product; NULL for memory"};
    OptionalInteger<"k"> k{this, "inner dimension of the product (length of the sums); NULL for memory"};
    Integer<"perSecond"> perSecond{
        this, "floating-point operations per second, or bytes per second; a copy counts each byte twice"};
    OptionalInteger<"smClockHz"> smClockHz{this, "SM clock during the measurement, Hz"};
    OptionalInteger<"powerMilliwatts"> powerMilliwatts{this, "GPU power during the measurement, mW"};
    OptionalInteger<"temperature"> temperature{this, "GPU temperature, degrees Celsius"};
    OptionalText<"software"> software{this, "library of the product"};
} roofs;

inline constexpr struct GpuMetrics : TableOf<GpuMetrics> {
    constexpr GpuMetrics()
        : TableOf("GPU_METRICS", "a sample of a GPU hardware counter; thousands of samples per second",
                  Content::Events) {}
    OptionalInteger<"timestamp"> timestamp{this, "end of the sampling interval, ns"};
    Integer<"typeId"> typeId{this, "GPU number in the lowest byte"};
    Integer<"metricId"> metricId{this, "metric number, as in TARGET_INFO_GPU_METRICS"};
    OptionalNumber<"value"> value{this,
                                  "value over the interval in the unit of the metric, possibly fractional (rounded in "
                                  "Nsight Systems exports); NULL if samples were lost"};
} gpuMetrics;

inline constexpr struct GpuMetricNames : TableOf<GpuMetricNames> {
    constexpr GpuMetricNames() : TableOf("TARGET_INFO_GPU_METRICS", "a metric of GPU_METRICS") {}
    Integer<"typeId"> typeId{this, "GPU number, as in GPU_METRICS"};
    Integer<"sourceId"> sourceId{this, "GPU number"};
    Text<"typeName"> typeName{this, "source name, for example \"GPU Metrics [0]\""};
    Integer<"metricId"> metricId{this, "metric number, as in GPU_METRICS"};
    Text<"metricName"> metricName{this,
                                  "name with unit, \"SMs Active [Throughput %]\"; names missing in Nsight Systems "
                                  "count bytes per interval, \"PCIe Read Bytes [B]\""};
} gpuMetricNames;

inline constexpr struct Counters : TableOf<Counters> {
    constexpr Counters() : TableOf("LANESCOPE_COUNTERS", "a counter read periodically by a sampler") {}
    Key<"counterId"> counterId{this, "counter number within the trace"};
    Text<"source"> source{this, "source, 'nvml', 'gpm' or 'host'"};
    Text<"name"> name{this, "name for programs, for example \"gpu.utilization\" or \"nvlink.tx\""};
    OptionalText<"title"> title{this, "name shown to users"};
    Text<"unit"> unit{this, "unit, 'B', 'B/s', '%', 'W', 'C', 'Hz', 'J', 'count', 'flags' or 's'"};
    Integer<"meaning"> meaning{this,
                               "0: value from the timestamp on, 1: cumulative count, 2: average over the interval up "
                               "to the timestamp, 3: amount in the interval"};
    OptionalInteger<"gpuId"> gpuId{this, "GPU number; NULL if not specific to a GPU"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id; NULL if not specific to a process"};
    OptionalInteger<"link"> link{this, "link number; NULL if not specific to a link"};
    OptionalInteger<"core"> core{this, "CPU core; NULL if not specific to a core"};
    OptionalText<"device"> device{this, "disk or network device; NULL if not specific to a device"};
    OptionalText<"direction"> direction{this, "'tx', 'rx', 'read' or 'write'; NULL without a direction"};
    OptionalReal<"granularity"> granularity{this,
                                            "resolution of the source, in the unit of the counter; NULL if unknown"};
    OptionalInteger<"wrapBits"> wrapBits{
        this, "bits of a cumulative count, which restarts at 2^wrapBits; NULL without restarts"};
    OptionalText<"hostName"> hostName{this, "host name in traces of several hosts; NULL for one host"};
    OptionalInteger<"intervalNs"> intervalNs{this, "mean reading interval, ns; NULL if unknown"};
} counters;

inline constexpr struct CounterSamples : TableOf<CounterSamples> {
    constexpr CounterSamples()
        : TableOf("LANESCOPE_COUNTER_SAMPLES", "a counter sample; sorted by time per counter", Content::Events) {}
    Integer<"counterId"> counterId{this, "counter number, as in LANESCOPE_COUNTERS"};
    Integer<"timestamp"> timestamp{this, "time, ns"};
    OptionalAny<"value"> value{this,
                               "integer or fraction, in the unit of the counter; never 0 for unknown. NULL: unknown "
                               "from here on (GPU lost, source silent, sampling ended)"};
} counterSamples;

inline constexpr struct GpuProcesses : TableOf<GpuProcesses> {
    constexpr GpuProcesses()
        : TableOf(
              "LANESCOPE_GPU_PROCESSES",
              "a process that used a GPU; absence at a later timestamp of the GPU means that the process has left") {}
    Integer<"timestamp"> timestamp{this, "time, ns"};
    Integer<"gpuId"> gpuId{this, "GPU number"};
    Integer<"pid"> pid{this, "PID (not packed)"};
    OptionalText<"name"> name{this, "process name; NULL if not reported by the driver"};
    OptionalInteger<"bytes"> bytes{this, "GPU memory of the process, bytes; NULL if not reported by the driver"};
    OptionalReal<"smPercent"> smPercent{this, "SM use by the process, %; NULL if not reported by the driver"};
} gpuProcesses;

inline constexpr struct SamplingMoments : TableOf<SamplingMoments> {
    constexpr SamplingMoments()
        : TableOf("LANESCOPE_SAMPLING_MOMENTS",
                  "a start or end of a range chosen with --sample-at, with an immediate reading of link and energy "
                  "counters; close events share a reading") {}
    Integer<"timestamp"> timestamp{this, "start or end time of the range, ns"};
    Text<"range"> range{this, "range name"};
    Integer<"occurrence"> occurrence{this, "number of earlier matching ranges of the process"};
    Integer<"isEnd"> isEnd{this, "0: start, 1: end of the range"};
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"readStart"> readStart{
        this, "start time of the reading, ns; the event has the nearest counter values between readStart and readEnd"};
    OptionalInteger<"readEnd"> readEnd{this, "end time of the reading, ns"};
} samplingMoments;

}  // namespace lanescope::tables
