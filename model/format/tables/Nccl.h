// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct NcclOperations : TableOf<NcclOperations> {
    constexpr NcclOperations()
        : TableOf("LANESCOPE_NCCL_OPERATIONS",
                  "what NCCL said about a call, beside the NVTX range it announced it with",
                  Content::Events) {}

    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range in NVTX_EVENTS"};
    OptionalText<"operation"> operation{
        this, "\"AllReduce\", \"Send\", \"GroupStart\" ... without the prefix \"nccl\""};
    OptionalInteger<"bytes"> bytes{
        this, "message size that this rank passed, bytes; NULL if NCCL did not say"};
    OptionalInteger<"communicator"> communicator{
        this, "NCCL's hash of the communicator, as a signed number; NULL if unknown"};
    OptionalInteger<"reduction"> reduction{this, "ncclRedOp_t; NULL where there is none"};
    OptionalInteger<"root"> root{this, "root rank of a broadcast or reduce"};
    OptionalInteger<"peer"> peer{this, "the other rank of a send or receive"};
    OptionalInteger<"globalTid"> globalTid{this, "the calling thread"};
};
inline constexpr NcclOperations ncclOperations;

struct NcclCommunicators : TableOf<NcclCommunicators> {
    constexpr NcclCommunicators()
        : TableOf("LANESCOPE_NCCL_COMMUNICATORS",
                  "a communicator; one may have two rows, one by its NVTX range and one by NCCL's "
                  "profiler plugin, each without what the other knows") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"communicator"> communicator{
        this, "NCCL's hash of the communicator, as a signed number"};
    OptionalInteger<"rank"> rank{this, "of the process in it"};
    OptionalInteger<"rankCount"> rankCount{this, "how many ranks it has"};
    OptionalInteger<"cudaDevice"> cudaDevice{this, "CUDA ordinal of the rank's GPU"};
    OptionalInteger<"nodeCount"> nodeCount{this, "how many machines it spans"};
    OptionalText<"name"> name{this, "as the program called it"};
};
inline constexpr NcclCommunicators ncclCommunicators;

struct NcclPluginOperations : TableOf<NcclPluginOperations> {
    constexpr NcclPluginOperations()
        : TableOf("LANESCOPE_NCCL_PLUGIN_OPERATIONS",
                  "what NCCL told its profiler plugin about an operation", Content::Events) {}

    OptionalInteger<"globalTid"> globalTid{
        this, "the calling thread; NULL before NCCL 2.28, and for what NCCL does by itself"};
    OptionalInteger<"start"> start{this, "when the program called, ns; NULL like globalTid"};
    OptionalInteger<"end"> end{this, "when the call returned, ns; NULL like globalTid"};
    OptionalText<"operation"> operation{this, "\"AllReduce\", \"Send\" ..."};
    OptionalText<"datatype"> datatype{
        this,
        "\"float32\", \"bfloat16\" ... NCCL's name in lower case, without \"nccl\"; NULL if only "
        "NCCL's own is known, which for gathering and broadcasting is bytes"};
    OptionalInteger<"count"> count{this, "elements that this rank passed"};
    OptionalInteger<"bytes"> bytes{this, "their size, bytes"};
    OptionalInteger<"communicator"> communicator{
        this, "NCCL's hash of the communicator, as a signed number; NULL if unknown"};
    OptionalInteger<"rank"> rank{this, "of the process in the communicator"};
    OptionalInteger<"root"> root{this, "root rank of a broadcast or reduce"};
    OptionalInteger<"peer"> peer{this, "the other rank of a send or receive"};
    OptionalInteger<"sequence"> sequence{
        this,
        "how many of this operation the communicator had before; none for sends and receives"};
    OptionalText<"algorithm"> algorithm{
        this,
        "NCCL's name, \"RING\", \"TREE\", \"NVLS\" ...; \"copy engine\" where no kernel does it"};
    OptionalText<"protocol"> protocol{this, "NCCL's name, \"LL\", \"LL128\", \"SIMPLE\""};
    OptionalInteger<"channels"> channels{this, "channels, each a block of the kernel"};
    OptionalInteger<"warps"> warps{this, "warps of each channel"};
    OptionalInteger<"isCaptured"> isCaptured{this, "1: called while a CUDA graph was captured"};
    OptionalInteger<"enqueueGlobalTid"> enqueueGlobalTid{
        this, "the thread on which NCCL handed it to the GPU"};
    OptionalInteger<"enqueueStart"> enqueueStart{
        this,
        "when NCCL began to hand it to the GPU, on the CPU, ns; NULL if it never did. Several rows "
        "of one call are replays of a graph"};
    OptionalInteger<"enqueueEnd"> enqueueEnd{this, "when it had, ns"};
    OptionalInteger<"launchGlobalTid"> launchGlobalTid{
        this, "the thread on which NCCL launched its kernel"};
    OptionalInteger<"launchStart"> launchStart{
        this,
        "when NCCL began to launch the kernel, ns; API calls of that thread that start until "
        "launchEnd launched it. Operations with the same launch share the kernel"};
    OptionalInteger<"launchEnd"> launchEnd{this, "when it had, ns"};
    OptionalInteger<"callchainId"> callchainId{
        this,
        "the Python stack of the call, before NCCL 2.28 of its enqueueing, in LANESCOPE_STACKS; "
        "NULL if it has none"};
};
inline constexpr NcclPluginOperations ncclPluginOperations;

}  // namespace lanescope::tables
