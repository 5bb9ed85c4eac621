// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a stand-in for libcupti, for tests on machines without a GPU. It behaves like CUPTI as
// far as the agent is concerned: buffers requested on the working thread, one for each thread;
// records in the layout of the simulated version; buffers returned when full or flushed, optionally
// on its own thread, and not while work in them runs.

#include <cupti.h>
#include <cupti_activity_deprecated.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/capture/standin/BufferDelivery.h"
#include "tests/capture/standin/SimulatedCupti.h"

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

long fromEnvironment(const char* name, long otherwise) {
    const char* value = std::getenv(name);
    return value && *value ? std::atol(value) : otherwise;
}

/// Buffer of one working thread.
struct ThreadBuffer {
    std::mutex mutex;
    uint8_t* memory = nullptr;
    size_t bytes = 0, used = 0;
    std::vector<CUpti_ActivityKernel9*> kernels;  ///< Its kernels, if unfinished ones are kept back.
};

struct Simulation {
    const long version = fromEnvironment("STANDIN_CUPTI_VERSION", 130001);
    const bool hasThread = fromEnvironment("STANDIN_CUPTI_THREAD", 0) != 0;
    const bool keepsBack = fromEnvironment("STANDIN_CUPTI_KEEPS", 0) != 0;
    lanescope::standin::BufferDelivery delivery;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    CUpti_CallbackFunc callback = nullptr;
    void* callbackData = nullptr;
    std::atomic<bool> reportsContexts{false};
    std::atomic<bool> reportedDropped{false};
    std::atomic<bool> returnedUnknown{false};

    // From 13.5 on, several tools may subscribe. The first is the one above; the second gets each record at once.
    std::atomic<bool> isShared{false};
    struct {
        void (*request)(uint8_t**, size_t*, size_t*, void*) = nullptr;
        void (*complete)(uint8_t*, size_t, size_t, void*) = nullptr;
        std::set<int> kinds;
    } second;
    void (*sharedRequest)(uint8_t**, size_t*, size_t*, void*) = nullptr;
    void (*sharedComplete)(uint8_t*, size_t, size_t, void*) = nullptr;

    std::mutex mutex;  // guards the members below
    std::set<int> kinds;
    std::set<CUpti_CallbackId> runtimeCallsOff, driverCallsOn, driverCallbacksOn, resourcesOn;
    std::list<ThreadBuffer> buffers;
};

// Never destroyed: a flush may come while the process ends.
Simulation& simulation() {
    static auto* const it = new Simulation;
    return *it;
}

// Record sizes by the release notes and headers of each version. Written independently of the
// agent's own table, so that the two test each other.
size_t recordBytes(CUpti_ActivityKind kind) {
    const long version = simulation().version;
    constexpr long v12_0 = 19, v12_2 = 20, v12_3 = 21, v12_4 = 22, v12_6 = 24, v12_8 = 26;
    constexpr long v13_0 = 130000, v13_1 = 130100, v13_4 = 130400;
    constexpr size_t kernel11 = 224, kernel13 = 240;  // newer than our build headers
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return version >= v13_4   ? kernel13
                   : version >= v13_1 ? kernel11
                   : version >= v13_0 ? sizeof(CUpti_ActivityKernel10)
                   : version >= v12_0 ? sizeof(CUpti_ActivityKernel9)
                                      : sizeof(CUpti_ActivityKernel8);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return version >= v12_8 ? sizeof(CUpti_ActivityMemcpy6) : sizeof(CUpti_ActivityMemcpy5);
        case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
        case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
            return version >= v12_8 ? sizeof(CUpti_ActivitySynchronization2) : sizeof(CUpti_ActivitySynchronization);
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
            return version >= v12_8 ? sizeof(CUpti_ActivityCudaEvent2) : sizeof(CUpti_ActivityCudaEvent);
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
            return version >= v12_6   ? sizeof(CUpti_ActivityOverhead3)
                   : version >= v12_2 ? sizeof(CUpti_ActivityOverhead2)
                                      : sizeof(CUpti_ActivityOverhead);
        case CUPTI_ACTIVITY_KIND_DEVICE:
            return version >= v12_4 ? sizeof(CUpti_ActivityDevice5) : sizeof(CUpti_ActivityDevice4);
        case CUPTI_ACTIVITY_KIND_CONTEXT:
            return version >= v13_0   ? sizeof(CUpti_ActivityContext3)
                   : version >= v12_4 ? sizeof(CUpti_ActivityContext2)
                                      : sizeof(CUpti_ActivityContext);
        case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
            return version >= v12_3 ? sizeof(CUpti_ActivityGraphTrace2) : sizeof(CUpti_ActivityGraphTrace);
        case CUPTI_ACTIVITY_KIND_MEMORY2:
            return version >= v12_6 ? sizeof(CUpti_ActivityMemory4) : sizeof(CUpti_ActivityMemory3);
        case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
            return version >= v13_0 ? sizeof(CUpti_ActivityMemoryPool3) : sizeof(CUpti_ActivityMemoryPool2);
        case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
            return version >= v12_8 ? sizeof(CUpti_ActivityUnifiedMemoryCounter3)
                                    : sizeof(CUpti_ActivityUnifiedMemoryCounter2);
        case CUPTI_ACTIVITY_KIND_JIT:  // a kind that was not requested
            return sizeof(CUpti_ActivityJit2);
        default: return 0;
    }
}

/// Returns the size of a record's newest struct in our headers.
size_t newestBytes(CUpti_ActivityKind kind) {
    return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? sizeof(CUpti_ActivityKernel10) : SIZE_MAX;
}

// Bytes after each record that no reader may use: invalid as a pointer, and unused as a number.
constexpr size_t poisonBytes = 64;
constexpr int poison = 0xa5;

ThreadBuffer& threadBuffer() {
    thread_local ThreadBuffer* mine = nullptr;
    if (!mine) {
        const std::lock_guard lock(simulation().mutex);
        mine = &simulation().buffers.emplace_back();
    }
    return *mine;
}

/// Returns the buffer; its mutex is held.
void completeBuffer(ThreadBuffer& buffer) {
    Simulation& s = simulation();
    if (!buffer.memory) return;
    if (s.hasThread)
        s.delivery.give(s.complete, buffer.memory, buffer.bytes, buffer.used);
    else
        s.complete(nullptr, 0, buffer.memory, buffer.bytes, buffer.used);
    buffer.memory = nullptr;
    buffer.kernels.clear();
}

uint64_t nowNs() {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

/// Returns true if a kernel in the buffer has not ended yet. With `endsThem` there are none
/// afterwards: only their launch is known.
bool isUnderWay(ThreadBuffer& buffer, bool endsThem) {
    const uint64_t now = nowNs();
    bool isAny = false;
    for (CUpti_ActivityKernel9* const kernel : buffer.kernels) {
        if (kernel->end <= now) continue;
        isAny = !endsThem;
        if (endsThem) kernel->start = kernel->end = 0;
    }
    return isAny;
}

bool isWanted(const CUpti_Activity& activity) {
    Simulation& s = simulation();
    const std::lock_guard lock(s.mutex);
    if (activity.kind == CUPTI_ACTIVITY_KIND_DRIVER) {
        return s.driverCallsOn.count(reinterpret_cast<const CUpti_ActivityAPI&>(activity).cbid) > 0;
    }
    if (activity.kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
        s.runtimeCallsOff.count(reinterpret_cast<const CUpti_ActivityAPI&>(activity).cbid) > 0) {
        return false;
    }
    return activity.kind == CUPTI_ACTIVITY_KIND_JIT || s.kinds.count(activity.kind) > 0;
}

void giveToSecond(const CUpti_Activity& activity, size_t bytes) {
    Simulation& s = simulation();
    {
        const std::lock_guard lock(s.mutex);
        if (s.second.kinds.count(activity.kind) == 0 || !s.second.request) return;
    }
    uint8_t* buffer = nullptr;
    size_t size = 0, maxRecords = 0;
    s.second.request(&buffer, &size, &maxRecords, nullptr);
    const size_t known = newestBytes(activity.kind);
    std::memset(buffer, poison, bytes + poisonBytes);
    std::memcpy(buffer, &activity, known < bytes ? known : bytes);
    s.second.complete(buffer, size, bytes + poisonBytes, nullptr);
}

bool isStolen() {
    static const long stolenMs = fromEnvironment("STANDIN_CUPTI_STOLEN_MS", 0);
    static const auto begun = std::chrono::steady_clock::now();
    return stolenMs > 0 && std::chrono::steady_clock::now() - begun > std::chrono::milliseconds(stolenMs);
}

/// Returns one empty buffer of another tool; its content does not matter.
bool returnUnknownBuffer() {
    static uint8_t unknown[64];
    if (std::getenv("STANDIN_CUPTI_MIXED") && !simulation().returnedUnknown.exchange(true))
        simulation().complete(nullptr, 0, unknown, sizeof unknown, 0);
    return false;
}

void noteDisabled(const std::string& what) {
    const char* path = std::getenv("STANDIN_CUPTI_DISABLED");
    std::FILE* file = path ? std::fopen(path, "a") : nullptr;
    if (!file) return;
    std::fprintf(file, "%s\n", what.c_str());
    std::fclose(file);
}

constexpr long v13_5 = 130500;

[[maybe_unused]] bool isSecond(CUpti_SubscriberHandle subscriber) {
    return subscriber == reinterpret_cast<CUpti_SubscriberHandle>(&simulation().second);
}

CUptiResult subscribeResult() {
    return static_cast<CUptiResult>(fromEnvironment("STANDIN_CUPTI_SUBSCRIBE", CUPTI_SUCCESS));
}

}  // namespace

SIMULATED_EXPORT void simulateContext() {
    Simulation& s = simulation();
    if (!s.reportsContexts.load() || std::getenv("STANDIN_CUPTI_SILENT")) return;
    CUpti_ResourceData data{};
    s.callback(s.callbackData, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

SIMULATED_EXPORT void simulateGraphNode(uint64_t node, uint64_t original) {
    Simulation& s = simulation();
    const CUpti_CallbackId id =
        original == 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED : CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    {
        const std::lock_guard lock(s.mutex);
        if (s.resourcesOn.count(id) == 0) return;
    }
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    CUpti_ResourceData data{};
    data.resourceDescriptor = &graph;
    s.callback(s.callbackData, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

SIMULATED_EXPORT void simulateDriverCall(uint32_t callbackId, uint32_t correlation, const void* parameters) {
    Simulation& s = simulation();
    {
        const std::lock_guard lock(s.mutex);
        if (s.driverCallbacksOn.count(callbackId) == 0) return;
    }
    uint64_t correlationData = 0;
    CUresult result = CUDA_SUCCESS;
    CUpti_CallbackData data{};
    data.functionName = "simulatedCall";
    data.functionParams = parameters;
    data.functionReturnValue = &result;
    data.contextUid = 1;
    data.correlationData = &correlationData;
    data.correlationId = correlation;
    data.callbackSite = CUPTI_API_ENTER;
    s.callback(s.callbackData, CUPTI_CB_DOMAIN_DRIVER_API, callbackId, &data);
    // A launch takes the driver two or three microseconds; a recorder may rely on half of that.
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
    while (std::chrono::steady_clock::now() < end) {
    }
    data.callbackSite = CUPTI_API_EXIT;
    s.callback(s.callbackData, CUPTI_CB_DOMAIN_DRIVER_API, callbackId, &data);
}

SIMULATED_EXPORT bool simulateRecord(const void* record) {
    const auto& activity = *static_cast<const CUpti_Activity*>(record);
    Simulation& s = simulation();
    const size_t bytes = recordBytes(activity.kind);
    if (bytes > 0) giveToSecond(activity, bytes);
    if (!s.request || bytes == 0 || !isWanted(activity)) return false;
    if (isStolen()) return returnUnknownBuffer();
    ThreadBuffer& buffer = threadBuffer();
    const std::lock_guard lock(buffer.mutex);
    if (buffer.memory && buffer.used + bytes + poisonBytes > buffer.bytes) completeBuffer(buffer);
    if (!buffer.memory) {
        size_t maximumRecords = 0;
        buffer.used = buffer.bytes = 0;
        s.request(&buffer.memory, &buffer.bytes, &maximumRecords);
        if (!buffer.memory || buffer.bytes < bytes) return false;
    }
    uint8_t* place = buffer.memory + buffer.used;
    const size_t known = newestBytes(activity.kind);
    std::memset(place, poison, bytes + poisonBytes);
    std::memcpy(place, record, known < bytes ? known : bytes);
    if (activity.kind == CUPTI_ACTIVITY_KIND_OVERHEAD && bytes >= sizeof(CUpti_ActivityOverhead3))
        reinterpret_cast<CUpti_ActivityOverhead3*>(place)->overheadData = std::malloc(12);
    if (s.keepsBack && activity.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        buffer.kernels.push_back(reinterpret_cast<CUpti_ActivityKernel9*>(place));
    buffer.used += bytes + poisonBytes;
    return true;
}

// --- CUPTI's own functions ---

SIMULATED_EXPORT CUptiResult cuptiGetVersion(uint32_t* version) {
    *version = static_cast<uint32_t>(simulation().version);
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                            void* data) {
    const CUptiResult result = subscribeResult();
    if (result != CUPTI_SUCCESS) return result;
    if (simulation().callback) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    simulation().callback = callback;
    simulation().callbackData = data;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&simulation());
    return CUPTI_SUCCESS;
}

#ifndef STANDIN_CUPTI_OLD  // as before CUDA 12.5 and 13.0
SIMULATED_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                               void* data, CUpti_SubscriberParams* parameters) {
    if (subscribeResult() == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && parameters->oldSubscriberName) {
        std::strncpy(parameters->oldSubscriberName, "SimulatedRival", parameters->oldSubscriberSize - 1);
    }
    // A byte after the members of our headers.
    Simulation& s = simulation();
    const bool allowsOthers = s.version >= v13_5 && parameters->structSize > sizeof *parameters &&
                              reinterpret_cast<const uint8_t*>(parameters + 1)[0] == 1;
    if (!s.callback) {
        s.isShared = allowsOthers;
    } else if (s.isShared && allowsOthers) {
        *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&s.second);
        return CUPTI_SUCCESS;
    }
    return cuptiSubscribe(subscriber, callback, data);
}

// By subscriber. The functions without one refuse a shared CUPTI.
SIMULATED_EXPORT CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
                                                               void (*request)(uint8_t**, size_t*, size_t*, void*),
                                                               void (*complete)(uint8_t*, size_t, size_t, void*)) {
    Simulation& s = simulation();
    if (isSecond(subscriber)) {
        s.second.request = request;
        s.second.complete = complete;
        return CUPTI_SUCCESS;
    }
    s.sharedRequest = request;
    s.sharedComplete = complete;
    s.request = [](uint8_t** buffer, size_t* bytes, size_t* maxRecords) {
        simulation().sharedRequest(buffer, bytes, maxRecords, nullptr);
    };
    s.complete = [](CUcontext, uint32_t, uint8_t* buffer, size_t bytes, size_t validBytes) {
        simulation().sharedComplete(buffer, bytes, validBytes, nullptr);
    };
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, void*) {
    simulation().delivery.pass();
    const std::lock_guard lock(simulation().mutex);
    (isSecond(subscriber) ? simulation().second.kinds : simulation().kinds).insert(kind);
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                                     void*) {
    simulation().delivery.pass();
    const std::lock_guard lock(simulation().mutex);
    (isSecond(subscriber) ? simulation().second.kinds : simulation().kinds).erase(kind);
    if (!isSecond(subscriber)) noteDisabled(std::to_string(kind));
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle, int, size_t*, void*) {
    return CUPTI_SUCCESS;
}
#endif

SIMULATED_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                                 CUpti_CallbackId id) {
    simulation().delivery.pass();
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
        simulation().reportsContexts.store(enable != 0);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        const std::lock_guard lock(simulation().mutex);
        if (enable)
            simulation().resourcesOn.insert(id);
        else
            simulation().resourcesOn.erase(id);
    }
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        const std::lock_guard lock(simulation().mutex);
        if (enable) {
            simulation().driverCallbacksOn.insert(id);
        } else {
            simulation().driverCallbacksOn.erase(id);
            noteDisabled("call");
        }
    }
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                            CUpti_BuffersCallbackCompleteFunc complete) {
    if (simulation().isShared) return CUPTI_ERROR_NOT_SUPPORTED;
    simulation().request = request;
    simulation().complete = complete;
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    if (simulation().isShared) return CUPTI_ERROR_NOT_SUPPORTED;
    simulation().delivery.pass();
    const std::lock_guard lock(simulation().mutex);
    simulation().kinds.insert(kind);
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    if (simulation().isShared) return CUPTI_ERROR_NOT_SUPPORTED;
    simulation().delivery.pass();
    const std::lock_guard lock(simulation().mutex);
    simulation().kinds.erase(kind);
    noteDisabled(std::to_string(kind));
    return CUPTI_SUCCESS;
}

#ifndef STANDIN_CUPTI_OLD  // as before CUDA 12.5 and 13.0
SIMULATED_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
    const std::lock_guard lock(simulation().mutex);
    if (enable) {
        simulation().runtimeCallsOff.erase(id);
    } else {
        simulation().runtimeCallsOff.insert(id);
    }
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
    const std::lock_guard lock(simulation().mutex);
    if (enable) {
        simulation().driverCallsOn.insert(id);
    } else {
        simulation().driverCallsOn.erase(id);
    }
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle, CUpti_CallbackId id,
                                                             uint8_t enable) {
    return cuptiActivityEnableDriverApi(id, enable);
}
#endif

SIMULATED_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flags) {
    Simulation& s = simulation();
    const char* hang = std::getenv("STANDIN_CUPTI_HANG");
    while (hang && std::string(hang) == "flush") ::pause();
    const long slowMs = fromEnvironment("STANDIN_CUPTI_SLOW_MS", 0);
    if (slowMs > 0 && flags != CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) {
        std::this_thread::sleep_for(std::chrono::milliseconds(slowMs));
        return CUPTI_SUCCESS;
    }
    if (!s.complete) return CUPTI_SUCCESS;
    s.delivery.pass();
    const bool isForced = flags == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
    std::list<ThreadBuffer>::iterator buffer;
    {
        const std::lock_guard lock(s.mutex);
        buffer = s.buffers.begin();
    }
    while (buffer != s.buffers.end()) {
        {
            const std::lock_guard lock(buffer->mutex);
            if (!isUnderWay(*buffer, isForced)) completeBuffer(*buffer);
        }
        const std::lock_guard lock(s.mutex);
        ++buffer;
    }
    if (s.hasThread) s.delivery.waitForAll();
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t validBytes, CUpti_Activity** record) {
    simulation().delivery.pass();
    uint8_t* next = buffer;
    if (*record) next = reinterpret_cast<uint8_t*>(*record) + recordBytes((*record)->kind) + poisonBytes;
    // A buffer that CUPTI itself cannot read completely.
    static const long readable = fromEnvironment("STANDIN_CUPTI_READABLE", 0);
    if (readable > 0 && next - buffer > readable) return CUPTI_ERROR_UNKNOWN;
    if (next + sizeof(CUpti_ActivityKind) > buffer + validBytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

#ifndef STANDIN_CUPTI_OLD
SIMULATED_EXPORT CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle, uint8_t* buffer, size_t validBytes,
                                                           CUpti_Activity** record) {
    return cuptiActivityGetNextRecord(buffer, validBytes, record);
}
#endif

SIMULATED_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
    simulation().delivery.pass();
    const long count = fromEnvironment("STANDIN_CUPTI_DROPPED", 0);
    *dropped = simulation().reportedDropped.exchange(true) ? 0 : static_cast<size_t>(count);
    return CUPTI_SUCCESS;
}

#ifndef STANDIN_CUPTI_OLD
SIMULATED_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle, CUcontext context,
                                                                  uint32_t stream, size_t* dropped) {
    return cuptiActivityGetNumDroppedRecords(context, stream, dropped);
}
#endif

SIMULATED_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    *text = result == CUPTI_SUCCESS ? "SIMULATED_SUCCESS" : "SIMULATED_ERROR";
    return CUPTI_SUCCESS;
}

// SIMULATED: the handle of a stream is its number.
SIMULATED_EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* id) {
    *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(stream));
    return CUPTI_SUCCESS;
}
#ifndef STANDIN_CUPTI_OLD
SIMULATED_EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
    *id = reinterpret_cast<uintptr_t>(node);
    return CUPTI_SUCCESS;
}
#endif
SIMULATED_EXPORT CUptiResult cuptiGetDeviceId(CUcontext, uint32_t* id) {
    *id = 0;
    return CUPTI_SUCCESS;
}

SIMULATED_EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) {
    return CUPTI_SUCCESS;
}
SIMULATED_EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; }
SIMULATED_EXPORT CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig* counters, uint32_t count) {
    const auto answer = static_cast<CUptiResult>(fromEnvironment("STANDIN_CUPTI_UM", 0));
    if (answer != CUPTI_SUCCESS) return answer;
    return counters && count > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
#ifndef STANDIN_CUPTI_OLD
SIMULATED_EXPORT CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) { return CUPTI_SUCCESS; }
#endif
