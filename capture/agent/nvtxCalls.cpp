// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/nvtxCalls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "capture/agent/Agent.h"
#include "capture/agent/NvtxRegistry.h"

namespace lanescope::agent {

namespace {

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

/// A separate function, so that calls with narrow texts use less stack.
[[gnu::noinline]] int recordWide(NvtxCall& call, const wchar_t* text) {
    WideText room;
    call.text = utf8(text, room);
    return recordCall(call);
}

}  // namespace

uint32_t currentThreadId() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

std::string_view view(const char* text) {
    return text ? std::string_view(text, ::strnlen(text, maxNvtxTextBytes)) : std::string_view();
}

std::string_view utf8(const wchar_t* text, WideText& room) {
    constexpr size_t maxCharacterBytes = 4;
    size_t bytes = 0;
    const auto put = [&](uint32_t byte) { room.bytes[bytes++] = static_cast<char>(byte); };
    for (; text && *text && bytes + maxCharacterBytes <= sizeof room.bytes; ++text) {
        const auto c = static_cast<uint32_t>(*text);
        if (c < 0x80) {
            put(c);
            continue;
        }
        if (c < 0x800) {
            put(0xc0 | (c >> 6));
        } else if (c < 0x10000) {
            put(0xe0 | (c >> 12));
            put(0x80 | ((c >> 6) & 0x3f));
        } else {
            put(0xf0 | ((c >> 18) & 7));
            put(0x80 | ((c >> 12) & 0x3f));
            put(0x80 | ((c >> 6) & 0x3f));
        }
        put(0x80 | (c & 0x3f));
    }
    return {room.bytes, bytes};
}

uint32_t idOf(nvtxDomainHandle_t domain) { return domain ? reinterpret_cast<const NvtxDomain*>(domain)->id : 0; }

int recordCall(const NvtxCall& call) {
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

void readExtended(NvtxCall& call, const nvtxPayloadData_t* data, size_t count) {
    // Only the first of several payloads is kept; one of unknown size cannot be kept.
    if (!data || count == 0 || !data->payload || data->size == SIZE_MAX) return;
    call.schemaId = data->schemaId;
    call.extended = {static_cast<const char*>(data->payload), data->size};
}

int recordWith(log::NvtxEvent event, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes,
               uint64_t rangeId) {
    NvtxCall call;
    call.event = event;
    call.domain = idOf(domain);
    call.rangeId = rangeId;
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

int recordText(log::NvtxEvent event, std::string_view text, uint64_t rangeId) {
    NvtxCall call;
    call.event = event;
    call.text = text;
    call.rangeId = rangeId;
    return recordCall(call);
}

int recordText(log::NvtxEvent event, const wchar_t* text, uint64_t rangeId) {
    NvtxCall call;
    call.event = event;
    call.rangeId = rangeId;
    return recordWide(call, text);
}

uint64_t newRangeId() {
    return guarded([]() -> uint64_t {
        Agent* agent = Agent::current();
        return agent ? agent->nextNvtxRangeId() : 0;
    });
}

}  // namespace lanescope::agent
