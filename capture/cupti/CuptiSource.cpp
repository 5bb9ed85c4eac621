// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/CuptiSource.h"

#include <cupti_driver_cbid.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "capture/agent/Agent.h"
#include "capture/agent/Inside.h"
#include "capture/log/Records.h"
#include "capture/log/clocks.h"
#include "capture/machine/DynamicLibrary.h"
#include "model/format/factNames.h"
#include "model/format/optionValues.h"

namespace lanescope::agent {

namespace {

// Static, so that it exists when no memory is left. Takes no memory before CUPTI writes to it.
alignas(64) uint8_t discard[BufferPool::discardBytes];

// Maps a buffer. Uses mmap and not new: a program's own operator new may call CUDA, which must not happen inside CUPTI.
uint8_t* map(bool touchPages) {
    void* memory = ::mmap(nullptr, BufferPool::bufferBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | (touchPages ? MAP_POPULATE : 0), -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

constexpr std::array callbacks{CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

// CUPTI's buffer callbacks carry no pointer of ours; a process has one registration.
std::atomic<CuptiSource*> registered{nullptr};

constexpr size_t devicePoolLimit = 20;  // buffers of 3.2 MB each; CUPTI's own limit would allow 750 MB

}  // namespace

BufferPool::Buffer BufferPool::take() {
    for (Slot& slot : slots_) {
        uint8_t expected = Ready;
        if (slot.state.compare_exchange_strong(expected, Out)) return {slot.memory.load(), bufferBytes};
    }
    for (Slot& slot : slots_) {
        uint8_t expected = Absent;
        if (!slot.state.compare_exchange_strong(expected, BeingMade)) continue;
        if (uint8_t* memory = make(slot, false)) {
            slot.state.store(Out);
            return {memory, bufferBytes};
        }
        break;
    }
    return {discard, discardBytes};
}

bool BufferPool::isDiscard(const uint8_t* buffer) { return buffer == discard; }

uint8_t* BufferPool::make(Slot& slot, bool touchPages) {
    uint8_t* memory = map(touchPages);
    slot.memory.store(memory);
    if (!memory) slot.state.store(Absent);
    return memory;
}

void BufferPool::returnBuffer(uint8_t* buffer, size_t usedBytes) {
    if (isDiscard(buffer)) return;
    for (Slot& slot : slots_) {
        if (slot.memory.load() != buffer) continue;
        std::memset(buffer, 0, usedBytes);
        slot.state.store(Ready);
        return;
    }
}

std::optional<size_t> BufferPool::slotOf(const uint8_t* buffer) const {
    for (size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].memory.load() == buffer) return index;
    return std::nullopt;
}

void BufferPool::warm() {
    size_t ready = 0;
    for (const Slot& slot : slots_) ready += slot.state.load() == Ready;
    for (Slot& slot : slots_) {
        if (ready >= warmBuffers) return;
        uint8_t expected = Absent;
        if (!slot.state.compare_exchange_strong(expected, BeingMade)) continue;
        if (!make(slot, true)) return;
        slot.state.store(Ready);
        ++ready;
    }
}

struct GraphNodeRecorder::Node {
    CallStacks::Entry entry;
    uint32_t stack;
    uint64_t ticks, node, original;
    uint32_t threadId;
};

GraphNodeRecorder::GraphNodeRecorder(const CuptiLibrary& cupti, CallStacks& stacks, BurstMemory& burst,
                                     std::function<void()> wakeWriter)
    : cupti_(cupti), stacks_(stacks), rings_(burst, std::move(wakeWriter)) {}

void GraphNodeRecorder::enable(CUpti_SubscriberHandle subscriber, bool isOn) const {
    if (!cupti_.getGraphNodeId) return;
    for (const CUpti_CallbackId id : callbacks)
        cupti_.enableCallback(isOn ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
}

bool GraphNodeRecorder::isOfNode(CUpti_CallbackId id) { return id == callbacks[0] || id == callbacks[1]; }

uint64_t GraphNodeRecorder::numberOf(CUgraphNode node) const {
    uint64_t number = 0;
    return node && cupti_.getGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : 0;
}

void GraphNodeRecorder::onNode(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
    const auto* const graph = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
    if (!graph || !cupti_.getGraphNodeId) return;
    const bool isCopy = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    const uint64_t node = numberOf(graph->node);
    const uint64_t original = isCopy ? numberOf(graph->originalNode) : uint64_t{0};
    // A copy of an unknown node has no known capture location.
    if (node == 0 || (isCopy && original == 0)) return;
    auto* const ring = rings_.ofThisThread();
    if (!ring) return;
    const uint32_t stack = isCopy ? uint32_t{0} : stacks_.number(ring->state.stacks, ring->events);
    void* const room = ring->events.reserve(sizeof(Node));
    if (!room) return;
    new (room) Node{CallStacks::Entry::Call, stack, CycleClock::now(), node, original, ring->threadId};
    rings_.commit(*ring);
}

void GraphNodeRecorder::drain(log::RecordWriter& writer, const CycleClock& clock) {
    if (!rings_.isUsed()) return;
    const uint64_t refused = stacks_.drain(rings_, [&](ThreadState&, const void* memory, size_t) {
        const auto& node = *static_cast<const Node*>(memory);
        log::GraphNodeRecord record{};
        record.timestampNs = clock.eventNs(node.ticks);
        record.node = node.node;
        record.original = node.original;
        record.threadId = node.threadId;
        record.stack = stacks_.write(node.stack, writer);
        writer.write(record);
        if (writer.isRing() && known_.size() < maxKnown) known_[node.node] = {record, writer.generation() + 1};
    });
    if (refused > 0 && !std::exchange(hasReportedLost_, true))
        writer.note(Severity::Warning, HealthCode::GraphLinesMissing,
                    "The program created CUDA graphs faster than they could be written; some of their kernels have the "
                    "line of the graph launch.");
}

void GraphNodeRecorder::repeat(uint64_t node, log::RecordWriter& writer) {
    const uint32_t here = writer.generation() + 1;
    for (auto at = known_.find(node); at != known_.end() && at->second.writtenIn != here;
         at = known_.find(at->second.record.original)) {
        at->second.writtenIn = here;
        at->second.record.stack = stacks_.write(at->second.record.stack, writer);
        writer.write(at->second.record);
    }
}

CuptiSource::CuptiSource(const AgentOptions& options, Agent& agent)
    : options_(options),
      agent_(agent),
      calls_(cupti_, agent.stacks(), options_.delay, agent.burstMemory(), [&agent] { agent.startAndWake(); }),
      nodes_(cupti_, agent.stacks(), agent.burstMemory(), [&agent] { agent.startAndWake(); }),
      launches_(agent.windows(), options.apiCalls != ApiCalls::None),
      begunNs_(log::monotonicNs()) {}

void CuptiSource::note(Severity severity, HealthCode code, std::string sentence) {
    notes_.push_back({severity, code, std::move(sentence)});
}

void CuptiSource::start(bool isLate) {
    if (isLate) hasContext_.store(true, std::memory_order_release);  // CUPTI reports their creation only.
    isRecording_ = begin();
    if (isLate && isRecording_) lateDevices_ = driverDevices();
    if (!isRecording_) agent_.startThreads();
}

bool CuptiSource::begin() {
    std::string problem;
    if (!openCupti(environment(cuptiVariable), cupti_, problem)) {
        note(Severity::Error, HealthCode::CuptiMissing, problem);
        return false;
    }
    if (!subscribe()) return false;
    warnTorchProfiler();
    setAttributes();
    registered.store(this);
    const CUptiResult result = cupti_.registerCallbacks(&bufferRequested, &bufferCompleted);
    if (result == CUPTI_SUCCESS)
        enableKinds();
    else
        note(Severity::Error, HealthCode::CuptiFailed,
             "CUPTI refused to record CUDA activity: " + cupti_.describe(result) + ".");
    return result == CUPTI_SUCCESS;
}

bool CuptiSource::subscribe() {
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN + 64] = {};
    CUptiResult result;
    if (cupti_.subscribe2) {
        // As in 13.2 and later, whatever the headers.
        struct {
            size_t structSize;
            const char* subscriberName;
            char* oldSubscriberName;
            size_t oldSubscriberSize;
            uint8_t allowsOthers, padding[7];
        } parameters{0, "Lanescope", holder, sizeof holder, cupti_.maySubscribeWithOthers(), {}};
        static_assert(offsetof(decltype(parameters), allowsOthers) == 32 && sizeof parameters == 40);
        parameters.structSize = parameters.allowsOthers ? sizeof parameters : 32;
        result =
            cupti_.subscribe2(&subscriber_, &onEvent, this, reinterpret_cast<CUpti_SubscriberParams*>(&parameters));
        if (parameters.allowsOthers && result == CUPTI_SUCCESS) cupti_.useSubscriber(subscriber_);
    } else {
        result = cupti_.subscribe(&subscriber_, &onEvent, this);
    }
    if (result == CUPTI_SUCCESS) {
        // Our threads are first needed when the first context is created.
        cupti_.enableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
        enableWindowCalls();
        return true;
    }
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        const std::string who = *holder ? std::string("\"") + holder + "\"" : std::string("another tool");
        note(Severity::Error, HealthCode::CuptiTaken,
             "CUPTI is in use by " + who + "; no CUDA activity was recorded. Run the program without that tool.");
    } else if (result == CUPTI_ERROR_UNKNOWN || result == CUPTI_ERROR_NOT_INITIALIZED) {
        note(Severity::Error, HealthCode::NoDriver,
             "CUPTI could not reach the CUDA driver (" + cupti_.describe(result) +
                 "); no CUDA activity was recorded. Check that the driver is not older than " + cupti_.path + ".");
    } else {
        note(Severity::Error, HealthCode::CuptiFailed, "CUPTI could not be used: " + cupti_.describe(result) + ".");
    }
    return false;
}

void CuptiSource::enableWindowCalls() {
    if (options_.windows.trigger != WindowTrigger::CudaProfilerCalls) return;
    callsOpenWindows_ = true;
    for (const CUpti_driver_api_trace_cbid id :
         {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}) {
        const CUptiResult result = cupti_.enableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
        if (result == CUPTI_SUCCESS) continue;
        note(Severity::Error, HealthCode::NoWindowCalls,
             "CUPTI does not report cudaProfilerStart and cudaProfilerStop (" + cupti_.describe(result) +
                 "); no window will be opened.");
        return;
    }
}

/// Warns that PyTorch's profiler requests CUPTI at its start, is refused, and barely reports it.
void CuptiSource::warnTorchProfiler() {
    if (!capture::DynamicLibrary("libtorch_cpu.so", RTLD_NOLOAD)) return;
    note(Severity::Info, HealthCode::TorchProfiler,
         "PyTorch was recorded. If the program starts torch.profiler itself, torch.profiler gets no GPU work, because "
         "only one tool can use CUPTI." +
             std::string(cupti_.maySubscribeWithOthers() ? " Tools that request to share it can." : "") +
             " Use record --yield to leave CUPTI to torch.profiler.");
}

void CuptiSource::setAttributes() {
    // CUPTI's own clock is CLOCK_REALTIME, which may be set.
    if (cupti_.registerTimestamps) cupti_.registerTimestamps([] { return static_cast<uint64_t>(log::eventTimeNs()); });
    if (cupti_.setThreadIdType) cupti_.setThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (!cupti_.setAttribute) return;
    const auto set = [this](CUpti_ActivityAttribute attribute, auto value) {
        size_t bytes = sizeof value;
        cupti_.setAttribute(attribute, &bytes, &value);  // an old library refuses what it lacks
    };
    set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, devicePoolLimit);
    set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, uint8_t{1});
    if (options_.graphs == GraphDetail::Whole && cupti_.maySubscribeWithOthers())
        set(CuptiLibrary::wholeGraphsForAll, uint8_t{1});
    // Flushing per-thread buffers was unsafe before 12.6 update 2; 25 is the first version after it.
    const uint8_t perThread = cupti_.version > CuptiLibrary::version12_6;
    if (cupti_.version >= CuptiLibrary::version12_6) set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, perThread);
}

void CuptiSource::enableKind(CUpti_ActivityKind kind, log::RecordingLevel from, const char* what,
                             std::string& problems) {
    if (const CUptiResult result = cupti_.enable(kind); result == CUPTI_SUCCESS)
        kinds_.push_back({kind, from});
    else
        problems += std::string(what) + ": " + cupti_.describe(result) + "; ";
}

void CuptiSource::enableKinds() {
    std::string problems;
    auto from = log::RecordingLevel::Asleep;
    const auto enable = [&](CUpti_ActivityKind kind, const char* what) { enableKind(kind, from, what, problems); };
    // CUPTI reports these when they are created, so they stay enabled. Launches do not pass them.
    enable(CUPTI_ACTIVITY_KIND_DEVICE, "devices");
    enable(CUPTI_ACTIVITY_KIND_CONTEXT, "contexts");
    enable(CUPTI_ACTIVITY_KIND_STREAM, "streams");
    from = log::RecordingLevel::Kernels;
    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels");
    enable(CUPTI_ACTIVITY_KIND_MEMCPY, "memcpys");
    enable(CUPTI_ACTIVITY_KIND_MEMCPY2, "peer memcpys");
    if (options_.recordMemsets) enable(CUPTI_ACTIVITY_KIND_MEMSET, "memsets");
    enable(CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead");
    enableGraphs(problems);
    if (options_.recordMemory) {
        enable(CUPTI_ACTIVITY_KIND_MEMORY2, "allocations");
        enable(CUPTI_ACTIVITY_KIND_MEMORY_POOL, "memory pools");
    }
    unifiedMemoryPending_ = options_.recordUnifiedMemory;
    if (options_.apiCalls == ApiCalls::All) {
        // Each of these makes CUPTI inspect every runtime call.
        from = log::RecordingLevel::All;
        enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronizations");
        enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT, "CUDA events");
        // Polling for an event that is not ready yet is not a wait.
        if (cupti_.enableAllSyncRecords) cupti_.enableAllSyncRecords(0);
        enable(CUPTI_ACTIVITY_KIND_RUNTIME, "CUDA runtime calls");
        setDriverCalls(true);
    } else {
        calls_.enable(subscriber_, options_.apiCalls);
    }
    if (!problems.empty()) {
        problems.resize(problems.size() - 2);
        note(Severity::Warning, HealthCode::CuptiKinds, "CUPTI refused some kinds of records (" + problems + ").");
    }
}

/// Enables or disables CUPTI's own records of driver calls.
void CuptiSource::setDriverCalls(bool isOn) {
    if (!cupti_.enableDriverApi || !cupti_.getCallbackName) return;
    // Only driver calls that start work, which cuBLASLt, NCCL and Triton make directly.
    for (uint32_t id = 1;; ++id) {
        const char* name = nullptr;
        if (cupti_.getCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) break;
        if (name && driverCallKind(name, true) != DriverCallKind::None) cupti_.enableDriverApi(id, isOn);
    }
}

void CuptiSource::enableGraphs(std::string& problems) {
    if (options_.graphs != GraphDetail::Whole) {
        recordsNodes_ = options_.recordPython;
        if (recordsNodes_) nodes_.enable(subscriber_, true);
        return;
    }
    std::error_code error;
    const std::string file = std::filesystem::canonical(cupti_.path, error).filename().string();
    if (crashesOnWholeGraphs(cupti_.version, file)) {
        note(Severity::Warning, HealthCode::GraphsOneByOne,
             "This CUPTI crashes when it records whole CUDA graphs; each operation in them was recorded instead. Use "
             "CUDA 12.4 update 1 or 12.5 update 1 or newer.");
        return;
    }
    enableKind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, log::RecordingLevel::Kernels, "CUDA graphs", problems);
}

/// Needs an initialized driver, hence not in `start`.
void CuptiSource::configureUnifiedMemory() {
    unifiedMemoryPending_ = false;
    std::vector<CUpti_ActivityUnifiedMemoryCounterConfig> counters;
    for (const CUpti_ActivityUnifiedMemoryCounterKind kind :
         {CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
          CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP}) {
        CUpti_ActivityUnifiedMemoryCounterConfig counter{};
        counter.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
        counter.kind = kind;
        counter.enable = 1;
        counters.push_back(counter);
    }
    const bool isConfigured =
        cupti_.configureUnifiedMemory &&
        cupti_.configureUnifiedMemory(counters.data(), static_cast<uint32_t>(counters.size())) == CUPTI_SUCCESS;
    const bool isEnabled = isConfigured && cupti_.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == CUPTI_SUCCESS;
    if (!isEnabled) unifiedMemoryRefused_.store(true);
}

void CuptiSource::flush(bool unfinished) {
    if (!isRecording_) return;
    if (unifiedMemoryPending_ && !unfinished && level_.load() >= log::RecordingLevel::Kernels &&
        hasContext_.load(std::memory_order_acquire))
        configureUnifiedMemory();
    // A CUPTI that never requested a buffer may wait forever.
    if (!anyBuffer_.load(std::memory_order_acquire)) return;
    cupti_.flushAll(unfinished ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    countDropped();
}

bool CuptiSource::mayDisable() const { return cupti_.disable && mayDisableKinds(cupti_.version); }

bool CuptiSource::setLevel(log::RecordingLevel level) {
    using log::RecordingLevel;
    const RecordingLevel before = level_.load();
    const auto changes = [&](RecordingLevel from) { return (level >= from) != (before >= from); };
    const bool changesKinds =
        changes(RecordingLevel::Kernels) || (options_.apiCalls == ApiCalls::All && changes(RecordingLevel::All));
    // CUPTI 13.0 crashed in its own thread when kinds changed while the GPU worked (agent/README.md).
    const bool mustWait = isRecording_ && changesKinds && anyBuffer_.load(std::memory_order_acquire) &&
                          (options_.followsLevel || calls_.hasWaits());
    if (mustWait && level < RecordingLevel::Kernels && before == RecordingLevel::All &&
        options_.apiCalls != ApiCalls::All) {
        wantedLevel_.store(RecordingLevel::Kernels);  // Callbacks can be disabled at any time.
        changeLevel();
    }
    wantedLevel_.store(level);
    waitsForQuiet_.store(mustWait);
    if (!mustWait) changeLevel();
    return level_.load() == level;
}

/// Applies `wantedLevel_`, unless another thread does. The flusher, or a thread of the program that has just waited for
/// the GPU.
void CuptiSource::changeLevel() {
    if (isChangingLevel_.exchange(true)) return;
    const log::RecordingLevel level = wantedLevel_.load(), before = level_.load();
    if (isRecording_ && level != before) enableLevel(level, before);
    level_.store(level);
    isChangingLevel_.store(false);
}

void CuptiSource::enableLevel(log::RecordingLevel level, log::RecordingLevel before) {
    const auto changes = [&](log::RecordingLevel from) { return (level >= from) != (before >= from); };
    if (recordsNodes_ && changes(log::RecordingLevel::Steps))
        nodes_.enable(subscriber_, level >= log::RecordingLevel::Steps);
    const auto setCalls = [&](bool isOn) {
        if (!changes(log::RecordingLevel::All)) return;
        if (options_.apiCalls != ApiCalls::All)
            calls_.setOn(subscriber_, isOn);
        else if (mayDisable())
            setDriverCalls(isOn);
    };
    // While calls are recorded, so is their work.
    if (level < before) setCalls(false);
    for (const Kind& each : kinds_) {
        if (!changes(each.from) || !mayDisable()) continue;
        level >= each.from ? cupti_.enable(each.kind) : cupti_.disable(each.kind);
    }
    if (level > before) setCalls(true);
    hasNewLevel_.store(true);
}

void CuptiSource::countDropped() {
    size_t count = 0;
    if (cupti_.getNumDroppedRecords && cupti_.getNumDroppedRecords(nullptr, 0, &count) == CUPTI_SUCCESS)
        dropped_.fetch_add(count, std::memory_order_relaxed);
}

void CuptiSource::writeBeginning(log::RecordWriter& writer) {
    writer.property(facts::cuptiPath, cupti_.path);
    writer.property(facts::cuptiVersion, std::to_string(cupti_.version));
    for (const Note& entry : notes_) writer.note(entry.severity, entry.code, entry.sentence);
    decoder_.emplace(cupti_, agent_.windows(), launches_, writer,
                     [this, &writer](uint64_t node) { nodes_.repeat(node, writer); });
    for (const auto& [device, name] : lateDevices_) decoder_->addDevice(device, name);
}

void CuptiSource::collect() {
    // First, so that the calls that launched these records are drained already.
    Completed* newest = completed_.exchange(nullptr, std::memory_order_acquire);
    calls_.mark();
    nodes_.mark();
    while (newest) {
        Completed* next = std::exchange(newest->next, collected_);
        collected_ = std::exchange(newest, next);
    }
}

void CuptiSource::drain(log::RecordWriter& writer) {
    if (!decoder_) writeBeginning(writer);
    nodes_.drain(writer, agent_.clock());
    const uint64_t launched = calls_.drain(writer, agent_.clock(), agent_.windows(), launches_);
    detectOtherProfilers(writer, launched, collected_ != nullptr);
    decoder_->beginRound();
    while (Completed* const completed = collected_) {
        collected_ = completed->next;
        // Without memory the rest of a buffer is lost; the next round handles the other buffers.
        const BufferReturn returnBuffer{*this, completed};
        decoder_->decode(completed->buffer, completed->validBytes);
    }
    decoder_->endRound(false);
    writeHazards(writer);
    if (const uint64_t count = dropped_.exchange(0)) writer.dropped(Loss::CudaActivity, count);
    if (discardedBuffers_.exchange(0))
        writer.note(Severity::Warning, HealthCode::BuffersExhausted,
                    "CUDA activity was produced faster than it could be written; some was lost (slow disk?).");
    if (decoder_->takeUnreadableBuffers() > 0 && !std::exchange(reportedUnreadable_, true))
        writer.note(Severity::Warning, HealthCode::BufferUnreadable,
                    "CUPTI could not read one of its buffers to the end; some CUDA activity was lost. Use a newer CUDA "
                    "toolkit.");
    if (unifiedMemoryRefused_.exchange(false))
        writer.note(Severity::Warning, HealthCode::NoUnifiedMemory,
                    "CUPTI cannot record managed memory on this machine; migrations and page faults are missing.");
}

/// Detects other tools. Subscribing keeps well-behaved tools out. A tool that takes CUPTI's buffers
/// anyway is detected by its traces: callbacks for launches, but no kernel records.
void CuptiSource::detectOtherProfilers(log::RecordWriter& writer, uint64_t launched, bool hasBuffers) {
    constexpr uint64_t launchesThreshold = 3'000;          // more than can wait for a busy GPU
    constexpr int64_t silenceThresholdNs = 5'000'000'000;  // CUPTI is flushed twenty times in that time
    if (hasUnknownBuffer_.exchange(false))
        writer.note(Severity::Warning, HealthCode::CuptiShared,
                    "CUPTI returned a buffer of another tool in the program; that tool lacks its content. Run the "
                    "program without the tool, or record without CUDA activity.");
    const int64_t nowNs = log::monotonicNs();
    // Below level All neither launches nor buffers are expected.
    if (hasBuffers || hasNewLevel_.exchange(false)) unansweredLaunches_ = 0;
    if (unansweredLaunches_ == 0) unansweredSinceNs_ = nowNs;
    unansweredLaunches_ += hasBuffers ? 0 : launched;
    if (reportedSilent_ || unansweredLaunches_ < launchesThreshold || nowNs - unansweredSinceNs_ < silenceThresholdNs)
        return;
    reportedSilent_ = true;
    writer.note(Severity::Warning, HealthCode::CuptiSilent,
                "CUPTI stopped reporting although the program launched thousands of kernels; kernels and copies are "
                "missing from then on. Another tool in the program, such as PyTorch's profiler, has probably taken "
                "CUPTI's buffers. Run the program without that tool, or use --yield.");
}

void CuptiSource::finish(log::RecordWriter&) {
    if (decoder_) decoder_->endRound(true);
}

void CuptiSource::writeHazards(log::RecordWriter& writer) {
    if (!isRecording_) return;
    constexpr int64_t longNs = int64_t{4} * 3600 * 1'000'000'000;
    const HazardFacts facts{cupti_.version, decoder_->sawGraphNode(), log::monotonicNs() - begunNs_ > longNs};
    for (size_t i = 0; const VersionHazard* hazard = versionHazard(i); ++i) {
        const uint32_t bit = uint32_t{1} << i;
        if ((reportedHazards_ & bit) != 0 || !applies(*hazard, facts)) continue;
        reportedHazards_ |= bit;
        writer.note(hazard->severity, hazard->code, hazard->sentence);
    }
}

CuptiSource::BufferReturn::~BufferReturn() {
    if (std::uncaught_exceptions() > 0) source.discardedBuffers_.fetch_add(1);
    uint8_t* const buffer = completed->buffer;
    const size_t validBytes = completed->validBytes;
    // The pool may reuse one of its buffers at once, and with it `completed`.
    if (!source.pool_.owns(buffer)) std::free(completed);
    source.pool_.returnBuffer(buffer, validBytes);
}

void CuptiSource::onCompleted(uint8_t* buffer, size_t validBytes) {
    if (pool_.isDiscard(buffer)) {
        if (validBytes) discardedBuffers_.fetch_add(1);
        return;
    }
    const std::optional<size_t> slot = pool_.slotOf(buffer);
    auto* completed = slot ? &completedOf_[*slot] : static_cast<Completed*>(std::malloc(sizeof(Completed)));
    if (!completed) {
        discardedBuffers_.fetch_add(1);
        return;
    }
    if (!slot) hasUnknownBuffer_.store(true);
    *completed = {buffer, validBytes, completed_.load(std::memory_order_relaxed)};
    while (!completed_.compare_exchange_weak(completed->next, completed, std::memory_order_release)) {
    }
    agent_.wakeWriter();
}

void CUPTIAPI CuptiSource::bufferRequested(uint8_t** buffer, size_t* bytes, size_t* maxRecords) {
    *buffer = nullptr;
    *bytes = 0;
    *maxRecords = 0;
    CuptiSource* source = registered.load(std::memory_order_acquire);
    if (!source) return;
    if (!source->anyBuffer_.exchange(true, std::memory_order_acq_rel)) {
        // They run since the first context, if CUPTI reported it.
        source->agent_.startThreads();
    }
    const BufferPool::Buffer taken = source->pool_.take();
    *buffer = taken.memory;
    *bytes = taken.bytes;
}

void CUPTIAPI CuptiSource::bufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validBytes) {
    CuptiSource* source = registered.load(std::memory_order_acquire);
    if (source && buffer) source->onCompleted(buffer, validBytes);
}

void CuptiSource::onDriverCall(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    // In a forked child the lock of the parent's windows may be held by a thread that does not exist there.
    if (callsOpenWindows_ && Agent::existing() == &agent_) {
        // Everything between the program's two calls is kept.
        if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart && call.callbackSite == CUPTI_API_EXIT)
            agent_.windows().open();
        if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop && call.callbackSite == CUPTI_API_ENTER)
            agent_.windows().close();
    }
    calls_.onCall(id, call);
    // A forked child must not change the CUPTI of its parent.
    if (waitsForQuiet_.load(std::memory_order_relaxed) && call.callbackSite == CUPTI_API_EXIT &&
        (calls_.isContextWait(id) || (!options_.followsLevel && calls_.isWait(id))) && Agent::existing() == &agent_ &&
        waitsForQuiet_.exchange(false))
        changeLevel();
}

void CUPTIAPI CuptiSource::onEvent(void* source, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    const Inside inside;
    if (!inside) return;
    auto& self = *static_cast<CuptiSource*>(source);
    try {
        if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
            self.onDriverCall(id, *static_cast<const CUpti_CallbackData*>(data));
        } else if (GraphNodeRecorder::isOfNode(id)) {
            self.nodes_.onNode(id, *static_cast<const CUpti_ResourceData*>(data));
        } else {
            self.hasContext_.store(true, std::memory_order_release);
            self.agent_.startThreads();
        }
    } catch (...) {
    }
}

std::unique_ptr<ActivitySource> makeActivitySource(const AgentOptions& options, Agent& agent) {
    return std::make_unique<CuptiSource>(options, agent);
}

}  // namespace lanescope::agent
