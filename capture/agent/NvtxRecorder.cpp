// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxRecorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/log/clocks.h"

namespace lanescope::agent {

OpenRanges::~OpenRanges() {
    if (many_) ::munmap(many_, capacity_ * sizeof(int32_t));
}

void OpenRanges::clear() {
    std::memset(few_, 0, sizeof few_);
    if (many_) std::memset(many_, 0, capacity_ * sizeof(int32_t));
}

bool OpenRanges::grow(uint32_t domain) {
    constexpr size_t minCapacity = 1024, maxCapacity = size_t{1} << 26;
    size_t capacity = std::max(minCapacity, capacity_);
    while (capacity <= domain) capacity *= 2;
    if (capacity > maxCapacity) return false;
    const int errnoBefore = errno;
    void* const memory =
        ::mmap(nullptr, capacity * sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = errnoBefore;
    if (memory == MAP_FAILED) return false;
    if (many_) {
        std::memcpy(memory, many_, capacity_ * sizeof(int32_t));
        ::munmap(many_, capacity_ * sizeof(int32_t));
    }
    many_ = static_cast<int32_t*>(memory);
    capacity_ = capacity;
    return true;
}

namespace {

constexpr size_t maxTrackedRanges = 1u << 20;  // for programs that never end their ranges

constexpr size_t maxExtendedBytes = 4u << 10;

/// Returns true if the call's source location is worth recording. An end is at the location of its beginning.
bool hasSourceLocation(log::NvtxEvent event) { return event != log::NvtxEvent::Pop && event != log::NvtxEvent::End; }

}  // namespace

bool NvtxWindowFilter::keeps(const log::NvtxRecord& call, OpenRanges& ofThread) {
    if (windows_.isEverything()) return true;
    const bool isInside = windows_.isOpenAt(call.timestampNs);
    const auto level = static_cast<size_t>(call.level);
    switch (call.event) {
        case log::NvtxEvent::Mark: return isInside;
        case log::NvtxEvent::Push: {
            if (ofThread.size() <= call.domain) ofThread.resize(call.domain + size_t{1});
            std::vector<bool>& levels = ofThread[call.domain];
            if (levels.size() <= level) levels.resize(level + 1);
            levels[level] = isInside;
            return isInside;
        }
        case log::NvtxEvent::Pop: {
            if (ofThread.size() <= call.domain || ofThread[call.domain].size() <= level) return false;
            const bool isKept = ofThread[call.domain][level];
            ofThread[call.domain][level] = false;
            return isKept;
        }
        case log::NvtxEvent::Start:
            if (started_.size() >= maxTrackedRanges) started_.clear();
            started_[call.rangeId] = isInside;
            return isInside;
        case log::NvtxEvent::End: {
            const auto found = started_.find(call.rangeId);
            // Just started on another thread, whose calls come later.
            if (found == started_.end()) return isInside;
            const bool isKept = found->second;
            started_.erase(found);
            return isKept;
        }
    }
    return isInside;
}

/// Layout of a call in a ring: this struct, the text, the extended payload.
struct NvtxRecorder::Entry {
    CallStacks::Entry entry;
    uint32_t stack;
    uint64_t moment;  // ticks of `CycleClock`, or the time of events if ranges open windows
    uint64_t rangeId;
    uint64_t payloadBits;
    uint64_t schemaId;
    const std::string* registered;
    uint32_t domain;
    uint32_t category;
    uint32_t colorArgb;
    int32_t level;
    uint32_t threadId;  // stored, since the ring may pass to another thread before it is drained
    uint32_t textBytes;
    uint32_t extendedBytes;
    log::NvtxEvent event;
    log::NvtxPayload payload;
    bool isCut;
};

NvtxRecorder::NvtxRecorder(Windows& windows, CallStacks& stacks, BurstMemory& burst, std::function<void()> wakeWriter,
                           std::unique_ptr<MomentNotifier> moments)
    : stacks_(stacks), rings_(burst, std::move(wakeWriter)), moments_(std::move(moments)), filter_(windows) {
    const WindowTrigger trigger = windows.options().trigger;
    if (trigger == WindowTrigger::NvtxRange || trigger == WindowTrigger::Steps)
        trigger_ = std::make_unique<NvtxTrigger>(windows);
}

int NvtxRecorder::record(const NvtxCall& call) {
    auto* thread = rings_.ofThisThread();
    if (!thread) return -1;
    // Read before the clock, so that the range does not include this time.
    const bool isWanted = hasSourceLocation(call.event) && !isStopped_.load(std::memory_order_relaxed);
    const uint32_t stack = isWanted ? stacks_.number(thread->state.stacks, thread->events) : uint32_t{0};
    uint64_t moment = CycleClock::now();

    int32_t level = 0;
    if (const uint32_t sleeps = sleeps_.load(std::memory_order_relaxed); sleeps != 0) [[unlikely]] {
        if (std::exchange(thread->state.sleeps, sleeps) != sleeps) thread->state.open.clear();
        if (call.event == log::NvtxEvent::End && call.rangeId <= lastForgottenId_.load(std::memory_order_relaxed))
            return 0;
    }
    if (call.event == log::NvtxEvent::Push || call.event == log::NvtxEvent::Pop) {
        int32_t* const open = thread->state.open.of(call.domain);
        if (!open) [[unlikely]] {
            LostCalls::countWithoutMemory();
            return -1;
        }
        if (call.event == log::NvtxEvent::Pop && *open == 0) return -1;
        level = call.event == log::NvtxEvent::Push ? (*open)++ : --*open;
    }

    if (isStopped_.load(std::memory_order_relaxed)) [[unlikely]]
        return level;
    if (trigger_) moment = static_cast<uint64_t>(trigger_->timeOf(call, thread->threadId, level));
    if (moments_) moments_->examine(call, thread->threadId, level, log::eventTimeNs());

    const size_t textBytes = std::min(call.text.size(), maxNvtxTextBytes);
    const size_t extendedBytes = std::min(call.extended.size(), maxExtendedBytes);
    void* room = thread->events.reserve(sizeof(Entry) + textBytes + extendedBytes);
    if (!room) return level;
    auto* entry = new (room) Entry{CallStacks::Entry::Call,
                                   stack,
                                   moment,
                                   call.rangeId,
                                   call.payloadBits,
                                   call.schemaId,
                                   call.registered,
                                   call.domain,
                                   call.category,
                                   call.colorArgb,
                                   level,
                                   thread->threadId,
                                   static_cast<uint32_t>(textBytes),
                                   static_cast<uint32_t>(extendedBytes),
                                   call.event,
                                   call.payload,
                                   extendedBytes < call.extended.size()};
    char* tail = reinterpret_cast<char*>(entry + 1);
    // An empty view may have no address.
    if (textBytes) std::memcpy(tail, call.text.data(), textBytes);
    if (extendedBytes) std::memcpy(tail + textBytes, call.extended.data(), extendedBytes);
    rings_.commit(*thread);
    return level;
}

void NvtxRecorder::drain(log::RecordWriter& writer, const CycleClock& clock) {
    if (!isUsed()) return;
    const uint64_t refused = stacks_.drain(rings_, [&](ThreadState& thread, const void* memory, size_t) {
        writer.beginPartIfDue();
        drainAnnouncements(writer);  // a domain's name precedes its first event
        const auto& entry = *static_cast<const Entry*>(memory);
        const char* tail = reinterpret_cast<const char*>(&entry + 1);
        if (std::exchange(thread.filteredThreadId, entry.threadId) != entry.threadId) thread.keptRanges.clear();
        log::NvtxRecord record{};
        record.timestampNs = trigger_ ? static_cast<int64_t>(entry.moment) : clock.eventNs(entry.moment);
        record.rangeId = entry.rangeId;
        record.payloadBits = entry.payloadBits;
        record.schemaId = entry.schemaId;
        record.threadId = entry.threadId;
        record.domain = entry.domain;
        record.level = entry.level;
        record.event = entry.event;
        if (!filter_.keeps(record, thread.keptRanges)) return;
        record.text = writer.string(entry.registered ? std::string_view(*entry.registered)
                                                     : std::string_view(tail, entry.textBytes));
        record.category = entry.category;
        record.colorArgb = entry.colorArgb;
        record.payload = entry.payload;
        record.header.flags = entry.isCut ? 1 : 0;
        log::setStack(record, stacks_.write(entry.stack, writer));
        writer.writeNvtx(record, {tail + entry.textBytes, entry.extendedBytes});
    });
    if (refused) writer.dropped(Loss::NvtxCalls, refused);
    drainAnnouncements(writer);
}

void NvtxRecorder::drainAnnouncements(log::RecordWriter& writer) {
    NvtxRegistry& registry = nvtxRegistry();
    if (std::exchange(announcedGeneration_, writer.generation()) != writer.generation()) announcementsWritten_ = 0;
    const size_t count = registry.announcementCount();
    const auto write = [&](const auto& definition) {
        auto record = definition.record;
        record.name = writer.string(definition.name);
        writer.write(record);
        if constexpr (requires { definition.entries; })
            for (const auto& entry : definition.entries) {
                auto line = entry.record;
                line.name = writer.string(entry.name);
                if constexpr (requires { entry.description; }) line.description = writer.string(entry.description);
                writer.write(line);
            }
    };
    while (announcementsWritten_ < count) std::visit(write, registry.announcement(announcementsWritten_++));
}

}  // namespace lanescope::agent
