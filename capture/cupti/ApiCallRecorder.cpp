// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/ApiCallRecorder.h"

#include <iterator>
#include <utility>

#include "capture/log/Records.h"
#include "capture/log/clocks.h"
#include "capture/log/launcherRank.h"

namespace lanescope::agent {

namespace {

struct NamedKind {
    std::string_view prefix;
    DriverCallKind kind;
};

// The first match counts, so longer names precede shorter ones.
constexpr NamedKind working[] = {
    {"cuLaunch", DriverCallKind::Other},
    {"cuGraphLaunch", DriverCallKind::Other},
    {"cuMemcpy", DriverCallKind::Other},
    {"cuMemset", DriverCallKind::Other},
    {"cuMemPrefetch", DriverCallKind::Other},
    {"cuEventRecord", DriverCallKind::EventRecord},
    {"cuEventSynchronize", DriverCallKind::EventWait},
    {"cuStreamWaitEvent", DriverCallKind::StreamWait},
    {"cuStreamSynchronize", DriverCallKind::StreamSync},
    {"cuCtxSynchronize", DriverCallKind::ContextSync},
    {"cuStreamWaitValue", DriverCallKind::Other},
    {"cuStreamWriteValue", DriverCallKind::Other},
    {"cuStreamBatchMemOp", DriverCallKind::Other},
};

constexpr std::string_view explaining[] = {
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolTrimTo",
    "cuMemAdvise",
    "cuModuleLoad",
    "cuModuleUnload",
    "cuLibraryLoad",
    "cuLibraryUnload",
    "cuGraphInstantiate",
    "cuGraphExecUpdate",
    "cuGraphExecDestroy",
    "cuGraphUpload",
    "cuStreamBeginCapture",
    "cuStreamEndCapture",
    "cuStreamCreate",
    "cuStreamDestroy",
    "cuCtxCreate",
    "cuCtxDestroy",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxReset",
    "cuProfilerStart",
    "cuProfilerStop",
    "cuMulticast",
    "cuIpcOpen",
    "cuIpcClose",
    "cuCtxEnablePeerAccess",
};

constexpr uint32_t noEventId = 0xffffffff;

uint64_t number(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

}  // namespace

DriverCallKind driverCallKind(std::string_view callbackName, bool onlyWork) {
    for (const NamedKind& named : working) {
        if (callbackName.starts_with(named.prefix)) return named.kind;
    }
    const auto isPrefix = [&](std::string_view prefix) { return callbackName.starts_with(prefix); };
    const bool explains = !onlyWork && std::ranges::any_of(explaining, isPrefix);
    return explains ? DriverCallKind::Other : DriverCallKind::None;
}

struct ApiCallRecorder::Call {
    CallStacks::Entry entry;
    uint32_t stack;
    uint64_t startTicks, endTicks;
    uint32_t callbackId, correlationId, threadId;
    int32_t returnValue;
};

/// Follows the `Call` if the call waits for or records something.
struct ApiCallRecorder::Wait {
    uint64_t event;  // the driver's handle; 0 without one
    uint32_t contextId, streamId, deviceId;
    DriverCallKind kind;
};

ApiCallRecorder::ApiCallRecorder(const CuptiLibrary& cupti, CallStacks& stacks, const CallDelay& delay,
                                 BurstMemory& burst, std::function<void()> wakeWriter)
    : cupti_(cupti), stacks_(stacks), delay_(delay), rings_(burst, std::move(wakeWriter)) {}

int ApiCallRecorder::enable(CUpti_SubscriberHandle subscriber, ApiCalls which) {
    if (which == ApiCalls::None || !cupti_.getCallbackName) return 0;
    int enabled = 0;
    const bool isDelayed = delay_.ns > 0 && (delay_.rank.empty() || delay_.rank == log::launcherRank().rank);
    onSinceTicks_.store(CycleClock::now(), std::memory_order_relaxed);
    // The library may have more calls than the headers. It returns an error for the first unknown id.
    for (uint32_t id = 1; id < maxFunctions; ++id) {
        const char* name = nullptr;
        if (cupti_.getCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) break;
        const DriverCallKind kind = name ? driverCallKind(name, which == ApiCalls::Launch) : DriverCallKind::None;
        if (kind == DriverCallKind::None) continue;
        kinds_[id] = kind;
        const std::string_view known = name;
        launches_[id] = known.substr(0, 8) == "cuLaunch" || known.substr(0, 13) == "cuGraphLaunch";
        delayed_[id] = isDelayed && std::ranges::find(delay_.calls, known) != delay_.calls.end();
    }
    // Callbacks read what is set above.
    for (uint32_t id = 1; id < maxFunctions; ++id)
        if (kinds_[id] != DriverCallKind::None &&
            cupti_.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS)
            ++enabled;
    return enabled;
}

void ApiCallRecorder::setOn(CUpti_SubscriberHandle subscriber, bool isOn) {
    if (isOn) onSinceTicks_.store(CycleClock::now(), std::memory_order_relaxed);
    isOn_.store(isOn, std::memory_order_release);
    for (uint32_t id = 1; id < maxFunctions; ++id)
        if (kinds_[id] != DriverCallKind::None && !isWait(id))
            cupti_.enableCallback(isOn ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

void ApiCallRecorder::onCall(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    if (call.callbackSite == CUPTI_API_ENTER) {
        *call.correlationData = CycleClock::now();
        if (id < maxFunctions && delayed_[id]) [[unlikely]]
            addDelay();
        return;
    }
    const uint64_t endTicks = CycleClock::now();
    if (!isOn_.load(std::memory_order_acquire) || id >= maxFunctions || kinds_[id] == DriverCallKind::None ||
        *call.correlationData < onSinceTicks_.load(std::memory_order_relaxed))
        return;
    auto* ring = rings_.ofThisThread();
    if (!ring) return;
    const DriverCallKind kind = kinds_[id];
    const bool waits = kind > DriverCallKind::Other;
    // The thread is still at the place where the call began. The call has ended, so this time does not lengthen it.
    const uint32_t stack = stacks_.number(ring->state, ring->events);
    void* room = ring->events.reserve(sizeof(Call) + (waits ? sizeof(Wait) : 0));
    if (!room) return;
    const auto* result = static_cast<const CUresult*>(call.functionReturnValue);
    auto* kept = new (room) Call{CallStacks::Entry::Call, stack,          *call.correlationData, endTicks, id,
                                 call.correlationId,      ring->threadId, result ? *result : 0};
    if (waits) new (kept + 1) Wait(waitOf(kind, call));
    rings_.commit(*ring);
}

/// Spins: a thread that sleeps returns late.
void ApiCallRecorder::addDelay() {
    const int64_t endNs = log::eventTimeNs() + delay_.ns;
    if (delay_.periodNs > 0 && (endNs - delay_.ns) / delay_.periodNs % 2 == 0) return;
    if (!delay_.line.empty()) {
        auto* ring = rings_.ofThisThread();
        if (!ring || !stacks_.isOfLine(stacks_.number(ring->state, ring->events))) return;
    }
    while (log::eventTimeNs() < endNs) {
    }
}

ApiCallRecorder::Wait ApiCallRecorder::waitOf(DriverCallKind kind, const CUpti_CallbackData& call) const {
    Wait wait{0, call.contextUid, noEventId, noEventId, kind};
    const void* parameters = call.functionParams;
    if (!parameters) return wait;
    CUstream stream = nullptr;
    bool hasStream = true;
    // Variants of a call, such as cuEventRecordWithFlags, begin with the same parameters.
    switch (kind) {
        case DriverCallKind::EventRecord: {
            const auto& with = *static_cast<const cuEventRecord_params*>(parameters);
            wait.event = number(with.hEvent);
            stream = with.hStream;
            break;
        }
        case DriverCallKind::StreamWait: {
            const auto& with = *static_cast<const cuStreamWaitEvent_params*>(parameters);
            wait.event = number(with.hEvent);
            stream = with.hStream;
            break;
        }
        case DriverCallKind::StreamSync:
            stream = static_cast<const cuStreamSynchronize_params*>(parameters)->hStream;
            break;
        case DriverCallKind::EventWait:
            wait.event = number(static_cast<const cuEventSynchronize_params*>(parameters)->hEvent);
            hasStream = false;
            break;
        default: hasStream = false; break;
    }
    uint32_t id = 0;
    const bool isPerThread = stream == CU_STREAM_PER_THREAD;
    if (hasStream && cupti_.getStreamIdEx &&
        cupti_.getStreamIdEx(call.context, isPerThread ? nullptr : stream, isPerThread, &id) == CUPTI_SUCCESS)
        wait.streamId = id;
    if (kind == DriverCallKind::EventRecord && cupti_.getDeviceId &&
        cupti_.getDeviceId(call.context, &id) == CUPTI_SUCCESS)
        wait.deviceId = id;
    return wait;
}

uint64_t ApiCallRecorder::drain(log::RecordWriter& writer, const CycleClock& clock, const Windows& windows,
                                LaunchWindows& launches) {
    if (!rings_.isUsed()) return 0;
    uint64_t launched = 0;
    if (!names_) names_.emplace(cupti_, writer);
    const uint64_t refused = stacks_.drain(rings_, [&](const CallStacks::OfThread&, const void* told, size_t bytes) {
        writer.beginPartIfDue();
        const auto* call = static_cast<const Call*>(told);
        launched += launches_[call->callbackId];
        if (!windows.isEverything()) {
            const int64_t startNs = clock.eventNs(call->startTicks);
            if (!launches.addCall(call->correlationId, startNs)) return;
        }
        const bool waits = bytes >= sizeof(Call) + sizeof(Wait);
        write(*call, waits ? reinterpret_cast<const Wait*>(call + 1) : nullptr, writer, clock);
    });
    if (refused) writer.dropped(Loss::CudaActivity, refused);
    return launched;
}

void ApiCallRecorder::write(const Call& call, const Wait* wait, log::RecordWriter& writer, const CycleClock& clock) {
    log::ApiRecord api{};
    api.startNs = clock.eventNs(call.startTicks);
    api.endNs = clock.eventNs(call.endTicks);
    api.name = names_->idOf(call.callbackId, true);
    api.threadId = call.threadId;
    api.correlationId = call.correlationId;
    api.returnValue = call.returnValue;
    api.isDriver = 1;
    api.stack = stacks_.write(call.stack, writer);
    writer.write(api, api.startNs);
    if (!wait) return;

    if (wait->kind == DriverCallKind::EventRecord) {
        log::CudaEventRecord event{};
        event.deviceId = wait->deviceId;
        event.contextId = wait->contextId;
        event.streamId = wait->streamId;
        event.correlationId = call.correlationId;
        event.eventId = eventId(wait->event);
        event.eventSyncId = noEventId;
        writer.write(event);
        return;
    }
    log::SyncRecord sync{};
    sync.startNs = api.startNs;
    sync.endNs = api.endNs;
    sync.contextId = wait->contextId;
    sync.streamId = wait->streamId;
    sync.correlationId = call.correlationId;
    sync.eventId = wait->event ? eventId(wait->event) : noEventId;
    sync.eventSyncId = noEventId;
    sync.type = wait->kind == DriverCallKind::EventWait    ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE
                : wait->kind == DriverCallKind::StreamWait ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT
                : wait->kind == DriverCallKind::StreamSync ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE
                                                           : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
    writer.write(sync, sync.startNs);
}

uint32_t ApiCallRecorder::eventId(uint64_t handle) {
    // A handle that is reused after its event was destroyed keeps the number. Either way a wait
    // waits for the last record before it.
    const auto next = static_cast<uint32_t>(eventIds_.size() + 1);
    return eventIds_.try_emplace(handle, next).first->second;
}

}  // namespace lanescope::agent
