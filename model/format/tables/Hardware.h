// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Gpus : TableOf<Gpus> {
    constexpr Gpus() : TableOf("TARGET_INFO_GPU", "a GPU of the machine") {}

    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 in Lanescope traces"};
    OptionalInteger<"id"> id{this, "the number that is shown"};
    OptionalText<"name"> name{this, "as the driver calls it"};
    OptionalText<"busLocation"> busLocation{this, "PCI address"};
    OptionalInteger<"isDiscrete"> isDiscrete{this, "1: a GPU with memory of its own"};
    OptionalInteger<"l2CacheSize"> l2CacheSize{this, "bytes"};
    OptionalInteger<"totalMemory"> totalMemory{this, "bytes"};
    OptionalInteger<"memoryBandwidth"> memoryBandwidth{this, "bytes a second"};
    OptionalInteger<"clockRate"> clockRate{this, "Hz"};
    OptionalInteger<"smCount"> smCount{this, "streaming multiprocessors"};
    OptionalInteger<"pwGpuId"> pwGpuId{this, "not filled"};
    OptionalText<"uuid"> uuid{this, "\"GPU-...\", or \"MIG-...\" for a slice of one"};
    OptionalInteger<"luid"> luid{this, "not filled"};
    OptionalText<"chipName"> chipName{this, "not filled"};
    OptionalInteger<"cuDevice"> cuDevice{this, "CUDA ordinal in a process that used it"};
    OptionalText<"ctxswDevPath"> ctxswDevPath{this, "not filled"};
    OptionalText<"ctrlDevPath"> ctrlDevPath{this, "not filled"};
    OptionalInteger<"revision"> revision{this, "not filled"};
    OptionalInteger<"nodeMask"> nodeMask{this, "not filled"};
    OptionalInteger<"constantMemory"> constantMemory{this, "bytes"};
    OptionalInteger<"maxIPC"> maxIpc{this, "not filled"};
    OptionalInteger<"maxRegistersPerBlock"> maxRegistersPerBlock{this, "32-bit registers"};
    OptionalInteger<"maxShmemPerBlock"> maxShmemPerBlock{this, "shared memory, bytes"};
    OptionalInteger<"maxShmemPerBlockOptin"> maxShmemPerBlockOptin{this, "bytes; not filled"};
    OptionalInteger<"maxShmemPerSm"> maxShmemPerSm{this, "shared memory, bytes"};
    OptionalInteger<"maxRegistersPerSm"> maxRegistersPerSm{this, "32-bit registers"};
    OptionalInteger<"threadsPerWarp"> threadsPerWarp{this, "threads"};
    OptionalInteger<"asyncEngines"> asyncEngines{this, "copy engines"};
    OptionalInteger<"maxWarpsPerSm"> maxWarpsPerSm{this, "warps"};
    OptionalInteger<"maxBlocksPerSm"> maxBlocksPerSm{this, "blocks"};
    OptionalInteger<"maxThreadsPerBlock"> maxThreadsPerBlock{this, "threads"};
    OptionalInteger<"maxBlockDimX"> maxBlockDimX{this, "threads"};
    OptionalInteger<"maxBlockDimY"> maxBlockDimY{this, "threads"};
    OptionalInteger<"maxBlockDimZ"> maxBlockDimZ{this, "threads"};
    OptionalInteger<"maxGridDimX"> maxGridDimX{this, "blocks"};
    OptionalInteger<"maxGridDimY"> maxGridDimY{this, "blocks"};
    OptionalInteger<"maxGridDimZ"> maxGridDimZ{this, "blocks"};
    OptionalInteger<"computeMajor"> computeMajor{this, "major compute capability"};
    OptionalInteger<"computeMinor"> computeMinor{this, "minor compute capability"};
    OptionalInteger<"smMajor"> smMajor{this, "the same as computeMajor"};
    OptionalInteger<"smMinor"> smMinor{this, "the same as computeMinor"};
};
inline constexpr Gpus gpus;

struct CudaDevices : TableOf<CudaDevices> {
    constexpr CudaDevices() : TableOf("TARGET_INFO_CUDA_DEVICE", "what a process calls a GPU") {}

    OptionalInteger<"gpuId"> gpuId{this, "id in TARGET_INFO_GPU"};
    OptionalInteger<"cudaId"> cudaId{this, "CUDA ordinal within the process"};
    OptionalInteger<"pid"> pid{this, "the process; readers take it plain or packed like globalPid"};
};
inline constexpr CudaDevices cudaDevices;

struct Contexts : TableOf<Contexts> {
    constexpr Contexts() : TableOf("TARGET_INFO_CUDA_CONTEXT_INFO", "a CUDA context") {}

    OptionalInteger<"nullStreamId"> nullStreamId{this, "CUPTI's number of its default stream"};
    OptionalInteger<"hwId"> hwId{this, "the host"};
    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 in Lanescope traces"};
    OptionalInteger<"processId"> processId{this, "a plain PID"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI's number of the context"};
    OptionalInteger<"parentContextId"> parentContextId{this, "not filled"};
    OptionalInteger<"isGreenContext"> isGreenContext{this, "not filled"};
};
inline constexpr Contexts contexts;

struct Streams : TableOf<Streams> {
    constexpr Streams() : TableOf("TARGET_INFO_CUDA_STREAM", "a CUDA stream") {}

    Integer<"streamId"> streamId{this, "CUPTI's number of the stream"};
    Integer<"hwId"> hwId{this, "the host"};
    Integer<"vmId"> vmId{this, "virtual machine; 1 in Lanescope traces"};
    Integer<"processId"> processId{this, "a plain PID"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    Integer<"priority"> priority{this, "CUDA's; the lower goes first"};
    Integer<"flag"> flag{this, "as ENUM_CUPTI_STREAM_TYPE"};
};
inline constexpr Streams streams;

struct NullStreams : TableOf<NullStreams> {
    constexpr NullStreams() : TableOf("TARGET_INFO_CUDA_NULL_STREAM", "the default stream of a context") {}

    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"hwId"> hwId{this, "the host"};
    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 in Lanescope traces"};
    OptionalInteger<"processId"> processId{this, "a plain PID"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI's number of the context"};
};
inline constexpr NullStreams nullStreams;

struct Topology : TableOf<Topology> {
    constexpr Topology() : TableOf("LANESCOPE_TOPOLOGY", "how two GPUs are connected") {}

    OptionalInteger<"gpuId"> gpuId{this, "the one GPU"};
    OptionalInteger<"peerGpuId"> peerGpuId{this, "the other"};
    OptionalInteger<"nvlinkCount"> nvlinkCount{this, "NVLinks between them"};
    OptionalText<"connection"> connection{this, "\"NVLink\", \"PCIe switch\", \"host bridge\" ..."};
    OptionalText<"abbreviation"> abbreviation{
        this,
        "what nvidia-smi topo -m prints: \"NV18\", \"PIX\", \"PXB\", \"PHB\", \"NODE\", \"SYS\", "
        "and \"X\" for a GPU with itself"};
};
inline constexpr Topology topology;

struct Affinities : TableOf<Affinities> {
    constexpr Affinities() : TableOf("LANESCOPE_GPU_AFFINITY", "which part of the machine is near a GPU") {}

    Integer<"gpuId"> gpuId{this, "the GPU"};
    OptionalText<"cpus"> cpus{this, "\"0-31,64-95\""};
    OptionalInteger<"numaNode"> numaNode{this, "NULL if there is only one or the driver does not say"};
};
inline constexpr Affinities affinities;

struct LinkPeaks : TableOf<LinkPeaks> {
    constexpr LinkPeaks()
        : TableOf("LANESCOPE_LINK_PEAKS",
                  "what a link can carry; one link may have several rows, and measured values have "
                  "priority over computed ones") {}

    Text<"kind"> kind{this, "'pcie', 'nvlink', 'dram', 'host-copy'"};
    OptionalInteger<"gpuId"> gpuId{this, "the GPU"};
    OptionalInteger<"peerGpuId"> peerGpuId{this, "the other one; NULL for the host or for all peers together"};
    OptionalText<"direction"> direction{
        this,
        "'tx', 'rx', 'read', 'write'; NULL: each of them, or for 'dram' both together. Of a "
        "'host-copy' 'rx' is HtoD, 'tx' is DtoH"};
    OptionalText<"memory"> memory{this, "'pinned' or 'pageable' for measured copies"};
    Integer<"bytesPerSecond"> bytesPerSecond{
        this,
        "the peak, bytes a second. PCIe: lanes x rate x encoding (8b/10b, 128b/130b, 242 of 256 "
        "bytes from generation 6 on), without the headers of packets. NVLink: links x rate. DRAM: "
        "clock x 2 x bus width"};
    OptionalInteger<"links"> links{this, "NVLinks"};
    OptionalInteger<"generation"> generation{this, "of PCIe"};
    OptionalInteger<"width"> width{this, "lanes of PCIe, or bits of the memory bus"};
    Text<"origin"> origin{this, "'nvml' (computed from what the driver says), 'cuda', 'measured'"};
};
inline constexpr LinkPeaks linkPeaks;

struct Roofs : TableOf<Roofs> {
    constexpr Roofs()
        : TableOf("LANESCOPE_ROOFS", "what a GPU reached when 'lanescope doctor --measure' measured it") {}

    Text<"kind"> kind{this, "'gemm' (matrix product), 'dram' (memory of the GPU)"};
    Integer<"gpuId"> gpuId{this, "the GPU"};
    Text<"operation"> operation{
        this, "'bf16', 'fp16', 'fp8', 'tf32', 'fp32', 'fp64' of a product; 'read', 'write', 'copy' of memory"};
    OptionalInteger<"m"> m{this, "rows of the result; NULL for memory"};
    OptionalInteger<"n"> n{this, "columns of the result"};
    OptionalInteger<"k"> k{this, "length of the sums"};
    Integer<"perSecond"> perSecond{this,
                                   "floating-point operations, or bytes, a second; a copy counts each byte twice"};
    OptionalInteger<"smClockHz"> smClockHz{this, "clock of the SMs meanwhile"};
    OptionalInteger<"powerMilliwatts"> powerMilliwatts{this, "power of the GPU meanwhile"};
    OptionalInteger<"temperature"> temperature{this, "of the GPU, degrees Celsius"};
    OptionalText<"software"> software{this, "library that computed the product"};
};
inline constexpr Roofs roofs;

struct GpuMetrics : TableOf<GpuMetrics> {
    constexpr GpuMetrics()
        : TableOf("GPU_METRICS", "hardware counter samples of a GPU, thousands per second", Content::Events) {}

    OptionalInteger<"timestamp"> timestamp{this, "end of the interval, ns"};
    Integer<"typeId"> typeId{this, "its lowest byte is the GPU's number"};
    Integer<"metricId"> metricId{this, "the metric, in TARGET_INFO_GPU_METRICS"};
    OptionalNumber<"value"> value{
        this,
        "over the interval, in the metric's unit; may be a fraction, where Nsight Systems rounds; "
        "NULL where samples were lost"};
};
inline constexpr GpuMetrics gpuMetrics;

struct GpuMetricNames : TableOf<GpuMetricNames> {
    constexpr GpuMetricNames() : TableOf("TARGET_INFO_GPU_METRICS", "such a metric of a GPU") {}

    Integer<"typeId"> typeId{this, "as in GPU_METRICS"};
    Integer<"sourceId"> sourceId{this, "the GPU's number"};
    Text<"typeName"> typeName{this, "\"GPU Metrics [0]\""};
    Integer<"metricId"> metricId{this, "as in GPU_METRICS"};
    Text<"metricName"> metricName{
        this,
        "with the unit in brackets, \"SMs Active [Throughput %]\"; names that Nsight Systems does "
        "not have are in bytes of the interval, \"PCIe Read Bytes [B]\""};
};
inline constexpr GpuMetricNames gpuMetricNames;

struct Counters : TableOf<Counters> {
    constexpr Counters() : TableOf("LANESCOPE_COUNTERS", "a counter that a sampler read again and again") {}

    Key<"counterId"> counterId{this, "of the trace"};
    Text<"source"> source{this, "'nvml', 'gpm', 'host'"};
    Text<"name"> name{this, "for programs: \"gpu.utilization\", \"nvlink.tx\""};
    OptionalText<"title"> title{this, "for people"};
    Text<"unit"> unit{this, "'B', 'B/s', '%', 'W', 'C', 'Hz', 'J', 'count', 'flags', 's'"};
    Integer<"meaning"> meaning{
        this,
        "of a sample: 0 what holds from its time on; 1 a raw count that ever grows; 2 an average "
        "over the interval that ends at its time; 3 an amount within that interval"};
    OptionalInteger<"gpuId"> gpuId{this, "the GPU it is about; NULL where it is not about one"};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about; NULL where it is not about one"};
    OptionalInteger<"link"> link{this, "the link it is about; NULL where it is not about one"};
    OptionalInteger<"core"> core{this, "the core it is about; NULL where it is not about one"};
    OptionalText<"device"> device{this, "the disk or network device it is about; NULL where it is not about one"};
    OptionalText<"direction"> direction{this, "'tx', 'rx', 'read', 'write'"};
    OptionalReal<"granularity"> granularity{this, "the step in which the source counts, in unit; NULL if unknown"};
    OptionalInteger<"wrapBits"> wrapBits{this,
                                         "a cumulative count begins again at 2 to this power; NULL if it does not"};
    OptionalText<"hostName"> hostName{this, "where it was read, if the trace is of several hosts"};
    OptionalInteger<"intervalNs"> intervalNs{this, "how often it was read, on average, ns; NULL if unknown"};
};
inline constexpr Counters counters;

struct CounterSamples : TableOf<CounterSamples> {
    constexpr CounterSamples()
        : TableOf("LANESCOPE_COUNTER_SAMPLES", "a sample, sorted by time for each counter", Content::Events) {}

    Integer<"counterId"> counterId{this, "as in LANESCOPE_COUNTERS"};
    Integer<"timestamp"> timestamp{this, "when, ns"};
    OptionalAny<"value"> value{
        this,
        "a whole number or a fraction, in the counter's unit. NULL: unknown from here on, because "
        "the GPU was lost, the source fell silent, or sampling ended; unknown is never 0"};
};
inline constexpr CounterSamples counterSamples;

struct GpuProcesses : TableOf<GpuProcesses> {
    constexpr GpuProcesses()
        : TableOf("LANESCOPE_GPU_PROCESSES",
                  "a process that used a GPU; one that no later timestamp of the same GPU lists "
                  "has left it") {}

    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"gpuId"> gpuId{this, "the GPU"};
    Integer<"pid"> pid{this, "a plain PID"};
    OptionalText<"name"> name{this, "NULL where the driver does not say"};
    OptionalInteger<"bytes"> bytes{this, "of its memory; NULL where the driver does not say"};
    OptionalReal<"smPercent"> smPercent{this, "of its SMs; NULL where the driver does not say"};
};
inline constexpr GpuProcesses gpuProcesses;

struct SamplingMoments : TableOf<SamplingMoments> {
    constexpr SamplingMoments()
        : TableOf("LANESCOPE_SAMPLING_MOMENTS",
                  "a range that was chosen with --sample-at began or ended, and the counters of "
                  "links and energy were read at once; events close in time share a reading") {}

    Integer<"timestamp"> timestamp{this, "when it began or ended, ns"};
    Text<"range"> range{this, "its name"};
    Integer<"occurrence"> occurrence{this, "how many matching ranges the process had begun before"};
    Integer<"isEnd"> isEnd{this, "0: it began, 1: it ended"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"readStart"> readStart{
        this,
        "when the reading began, ns; the counter values of the event have a time from here to "
        "readEnd, the nearest to it"};
    OptionalInteger<"readEnd"> readEnd{this, "when the reading ended, ns"};
};
inline constexpr SamplingMoments samplingMoments;

}  // namespace lanescope::tables
