// SPDX-License-Identifier: Apache-2.0
//
// A second shared object that uses NVTX, as NCCL does in addition to the program.

#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void pluginWork() {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");  // the same as the program's
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "plugin";
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
}
