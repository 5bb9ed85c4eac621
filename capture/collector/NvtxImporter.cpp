#include "capture/collector/NvtxImporter.h"

#include <bit>
#include <nlohmann/json.hpp>

#include "capture/collector/NcclDecoder.h"

namespace lanescope {

using log::NvtxEvent;
using log::NvtxPayload;

namespace {

// Of ENUM_NSYS_EVENT_TYPE.
constexpr int categoryEvent = 33;
constexpr int markEvent = 34;
constexpr int pushPopEvent = 59;
constexpr int startEndEvent = 60;
constexpr int domainCreateEvent = 75;

int eventTypeOf(NvtxEvent begin) {
    switch (begin) {
        case NvtxEvent::Mark:
            return markEvent;
        case NvtxEvent::Start:
            return startEndEvent;
        default:
            return pushPopEvent;
    }
}

/// The plain payload of a call; at most one is set.
struct PlainPayload {
    std::optional<uint64_t> unsigned64;
    std::optional<int64_t> signed64;
    std::optional<double> real64;
    std::optional<uint32_t> unsigned32;
    std::optional<int32_t> signed32;
    std::optional<float> real32;

    PlainPayload(NvtxPayload kind, uint64_t bits) {
        const auto low = static_cast<uint32_t>(bits);
        switch (kind) {
            case NvtxPayload::UInt64:
                unsigned64 = bits;
                break;
            case NvtxPayload::Int64:
                signed64 = static_cast<int64_t>(bits);
                break;
            case NvtxPayload::Double:
                real64 = std::bit_cast<double>(bits);
                break;
            case NvtxPayload::UInt32:
                unsigned32 = low;
                break;
            case NvtxPayload::Int32:
                signed32 = static_cast<int32_t>(low);
                break;
            case NvtxPayload::Float:
                real32 = std::bit_cast<float>(low);
                break;
            default:
                break;
        }
    }
};

}  // namespace

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
    if (isNew(log::RecordKind::NvtxCategory, record.domain, record.category, 0))
        categories_.push_back(record);
}

void NvtxImporter::add(const log::NvtxSchemaRecord& record) {
    if (!isNew(log::RecordKind::NvtxSchema, record.domain, record.schemaId, 0)) return;
    schemas_.push_back(record);
    decoder_.addSchema(record.domain, record.schemaId, record.payloadBytes);
}

void NvtxImporter::add(const log::NvtxSchemaEntryRecord& record) {
    if (!isNew(log::RecordKind::NvtxSchemaEntry, record.domain, record.schemaId, record.index))
        return;
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
    // One that is said again changes nothing.
    decoder_.addEnumerator(record.domain, record.schemaId, record.value, record.isFlag != 0,
                           process_.strings.text(record.name));
}

bool NvtxImporter::isNew(log::RecordKind kind, uint32_t domain, uint64_t id, uint32_t index) {
    return described_.emplace(kind, domain, id, index).second;
}

void NvtxImporter::finish() {
    assembler_.finish();
    if (ranges_ > 0) writeNames();
}

void NvtxImporter::write(const NvtxInterval& interval) {
    const log::NvtxRecord& begin = interval.begin;
    const PlainPayload plain(begin.payload, begin.payloadBits);
    std::optional<nlohmann::ordered_json> payload;
    std::optional<std::string> json;
    if (!interval.extended.empty())
        payload = decoder_.decode(begin.domain, interval.schemaId, interval.extended);
    if (payload && !payload->empty())
        json = payload->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);

    std::optional<int64_t> endNs, textId, endThread;
    if (interval.endNs) endNs = process_.time(*interval.endNs);
    if (begin.text != 0) textId = process_.strings.traceId(begin.text);
    if (interval.endNs && begin.event == NvtxEvent::Start)
        endThread = process_.threadId(interval.endThreadId);
    process_.trace.nvtxRanges.insert(
        process_.time(begin.timestampNs), endNs, eventTypeOf(begin.event),
        unlessZero(begin.rangeId), unlessZero(begin.category), unlessZero(begin.colorArgb),
        process_.threadId(begin.threadId), endThread, textId, begin.domain, plain.unsigned64,
        plain.signed64, plain.real64, plain.unsigned32, plain.signed32, plain.real32, json);
    ++ranges_;
    if (ncclDomains_.contains(begin.domain)) writeNccl(interval, process_.trace.lastRow());
}

void NvtxImporter::writeNccl(const NvtxInterval& interval, int64_t nvtxRow) {
    std::optional<nlohmann::ordered_json> payload;
    if (!interval.extended.empty())
        payload = decoder_.decode(interval.begin.domain, interval.schemaId, interval.extended,
                                  PayloadDecoder::Enumerators::Numbered);
    const std::string_view function = process_.strings.text(interval.begin.text);
    const NcclCall call = decodeNcclCall(function, interval.schemaId, interval.extended, payload);
    if (!call.operation.empty()) {
        process_.trace.ncclOperations.insert(nvtxRow, call.operation, call.bytes, call.communicator,
                                             call.reduction, call.root, call.peer,
                                             process_.threadId(interval.begin.threadId));
        ++ncclOperations_;
    }
    if (call.describesCommunicator())
        process_.trace.ncclCommunicators.insert(process_.processId(), call.communicator, call.rank,
                                                call.rankCount, call.cudaDevice, nullptr, nullptr);
}

void NvtxImporter::writeNames() {
    TraceWriter& trace = process_.trace;
    const LogStrings& strings = process_.strings;
    for (const auto& domain : domains_)
        trace.nvtxNames.insert(process_.time(domain.timestampNs), domainCreateEvent, nullptr,
                               strings.text(domain.name), process_.threadId(domain.threadId),
                               domain.domain);
    for (const auto& category : categories_)
        trace.nvtxNames.insert(process_.time(category.timestampNs), categoryEvent,
                               category.category, strings.text(category.name),
                               process_.threadId(category.threadId), category.domain);
    for (const auto& schema : schemas_)
        trace.payloadSchemas.insert(schema.domain, schema.schemaId, strings.text(schema.name),
                                    schema.type, schema.flags, schema.entryCount,
                                    schema.payloadBytes, schema.alignTo);
    for (const auto& entry : entries_)
        trace.payloadEntries.insert(entry.domain, entry.schemaId, entry.index, entry.flags,
                                    entry.type, strings.text(entry.name),
                                    strings.text(entry.description), entry.arrayOrUnionDetail,
                                    entry.offset);
}

}  // namespace lanescope
