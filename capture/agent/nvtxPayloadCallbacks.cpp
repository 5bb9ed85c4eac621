// SPDX-License-Identifier: Apache-2.0
// The payload extension of NVTX: structured payloads, and the layouts that programs register for
// them.

#include <utility>

#include "capture/agent/Agent.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/nvtxCallbacks.h"
#include "capture/agent/nvtxCalls.h"

namespace lanescope::agent {

namespace {

constexpr size_t mostEntries = 4096;

int recordExtended(log::NvtxEvent event, nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                   size_t count, uint64_t rangeId = 0) {
    NvtxCall call;
    call.event = event;
    call.domain = idOf(domain);
    call.rangeId = rangeId;
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
    const uint64_t id = newRangeId();
    recordExtended(log::NvtxEvent::Start, d, data, count, id);
    return id;
}
void rangeEndPayload(nvtxDomainHandle_t d, nvtxRangeId_t id, const nvtxPayloadData_t* data,
                     size_t count) {
    recordExtended(log::NvtxEvent::End, d, data, count, id);
}
void markPayload(nvtxDomainHandle_t d, const nvtxPayloadData_t* data, size_t count) {
    recordExtended(log::NvtxEvent::Mark, d, data, count);
}
uint8_t domainIsEnabled(nvtxDomainHandle_t) {
    return guarded([]() -> uint8_t { return Agent::current() ? 1 : 0; });
}

uint64_t payloadSchemaRegister(nvtxDomainHandle_t domain,
                               const nvtxPayloadSchemaAttr_t* attributes) {
    return guarded([&]() -> uint64_t {
        if (!attributes) return 0;
        const nvtxPayloadSchemaAttr_t& a = *attributes;
        const auto has = [&](uint64_t field) { return (a.fieldMask & field) != 0; };
        if (!has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) ||
            !has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES) || !a.entries ||
            a.numEntries > mostEntries) {
            return 0;
        }
        NvtxSchema schema;
        schema.domain = idOf(domain);
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) schema.name = view(a.name);
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE)) schema.type = a.type;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)) schema.flags = a.flags;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE))
            schema.payloadBytes = a.payloadStaticSize;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) schema.alignTo = a.packAlign;
        if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)) schema.schemaId = a.schemaId;
        for (size_t i = 0; i < a.numEntries; ++i) {
            const nvtxPayloadSchemaEntry_t& entry = a.entries[i];
            schema.entries.push_back({entry.flags, entry.type, entry.arrayOrUnionDetail,
                                      entry.offset, std::string(view(entry.name)),
                                      std::string(view(entry.description))});
        }
        return nvtxRegistry().add(std::move(schema));
    });
}

uint64_t payloadEnumRegister(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
    return guarded([&]() -> uint64_t {
        if (!attributes) return 0;
        const nvtxPayloadEnumAttr_t& a = *attributes;
        const auto has = [&](uint64_t field) { return (a.fieldMask & field) != 0; };
        if (!has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) ||
            !has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES) || !a.entries ||
            a.numEntries > mostEntries) {
            return 0;
        }
        NvtxEnum kept;
        kept.domain = idOf(domain);
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) kept.name = view(a.name);
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)) kept.bytes = a.sizeOfEnum;
        if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID)) kept.schemaId = a.schemaId;
        for (size_t i = 0; i < a.numEntries; ++i) {
            const nvtxPayloadEnum_t& entry = a.entries[i];
            kept.entries.push_back({entry.value, entry.isFlag != 0, std::string(view(entry.name))});
        }
        return nvtxRegistry().add(std::move(kept));
    });
}

}  // namespace

bool attachNvtxExtension(nvtxExtModuleInfo_t* module) {
    if (!module || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0 ||
        !module->segments) {
        return false;
    }
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
