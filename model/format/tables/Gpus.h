// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Gpus : TableOf<Gpus> {
    constexpr Gpus() : TableOf("TARGET_INFO_GPU", "a GPU of the machine") {}

    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 for ours"};
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
    OptionalInteger<"computeMajor"> computeMajor{this, "compute capability before the point"};
    OptionalInteger<"computeMinor"> computeMinor{this, "compute capability behind the point"};
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
    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 for ours"};
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
    Integer<"vmId"> vmId{this, "virtual machine; 1 for ours"};
    Integer<"processId"> processId{this, "a plain PID"};
    Integer<"contextId"> contextId{this, "CUPTI's number of the context"};
    Integer<"priority"> priority{this, "CUDA's; the lower goes first"};
    Integer<"flag"> flag{this, "as ENUM_CUPTI_STREAM_TYPE"};
};
inline constexpr Streams streams;

struct NullStreams : TableOf<NullStreams> {
    constexpr NullStreams()
        : TableOf("TARGET_INFO_CUDA_NULL_STREAM", "the default stream of a context") {}

    OptionalInteger<"streamId"> streamId{this, "CUPTI's number of the stream"};
    OptionalInteger<"hwId"> hwId{this, "the host"};
    OptionalInteger<"vmId"> vmId{this, "virtual machine; 1 for ours"};
    OptionalInteger<"processId"> processId{this, "a plain PID"};
    OptionalInteger<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    OptionalInteger<"contextId"> contextId{this, "CUPTI's number of the context"};
};
inline constexpr NullStreams nullStreams;

}  // namespace lanescope::tables
