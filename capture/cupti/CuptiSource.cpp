#include "capture/cupti/CuptiSource.h"

#include <cstdlib>
#include <utility>

#include "capture/agent/Agent.h"
#include "capture/cupti/driverCalls.h"

namespace lanescope {

namespace {

// CUPTI's buffer callbacks carry no pointer of ours; there is one registration in a process.
std::atomic<CuptiSource*> registered{nullptr};

constexpr size_t devicePoolLimit =
    20;  // of 3.2 MB each; CUPTI's own limit would let it take 750 MB

}  // namespace

CuptiSource::CuptiSource(const AgentOptions& options, Agent& agent)
    : options_(options), agent_(agent), calls_(cupti_, [&agent] {
          agent.startThreads();
          agent.wakeWriter();
      }) {}

void CuptiSource::start() {
    std::string problem;
    if (!openCupti(options_.cuptiPath, cupti_, problem)) {
        notes_.push_back({log::NoteSeverity::Error, "cupti-missing", problem});
        agent_.startThreads();
        return;
    }
    if (cupti_.version == CuptiLibrary::version13_0_0) {
        notes_.push_back(
            {log::NoteSeverity::Warning, "cupti-13.0.0",
             "CUPTI 13.0.0 loses synchronization records and may crash; CUDA 13.0 update 1 "
             "has a good one."});
    }
    if (!subscribe()) {
        agent_.startThreads();
        return;
    }
    setAttributes();
    registered.store(this);
    const CUptiResult result = cupti_.registerCallbacks(&bufferRequested, &bufferCompleted);
    if (result != CUPTI_SUCCESS) {
        notes_.push_back(
            {log::NoteSeverity::Error, "cupti-failed",
             "CUPTI refused to record CUDA activity: " + cupti_.describe(result) + "."});
        agent_.startThreads();
        return;
    }
    enableKinds();
    isRecording_ = true;
}

bool CuptiSource::subscribe() {
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 64] = {};
    CUptiResult result;
    if (cupti_.subscribe2) {
        CUpti_SubscriberParams parameters{};
        parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        parameters.subscriberName = "Lanescope";
        parameters.oldSubscriberName = holder;
        parameters.oldSubscriberSize = sizeof holder;
        result = cupti_.subscribe2(&subscriber_, &onEvent, this, &parameters);
    } else {
        result = cupti_.subscribe(&subscriber_, &onEvent, this);
    }
    if (result == CUPTI_SUCCESS) {
        // The first context is the first moment at which our threads are wanted.
        cupti_.enableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                              CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
        return true;
    }
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        const std::string who =
            *holder ? std::string("\"") + holder + "\"" : std::string("another tool");
        notes_.push_back({log::NoteSeverity::Error, "cupti-taken",
                          "CUPTI is in use by " + who +
                              ", so no CUDA activity was recorded; run the "
                              "program without that tool."});
    } else if (result == CUPTI_ERROR_UNKNOWN || result == CUPTI_ERROR_NOT_INITIALIZED) {
        notes_.push_back(
            {log::NoteSeverity::Error, "no-driver",
             "CUPTI could not reach the CUDA driver (" + cupti_.describe(result) +
                 "), so no CUDA activity was recorded; check that the driver is not older "
                 "than " +
                 cupti_.path + "."});
    } else {
        notes_.push_back({log::NoteSeverity::Error, "cupti-failed",
                          "CUPTI could not be used: " + cupti_.describe(result) + "."});
    }
    return false;
}

void CuptiSource::setAttributes() {
    if (cupti_.setThreadIdType) cupti_.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (!cupti_.setAttribute) return;
    const auto set = [this](CUpti_ActivityAttribute attribute, auto value) {
        size_t bytes = sizeof value;
        cupti_.setAttribute(attribute, &bytes, &value);  // what an old library lacks it refuses
    };
    set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, devicePoolLimit);
    set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t{1});
    // Before 12.6 update 2 flushing per-thread buffers was not safe; 25 is the first version after.
    const uint8_t perThread = cupti_.version > CuptiLibrary::version12_6;
    if (cupti_.version >= CuptiLibrary::version12_6) {
        set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, perThread);
    }
}

void CuptiSource::enableKinds() {
    std::string problems;
    const auto enable = [&](CUpti_ActivityKind kind, const char* what) {
        const CUptiResult result = cupti_.enable(kind);
        if (result != CUPTI_SUCCESS)
            problems += std::string(what) + ": " + cupti_.describe(result) + "; ";
    };
    enable(CUPTI_ACTIVITY_KIND_DEVICE, "devices");
    enable(CUPTI_ACTIVITY_KIND_CONTEXT, "contexts");
    enable(CUPTI_ACTIVITY_KIND_STREAM, "streams");
    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels");
    enable(CUPTI_ACTIVITY_KIND_MEMCPY, "memcpys");
    enable(CUPTI_ACTIVITY_KIND_MEMCPY2, "peer memcpys");
    enable(CUPTI_ACTIVITY_KIND_MEMSET, "memsets");
    enable(CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead");
    if (options_.apiCalls == ApiCalls::All) {
        // Each of these makes CUPTI look at every call of the runtime.
        enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronizations");
        enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT, "CUDA events");
        // Polling for an event that is not ready yet is not a wait.
        if (cupti_.enableAllSyncRecords) cupti_.enableAllSyncRecords(0);
        enableRuntimeCalls(problems);
    } else {
        calls_.enable(subscriber_, options_.apiCalls);
    }
    if (!problems.empty()) {
        problems.resize(problems.size() - 2);
        notes_.push_back({log::NoteSeverity::Warning, "cupti-kinds",
                          "CUPTI would not record everything (" + problems + ")."});
    }
}

void CuptiSource::enableRuntimeCalls(std::string& problems) {
    if (const CUptiResult result = cupti_.enable(CUPTI_ACTIVITY_KIND_RUNTIME);
        result != CUPTI_SUCCESS) {
        problems += "CUDA runtime calls: " + cupti_.describe(result) + "; ";
    }
    if (!cupti_.enableDriverApi || !cupti_.getCallbackName) return;
    // Of the driver's calls those that start work, which cuBLASLt, NCCL and Triton make directly.
    for (uint32_t id = 1;; ++id) {
        const char* name = nullptr;
        if (cupti_.getCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) break;
        if (name && driverCallKind(name, true) != DriverCallKind::None)
            cupti_.enableDriverApi(id, 1);
    }
}

void CuptiSource::flush(bool isFinal) {
    // A CUPTI that was never asked for a buffer may wait for ever.
    if (!isRecording_ || !anyBuffer_.load(std::memory_order_acquire)) return;
    cupti_.flushAll(isFinal ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    countDropped();
}

void CuptiSource::countDropped() {
    size_t count = 0;
    if (cupti_.getNumDroppedRecords &&
        cupti_.getNumDroppedRecords(nullptr, 0, &count) == CUPTI_SUCCESS) {
        dropped_.fetch_add(count, std::memory_order_relaxed);
    }
}

void CuptiSource::drain(RecordWriter& writer) {
    if (!notesWritten_) {
        notesWritten_ = true;
        writer.property("cuptiPath", cupti_.path);
        writer.property("cuptiVersion", std::to_string(cupti_.version));
        for (const Note& note : notes_) writer.note(note.severity, note.code, note.sentence);
        decoder_.emplace(cupti_, writer);
    }
    calls_.drain(writer, agent_.clock());
    Completed* newest = completed_.exchange(nullptr, std::memory_order_acquire);
    Completed* oldest = nullptr;
    while (newest) {
        Completed* next = std::exchange(newest->next, oldest);
        oldest = std::exchange(newest, next);
    }
    while (oldest) {
        decoder_->decode(oldest->buffer, oldest->validBytes);
        pool_.giveBack(oldest->buffer, oldest->validBytes);
        std::free(std::exchange(oldest, oldest->next));
    }
    if (const uint64_t count = dropped_.exchange(0)) {
        writer.dropped(log::DroppedWhat::CudaActivity, count);
    }
    if (discardedBuffers_.exchange(0)) {
        writer.note(
            log::NoteSeverity::Warning, "buffers-exhausted",
            "CUDA activity came faster than it could be written down, so some of it was lost; the "
            "disk may be slow.");
    }
}

void CuptiSource::onCompleted(uint8_t* buffer, size_t validBytes) {
    if (pool_.isDiscard(buffer)) {
        if (validBytes) discardedBuffers_.fetch_add(1);
        return;
    }
    auto* completed = static_cast<Completed*>(std::malloc(sizeof(Completed)));
    if (!completed) return;
    *completed = {buffer, validBytes, completed_.load(std::memory_order_relaxed)};
    while (
        !completed_.compare_exchange_weak(completed->next, completed, std::memory_order_release)) {
    }
    agent_.wakeWriter();
}

void CUPTIAPI CuptiSource::bufferRequested(uint8_t** buffer, size_t* bytes,
                                           size_t* maximumRecords) {
    *buffer = nullptr;
    *bytes = 0;
    *maximumRecords = 0;
    CuptiSource* source = registered.load(std::memory_order_acquire);
    if (!source) return;
    if (!source->anyBuffer_.exchange(true, std::memory_order_acq_rel)) {
        // They run since the first context, if CUPTI told us of it.
        source->agent_.startThreads();
    }
    *buffer = source->pool_.take();
    if (*buffer) *bytes = BufferPool::bufferBytes;
}

void CUPTIAPI CuptiSource::bufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t,
                                           size_t validBytes) {
    CuptiSource* source = registered.load(std::memory_order_acquire);
    if (source && buffer) source->onCompleted(buffer, validBytes);
}

void CUPTIAPI CuptiSource::onEvent(void* source, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
    auto& self = *static_cast<CuptiSource*>(source);
    try {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            self.calls_.onCall(id, *static_cast<const CUpti_CallbackData*>(data));
        } else {
            self.agent_.startThreads();
        }
    } catch (...) {
    }
}

std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions& options, Agent& agent) {
    return std::make_unique<CuptiSource>(options, agent);
}

}  // namespace lanescope
