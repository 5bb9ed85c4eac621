// SPDX-License-Identifier: Apache-2.0
//
// Measures the minimum cost of CUPTI: a library injected by the driver (CUDA_INJECTION64_PATH),
// which enables activity kinds and discards the records unread. Any additional cost is the
// profiler's own.
//
// CUPTI_PROBE is a comma-separated list: kernel, memcpy, memset, sync, event, overhead (kinds);
// runtime=all|filtered|launch and driver=launch (API records: the whole kind, the whole kind
// without query calls, launches alone); callbacks=launch (callbacks in place of records);
// buffer=KIB, buffers=N, perthread=0|1, zeroed=0|1, touch=0|1 (zero buffers on another thread),
// flush=MS. PROBE_REPORT=FILE receives the counts.

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <class Function>
Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(::dlsym(library, name));
}

struct Cupti {
    decltype(&cuptiSubscribe) subscribe;
    decltype(&cuptiEnableCallback) enableCallback;
    decltype(&cuptiActivityEnable) enable;
    decltype(&cuptiActivityEnableRuntimeApi) enableRuntimeApi;
    decltype(&cuptiActivityEnableDriverApi) enableDriverApi;
    decltype(&cuptiActivityEnableAllSyncRecords) allSyncRecords;
    decltype(&cuptiActivityRegisterCallbacks) registerCallbacks;
    decltype(&cuptiActivitySetAttribute) setAttribute;
    decltype(&cuptiActivityFlushAll) flushAll;
    decltype(&cuptiGetCallbackName) callbackName;
    decltype(&cuptiSetThreadIdType) threadIdType;
} cupti;

constexpr int maxBuffers = 256;
std::string options;
size_t bufferBytes = 4u << 20;
int bufferCount = 16;
bool zeroOnOtherThread = false;
std::atomic<uint8_t*> freeBuffers[maxBuffers];
std::atomic<uint8_t*> usedBuffers[maxBuffers];
bool keepsCalls = false;
bool usesTsc = false;
std::atomic<uint32_t> lastKernelCorrelation{0};
std::atomic<long> completedBytes{0}, completedBuffers{0}, callbacks{0}, extraBuffers{0};

bool has(const char* word) { return ("," + options + ",").find("," + std::string(word) + ",") != std::string::npos; }
long number(const char* key, long otherwise) {
    const std::string text = "," + options, sought = "," + std::string(key) + "=";
    const size_t at = text.find(sought);
    return at == std::string::npos ? otherwise : std::atol(text.c_str() + at + sought.size());
}

uint8_t* takeFrom(std::atomic<uint8_t*>* buffers) {
    for (int i = 0; i < maxBuffers; ++i) {
        if (buffers[i].load(std::memory_order_relaxed)) {
            if (uint8_t* found = buffers[i].exchange(nullptr)) return found;
        }
    }
    return nullptr;
}
void putInto(std::atomic<uint8_t*>* buffers, uint8_t* buffer) {
    for (int i = 0; i < maxBuffers; ++i) {
        uint8_t* none = nullptr;
        if (buffers[i].compare_exchange_strong(none, buffer)) return;
    }
}
uint8_t* newBuffer() {
    auto* buffer = static_cast<uint8_t*>(std::aligned_alloc(4096, bufferBytes));
    std::memset(buffer, 0, bufferBytes);
    return buffer;
}

void CUPTIAPI requested(uint8_t** buffer, size_t* size, size_t* records) {
    *records = 0;
    *size = bufferBytes;
    *buffer = takeFrom(freeBuffers);
    if (!*buffer) {
        extraBuffers.fetch_add(1);
        *buffer = newBuffer();
    }
}
void CUPTIAPI completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validSize) {
    completedBytes.fetch_add(static_cast<long>(validSize));
    completedBuffers.fetch_add(1);
    if (keepsCalls && validSize >= sizeof(CUpti_ActivityKernel9)) {
        const auto* first = reinterpret_cast<const CUpti_ActivityKernel9*>(buffer);
        if (first->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) lastKernelCorrelation = first->correlationId;
    }
    putInto(zeroOnOtherThread ? usedBuffers : freeBuffers, buffer);
}
struct Call {
    int64_t startNs, endNs;
    uint32_t callbackId, correlationId, threadId, reserved;
};
constexpr size_t ringCalls = 32768;
struct Ring {
    Call calls[ringCalls];
    size_t count = 0;
};
thread_local Ring* ring = nullptr;
std::atomic<Ring*> lastRing{nullptr};

int64_t nowNs() {
    if (usesTsc) return static_cast<int64_t>(__builtin_ia32_rdtsc());
    timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (!keepsCalls) {
        callbacks.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (call->callbackSite == CUPTI_API_ENTER) {
        *call->correlationData = static_cast<uint64_t>(nowNs());
        return;
    }
    if (!ring) [[unlikely]] {
        ring = new Ring();
        lastRing = ring;
    }
    Call& kept = ring->calls[ring->count++ % ringCalls];
    kept.startNs = static_cast<int64_t>(*call->correlationData);
    kept.endNs = nowNs();
    kept.callbackId = id;
    kept.correlationId = call->correlationId;
}

void* flushForEver(void*) {
    const long periodMs = number("flush", 0);
    timespec wait{0, 1'000'000};
    for (long ms = 0;; ++ms) {
        ::nanosleep(&wait, nullptr);
        while (uint8_t* used = takeFrom(usedBuffers)) {
            std::memset(used, 0, bufferBytes);
            putInto(freeBuffers, used);
        }
        if (periodMs && ms % periodMs == periodMs - 1) cupti.flushAll(0);
    }
}

void report() {
    if (const char* file = std::getenv("PROBE_REPORT")) {
        cupti.flushAll(1);
        if (FILE* out = std::fopen(file, "a")) {
            std::fprintf(out, "%s: %ld bytes in %ld buffers, %ld callbacks, %ld extra buffers\n", options.c_str(),
                         completedBytes.load(), completedBuffers.load(), callbacks.load(), extraBuffers.load());
            if (const Ring* kept = lastRing) {
                const size_t last = (kept->count - 1) % ringCalls;
                std::fprintf(out,
                             "  %zu calls kept, the last %lld ns long, correlation %u, call %u; "
                             "correlation of a kernel: %u\n",
                             kept->count, static_cast<long long>(kept->calls[last].endNs - kept->calls[last].startNs),
                             kept->calls[last].correlationId, kept->calls[last].callbackId,
                             lastKernelCorrelation.load());
            }
            std::fclose(out);
        }
    }
}

bool startsWork(const char* name) {
    const std::string text = name;
    for (const char* part : {"Launch", "launch"}) {
        if (text.find(part) != std::string::npos && text.find("Attribute") == std::string::npos &&
            text.find("Host") == std::string::npos)
            return true;
    }
    return false;
}
bool explains(const char* name) {
    const std::string text = name;
    for (const char* part : {"Launch", "Memcpy", "Memset", "Synchronize", "Malloc", "Free", "Alloc", "EventRecord",
                             "StreamWait", "Graph"}) {
        if (text.find(part) != std::string::npos) return true;
    }
    return false;
}
bool asks(const char* name) {
    const std::string text = name;
    for (const char* part : {"cudaGetDevice", "cudaSetDevice", "LastError", "Capturing", "CaptureInfo", "Query",
                             "Attribute", "Occupancy"}) {
        if (text.find(part) != std::string::npos) return true;
    }
    return false;
}

template <class Visit>
void eachCall(CUpti_CallbackDomain domain, Visit visit) {
    for (uint32_t id = 1; id < 2048; ++id) {
        const char* name = nullptr;
        if (cupti.callbackName(domain, id, &name) != CUPTI_SUCCESS) break;
        if (name) visit(id, name);
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    void* library = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        library = ::dlopen(std::getenv("CUPTI_PATH") ? std::getenv("CUPTI_PATH") : "libcupti.so.13", RTLD_NOW);
    if (!library) {
        if (const char* file = std::getenv("PROBE_REPORT")) {
            if (FILE* out = std::fopen(file, "a")) std::fprintf(out, "no libcupti\n"), std::fclose(out);
        }
        return 1;
    }
#define FIND(member, symbol) cupti.member = find<decltype(cupti.member)>(library, #symbol)
    FIND(subscribe, cuptiSubscribe);
    FIND(enableCallback, cuptiEnableCallback);
    FIND(enable, cuptiActivityEnable);
    FIND(enableRuntimeApi, cuptiActivityEnableRuntimeApi);
    FIND(enableDriverApi, cuptiActivityEnableDriverApi);
    FIND(allSyncRecords, cuptiActivityEnableAllSyncRecords);
    FIND(registerCallbacks, cuptiActivityRegisterCallbacks);
    FIND(setAttribute, cuptiActivitySetAttribute);
    FIND(flushAll, cuptiActivityFlushAll);
    FIND(callbackName, cuptiGetCallbackName);
    FIND(threadIdType, cuptiSetThreadIdType);
#undef FIND
    options = std::getenv("CUPTI_PROBE") ? std::getenv("CUPTI_PROBE") : "kernel";
    bufferBytes = static_cast<size_t>(number("buffer", 4096)) << 10;
    bufferCount = static_cast<int>(number("buffers", 16));
    zeroOnOtherThread = number("touch", 0) != 0;
    for (int i = 0; i < bufferCount; ++i) freeBuffers[i] = newBuffer();

    CUpti_SubscriberHandle subscriber;
    cupti.subscribe(&subscriber, &called, nullptr);
    cupti.threadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    const auto attribute = [](CUpti_ActivityAttribute which, auto value) {
        size_t size = sizeof value;
        cupti.setAttribute(which, &size, &value);
    };
    attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, size_t{20});
    attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, static_cast<uint8_t>(number("zeroed", 0)));
    attribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, static_cast<uint8_t>(number("perthread", 1)));
    cupti.registerCallbacks(&requested, &completed);
    if (has("kernel")) cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (has("memcpy")) {
        cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY);
        cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY2);
    }
    if (has("memset")) cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET);
    if (has("sync")) cupti.enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    if (has("event")) cupti.enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
    if (has("sync") && number("allsync", 0) == 0 && cupti.allSyncRecords) cupti.allSyncRecords(0);
    if (has("overhead")) cupti.enable(CUPTI_ACTIVITY_KIND_OVERHEAD);
    if (has("runtime=all") || has("runtime=filtered")) cupti.enable(CUPTI_ACTIVITY_KIND_RUNTIME);
    if (has("runtime=filtered"))
        eachCall(CUPTI_CB_DOMAIN_RUNTIME_API, [](uint32_t id, const char* name) {
            if (asks(name)) cupti.enableRuntimeApi(id, 0);
        });
    if (has("runtime=launch"))
        eachCall(CUPTI_CB_DOMAIN_RUNTIME_API, [](uint32_t id, const char* name) {
            if (startsWork(name)) cupti.enableRuntimeApi(id, 1);
        });
    if (has("runtime=explaining"))
        eachCall(CUPTI_CB_DOMAIN_RUNTIME_API, [](uint32_t id, const char* name) {
            if (explains(name)) cupti.enableRuntimeApi(id, 1);
        });
    if (has("driver=launch"))
        eachCall(CUPTI_CB_DOMAIN_DRIVER_API, [](uint32_t id, const char* name) {
            if (startsWork(name)) cupti.enableDriverApi(id, 1);
        });
    if (has("driver=explaining"))
        eachCall(CUPTI_CB_DOMAIN_DRIVER_API, [](uint32_t id, const char* name) {
            if (explains(name)) cupti.enableDriverApi(id, 1);
        });
    if (has("callbacks=launch"))
        eachCall(CUPTI_CB_DOMAIN_RUNTIME_API, [&](uint32_t id, const char* name) {
            if (startsWork(name)) cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id);
        });
    keepsCalls = number("keep", 0) != 0;
    usesTsc = number("tsc", 0) != 0;
    if (has("callbacks=explaining"))
        eachCall(CUPTI_CB_DOMAIN_DRIVER_API, [&](uint32_t id, const char* name) {
            if (explains(name)) cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
        });
    if (has("callbacks=driver"))
        eachCall(CUPTI_CB_DOMAIN_DRIVER_API, [&](uint32_t id, const char* name) {
            if (startsWork(name)) cupti.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
        });
    if (number("flush", 0) || zeroOnOtherThread) {
        pthread_t thread;
        ::pthread_create(&thread, nullptr, &flushForEver, nullptr);
    }
    std::atexit(&report);
    return 1;
}
