// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a CUDA driver with GPUs that copy at their own rates and a clock that only their
// copies advance. For tests of measuring on machines without a GPU. STANDIN_CUDA selects a fault:
// "none" no GPU, "broken" cuInit fails, "full" no memory, "frozen" a constant clock.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int gpuCount = 2;
constexpr int failed = 1;
double nowNs = 0;

bool is(const char* oddity) {
    const char* text = std::getenv("STANDIN_CUDA");
    return text != nullptr && std::strcmp(text, oddity) == 0;
}

/// Advances the clock by the time of `bytes` at a rate.
int pass(size_t bytes, double gigabytesPerSecond) {
    if (!is("frozen")) nowNs += 5'000 + static_cast<double>(bytes) / gigabytesPerSecond;
    return 0;
}

struct Event {
    double atNs = 0;
};

/// Target of stream pointers.
char place[1];

}  // namespace

EXPORT int cuInit(unsigned) { return is("broken") ? 100 : 0; }
EXPORT int cuDeviceGetCount(int* count) {
    *count = is("none") ? 0 : gpuCount;
    return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return 0;
}
EXPORT int cuDeviceGetName(char* name, int length, int) {
    std::strncpy(name, "Simulated GPU", static_cast<size_t>(length));
    return 0;
}
EXPORT int cuDeviceGetUuid(unsigned char* uuid, int device) {
    std::memset(uuid, device + 1, 16);
    return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 36 ? 1'000'000 : 4'096;  // 1 GHz, 4096 bits
    return 0;
}
EXPORT int cuDeviceCanAccessPeer(int* reaches, int, int) {
    *reaches = 1;
    return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = reinterpret_cast<void*>(static_cast<intptr_t>(device + 1));
    return 0;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
EXPORT int cuCtxSetCurrent(void*) { return 0; }
EXPORT int cuCtxEnablePeerAccess(void*, unsigned) { return 0; }
EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
    *total = size_t{1} << 30;
    *free = is("full") ? size_t{1} << 20 : size_t{256} << 20;
    return 0;
}
EXPORT int cuMemAlloc_v2(uint64_t* memory, size_t) {
    static uint64_t next = 0;
    *memory = ++next << 32;
    return 0;
}
EXPORT int cuMemFree_v2(uint64_t) { return 0; }
EXPORT int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
    *memory = std::malloc(bytes);
    return *memory != nullptr ? 0 : failed;
}
EXPORT int cuMemFreeHost(void* memory) {
    std::free(memory);
    return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t, const void*, size_t bytes, void*) { return pass(bytes, 50); }
EXPORT int cuMemcpyDtoHAsync_v2(void*, uint64_t, size_t bytes, void*) { return pass(bytes, 40); }
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t bytes, void*) { return pass(bytes, 400); }
EXPORT int cuMemcpyPeerAsync(uint64_t, void*, uint64_t, void*, size_t bytes, void*) { return pass(bytes, 200); }
EXPORT int cuStreamCreate(void** stream, unsigned) {
    *stream = place;
    return 0;
}
EXPORT int cuStreamDestroy_v2(void*) { return 0; }
EXPORT int cuStreamSynchronize(void*) { return 0; }
EXPORT int cuEventCreate(void** event, unsigned) {
    *event = new Event;
    return 0;
}
EXPORT int cuEventDestroy_v2(void* event) {
    delete static_cast<Event*>(event);
    return 0;
}
EXPORT int cuEventRecord(void* event, void*) {
    static_cast<Event*>(event)->atNs = nowNs;
    return 0;
}
EXPORT int cuEventElapsedTime(float* milliseconds, void* before, void* after) {
    *milliseconds = static_cast<float>((static_cast<Event*>(after)->atNs - static_cast<Event*>(before)->atNs) / 1e6);
    return 0;
}
