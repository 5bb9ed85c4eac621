// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NvtxImporter.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "capture/collector/TraceWriter.h"
#include "model/format/tables/Ranges.h"

namespace lanescope::capture {

using log::NvtxEvent;
using log::NvtxPayload;
using log::NvtxRecord;

namespace {

NvtxInterval intervalOf(const NvtxRecord& record, std::span<const std::byte> extended) {
    NvtxInterval interval{record, {}, 0, std::nullopt, 0};
    if (!extended.empty()) {
        interval.extended.assign(extended.begin(), extended.end());
        interval.schemaId = record.schemaId;
    }
    return interval;
}

/// Returns the event type. An open range is not typed as a range, because programs that read
/// exports compute with its end.
NvtxEventType eventTypeOf(NvtxEvent begin, bool isOpen) {
    switch (begin) {
        case NvtxEvent::Mark: return NvtxEventType::Mark;
        case NvtxEvent::Start: return isOpen ? NvtxEventType::OpenStart : NvtxEventType::StartEnd;
        case NvtxEvent::Push:
        case NvtxEvent::Pop:
        case NvtxEvent::End: break;
    }
    return isOpen ? NvtxEventType::OpenPush : NvtxEventType::PushPop;
}

}  // namespace

void NvtxAssembler::add(const NvtxRecord& record, std::span<const std::byte> extended) {
    switch (record.event) {
        case NvtxEvent::Push: push(intervalOf(record, extended)); break;
        case NvtxEvent::Pop: pop(record, extended); break;
        case NvtxEvent::Start: start(intervalOf(record, extended)); break;
        case NvtxEvent::End: end(record); break;
        case NvtxEvent::Mark: sink_(intervalOf(record, extended)); break;
    }
}

void NvtxAssembler::finish() {
    for (auto& [key, stack] : stacks_)
        for (const NvtxInterval& open : stack) sink_(open);
    stacks_.clear();
    for (const auto& [id, open] : started_) sink_(open);
    started_.clear();
    lostBeginnings_ += earlyEnds_.size();
    earlyEnds_.clear();
}

void NvtxAssembler::forgetOpenRanges() {
    stacks_.clear();
    started_.clear();
    earlyEnds_.clear();
}

NvtxAssembler::Stack& NvtxAssembler::stackOf(const NvtxRecord& record) {
    return stacks_[{record.threadId, record.domain}];
}

/// Closes ranges of levels above `level`. They had ended when `shownBy` was called, but their ends were lost.
void NvtxAssembler::closeAbove(Stack& stack, int32_t level, const NvtxRecord& shownBy) {
    while (!stack.empty() && stack.back().begin.level > level) {
        NvtxInterval& lost = stack.back();
        lost.endNs = shownBy.timestampNs;
        lost.endThreadId = shownBy.threadId;
        sink_(lost);
        stack.pop_back();
        ++guessedEnds_;
    }
}

void NvtxAssembler::push(NvtxInterval interval) {
    Stack& stack = stackOf(interval.begin);
    closeAbove(stack, interval.begin.level - (interval.begin.level > INT32_MIN), interval.begin);
    stack.push_back(std::move(interval));
}

void NvtxAssembler::pop(const NvtxRecord& record, std::span<const std::byte> extended) {
    Stack& stack = stackOf(record);
    closeAbove(stack, record.level, record);
    if (stack.empty() || stack.back().begin.level != record.level) {
        ++lostBeginnings_;
        return;
    }
    NvtxInterval& closed = stack.back();
    closed.endNs = record.timestampNs;
    closed.endThreadId = record.threadId;
    if (closed.extended.empty() && !extended.empty()) {
        closed.extended.assign(extended.begin(), extended.end());
        closed.schemaId = record.schemaId;
    }
    sink_(closed);
    stack.pop_back();
}

void NvtxAssembler::start(NvtxInterval interval) {
    const uint64_t id = interval.begin.rangeId;
    if (const auto early = earlyEnds_.find(id); early != earlyEnds_.end()) {
        interval.endNs = early->second.timestampNs;
        interval.endThreadId = early->second.threadId;
        earlyEnds_.erase(early);
        sink_(interval);
        return;
    }
    const auto [place, isNew] = started_.try_emplace(id, std::move(interval));
    if (!isNew) {
        sink_(place->second);
        place->second = std::move(interval);
    }
}

void NvtxAssembler::end(const NvtxRecord& record) {
    const auto open = started_.find(record.rangeId);
    if (open == started_.end()) {
        // The log may contain the calls of two threads in another order than they were made.
        earlyEnds_[record.rangeId] = {record.timestampNs, record.threadId};
        return;
    }
    open->second.endNs = record.timestampNs;
    open->second.endThreadId = record.threadId;
    sink_(open->second);
    started_.erase(open);
}

NvtxImporter::NvtxImporter(ProcessContext& process)
    : process_(process), assembler_([this](const NvtxInterval& interval) { write(interval); }) {}

void NvtxImporter::add(const log::NvtxRecord& record, std::span<const std::byte> extended) {
    assembler_.add(record, extended);
}

void NvtxImporter::add(const log::NvtxDomainRecord& record) {
    if (!isNew(log::RecordKind::NvtxDomain, record.domain, 0, 0)) return;
    domains_.push_back(record);
    if (process_.strings.text(record.name) == ncclDomainName) ncclDomains_.insert(record.domain);
}

void NvtxImporter::add(const log::NvtxCategoryRecord& record) {
    if (isNew(log::RecordKind::NvtxCategory, record.domain, record.category, 0)) categories_.push_back(record);
}

void NvtxImporter::add(const log::NvtxSchemaRecord& record) {
    if (!isNew(log::RecordKind::NvtxSchema, record.domain, record.schemaId, 0)) return;
    schemas_.push_back(record);
    decoder_.addSchema(record.domain, record.schemaId, record.payloadBytes);
}

void NvtxImporter::add(const log::NvtxSchemaEntryRecord& record) {
    if (!isNew(log::RecordKind::NvtxSchemaEntry, record.domain, record.schemaId, record.index)) return;
    entries_.push_back(record);
    decoder_.addEntry(record.domain, record.schemaId, record.index,
                      {record.flags, record.type, record.arrayOrUnionDetail, record.offset,
                       std::string(process_.strings.text(record.name))});
}

void NvtxImporter::add(const log::NvtxEnumRecord& record) {
    if (isNew(log::RecordKind::NvtxEnum, record.domain, record.schemaId, 0))
        decoder_.addEnumeration(record.domain, record.schemaId, record.payloadBytes);
}

void NvtxImporter::add(const log::NvtxEnumEntryRecord& record) {
    decoder_.addEnumerator(record.domain, record.schemaId, record.value, record.isFlag != 0,
                           process_.strings.text(record.name));
}

bool NvtxImporter::isNew(log::RecordKind kind, uint32_t domain, uint64_t id, uint32_t index) {
    return described_.emplace(kind, domain, id, index).second;
}

void NvtxImporter::finish() {
    assembler_.finish();
    writeNames();
}

void NvtxImporter::write(const NvtxInterval& interval) {
    const log::NvtxRecord& begin = interval.begin;
    std::optional<nlohmann::ordered_json> payload;
    std::optional<std::string> json;
    if (!interval.extended.empty()) payload = decoder_.decode(begin.domain, interval.schemaId, interval.extended);
    if (payload && !payload->empty()) json = payload->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);

    std::optional<int64_t> endNs, textId, endThread;
    if (interval.endNs) endNs = process_.time(*interval.endNs);
    std::optional<std::string_view> text;
    if (begin.text != 0) textId = process_.strings.traceId(begin.text);
    // Programs that read exports of Nsight Systems expect names of plain texts there.
    if (const std::string_view name = process_.strings.text(begin.text); !name.empty()) text = name;
    if (interval.endNs && begin.event == NvtxEvent::Start) endThread = process_.threadId(interval.endThreadId);
    // The plain payload is in at most one column.
    const auto plain = [&](NvtxPayload kind, auto value) {
        return begin.payload == kind ? std::optional(value) : std::nullopt;
    };
    const uint64_t bits = begin.payloadBits;
    const auto low = static_cast<uint32_t>(bits);
    constexpr const auto& t = tables::nvtxEvents;
    process_.trace.add(t, t.start = process_.time(begin.timestampNs), t.end = endNs,
                       t.eventType = eventTypeOf(begin.event, !endNs), t.rangeId = nullIfZero(begin.rangeId),
                       t.category = nullIfZero(begin.category), t.color = nullIfZero(begin.colorArgb),
                       t.globalTid = process_.threadId(begin.threadId), t.endGlobalTid = endThread, t.text = text,
                       t.textId = textId, t.domainId = begin.domain, t.uint64Value = plain(NvtxPayload::UInt64, bits),
                       t.int64Value = plain(NvtxPayload::Int64, static_cast<int64_t>(bits)),
                       t.doubleValue = plain(NvtxPayload::Double, std::bit_cast<double>(bits)),
                       t.uint32Value = plain(NvtxPayload::UInt32, low),
                       t.int32Value = plain(NvtxPayload::Int32, static_cast<int32_t>(low)),
                       t.floatValue = plain(NvtxPayload::Float, std::bit_cast<float>(low)), t.jsonText = json);
    ++ranges_;
    const int64_t row = process_.trace.lastRow();
    if (ncclDomains_.contains(begin.domain)) writeNccl(interval, row);
    if (const auto stack = process_.stacks.traceId(log::stackOf(begin))) {
        constexpr const auto& s = tables::nvtxStacks;
        process_.trace.add(s, s.nvtxRow = row, s.callchainId = *stack);
    }
}

void NvtxImporter::writeNccl(const NvtxInterval& interval, int64_t nvtxRow) {
    std::optional<nlohmann::ordered_json> payload;
    if (!interval.extended.empty())
        payload = decoder_.decode(interval.begin.domain, interval.schemaId, interval.extended,
                                  PayloadDecoder::Enumerators::Numbered);
    const std::string_view function = process_.strings.text(interval.begin.text);
    const NcclCall call = decodeNcclCall(function, interval.schemaId, interval.extended, payload);
    if (!call.operation.empty()) {
        constexpr const auto& t = tables::ncclOperations;
        process_.trace.add(t, t.nvtxRow = nvtxRow, t.operation = call.operation, t.bytes = call.bytes,
                           t.communicator = call.communicator, t.reduction = call.reduction, t.root = call.root,
                           t.peer = call.peer, t.globalTid = process_.threadId(interval.begin.threadId));
        ++ncclOperations_;
    }
    if (!call.describesCommunicator()) return;
    constexpr const auto& t = tables::ncclCommunicators;
    process_.trace.add(t, t.globalPid = process_.processId(), t.communicator = call.communicator, t.rank = call.rank,
                       t.rankCount = call.rankCount, t.cudaDevice = call.cudaDevice);
}

void NvtxImporter::writeNames() {
    if (ranges_ == 0) return;
    TraceWriter& trace = process_.trace;
    const LogStrings& strings = process_.strings;
    const auto addName = [&](const auto& record, std::optional<int64_t> category) {
        trace.rows().addRangeName(process_.time(record.timestampNs), process_.threadId(record.threadId), record.domain,
                                  category, strings.text(record.name));
    };
    for (const auto& domain : domains_) addName(domain, std::nullopt);
    for (const auto& category : categories_) addName(category, category.category);
    constexpr const auto& layout = tables::payloadSchemas;
    for (const auto& schema : schemas_)
        trace.add(layout, layout.domainId = schema.domain, layout.schemaId = schema.schemaId,
                  layout.name = strings.text(schema.name), layout.type = schema.type, layout.flags = schema.flags,
                  layout.numEntries = schema.entryCount, layout.payloadSize = schema.payloadBytes,
                  layout.alignTo = schema.alignTo);
    constexpr const auto& field = tables::payloadEntries;
    for (const auto& entry : entries_)
        trace.add(field, field.domainId = entry.domain, field.schemaId = entry.schemaId, field.idx = entry.index,
                  field.flags = entry.flags, field.type = entry.type, field.name = strings.text(entry.name),
                  field.description = strings.text(entry.description),
                  field.arrayOrUnionDetail = entry.arrayOrUnionDetail, field.offset = entry.offset);
    domains_.clear();
    categories_.clear();
    schemas_.clear();
    entries_.clear();
}

}  // namespace lanescope::capture
