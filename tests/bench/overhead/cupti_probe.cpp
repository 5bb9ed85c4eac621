// SPDX-License-Identifier: Apache-2.0
//
// Measures the minimum cost of CUPTI: a library injected by the driver (CUDA_INJECTION64_PATH),
// which enables activity kinds and discards the records unread. Any additional cost is the
// profiler's own.
//
// CUPTI_PROBE is a comma-separated list of kinds: kernel, memcpy, memset, sync, event, overhead, runtime.

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int bufferCount = 16, maxBuffers = 256;
constexpr size_t bufferBytes = 4u << 20;
std::atomic<uint8_t*> freeBuffers[maxBuffers];

uint8_t* newBuffer() {
    auto* buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, bufferBytes));
    std::memset(buffer, 0, bufferBytes);
    return buffer;
}

void CUPTIAPI requested(uint8_t** buffer, size_t* size, size_t* records) {
    *records = 0;
    *size = bufferBytes;
    for (std::atomic<uint8_t*>& each : freeBuffers) {
        *buffer = each.load(std::memory_order_relaxed) ? each.exchange(nullptr) : nullptr;
        if (*buffer) return;
    }
    *buffer = newBuffer();
}
void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t) {
    for (std::atomic<uint8_t*>& each : freeBuffers) {
        uint8_t* none = nullptr;
        if (each.compare_exchange_strong(none, buffer)) return;
    }
}

void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

constexpr struct {
    const char* word;
    CUpti_ActivityKind kind;
} kinds[] = {{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY},
             {"memcpy", CUPTI_ACTIVITY_KIND_MEMCPY2},           {"memset", CUPTI_ACTIVITY_KIND_MEMSET},
             {"sync", CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},     {"event", CUPTI_ACTIVITY_KIND_CUDA_EVENT},
             {"overhead", CUPTI_ACTIVITY_KIND_OVERHEAD},        {"runtime", CUPTI_ACTIVITY_KIND_RUNTIME}};

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    void* library = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    const char* path = std::getenv("CUPTI_PATH");
    if (!library) library = ::dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
    if (!library) return 1;
#define FIND(symbol) const auto symbol = reinterpret_cast<decltype(&::symbol)>(::dlsym(library, #symbol))
    FIND(cuptiSubscribe);
    FIND(cuptiActivityEnable);
    FIND(cuptiActivityRegisterCallbacks);
    FIND(cuptiActivitySetAttribute);
    FIND(cuptiSetThreadIdType);
#undef FIND
    for (int i = 0; i < bufferCount; ++i) freeBuffers[i] = newBuffer();
    CUpti_SubscriberHandle subscriber;
    cuptiSubscribe(&subscriber, &called, nullptr);
    cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    const auto set = [&](CUpti_ActivityAttribute which, auto value) {
        size_t size = sizeof value;
        cuptiActivitySetAttribute(which, &size, &value);
    };
    set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, size_t{20});
    set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t{0});
    set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, uint8_t{1});
    cuptiActivityRegisterCallbacks(&requested, &completed);
    const char* words = std::getenv("CUPTI_PROBE");
    const std::string list = "," + std::string(words ? words : "kernel") + ",";
    for (const auto& [word, kind] : kinds)
        if (list.find("," + std::string(word) + ",") != std::string::npos) cuptiActivityEnable(kind);
    return 1;
}
