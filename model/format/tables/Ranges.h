// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope {

/// Type of a row of `NVTX_EVENTS`, numbered as in `ENUM_NSYS_EVENT_TYPE`; other files may have
/// other numbers. The imported types come from text files in reports of Nsight Systems.
enum class NvtxEventType : int64_t {
    CategoryName = 33,
    Mark = 34,
    OpenPush = 35,   ///< Push without a pop; it has no end.
    OpenStart = 37,  ///< Started range without an end.
    PushPop = 59,
    StartEnd = 60,
    ImportedMark = 65,
    ImportedPushPop = 70,
    ImportedStartEnd = 71,
    DomainName = 75,
};

}  // namespace lanescope

namespace lanescope::tables {

struct NvtxEvents : TableOf<NvtxEvents> {
    constexpr NvtxEvents() : TableOf("NVTX_EVENTS", "a range, a mark, or a name", Content::Events) {}

    OptionalInteger<"start"> start{this, "when it began, ns"};
    OptionalInteger<"end"> end{this, "when it ended, ns; NULL: a mark, or never closed (35, 37)"};
    Integer<"eventType"> eventType{
        this,
        "59 push-pop range, 60 start-end range, 35 and 37 never closed, 34 mark, 75 name of domain "
        "domainId, 33 name of category; as ENUM_NSYS_EVENT_TYPE"};
    OptionalInteger<"rangeId"> rangeId{this, "of a start-end range, as the program knows it"};
    OptionalInteger<"category"> category{this, "number of the category in its domain"};
    OptionalInteger<"color"> color{this, "ARGB"};
    OptionalText<"text"> text{this, "the name again, for programs that know no textId"};
    OptionalInteger<"globalTid"> globalTid{this, "the calling thread"};
    OptionalInteger<"endGlobalTid"> endGlobalTid{this, "the thread that ended a start-end range"};
    OptionalInteger<"textId"> textId{this, "the name, in StringIds"};
    OptionalInteger<"domainId"> domainId{this, "number of the domain in its process"};
    OptionalInteger<"uint64Value"> uint64Value{this, "payload, as a signed number"};
    OptionalInteger<"int64Value"> int64Value{this, "payload"};
    OptionalReal<"doubleValue"> doubleValue{this, "payload"};
    OptionalInteger<"uint32Value"> uint32Value{this, "payload"};
    OptionalInteger<"int32Value"> int32Value{this, "payload"};
    OptionalReal<"floatValue"> floatValue{this, "payload"};
    OptionalInteger<"jsonTextId"> jsonTextId{this, "extended payload, in StringIds; not filled"};
    OptionalText<"jsonText"> jsonText{this, "extended payload, as JSON"};
    OptionalText<"binaryData"> binaryData{this, "not filled"};
};
inline constexpr NvtxEvents nvtxEvents;

struct NvtxStacks : TableOf<NvtxStacks> {
    constexpr NvtxStacks() : TableOf("LANESCOPE_NVTX_STACKS", "where a range began or a mark was made in Python") {}

    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range or mark in NVTX_EVENTS"};
    Integer<"callchainId"> callchainId{this, "its Python stack, in LANESCOPE_STACKS"};
};
inline constexpr NvtxStacks nvtxStacks;

struct Backwards : TableOf<Backwards> {
    constexpr Backwards()
        : TableOf("LANESCOPE_BACKWARDS",
                  "an operator of PyTorch and the one that is its backward, paired by "
                  "torch.profiler's flow events or by sequence number") {}

    Integer<"forwardRow"> forwardRow{this, "rowid of the forward operator in NVTX_EVENTS"};
    Integer<"backwardRow"> backwardRow{this, "rowid of the backward operator in NVTX_EVENTS"};
};
inline constexpr Backwards backwards;

struct PayloadSchemas : TableOf<PayloadSchemas> {
    constexpr PayloadSchemas()
        : TableOf("NVTX_PAYLOAD_SCHEMAS", "a layout of payloads, as registered by the program") {}

    OptionalInteger<"domainId"> domainId{this, "number of the domain in its process"};
    OptionalInteger<"schemaId"> schemaId{this, "number of the layout in its domain"};
    OptionalText<"name"> name{this, "as the program calls it"};
    OptionalInteger<"type"> type{this, "NVTX's number of the kind of layout"};
    OptionalInteger<"flags"> flags{this, "NVTX's bits"};
    OptionalInteger<"numEntries"> numEntries{this, "how many fields"};
    OptionalInteger<"payloadSize"> payloadSize{this, "bytes"};
    OptionalInteger<"alignTo"> alignTo{this, "bytes"};
};
inline constexpr PayloadSchemas payloadSchemas;

struct PayloadEntries : TableOf<PayloadEntries> {
    constexpr PayloadEntries() : TableOf("NVTX_PAYLOAD_SCHEMA_ENTRIES", "a field of such a layout") {}

    Integer<"domainId"> domainId{this, "number of the domain in its process"};
    Integer<"schemaId"> schemaId{this, "number of the layout in its domain"};
    Integer<"idx"> idx{this, "number of the field, from 0"};
    OptionalInteger<"flags"> flags{this, "NVTX's bits"};
    OptionalInteger<"type"> type{this, "NVTX's number of the type, or a layout's"};
    OptionalText<"name"> name{this, "as the program calls it"};
    OptionalText<"description"> description{this, "as the program gave it"};
    OptionalInteger<"arrayOrUnionDetail"> arrayOrUnionDetail{this, "how many elements, or which field has the number"};
    OptionalInteger<"offset"> offset{this, "from the beginning of the payload, bytes"};
};
inline constexpr PayloadEntries payloadEntries;

struct NcclOperations : TableOf<NcclOperations> {
    constexpr NcclOperations()
        : TableOf("LANESCOPE_NCCL_OPERATIONS", "what NCCL reported about a call, in addition to its NVTX range",
                  Content::Events) {}

    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range in NVTX_EVENTS"};
    OptionalText<"operation"> operation{this,
                                        "\"AllReduce\", \"Send\", \"GroupStart\" ... without the prefix \"nccl\""};
    OptionalInteger<"bytes"> bytes{this, "message size that this rank passed, bytes; NULL if NCCL did not report it"};
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
    OptionalInteger<"communicator"> communicator{this, "NCCL's hash of the communicator, as a signed number"};
    OptionalInteger<"rank"> rank{this, "of the process in it"};
    OptionalInteger<"rankCount"> rankCount{this, "how many ranks it has"};
    OptionalInteger<"cudaDevice"> cudaDevice{this, "CUDA ordinal of the rank's GPU"};
    OptionalInteger<"nodeCount"> nodeCount{this, "how many machines it spans"};
    OptionalText<"name"> name{this, "as the program called it"};
};
inline constexpr NcclCommunicators ncclCommunicators;

struct NcclPluginOperations : TableOf<NcclPluginOperations> {
    constexpr NcclPluginOperations()
        : TableOf("LANESCOPE_NCCL_PLUGIN_OPERATIONS", "NCCL's report to its profiler plugin about an operation",
                  Content::Events) {}

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
        this, "how many of this operation the communicator had before; none for sends and receives"};
    OptionalText<"algorithm"> algorithm{
        this, "NCCL's name, \"RING\", \"TREE\", \"NVLS\" ...; \"copy engine\" where no kernel does it"};
    OptionalText<"protocol"> protocol{this, "NCCL's name, \"LL\", \"LL128\", \"SIMPLE\""};
    OptionalInteger<"channels"> channels{this, "channels, each a block of the kernel"};
    OptionalInteger<"warps"> warps{this, "warps of each channel"};
    OptionalInteger<"isCaptured"> isCaptured{this, "1: called while a CUDA graph was captured"};
    OptionalInteger<"enqueueGlobalTid"> enqueueGlobalTid{this, "the thread on which NCCL handed it to the GPU"};
    OptionalInteger<"enqueueStart"> enqueueStart{
        this,
        "when NCCL began to hand it to the GPU, on the CPU, ns; NULL if it never did. Several rows "
        "of one call are replays of a graph"};
    OptionalInteger<"enqueueEnd"> enqueueEnd{this, "when it had, ns"};
    OptionalInteger<"launchGlobalTid"> launchGlobalTid{this, "the thread on which NCCL launched its kernel"};
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
