// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/ActivityDecoder.h"

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "capture/cupti/activityRecords.h"
#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

constexpr size_t maxPendingRecords = 64u << 10;
constexpr int64_t maxPendingNs = 3'000'000'000;  // CUPTI is flushed several times in that time
constexpr size_t maxStreams = 64u << 10;

int64_t timeNs(uint64_t ns) { return static_cast<int64_t>(ns); }

/// True for work on the GPU, which is kept if it was launched in a window, whenever it ran.
template <class Activity>
constexpr bool isGpuWork =
    std::is_same_v<Activity, CUpti_ActivityKernel9> || std::is_same_v<Activity, CUpti_ActivityMemcpy5> ||
    std::is_same_v<Activity, CUpti_ActivityMemcpyPtoP4> || std::is_same_v<Activity, CUpti_ActivityMemset4> ||
    std::is_same_v<Activity, CUpti_ActivityGraphTrace> || std::is_same_v<Activity, CUpti_ActivityCudaEvent2>;

}  // namespace

ActivityDecoder::ActivityDecoder(const CuptiLibrary& cupti, const Windows& windows, LaunchWindows& launches,
                                 log::RecordWriter& writer, std::function<void(uint64_t)> onGraphNode)
    : cupti_(cupti),
      windows_(windows),
      writer_(writer),
      launches_(launches),
      onGraphNode_(std::move(onGraphNode)),
      apiNames_(cupti, writer),
      resourcesGeneration_(writer.generation()) {}

/// Returns the record as an `Activity`, a struct with the same first fields. Fields that an older
/// library lacks are 0. Valid until the next call.
template <class Activity>
const Activity& ActivityDecoder::as(const CUpti_Activity& record) {
    const size_t bytes = knownRecordBytes(record.kind, cupti_.version);
    if (bytes >= sizeof(Activity)) return reinterpret_cast<const Activity&>(record);
    static_assert(sizeof(Activity) <= sizeof scratch_);
    scratch_.fill(0);
    std::memcpy(scratch_.data(), &record, bytes);
    return *reinterpret_cast<const Activity*>(scratch_.data());
}

void ActivityDecoder::decode(uint8_t* buffer, size_t validBytes) {
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cupti_.getNextRecord(buffer, validBytes, &record)) == CUPTI_SUCCESS) {
        if (!record) break;
        decodeRecord(*record);
    }
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED) ++unreadableBuffers_;
}

/// Calls `use` with the record as the struct that has all fields the agent reads. Skips a kind that
/// arrives with another one and is not kept.
void ActivityDecoder::visitActivity(const CUpti_Activity& record, auto use) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return use(as<CUpti_ActivityKernel9>(record));
        case CUPTI_ACTIVITY_KIND_MEMCPY: return use(as<CUpti_ActivityMemcpy5>(record));
        case CUPTI_ACTIVITY_KIND_MEMCPY2: return use(as<CUpti_ActivityMemcpyPtoP4>(record));
        case CUPTI_ACTIVITY_KIND_MEMSET: return use(as<CUpti_ActivityMemset4>(record));
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return use(as<CUpti_ActivityGraphTrace>(record));
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return use(as<CUpti_ActivityCudaEvent2>(record));
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER: return use(as<CUpti_ActivityAPI>(record));
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return use(as<CUpti_ActivitySynchronization2>(record));
        case CUPTI_ACTIVITY_KIND_OVERHEAD: return use(as<CUpti_ActivityOverhead3>(record));
        case CUPTI_ACTIVITY_KIND_MEMORY2: return use(as<CUpti_ActivityMemory3>(record));
        case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return use(as<CUpti_ActivityMemoryPool2>(record));
        case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: return use(as<CUpti_ActivityUnifiedMemoryCounter2>(record));
        case CUPTI_ACTIVITY_KIND_DEVICE: return use(as<CUpti_ActivityDevice4>(record));
        case CUPTI_ACTIVITY_KIND_CONTEXT: return use(as<CUpti_ActivityContext>(record));
        case CUPTI_ACTIVITY_KIND_STREAM: return use(as<CUpti_ActivityStream>(record));
        default: return;
    }
}

void ActivityDecoder::decodeRecord(const CUpti_Activity& record) {
    writer_.beginPartIfDue();
    reannounceResources();
    visitActivity(record, [&]<class Activity>(const Activity& from) {
        if constexpr (isGpuWork<Activity>)
            if (!windows_.isEverything() && !isInWindow(from, record)) return;
        write(from);
    });
}

void ActivityDecoder::endRound(bool isLast) {
    if (pending_.empty()) return;
    const int64_t nowNs = log::monotonicNs();
    std::deque<PendingRecord> waiting;
    waiting.swap(pending_);
    for (const PendingRecord& work : waiting) {
        const bool mustDecide = isLast || nowNs - work.sinceNs > maxPendingNs || pending_.size() >= maxPendingRecords;
        const auto answer = mustDecide ? launches_.guess(work.correlationId, work.ranNs)
                                       : launches_.find(work.correlationId, work.ranNs);
        if (answer == LaunchWindows::Answer::NotYetKnown)
            pending_.push_back(work);
        else if (answer == LaunchWindows::Answer::Inside)
            visitActivity(*reinterpret_cast<const CUpti_Activity*>(work.words.data()),
                          [this](const auto& from) { write(from); });
    }
}

/// Returns true if the work was launched in a window, whenever it ran. Keeps a copy of the record
/// if that is not known yet.
bool ActivityDecoder::isInWindow(const auto& work, const CUpti_Activity& record) {
    int64_t ranNs = 0;  // a CUDA event has no timestamp
    if constexpr (requires { work.start; }) ranNs = timeNs(work.start);
    const auto answer = launches_.find(work.correlationId, ranNs);
    if (answer != LaunchWindows::Answer::NotYetKnown) return answer == LaunchWindows::Answer::Inside;
    PendingRecord& pending = pending_.emplace_back();
    pending.sinceNs = log::monotonicNs();
    pending.correlationId = work.correlationId;
    pending.ranNs = ranNs;
    static_assert(sizeof work <= sizeof pending.words);
    std::memcpy(pending.words.data(), &record, knownRecordBytes(record.kind, cupti_.version));
    return false;
}

/// Writes GPU work, and a host record or a record of a single time if its time lies in a window.
template <class Activity>
void ActivityDecoder::write(const Activity& from) {
    auto to = toLog(from);
    if constexpr (isGpuWork<Activity>)
        writeWork(to);
    else
        writeIfOpen(to);
}

void ActivityDecoder::writeWork(auto& to) {
    if constexpr (requires { to.graphNodeId; })
        if (to.graphNodeId != 0 && onGraphNode_) onGraphNode_(to.graphNodeId);
    writer_.write(to, to.startNs);
}

void ActivityDecoder::writeIfOpen(auto& to) {
    int64_t atNs = 0;
    if constexpr (requires { to.startNs; })
        atNs = to.startNs;
    else
        atNs = to.timestampNs;
    if (windows_.isOpenAt(atNs)) writer_.write(to, atNs);
}

void ActivityDecoder::write(const CUpti_ActivityKernel9& from) {
    log::KernelRecord to = toLog(from);
    to.name = nameOf(from.name);
    sawGraphNode_ = sawGraphNode_ || to.graphNodeId != 0;
    writeWork(to);
}

void ActivityDecoder::write(const CUpti_ActivityCudaEvent2& from) {
    log::CudaEventRecord to = toLog(from, hasSyncIds());
    writer_.write(to);
}

void ActivityDecoder::write(const CUpti_ActivityAPI& from) {
    log::ApiRecord to = toLog(from);
    if (!windows_.isEverything() && !launches_.addCall(to.correlationId, to.startNs)) return;
    to.name = apiNames_.idOf(from.cbid, to.isDriver != 0);
    writer_.write(to, to.startNs);
}

void ActivityDecoder::write(const CUpti_ActivitySynchronization2& from) {
    log::SyncRecord to = toLog(from, hasSyncIds());
    writeIfOpen(to);
}

void ActivityDecoder::write(const CUpti_ActivityOverhead3& from) {
    log::OverheadRecord to = toLog(from);
    std::free(from.overheadData);  // the reader must free it, says CUPTI; not used
    writeIfOpen(to);
}

void ActivityDecoder::write(const CUpti_ActivityMemory3& from) {
    log::DeviceMemoryRecord to = toLog(from);
    if (!windows_.isOpenAt(to.timestampNs)) return;
    to.name = nameOf(from.name);
    writer_.write(to, to.timestampNs);
}

// Records that later records refer to are always written.

void ActivityDecoder::write(const CUpti_ActivityDevice4& from) {
    const log::DeviceRecord to = toLog(from);
    addDevice(to, from.name ? from.name : "");
}

void ActivityDecoder::addDevice(const log::DeviceRecord& device, const std::string& name) {
    devices_[device.deviceId] = {device, name};
    writeDevice(device, name);
}

void ActivityDecoder::write(const CUpti_ActivityContext& from) {
    log::ContextRecord to = toLog(from);
    contexts_[to.contextId] = to;
    writer_.write(to);
}

void ActivityDecoder::write(const CUpti_ActivityStream& from) {
    log::StreamRecord to = toLog(from);
    if (streams_.size() < maxStreams) streams_[{to.contextId, to.streamId}] = to;
    writer_.write(to);
}

void ActivityDecoder::writeDevice(log::DeviceRecord device, const std::string& name) {
    device.name = writer_.string(name);
    writer_.write(device);
}

void ActivityDecoder::reannounceResources() {
    if (std::exchange(resourcesGeneration_, writer_.generation()) == writer_.generation()) return;
    for (const auto& [id, known] : devices_) writeDevice(known.first, known.second);
    for (auto& [id, context] : contexts_) writer_.write(context);
    for (auto& [id, stream] : streams_) writer_.write(stream);
}

}  // namespace lanescope::agent
