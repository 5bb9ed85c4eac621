// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope {

/// What a row of `NVTX_EVENTS` is, by the numbers of `ENUM_NSYS_EVENT_TYPE`; a foreign file may
/// hold others. The imported ones come from text files in reports of Nsight Systems.
enum class NvtxEventType : int64_t {
    CategoryName = 33,
    Mark = 34,
    OpenPush = 35,   ///< A push that nobody popped: it has no end.
    OpenStart = 37,  ///< A start of a range that nobody ended.
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
    constexpr NvtxEvents()
        : TableOf("NVTX_EVENTS", "a range, a mark, or a name", Content::Events) {}

    OptionalInteger<"start"> start{this, "when it began, ns"};
    OptionalInteger<"end"> end{this, "when it ended, ns; NULL: a mark, or never closed (35, 37)"};
    Integer<"eventType"> eventType{
        this,
        "59 push-pop range, 60 start-end range, 35 and 37 those that nobody closed, 34 mark, 75 "
        "name of domain domainId, 33 name of category; as ENUM_NSYS_EVENT_TYPE"};
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
    constexpr NvtxStacks()
        : TableOf("LANESCOPE_NVTX_STACKS", "where a range began or a mark was made in Python") {}

    Integer<"nvtxRow"> nvtxRow{this, "rowid of the range or mark in NVTX_EVENTS"};
    Integer<"callchainId"> callchainId{this, "its Python stack, in LANESCOPE_STACKS"};
};
inline constexpr NvtxStacks nvtxStacks;

struct Backwards : TableOf<Backwards> {
    constexpr Backwards()
        : TableOf("LANESCOPE_BACKWARDS",
                  "an operator of PyTorch and the one that is its backward, which torch.profiler "
                  "joined by an arrow, or that have one sequence number") {}

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
    constexpr PayloadEntries()
        : TableOf("NVTX_PAYLOAD_SCHEMA_ENTRIES", "a field of such a layout") {}

    Integer<"domainId"> domainId{this, "number of the domain in its process"};
    Integer<"schemaId"> schemaId{this, "number of the layout in its domain"};
    Integer<"idx"> idx{this, "number of the field, from 0"};
    OptionalInteger<"flags"> flags{this, "NVTX's bits"};
    OptionalInteger<"type"> type{this, "NVTX's number of the type, or a layout's"};
    OptionalText<"name"> name{this, "as the program calls it"};
    OptionalText<"description"> description{this, "as the program gave it"};
    OptionalInteger<"arrayOrUnionDetail"> arrayOrUnionDetail{
        this, "how many elements, or which field tells"};
    OptionalInteger<"offset"> offset{this, "from the beginning of the payload, bytes"};
};
inline constexpr PayloadEntries payloadEntries;

}  // namespace lanescope::tables
