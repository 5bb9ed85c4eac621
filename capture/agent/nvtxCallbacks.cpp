// SPDX-License-Identifier: Apache-2.0
// The functions that NVTX calls, and its payload extension: structured payloads, and the layouts that programs register
// for them. They convert NVTX's structs to an `NvtxCall` and pass it to the agent. Nothing here throws.
#include "capture/agent/nvtxCallbacks.h"

#define NVTX_NO_IMPL  // types only: a tool must not call NVTX itself
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "capture/agent/Agent.h"
#include "capture/agent/Inside.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/log/clocks.h"
#include "capture/python/utf8.h"

namespace lanescope::agent {

namespace {

/// Runs `function`, which defines something once and needs memory. Without memory, and in a signal
/// handler that interrupted the agent, counts a lost call instead.
template <class Function>
auto guarded(Function&& function) -> std::invoke_result_t<Function> {
    if (const Inside inside(InsideFor::Definition); inside) {
        try {
            return function();
        } catch (...) {
            LostCalls::countWithoutMemory();
        }
    }
    if constexpr (!std::is_void_v<std::invoke_result_t<Function>>) return {};
}

uint32_t currentThreadId() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

/// Returns the kept part of the text; empty for null.
std::string_view view(const char* text) {
    return text ? std::string_view(text, ::strnlen(text, maxNvtxTextBytes)) : std::string_view();
}

struct WideText {
    char bytes[maxNvtxTextBytes];
};
/// Converts the kept part of wide characters, UTF-32 on Linux, to UTF-8 in `room`.
std::string_view utf8(const wchar_t* text, WideText& room) {
    constexpr size_t maxCharacterBytes = 4;
    size_t bytes = 0;
    for (; text && *text && bytes + maxCharacterBytes <= sizeof room.bytes; ++text)
        bytes += python::putUtf8(static_cast<uint32_t>(*text), room.bytes + bytes);
    return {room.bytes, bytes};
}

std::string_view textIn(const char* text, WideText&) { return view(text); }
std::string_view textIn(const wchar_t* text, WideText& room) { return utf8(text, room); }
std::string keptText(const auto* text) {
    WideText room;
    return std::string(textIn(text, room));
}

/// Returns the number of a domain; 0 for the default domain.
uint32_t idOf(nvtxDomainHandle_t domain) {
    return domain ? reinterpret_cast<const NvtxDomain*>(domain)->record.domain : 0;
}

int recordCall(const NvtxCall& call) {
    if (Agent::isAsleep()) [[unlikely]]
        return NVTX_NO_PUSH_POP_TRACKING;
    const Inside inside(InsideFor::Call);
    if (!inside) [[unlikely]]
        return NVTX_NO_PUSH_POP_TRACKING;
    try {
        Agent* agent = Agent::current();
        const int level = agent ? agent->recordNvtx(call) : -1;
        return level < 0 ? NVTX_NO_PUSH_POP_TRACKING : level;
    } catch (...) {
        // In a forked child, which needs an agent of its own.
        LostCalls::countWithoutMemory();
        return NVTX_NO_PUSH_POP_TRACKING;
    }
}

/// A separate function, so that calls with narrow texts use less stack.
[[gnu::noinline]] int recordWide(NvtxCall& call, const wchar_t* text) {
    if (Agent::isAsleep()) return NVTX_NO_PUSH_POP_TRACKING;
    WideText room;
    call.text = utf8(text, room);
    return recordCall(call);
}

/// Puts the first of `count` extended payloads into the call.
void readExtended(NvtxCall& call, const nvtxPayloadData_t* data, size_t count) {
    // Only the first of several payloads is kept; one of unknown size cannot be kept.
    if (!data || count == 0 || !data->payload || data->size == SIZE_MAX) return;
    call.schemaId = data->schemaId;
    call.extended = {static_cast<const char*>(data->payload), data->size};
}

void readPayload(NvtxCall& call, const nvtxEventAttributes_t& attributes) {
    const auto& value = attributes.payload;
    switch (attributes.payloadType) {
        case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
            call.payload = log::NvtxPayload::UInt64;
            call.payloadBits = value.ullValue;
            break;
        case NVTX_PAYLOAD_TYPE_INT64:
            call.payload = log::NvtxPayload::Int64;
            std::memcpy(&call.payloadBits, &value.llValue, 8);
            break;
        case NVTX_PAYLOAD_TYPE_DOUBLE:
            call.payload = log::NvtxPayload::Double;
            std::memcpy(&call.payloadBits, &value.dValue, 8);
            break;
        case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
            call.payload = log::NvtxPayload::UInt32;
            call.payloadBits = value.uiValue;
            break;
        case NVTX_PAYLOAD_TYPE_INT32:
            call.payload = log::NvtxPayload::Int32;
            std::memcpy(&call.payloadBits, &value.iValue, 4);
            break;
        case NVTX_PAYLOAD_TYPE_FLOAT:
            call.payload = log::NvtxPayload::Float;
            std::memcpy(&call.payloadBits, &value.fValue, 4);
            break;
        case NVTX_PAYLOAD_TYPE_EXT:
            readExtended(call, reinterpret_cast<const nvtxPayloadData_t*>(value.ullValue),
                         static_cast<size_t>(attributes.reserved0));
            break;
        default: break;
    }
}

/// Records a call with attributes. The struct may be of any version: its size determines which fields exist.
int recordWith(log::NvtxEvent event, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes,
               uint64_t rangeId = 0) {
    if (Agent::isAsleep()) [[unlikely]]
        return NVTX_NO_PUSH_POP_TRACKING;
    NvtxCall call{.event = event, .domain = idOf(domain), .rangeId = rangeId};
    if (attributes && attributes->size >= sizeof(nvtxEventAttributes_t)) {
        call.category = attributes->category;
        if (attributes->colorType == NVTX_COLOR_ARGB) call.colorArgb = attributes->color;
        readPayload(call, *attributes);
        switch (attributes->messageType) {
            case NVTX_MESSAGE_TYPE_ASCII: call.text = view(attributes->message.ascii); break;
            case NVTX_MESSAGE_TYPE_UNICODE: return recordWide(call, attributes->message.unicode);
            case NVTX_MESSAGE_TYPE_REGISTERED:
                call.registered = reinterpret_cast<const std::string*>(attributes->message.registered);
                break;
            default: break;
        }
    }
    return recordCall(call);
}

int recordText(log::NvtxEvent event, std::string_view text, uint64_t rangeId = 0) {
    return recordCall({.event = event, .rangeId = rangeId, .text = text});
}

int recordText(log::NvtxEvent event, const wchar_t* text, uint64_t rangeId = 0) {
    NvtxCall call{.event = event, .rangeId = rangeId};
    return recordWide(call, text);
}

/// Returns the new id of a start/end range, or 0 if nothing is recorded, after `record` recorded its beginning.
nvtxRangeId_t started(auto record) {
    if (Agent::isAsleep()) return 0;
    const auto id = guarded([]() -> uint64_t {
        Agent* agent = Agent::current();
        return agent ? agent->nextNvtxRangeId() : 0;
    });
    record(id);
    return id;
}

// Functions that NVTX calls; their names are those of the table slots.

void markEx(const nvtxEventAttributes_t* a) { recordWith(log::NvtxEvent::Mark, nullptr, a); }
void markA(const char* text) { recordText(log::NvtxEvent::Mark, view(text)); }
void markW(const wchar_t* text) { recordText(log::NvtxEvent::Mark, text); }
int rangePushEx(const nvtxEventAttributes_t* a) { return recordWith(log::NvtxEvent::Push, nullptr, a); }
int rangePushA(const char* text) { return recordText(log::NvtxEvent::Push, view(text)); }
int rangePushW(const wchar_t* text) { return recordText(log::NvtxEvent::Push, text); }
int rangePop() { return recordText(log::NvtxEvent::Pop, {}); }
nvtxRangeId_t rangeStartEx(const nvtxEventAttributes_t* a) {
    return started([&](uint64_t id) { recordWith(log::NvtxEvent::Start, nullptr, a, id); });
}
nvtxRangeId_t rangeStartA(const char* text) {
    return started([&](uint64_t id) { recordText(log::NvtxEvent::Start, view(text), id); });
}
nvtxRangeId_t rangeStartW(const wchar_t* text) {
    return started([&](uint64_t id) { recordText(log::NvtxEvent::Start, text, id); });
}
void rangeEnd(nvtxRangeId_t id) { recordText(log::NvtxEvent::End, {}, id); }

// Functions for narrow (A) and wide (W) texts differ in the character only.

void domainNameCategory(nvtxDomainHandle_t domain, uint32_t category, const auto* name) {
    guarded([&] {
        NvtxCategory kept{{}, keptText(name)};
        kept.record.domain = idOf(domain);
        kept.record.category = category;
        kept.record.timestampNs = log::eventTimeNs();
        kept.record.threadId = currentThreadId();
        nvtxRegistry().add(std::move(kept));
    });
}
void nameCategory(uint32_t category, const auto* name) { domainNameCategory(nullptr, category, name); }
void nameOsThread(uint32_t threadId, const auto* name) {
    guarded([&] {
        NvtxThreadName kept{{}, keptText(name)};
        kept.record.threadId = threadId;
        nvtxRegistry().add(std::move(kept));
    });
}

void domainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) { recordWith(log::NvtxEvent::Mark, d, a); }
nvtxRangeId_t domainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return started([&](uint64_t id) { recordWith(log::NvtxEvent::Start, d, a, id); });
}
void domainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) { recordWith(log::NvtxEvent::End, d, nullptr, id); }
int domainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t* a) {
    return recordWith(log::NvtxEvent::Push, d, a);
}
int domainRangePop(nvtxDomainHandle_t d) { return recordWith(log::NvtxEvent::Pop, d, nullptr); }
nvtxResourceHandle_t domainResourceCreate(nvtxDomainHandle_t, nvtxResourceAttributes_t*) { return nullptr; }
void domainResourceDestroy(nvtxResourceHandle_t) {}
nvtxStringHandle_t domainRegisterString(nvtxDomainHandle_t, const auto* text) {
    return guarded([&] {
        WideText room;
        const std::string* const kept = nvtxRegistry().registerString(textIn(text, room));
        return reinterpret_cast<nvtxStringHandle_t>(const_cast<std::string*>(kept));
    });
}
nvtxDomainHandle_t domainCreate(const auto* name) {
    return guarded([&] {
        const NvtxDomain* const kept = nvtxRegistry().domain(keptText(name), log::eventTimeNs(), currentThreadId());
        return reinterpret_cast<nvtxDomainHandle_t>(const_cast<NvtxDomain*>(kept));
    });
}
void domainDestroy(nvtxDomainHandle_t) {}
void initialize(const void*) {}

void fill(NvtxFunctionTable table, unsigned size, unsigned slot, auto* function) {
    if (slot < size && table[slot]) *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

void fillCore(NvtxFunctionTable t, unsigned n) {
    fill(t, n, NVTX_CBID_CORE_MarkEx, &markEx);
    fill(t, n, NVTX_CBID_CORE_MarkA, &markA);
    fill(t, n, NVTX_CBID_CORE_MarkW, &markW);
    fill(t, n, NVTX_CBID_CORE_RangeStartEx, &rangeStartEx);
    fill(t, n, NVTX_CBID_CORE_RangeStartA, &rangeStartA);
    fill(t, n, NVTX_CBID_CORE_RangeStartW, &rangeStartW);
    fill(t, n, NVTX_CBID_CORE_RangeEnd, &rangeEnd);
    fill(t, n, NVTX_CBID_CORE_RangePushEx, &rangePushEx);
    fill(t, n, NVTX_CBID_CORE_RangePushA, &rangePushA);
    fill(t, n, NVTX_CBID_CORE_RangePushW, &rangePushW);
    fill(t, n, NVTX_CBID_CORE_RangePop, &rangePop);
    fill(t, n, NVTX_CBID_CORE_NameCategoryA, &nameCategory<char>);
    fill(t, n, NVTX_CBID_CORE_NameCategoryW, &nameCategory<wchar_t>);
    fill(t, n, NVTX_CBID_CORE_NameOsThreadA, &nameOsThread<char>);
    fill(t, n, NVTX_CBID_CORE_NameOsThreadW, &nameOsThread<wchar_t>);
}

void fillCore2(NvtxFunctionTable t, unsigned n) {
    fill(t, n, NVTX_CBID_CORE2_DomainMarkEx, &domainMarkEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangeStartEx, &domainRangeStartEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangeEnd, &domainRangeEnd);
    fill(t, n, NVTX_CBID_CORE2_DomainRangePushEx, &domainRangePushEx);
    fill(t, n, NVTX_CBID_CORE2_DomainRangePop, &domainRangePop);
    fill(t, n, NVTX_CBID_CORE2_DomainResourceCreate, &domainResourceCreate);
    fill(t, n, NVTX_CBID_CORE2_DomainResourceDestroy, &domainResourceDestroy);
    fill(t, n, NVTX_CBID_CORE2_DomainNameCategoryA, &domainNameCategory<char>);
    fill(t, n, NVTX_CBID_CORE2_DomainNameCategoryW, &domainNameCategory<wchar_t>);
    fill(t, n, NVTX_CBID_CORE2_DomainRegisterStringA, &domainRegisterString<char>);
    fill(t, n, NVTX_CBID_CORE2_DomainRegisterStringW, &domainRegisterString<wchar_t>);
    fill(t, n, NVTX_CBID_CORE2_DomainCreateA, &domainCreate<char>);
    fill(t, n, NVTX_CBID_CORE2_DomainCreateW, &domainCreate<wchar_t>);
    fill(t, n, NVTX_CBID_CORE2_DomainDestroy, &domainDestroy);
    fill(t, n, NVTX_CBID_CORE2_Initialize, &initialize);
}

constexpr size_t maxEntries = 4096;

int recordExtended(log::NvtxEvent event, nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count,
                   uint64_t rangeId = 0) {
    NvtxCall call{.event = event, .domain = idOf(domain), .rangeId = rangeId};
    readExtended(call, data, count);
    return recordCall(call);
}
int rangePushPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, size_t count) {
    return recordExtended(log::NvtxEvent::Push, d, data, count);
}
int rangePopPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, size_t count) {
    return recordExtended(log::NvtxEvent::Pop, d, data, count);
}
nvtxRangeId_t rangeStartPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, size_t count) {
    return started([&](uint64_t id) { recordExtended(log::NvtxEvent::Start, d, data, count, id); });
}
void rangeEndPayload(nvtxDomainHandle_t d, nvtxRangeId_t id, const nvtxPayloadData_t* data, size_t count) {
    recordExtended(log::NvtxEvent::End, d, data, count, id);
}
void markPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, size_t count) {
    recordExtended(log::NvtxEvent::Mark, d, data, count);
}
uint8_t domainIsEnabled(nvtxDomainHandle_t) {
    return guarded([]() -> uint8_t { return Agent::current() ? 1 : 0; });
}

uint64_t payloadSchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
    return guarded([&]() -> uint64_t {
        if (!attributes) return 0;
        const nvtxPayloadSchemaAttr_t& a = *attributes;
        const auto has = [&](uint64_t field) { return (a.fieldMask & field) != 0; };
        if (!has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) || !has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES) ||
            !a.entries || a.numEntries > maxEntries)
            return 0;
        NvtxSchema schema;
        log::NvtxSchemaRecord& record = schema.record;
        record.domain = idOf(domain);
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) schema.name = view(a.name);
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE)) record.type = static_cast<uint32_t>(a.type);
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)) record.flags = a.flags;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) record.payloadBytes = a.payloadStaticSize;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) record.alignTo = a.packAlign;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)) record.schemaId = a.schemaId;
        for (size_t i = 0; i < a.numEntries; ++i) {
            const nvtxPayloadSchemaEntry_t& entry = a.entries[i];
            NvtxSchemaEntry& kept = schema.entries.emplace_back();
            kept.record.flags = entry.flags;
            kept.record.type = entry.type;
            kept.record.arrayOrUnionDetail = entry.arrayOrUnionDetail;
            kept.record.offset = entry.offset;
            kept.record.index = static_cast<uint32_t>(i);
            kept.name = view(entry.name);
            kept.description = view(entry.description);
        }
        return nvtxRegistry().add(std::move(schema));
    });
}

uint64_t payloadEnumRegister(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
    return guarded([&]() -> uint64_t {
        if (!attributes) return 0;
        const nvtxPayloadEnumAttr_t& a = *attributes;
        const auto has = [&](uint64_t field) { return (a.fieldMask & field) != 0; };
        if (!has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) || !has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES) ||
            !a.entries || a.numEntries > maxEntries)
            return 0;
        NvtxEnum kept;
        kept.record.domain = idOf(domain);
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) kept.name = view(a.name);
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)) kept.record.payloadBytes = a.sizeOfEnum;
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID)) kept.record.schemaId = a.schemaId;
        for (size_t i = 0; i < a.numEntries; ++i) {
            const nvtxPayloadEnum_t& entry = a.entries[i];
            auto& line = kept.entries.emplace_back();
            line.record.value = entry.value;
            line.record.isFlag = entry.isFlag != 0;
            line.name = view(entry.name);
        }
        return nvtxRegistry().add(std::move(kept));
    });
}

}  // namespace

bool attachNvtx(const void* (*getExportTable)(uint32_t)) {
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
    if (!callbacks || callbacks->struct_size < sizeof *callbacks) return false;
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) || !table) return false;
    fillCore(table, size);
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) && table) fillCore2(table, size);
    return true;
}

bool attachNvtxExtension(nvtxExtModuleInfo_t* module) {
    if (!module || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0 || !module->segments)
        return false;
    intptr_t* slots = module->segments->functionSlots;
    const size_t count = module->segments->slotCount;
    const auto set = [&](size_t slot, auto* function) {
        if (slot < count) slots[slot] = reinterpret_cast<intptr_t>(function);
    };
    set(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, &payloadSchemaRegister);
    set(NVTX3EXT_CBID_nvtxPayloadEnumRegister, &payloadEnumRegister);
    set(NVTX3EXT_CBID_nvtxMarkPayload, &markPayload);
    set(NVTX3EXT_CBID_nvtxRangePushPayload, &rangePushPayload);
    set(NVTX3EXT_CBID_nvtxRangePopPayload, &rangePopPayload);
    set(NVTX3EXT_CBID_nvtxRangeStartPayload, &rangeStartPayload);
    set(NVTX3EXT_CBID_nvtxRangeEndPayload, &rangeEndPayload);
    set(NVTX3EXT_CBID_nvtxDomainIsEnabled, &domainIsEnabled);
    return true;
}

}  // namespace lanescope::agent
