// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/nvtxRanges.h"

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "tests/capture/standin/TrainingPlan.h"

namespace lanescope::standin {

namespace {

struct TrainerDomain {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");
    nvtxStringHandle_t forward = nvtxDomainRegisterStringA(domain, "forward");
    TrainerDomain() { nvtxDomainNameCategoryA(domain, 5, "passes"); }
};

const TrainerDomain& trainer() {
    static const TrainerDomain it;
    return it;
}

struct NcclDomain {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    uint64_t schema = 0;
    NcclDomain() {
        static const nvtxPayloadSchemaEntry_t entries[] = {
            {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0,
             offsetof(AllReducePayload, communicator), nullptr, nullptr},
            {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, offsetof(AllReducePayload, bytes),
             nullptr, nullptr},
            {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "Reduction operation", nullptr, 0, offsetof(AllReducePayload, operation),
             nullptr, nullptr},
        };
        nvtxPayloadSchemaAttr_t attributes{};
        attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
        attributes.name = "AllReduce";
        attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
        attributes.entries = entries;
        attributes.numEntries = 3;
        attributes.payloadStaticSize = sizeof(AllReducePayload);
        schema = nvtxPayloadSchemaRegister(domain, &attributes);
        static const nvtxPayloadEnum_t reductions[] = {{"Sum", 0, 0}, {"Max", 2, 1}};
        nvtxPayloadEnumAttr_t enumeration{};
        enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                                NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
        enumeration.name = "Reduction";
        enumeration.entries = reductions;
        enumeration.numEntries = 2;
        enumeration.sizeOfEnum = 4;
        nvtxPayloadEnumRegister(domain, &enumeration);
    }
};

const NcclDomain& nccl() {
    static const NcclDomain it;
    return it;
}

nvtxEventAttributes_t attributesOf(const char* text) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text;
    return attributes;
}

}  // namespace

void beginStep(int step) {
    const std::string name = "step " + std::to_string(step);
    nvtxEventAttributes_t attributes = attributesOf(name.c_str());
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = step;
    nvtxRangePushEx(&attributes);
}

void beginForward() {
    nvtxEventAttributes_t attributes = attributesOf(nullptr);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = trainer().forward;
    attributes.category = 5;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xff336699;
    nvtxDomainRangePushEx(trainer().domain, &attributes);
}

void endForward() { nvtxDomainRangePop(trainer().domain); }
void beginBackward() { nvtxRangePushA("backward"); }

void allReduce(uint64_t bytes) {
    const AllReducePayload payload{communicatorHash, bytes, 1};
    nvtxPayloadData_t data{nccl().schema, sizeof payload, &payload};
    nvtxEventAttributes_t attributes = attributesOf("ncclAllReduce");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.payload.ullValue = reinterpret_cast<uint64_t>(&data);
    attributes.reserved0 = 1;
    nvtxDomainRangePushEx(nccl().domain, &attributes);
    nvtxDomainRangePop(nccl().domain);
}

void endBackward() {
    nvtxMarkA("loss");
    nvtxRangePop();
}

uint64_t beginOptimizer() { return nvtxRangeStartW(L"optimizer \u00b5"); }
void endOptimizer(uint64_t range) { nvtxRangeEnd(range); }
void endStep() { nvtxRangePop(); }

void rangeWithThreadId(int number) {
    const std::string name = "thread " + std::to_string(number);
    nvtxEventAttributes_t attributes = attributesOf(name.c_str());
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = static_cast<uint64_t>(::syscall(SYS_gettid));
    nvtxRangePushEx(&attributes);
    nvtxRangePop();
}

void nestDeeply(int depth) {
    for (int i = 0; i < depth; ++i) nvtxRangePushA("deep");
    for (int i = 0; i <= depth; ++i) nvtxRangePop();
}

}  // namespace lanescope::standin
