// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/ActivityDecoder.h"

#include <cstdlib>
#include <cstring>

#include "capture/cupti/activityRecords.h"
#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

constexpr size_t maxPendingRecords = 64u << 10;
constexpr int64_t maxPendingNs = 3'000'000'000;  // CUPTI is flushed several times in that time
constexpr size_t maxStreams = 64u << 10;

int64_t timeNs(uint64_t ns) {
    return static_cast<int64_t>(ns);
}

}  // namespace

ActivityDecoder::ActivityDecoder(const CuptiLibrary& cupti, const Windows& windows,
                                 LaunchWindows& launches, log::RecordWriter& writer)
    : cupti_(cupti),
      windows_(windows),
      writer_(writer),
      launches_(launches),
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

void ActivityDecoder::beginRound() {
    reannounceResources();
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

void ActivityDecoder::endRound(bool isLast) {
    if (pending_.empty()) return;
    const int64_t nowNs = log::monotonicNs();
    std::deque<PendingRecord> waiting;
    waiting.swap(pending_);
    for (const PendingRecord& work : waiting) {
        const bool mustDecide =
            isLast || nowNs - work.sinceNs > maxPendingNs || pending_.size() >= maxPendingRecords;
        const auto answer = mustDecide ? launches_.guess(work.correlationId, work.ranNs)
                                       : launches_.find(work.correlationId, work.ranNs);
        if (answer == LaunchWindows::Answer::NotYetKnown)
            pending_.push_back(work);
        else if (answer == LaunchWindows::Answer::Inside)
            writeGpuWork(*reinterpret_cast<const CUpti_Activity*>(work.words.data()));
    }
}

void ActivityDecoder::decodeRecord(const CUpti_Activity& record) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        case CUPTI_ACTIVITY_KIND_MEMCPY:
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
        case CUPTI_ACTIVITY_KIND_MEMSET:
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
            decodeGpuWork(record);
            break;
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER:
            decodeCall(record);
            break;
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        case CUPTI_ACTIVITY_KIND_OVERHEAD:
        case CUPTI_ACTIVITY_KIND_MEMORY2:
        case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
        case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
            decodeHostRecord(record);
            break;
        case CUPTI_ACTIVITY_KIND_DEVICE:
        case CUPTI_ACTIVITY_KIND_CONTEXT:
        case CUPTI_ACTIVITY_KIND_STREAM:
            decodeResource(record);
            break;
        default:
            break;  // a kind that arrives with another one and is not kept
    }
}

/// Keeps work that was launched in a window, whenever it ran.
void ActivityDecoder::decodeGpuWork(const CUpti_Activity& record) {
    if (windows_.isEverything()) {
        writeGpuWork(record);
        return;
    }
    uint32_t correlationId = 0;
    int64_t ranNs = 0;
    const auto read = [&](const auto& work) {
        correlationId = work.correlationId;
        ranNs = timeNs(work.start);
    };
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            read(as<CUpti_ActivityMemcpy5>(record));
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            read(as<CUpti_ActivityMemcpyPtoP4>(record));
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            read(as<CUpti_ActivityMemset4>(record));
            break;
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
            read(as<CUpti_ActivityGraphTrace>(record));
            break;
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT:  // has no timestamp
            correlationId = as<CUpti_ActivityCudaEvent>(record).correlationId;
            break;
        default:
            read(as<CUpti_ActivityKernel9>(record));
            break;
    }
    if (isInWindow(correlationId, ranNs, record)) writeGpuWork(record);
}

bool ActivityDecoder::isInWindow(uint32_t correlationId, int64_t ranNs,
                                 const CUpti_Activity& record) {
    const auto answer = launches_.find(correlationId, ranNs);
    if (answer != LaunchWindows::Answer::NotYetKnown)
        return answer == LaunchWindows::Answer::Inside;
    PendingRecord& pending = pending_.emplace_back();
    pending.sinceNs = log::monotonicNs();
    pending.correlationId = correlationId;
    pending.ranNs = ranNs;
    static_assert(sizeof(CUpti_ActivityKernel9) <= sizeof pending.words);
    std::memcpy(pending.words.data(), &record, knownRecordBytes(record.kind, cupti_.version));
    return false;
}

void ActivityDecoder::writeGpuWork(const CUpti_Activity& record) {
    const auto write = [this](auto to) { writer_.write(to, to.startNs); };
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            write(toLog(as<CUpti_ActivityMemcpy5>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            write(toLog(as<CUpti_ActivityMemcpyPtoP4>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
            write(toLog(as<CUpti_ActivityMemset4>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
            write(toLog(as<CUpti_ActivityGraphTrace>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
            auto to = toLog(as<CUpti_ActivityCudaEvent2>(record), hasSyncIds());
            writer_.write(to);
            break;
        }
        default: {
            const auto& from = as<CUpti_ActivityKernel9>(record);
            log::KernelRecord to = toLog(from);
            to.name = nameOf(from.name);
            sawGraphNode_ = sawGraphNode_ || to.graphNodeId != 0;
            write(to);
            break;
        }
    }
}

void ActivityDecoder::decodeCall(const CUpti_Activity& record) {
    const auto& from = as<CUpti_ActivityAPI>(record);
    log::ApiRecord to = toLog(from);
    if (!windows_.isEverything() && !launches_.addCall(to.correlationId, to.startNs)) return;
    to.name = apiNames_.idOf(from.cbid, to.isDriver != 0);
    writer_.write(to, to.startNs);
}

/// Keeps a host record, or a record of a single time, if its time lies in a window.
void ActivityDecoder::decodeHostRecord(const CUpti_Activity& record) {
    const auto write = [this](auto to, int64_t atNs) {
        if (windows_.isOpenAt(atNs)) writer_.write(to, atNs);
    };
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
            const auto to = toLog(as<CUpti_ActivitySynchronization2>(record), hasSyncIds());
            write(to, to.startNs);
            break;
        }
        case CUPTI_ACTIVITY_KIND_OVERHEAD: {
            const auto& from = as<CUpti_ActivityOverhead3>(record);
            const auto to = toLog(from);
            std::free(from.overheadData);  // the reader must free it, says CUPTI; not used
            write(to, to.startNs);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMORY2: {
            const auto& from = as<CUpti_ActivityMemory3>(record);
            auto to = toLog(from);
            if (!windows_.isOpenAt(to.timestampNs)) break;
            to.name = nameOf(from.name);
            write(to, to.timestampNs);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMORY_POOL: {
            const auto to = toLog(as<CUpti_ActivityMemoryPool2>(record));
            write(to, to.timestampNs);
            break;
        }
        default: {
            const auto to = toLog(as<CUpti_ActivityUnifiedMemoryCounter2>(record));
            write(to, to.startNs);
            break;
        }
    }
}

/// Keeps records that later records refer to, always.
void ActivityDecoder::decodeResource(const CUpti_Activity& record) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_DEVICE: {
            const auto& from = as<CUpti_ActivityDevice4>(record);
            const log::DeviceRecord to = toLog(from);
            const std::string name = from.name ? from.name : "";
            devices_[to.deviceId] = {to, name};
            writeDevice(to, name);
            break;
        }
        case CUPTI_ACTIVITY_KIND_CONTEXT: {
            auto to = toLog(as<CUpti_ActivityContext>(record));
            contexts_[to.contextId] = to;
            writer_.write(to);
            break;
        }
        default: {
            auto to = toLog(as<CUpti_ActivityStream>(record));
            if (streams_.size() < maxStreams) streams_[{to.contextId, to.streamId}] = to;
            writer_.write(to);
            break;
        }
    }
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
