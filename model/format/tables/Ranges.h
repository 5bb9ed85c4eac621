// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope {

/// Type of a row of `NVTX_EVENTS`, numbered as in `ENUM_NSYS_EVENT_TYPE`; third-party files may use other numbers. The
/// imported types come from text files in reports of Nsight Systems.
enum class NvtxEventType : int64_t {
    CategoryName = 33,
    Mark = 34,
    OpenPush = 35,   ///< Push without a pop, and so without an end.
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

inline constexpr struct NvtxEvents : TableOf<NvtxEvents> {
    constexpr NvtxEvents()
        : TableOf("NVTX_EVENTS", "an NVTX range, an NVTX mark, or a name of a domain or category", Content::Events) {}
    OptionalInteger<"start"> start{this, "start time, ns"};
    OptionalInteger<"end"> end{this, "end time, ns; NULL for a mark or an unclosed range (eventType 35, 37)"};
    Integer<"eventType"> eventType{this,
                                   "33: category name, 34: mark, 35: unclosed push, 37: unclosed start, 59: push-pop "
                                   "range, 60: start-end range, 75: domain name; as in ENUM_NSYS_EVENT_TYPE"};
    OptionalInteger<"rangeId"> rangeId{this, "NVTX range id of a start-end range; NULL otherwise"};
    OptionalInteger<"category"> category{this, "category number within the domain"};
    OptionalInteger<"color"> color{this, "color, ARGB"};
    OptionalText<"text"> text{this, "same name as textId, for programs without support for textId"};
    OptionalInteger<"globalTid"> globalTid{this, "packed id of the calling thread"};
    OptionalInteger<"endGlobalTid"> endGlobalTid{this, "packed id of the ending thread of a start-end range"};
    OptionalInteger<"textId"> textId{this, "name, in StringIds"};
    OptionalInteger<"domainId"> domainId{this, "domain number within the process"};
    OptionalInteger<"uint64Value"> uint64Value{this, "uint64 payload, stored as signed"};
    OptionalInteger<"int64Value"> int64Value{this, "int64 payload"};
    OptionalReal<"doubleValue"> doubleValue{this, "double payload"};
    OptionalInteger<"uint32Value"> uint32Value{this, "uint32 payload"};
    OptionalInteger<"int32Value"> int32Value{this, "int32 payload"};
    OptionalReal<"floatValue"> floatValue{this, "float payload"};
    OptionalInteger<"jsonTextId"> jsonTextId{this, "extended payload, in StringIds; NULL in Lanescope traces"};
    OptionalText<"jsonText"> jsonText{this, "extended payload, JSON"};
    OptionalText<"binaryData"> binaryData{this, "NULL in Lanescope traces"};
} nvtxEvents;

inline constexpr struct NvtxStacks : TableOf<NvtxStacks> {
    constexpr NvtxStacks()
        : TableOf("LANESCOPE_NVTX_STACKS", "the Python stack at the start of an NVTX range or at a mark") {}
    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range or mark in NVTX_EVENTS"};
    Integer<"callchainId"> callchainId{this, "Python stack, in LANESCOPE_STACKS"};
} nvtxStacks;

inline constexpr struct Backwards : TableOf<Backwards> {
    constexpr Backwards()
        : TableOf("LANESCOPE_BACKWARDS",
                  "a PyTorch operator and its backward operator, paired by torch.profiler's flow events or by sequence "
                  "number") {}
    Integer<"forwardRow"> forwardRow{this, "rowid of the forward operator in NVTX_EVENTS"};
    Integer<"backwardRow"> backwardRow{this, "rowid of the backward operator in NVTX_EVENTS"};
} backwards;

inline constexpr struct PayloadSchemas : TableOf<PayloadSchemas> {
    constexpr PayloadSchemas() : TableOf("NVTX_PAYLOAD_SCHEMAS", "a payload layout registered by the program") {}
    OptionalInteger<"domainId"> domainId{this, "domain number within the process"};
    OptionalInteger<"schemaId"> schemaId{this, "layout number within the domain"};
    OptionalText<"name"> name{this, "layout name in the program"};
    OptionalInteger<"type"> type{this, "NVTX number of the layout kind"};
    OptionalInteger<"flags"> flags{this, "NVTX flags"};
    OptionalInteger<"numEntries"> numEntries{this, "number of fields"};
    OptionalInteger<"payloadSize"> payloadSize{this, "payload size, bytes"};
    OptionalInteger<"alignTo"> alignTo{this, "alignment, bytes"};
} payloadSchemas;

inline constexpr struct PayloadEntries : TableOf<PayloadEntries> {
    constexpr PayloadEntries() : TableOf("NVTX_PAYLOAD_SCHEMA_ENTRIES", "a field of a payload layout") {}
    Integer<"domainId"> domainId{this, "domain number within the process"};
    Integer<"schemaId"> schemaId{this, "layout number within the domain"};
    Integer<"idx"> idx{this, "field number, from 0"};
    OptionalInteger<"flags"> flags{this, "NVTX flags"};
    OptionalInteger<"type"> type{this, "NVTX number of the type, or number of a layout"};
    OptionalText<"name"> name{this, "field name in the program"};
    OptionalText<"description"> description{this, "field description from the program"};
    OptionalInteger<"arrayOrUnionDetail"> arrayOrUnionDetail{
        this, "number of array elements, or number of the field with the array size or union selector"};
    OptionalInteger<"offset"> offset{this, "offset from the start of the payload, bytes"};
} payloadEntries;

inline constexpr struct NcclOperations : TableOf<NcclOperations> {
    constexpr NcclOperations()
        : TableOf("LANESCOPE_NCCL_OPERATIONS", "NCCL's data about a call, in addition to the NVTX range of the call",
                  Content::Events) {}
    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range in NVTX_EVENTS"};
    OptionalText<"operation"> operation{
        this, "operation without the prefix \"nccl\", for example \"AllReduce\", \"Send\" or \"GroupStart\""};
    OptionalInteger<"bytes"> bytes{this, "message size passed by the rank, bytes; NULL if not reported by NCCL"};
    OptionalInteger<"communicator"> communicator{this,
                                                 "NCCL's hash of the communicator, stored as signed; NULL if unknown"};
    OptionalInteger<"reduction"> reduction{this, "ncclRedOp_t; NULL without a reduction"};
    OptionalInteger<"root"> root{this, "root rank of a broadcast or reduce"};
    OptionalInteger<"peer"> peer{this, "other rank of a send or receive"};
    OptionalInteger<"globalTid"> globalTid{this, "packed id of the calling thread"};
} ncclOperations;

inline constexpr struct NcclCommunicators : TableOf<NcclCommunicators> {
    constexpr NcclCommunicators()
        : TableOf("LANESCOPE_NCCL_COMMUNICATORS",
                  "an NCCL communicator; possibly two complementary rows, from an NVTX range and from NCCL's profiler "
                  "plugin") {}
    OptionalInteger<"globalPid"> globalPid{this, "packed process id"};
    OptionalInteger<"communicator"> communicator{this,
                                                 "NCCL's hash of the communicator, stored as signed; NULL if unknown"};
    OptionalInteger<"rank"> rank{this, "rank of the process in the communicator"};
    OptionalInteger<"rankCount"> rankCount{this, "number of ranks"};
    OptionalInteger<"cudaDevice"> cudaDevice{this, "CUDA ordinal of the rank's GPU"};
    OptionalInteger<"nodeCount"> nodeCount{this, "number of machines"};
    OptionalText<"name"> name{this, "communicator name in the program"};
} ncclCommunicators;

inline constexpr struct NcclPluginOperations : TableOf<NcclPluginOperations> {
    constexpr NcclPluginOperations()
        : TableOf("LANESCOPE_NCCL_PLUGIN_OPERATIONS", "an NCCL operation reported to NCCL's profiler plugin",
                  Content::Events) {}
    OptionalInteger<"globalTid"> globalTid{
        this, "packed id of the calling thread; NULL before NCCL 2.28 and for operations of NCCL itself"};
    OptionalInteger<"start"> start{this, "start time of the call, ns; NULL if globalTid is NULL"};
    OptionalInteger<"end"> end{this, "time of return of the call, ns; NULL if globalTid is NULL"};
    OptionalText<"operation"> operation{this, "operation, for example \"AllReduce\" or \"Send\""};
    OptionalText<"datatype"> datatype{this,
                                      "NCCL data type, such as \"bfloat16\" (lower case, without \"nccl\"); NULL if "
                                      "only NCCL's internal type is available (bytes in AllGather, Broadcast)"};
    OptionalInteger<"count"> count{this, "number of elements passed by the rank"};
    OptionalInteger<"bytes"> bytes{this, "size of the elements, bytes"};
    OptionalInteger<"communicator"> communicator{this,
                                                 "NCCL's hash of the communicator, stored as signed; NULL if unknown"};
    OptionalInteger<"rank"> rank{this, "rank of the process in the communicator"};
    OptionalInteger<"root"> root{this, "root rank of a broadcast or reduce"};
    OptionalInteger<"peer"> peer{this, "other rank of a send or receive"};
    OptionalInteger<"sequence"> sequence{
        this, "number of earlier operations of the same kind in the communicator; NULL for sends and receives"};
    OptionalText<"algorithm"> algorithm{
        this,
        "NCCL algorithm, for example \"RING\", \"TREE\" or \"NVLS\"; \"copy engine\" for operations without a kernel"};
    OptionalText<"protocol"> protocol{this, "NCCL protocol, \"LL\", \"LL128\" or \"SIMPLE\""};
    OptionalInteger<"channels"> channels{this, "number of channels; one kernel block per channel"};
    OptionalInteger<"warps"> warps{this, "warps per channel"};
    OptionalInteger<"isCaptured"> isCaptured{this,
                                             "1: called during the capture of a CUDA graph, else 0; NULL if unknown"};
    OptionalInteger<"enqueueGlobalTid"> enqueueGlobalTid{
        this, "packed id of the thread on which NCCL enqueued the operation"};
    OptionalInteger<"enqueueStart"> enqueueStart{this,
                                                 "start time of NCCL's enqueueing on the CPU, ns; NULL if never "
                                                 "enqueued. Several rows of one call are replays of a graph"};
    OptionalInteger<"enqueueEnd"> enqueueEnd{this, "end time of NCCL's enqueueing, ns"};
    OptionalInteger<"launchGlobalTid"> launchGlobalTid{this,
                                                       "packed id of the thread on which NCCL launched the kernel"};
    OptionalInteger<"launchStart"> launchStart{this,
                                               "start time of the kernel launch by NCCL, ns; API calls of "
                                               "launchGlobalTid from launchStart to launchEnd launched the kernel"};
    OptionalInteger<"launchEnd"> launchEnd{
        this, "end time of the kernel launch by NCCL, ns; operations with equal launches share the kernel"};
    OptionalInteger<"callchainId"> callchainId{
        this,
        "Python stack of the call (before NCCL 2.28: of the enqueueing), in LANESCOPE_STACKS; NULL without a stack"};
} ncclPluginOperations;

}  // namespace lanescope::tables
