// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxRecorder.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/agent/NvtxRegistry.h"
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
    constexpr size_t leastCapacity = 1024, mostCapacity = size_t{1} << 26;
    size_t capacity = std::max(leastCapacity, capacity_);
    while (capacity <= domain) capacity *= 2;
    if (capacity > mostCapacity) return false;
    const int errnoBefore = errno;
    void* const memory = ::mmap(nullptr, capacity * sizeof(int32_t), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

constexpr size_t mostOpenRanges = 1u << 20;  // a program that never ends its ranges must not cost

}  // namespace

bool NvtxWindowFilter::keeps(const log::NvtxRecord& call, OpenRanges& ofThread) {
    if (windows_.isEverything()) return true;
    const bool isInside = windows_.isOpenAt(call.timestampNs);
    const auto level = static_cast<size_t>(call.level);
    switch (call.event) {
        case log::NvtxEvent::Mark:
            return isInside;
        case log::NvtxEvent::Push: {
            if (ofThread.size() <= call.domain) ofThread.resize(call.domain + size_t{1});
            std::vector<bool>& levels = ofThread[call.domain];
            if (levels.size() <= level) levels.resize(level + 1);
            levels[level] = isInside;
            return isInside;
        }
        case log::NvtxEvent::Pop: {
            if (ofThread.size() <= call.domain || ofThread[call.domain].size() <= level)
                return false;
            const bool isKept = ofThread[call.domain][level];
            ofThread[call.domain][level] = false;
            return isKept;
        }
        case log::NvtxEvent::Start:
            if (started_.size() >= mostOpenRanges) started_.clear();
            started_[call.rangeId] = isInside;
            return isInside;
        case log::NvtxEvent::End: {
            const auto found = started_.find(call.rangeId);
            // Started on another thread a moment ago, whose calls come later.
            if (found == started_.end()) return isInside;
            const bool isKept = found->second;
            started_.erase(found);
            return isKept;
        }
    }
    return isInside;
}

/// How a call lies in a ring: this, then the text, then the extended payload.
struct NvtxRecorder::Entry {
    CallStacks::Entry entry;
    uint32_t stack;
    uint64_t moment;  // of `CycleClock`, or the time of events where ranges open windows
    uint64_t rangeId;
    uint64_t payloadBits;
    uint64_t schemaId;
    const std::string* registered;
    uint32_t domain;
    uint32_t category;
    uint32_t colorArgb;
    int32_t level;
    uint32_t
        threadId;  // here because an ended thread's ring passes to another before it is drained
    uint32_t textBytes;
    uint32_t extendedBytes;
    log::NvtxEvent event;
    log::NvtxPayload payload;
    bool isCut;
};

namespace {

constexpr size_t longestExtended = 4u << 10;

/// Whether a call has a place in the program that is worth knowing: an end is where its beginning
/// is.
bool hasPlace(log::NvtxEvent event) {
    return event != log::NvtxEvent::Pop && event != log::NvtxEvent::End;
}

}  // namespace

NvtxRecorder::NvtxRecorder(Windows& windows, CallStacks& stacks, std::function<void()> wakeWriter,
                           std::unique_ptr<MomentTeller> moments)
    : stacks_(stacks),
      rings_(std::move(wakeWriter)),
      moments_(std::move(moments)),
      filter_(windows) {
    const WindowTrigger trigger = windows.options().trigger;
    if (trigger == WindowTrigger::NvtxRange || trigger == WindowTrigger::Steps)
        trigger_ = std::make_unique<NvtxTrigger>(windows);
}

int NvtxRecorder::record(const NvtxCall& call) {
    auto* thread = rings_.ofThisThread();
    if (!thread) return -1;
    // Before the clock is read, so that a range is no longer by this.
    const bool isWanted = hasPlace(call.event) && !isStopped_.load(std::memory_order_relaxed);
    const uint32_t stack =
        isWanted ? stacks_.number(thread->state.stacks, thread->events) : uint32_t{0};
    uint64_t moment = CycleClock::now();

    int32_t level = 0;
    if (call.event == log::NvtxEvent::Push || call.event == log::NvtxEvent::Pop) {
        int32_t* const open = thread->state.open.of(call.domain);
        if (!open) [[unlikely]] {
            LostCalls::withoutMemory.fetch_add(1, std::memory_order_relaxed);
            return -1;
        }
        if (call.event == log::NvtxEvent::Pop && *open == 0) return -1;
        level = call.event == log::NvtxEvent::Push ? (*open)++ : --*open;
    }

    if (isStopped_.load(std::memory_order_relaxed)) [[unlikely]]
        return level;
    if (trigger_) moment = static_cast<uint64_t>(trigger_->timeOf(call, thread->threadId, level));
    if (moments_) moments_->look(call, thread->threadId, level, log::eventTimeNs());

    const size_t textBytes = std::min(call.text.size(), longestNvtxText);
    const size_t extendedBytes = std::min(call.extended.size(), longestExtended);
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
    // An empty view may hold no address at all.
    if (textBytes) std::memcpy(tail, call.text.data(), textBytes);
    if (extendedBytes) std::memcpy(tail + textBytes, call.extended.data(), extendedBytes);
    rings_.commit(*thread);
    return level;
}

void NvtxRecorder::drain(log::RecordWriter& writer, const CycleClock& clock) {
    if (!isUsed()) return;
    const uint64_t refused = rings_.drain([&](ThreadState& thread, const void* memory, size_t) {
        const auto kind = *static_cast<const CallStacks::Entry*>(memory);
        if (kind != CallStacks::Entry::Call) {
            stacks_.take(kind, memory);
            return;
        }
        drainAnnouncements(writer);  // a domain's name stands before its first event
        const auto& entry = *static_cast<const Entry*>(memory);
        const char* tail = reinterpret_cast<const char*>(&entry + 1);
        if (std::exchange(thread.filteredThreadId, entry.threadId) != entry.threadId)
            thread.keptRanges.clear();
        log::NvtxRecord record{};
        record.timestampNs =
            trigger_ ? static_cast<int64_t>(entry.moment) : clock.eventNs(entry.moment);
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
    if (std::exchange(announcedGeneration_, writer.generation()) != writer.generation()) {
        announcementsWritten_ = 0;
    }
    const size_t count = registry.announcementCount();
    const auto write = [&](const auto& said) {
        using Said = std::decay_t<decltype(said)>;
        if constexpr (std::is_same_v<Said, NvtxDomain>) {
            log::NvtxDomainRecord record{};
            record.timestampNs = said.timestampNs;
            record.domain = said.id;
            record.name = writer.string(said.name);
            record.threadId = said.threadId;
            writer.write(log::RecordKind::NvtxDomain, record);
        } else if constexpr (std::is_same_v<Said, NvtxCategory>) {
            log::NvtxCategoryRecord record{};
            record.timestampNs = said.timestampNs;
            record.domain = said.domain;
            record.category = said.category;
            record.name = writer.string(said.name);
            record.threadId = said.threadId;
            writer.write(log::RecordKind::NvtxCategory, record);
        } else if constexpr (std::is_same_v<Said, NvtxThreadName>) {
            log::ThreadNameRecord record{};
            record.threadId = said.threadId;
            record.name = writer.string(said.name);
            writer.write(log::RecordKind::ThreadName, record);
        } else if constexpr (std::is_same_v<Said, NvtxEnum>) {
            log::NvtxEnumRecord record{};
            record.schemaId = said.schemaId;
            record.payloadBytes = said.bytes;
            record.domain = said.domain;
            record.name = writer.string(said.name);
            record.entryCount = static_cast<uint32_t>(said.entries.size());
            writer.write(log::RecordKind::NvtxEnum, record);
            for (const NvtxEnumEntry& entry : said.entries) {
                log::NvtxEnumEntryRecord line{};
                line.schemaId = said.schemaId;
                line.value = entry.value;
                line.domain = said.domain;
                line.name = writer.string(entry.name);
                line.isFlag = entry.isFlag;
                writer.write(log::RecordKind::NvtxEnumEntry, line);
            }
        } else {
            log::NvtxSchemaRecord record{};
            record.schemaId = said.schemaId;
            record.flags = said.flags;
            record.payloadBytes = said.payloadBytes;
            record.alignTo = said.alignTo;
            record.domain = said.domain;
            record.name = writer.string(said.name);
            record.type = static_cast<uint32_t>(said.type);
            record.entryCount = static_cast<uint32_t>(said.entries.size());
            writer.write(log::RecordKind::NvtxSchema, record);
            uint32_t index = 0;
            for (const NvtxSchemaEntry& entry : said.entries) {
                log::NvtxSchemaEntryRecord line{};
                line.schemaId = said.schemaId;
                line.flags = entry.flags;
                line.type = entry.type;
                line.arrayOrUnionDetail = entry.arrayOrUnionDetail;
                line.offset = entry.offset;
                line.domain = said.domain;
                line.index = index++;
                line.name = writer.string(entry.name);
                line.description = writer.string(entry.description);
                writer.write(log::RecordKind::NvtxSchemaEntry, line);
            }
        }
    };
    while (announcementsWritten_ < count) {
        std::visit(write, registry.announcement(announcementsWritten_++));
    }
}

}  // namespace lanescope::agent
