// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/SecondTool.h"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>

namespace lanescope::standin {

namespace {

std::atomic<long> kernels{0};
CUpti_SubscriberHandle self = nullptr;
CUptiResult (*getNextRecord)(CUpti_SubscriberHandle, uint8_t*, size_t, CUpti_Activity**) = nullptr;

void request(uint8_t** buffer, size_t* bytes, size_t* maxRecords, void*) {
    *bytes = 1 << 16;
    *buffer = new uint8_t[*bytes];
    *maxRecords = 0;
}

void complete(uint8_t* buffer, size_t, size_t validBytes, void*) {
    CUpti_Activity* record = nullptr;
    while (getNextRecord(self, buffer, validBytes, &record) == CUPTI_SUCCESS)
        kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    delete[] buffer;
}

}  // namespace

int beginSecondTool(const std::string& cuptiPath) {
    void* const library = ::dlopen(cuptiPath.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return -1;
    const auto find = [library]<class Function>(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(::dlsym(library, name));
        return function != nullptr;
    };
    decltype(&cuptiSubscribe_v2) subscribe = nullptr;
    CUptiResult (*registerCallbacks)(CUpti_SubscriberHandle, decltype(&request), decltype(&complete)) = nullptr;
    CUptiResult (*enable)(CUpti_SubscriberHandle, CUpti_ActivityKind, void*) = nullptr;
    if (!find(subscribe, "cuptiSubscribe_v2") || !find(registerCallbacks, "cuptiActivityRegisterCallbacks_v2") ||
        !find(enable, "cuptiActivityEnable_v2") || !find(getNextRecord, "cuptiActivityGetNextRecord_v2"))
        return -1;
    struct : CUpti_SubscriberParams {
        uint8_t allowsOthers = 1, padding[7] = {};
    } parameters{};
    parameters.structSize = sizeof parameters;
    CUptiResult result = subscribe(
        &self, [](auto...) {}, nullptr, &parameters);
    if (result == CUPTI_SUCCESS) result = registerCallbacks(self, request, complete);
    if (result == CUPTI_SUCCESS) result = enable(self, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, nullptr);
    return result;
}

long secondToolKernels() { return kernels.load(); }

}  // namespace lanescope::standin
