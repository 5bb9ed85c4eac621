// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a CUDA driver with GPUs that copy at their own rates and a clock that only their
// copies advance. For tests of measuring on machines without a GPU. STANDIN_CUDA selects a fault:
// "none" no GPU, "broken" cuInit fails, "full" no memory, "roomy" much, "frozen" a constant clock, "plain" as "roomy"
// without a compiler of kernels and without products.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

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
    *free = is("full") ? size_t{1} << 20 : size_t{is("roomy") || is("plain") ? 1280u : 256u} << 20;
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
EXPORT int cuMemsetD32Async(uint64_t, unsigned, size_t words, void*) { return pass(words * 4, 900); }
EXPORT int cuModuleLoadData(void** module, const void*) {
    *module = place;
    return is("plain") ? 1 : 0;
}
EXPORT int cuModuleUnload(void*) { return 0; }
static char fill, sum;
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
    *function = std::strcmp(name, "sum") == 0 ? &sum : &fill;
    return 0;
}
/// Both kernels have an address, then a count of words, or the end of 16 bytes that all threads read in turns of four.
EXPORT int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                          unsigned, void*, void** arguments, void**) {
    const uint64_t count = *static_cast<uint64_t*>(arguments[1]);
    if (function == &fill) return pass(4 * count, 850);
    const uint64_t stride = uint64_t{blocks} * threads;
    uint64_t turns = 0;
    for (const uint64_t thread : {uint64_t{0}, stride - 1})
        turns += thread <= count ? (count - thread) / (4 * stride) : 0;
    return pass(16 * 4 * stride * turns / 2, 850);
}

// cuBLASLt of the same machine: bf16 products at 800 TFLOP/s, by its second algorithm; others at 100; no fp8.
struct Layout {
    uint64_t rows, columns;
};
struct Algorithm {
    uint64_t data[8];
    size_t workspaceBytes;
    int state;
    float waves;
    int reserved[4];
};
EXPORT size_t cublasLtGetVersion() { return 130100; }
EXPORT int cublasLtCreate(void** handle) {
    *handle = place;
    return is("plain") ? 1 : 0;
}
EXPORT int cublasLtMatmulDescCreate(void** description, int, int) {
    *description = place;
    return 0;
}
EXPORT int cublasLtMatmulDescDestroy(void*) { return 0; }
EXPORT int cublasLtMatmulDescSetAttribute(void*, int, const void*, size_t) { return 0; }
EXPORT int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t) {
    *layout = new Layout{rows, columns | static_cast<uint64_t>(type) << 32};
    return 0;
}
EXPORT int cublasLtMatrixLayoutDestroy(void* layout) {
    delete static_cast<Layout*>(layout);
    return 0;
}
EXPORT int cublasLtMatmulPreferenceCreate(void** preference) {
    *preference = place;
    return 0;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void*) { return 0; }
EXPORT int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) { return 0; }
EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void* a, void*, void*, void*, void*, int, void* found,
                                          int* count) {
    *count = static_cast<Layout*>(a)->columns >> 32 == 28 ? 0 : 2;
    for (int each = 0; each < *count; ++each)
        static_cast<Algorithm*>(found)[each].data[0] = static_cast<uint64_t>(each);
    return 0;
}
EXPORT int cublasLtMatmul(void*, void*, const void*, const void*, void* a, const void*, void* b, const void*,
                          const void*, void*, void*, void*, const void* algorithm, void*, size_t, void*) {
    const auto *left = static_cast<Layout*>(a), *right = static_cast<Layout*>(b);
    constexpr uint64_t lengthBits = 0xffffffff;
    const double operations = 2.0 * static_cast<double>(left->rows) * static_cast<double>(left->columns & lengthBits) *
                              static_cast<double>(right->columns & lengthBits);
    const bool isBest = static_cast<const Algorithm*>(algorithm)->data[0] == 1 && left->columns >> 32 == 14;
    nowNs += operations / (isBest ? 800'000 : 100'000);
    return 0;
}
EXPORT int cuEventElapsedTime(float* milliseconds, void* before, void* after) {
    *milliseconds = static_cast<float>((static_cast<Event*>(after)->atNs - static_cast<Event*>(before)->atNs) / 1e6);
    return 0;
}
