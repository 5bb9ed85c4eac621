#include "capture/agent/NvtxRecorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/clocks.h"

namespace lanescope {

/// How a call lies in a ring: this, then the text, then the extended payload.
struct NvtxRecorder::Entry {
    int64_t timestampNs;
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

/// What a thread keeps. Never freed; once its thread has ended, the next new thread takes it over.
struct NvtxRecorder::Thread {
    EventRing ring;
    NvtxRecorder* owner = nullptr;
    Thread* next = nullptr;
    std::atomic<bool> inUse{true};
    uint32_t threadId = 0;
    bool wokeWriter = false;
    std::vector<int32_t> levels;  // open ranges by domain id
};

namespace {

constexpr size_t longestText = 8u << 10;
constexpr size_t longestExtended = 4u << 10;

// The ring of this thread. Trivially destructible on purpose: calls may come while the thread ends.
thread_local void* currentThread = nullptr;

pthread_key_t threadEndKey;
std::once_flag threadEndKeyOnce;
bool hasThreadEndKey = false;

}  // namespace

NvtxRecorder::NvtxRecorder(std::function<void()> wakeWriter) : wakeWriter_(std::move(wakeWriter)) {
    std::call_once(threadEndKeyOnce, [] {
        hasThreadEndKey = ::pthread_key_create(&threadEndKey, &NvtxRecorder::detachThread) == 0;
    });
}

void NvtxRecorder::detachThread(void* thread) {
    currentThread = nullptr;
    static_cast<Thread*>(thread)->inUse.store(false, std::memory_order_release);
}

NvtxRecorder::Thread* NvtxRecorder::threadState() {
    auto* thread = static_cast<Thread*>(currentThread);
    // After a fork the state is the parent's.
    if (thread && thread->owner == this) [[likely]]
        return thread;
    return attachThread();
}

NvtxRecorder::Thread* NvtxRecorder::attachThread() {
    Thread* thread = threads_.load(std::memory_order_acquire);
    for (bool wasInUse = true; thread; thread = thread->next) {
        // One that still holds events is left alone: a new thread deserves a whole ring.
        if (!thread->ring.isEmpty()) continue;
        wasInUse = false;
        if (thread->inUse.compare_exchange_strong(wasInUse, true)) break;
    }
    if (!thread) {
        thread = new (std::nothrow) Thread;
        if (!thread) return nullptr;
        thread->ring.create();
        thread->owner = this;
        thread->next = threads_.load(std::memory_order_relaxed);
        while (!threads_.compare_exchange_weak(thread->next, thread, std::memory_order_release)) {
        }
    }
    thread->levels.assign(thread->levels.size(), 0);
    thread->threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
    currentThread = thread;
    if (hasThreadEndKey) ::pthread_setspecific(threadEndKey, thread);
    wakeWriter_();
    return thread;
}

int NvtxRecorder::record(const NvtxCall& call) {
    const int64_t nowNs = realtimeNs();
    Thread* thread = threadState();
    if (!thread) return -1;

    int32_t level = 0;
    if (call.event == log::NvtxEvent::Push || call.event == log::NvtxEvent::Pop) {
        if (call.domain >= thread->levels.size()) thread->levels.resize(call.domain + 8, 0);
        int32_t& open = thread->levels[call.domain];
        if (call.event == log::NvtxEvent::Pop && open == 0) return -1;
        level = call.event == log::NvtxEvent::Push ? open++ : --open;
    }

    const size_t textBytes = std::min(call.text.size(), longestText);
    const size_t extendedBytes = std::min(call.extended.size(), longestExtended);
    void* room = thread->ring.reserve(sizeof(Entry) + textBytes + extendedBytes);
    if (!room) return level;
    auto* entry = new (room) Entry{nowNs,
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
    thread->ring.commit();

    if (!thread->ring.isHalfFull()) {
        thread->wokeWriter = false;
    } else if (!std::exchange(thread->wokeWriter, true)) {
        wakeWriter_();
    }
    return level;
}

void NvtxRecorder::drain(RecordWriter& writer) {
    if (!isUsed()) return;
    for (Thread* thread = threads_.load(std::memory_order_acquire); thread; thread = thread->next) {
        thread->ring.drain([&](const void* memory, size_t) {
            drainAnnouncements(writer);  // a domain's name stands before its first event
            const auto& entry = *static_cast<const Entry*>(memory);
            const char* tail = reinterpret_cast<const char*>(&entry + 1);
            log::NvtxRecord record{};
            record.timestampNs = entry.timestampNs;
            record.rangeId = entry.rangeId;
            record.payloadBits = entry.payloadBits;
            record.schemaId = entry.schemaId;
            record.threadId = entry.threadId;
            record.domain = entry.domain;
            record.text = writer.string(entry.registered ? std::string_view(*entry.registered)
                                                         : std::string_view(tail, entry.textBytes));
            record.category = entry.category;
            record.colorArgb = entry.colorArgb;
            record.level = entry.level;
            record.event = entry.event;
            record.payload = entry.payload;
            record.header.flags = entry.isCut ? 1 : 0;
            writer.writeNvtx(record, {tail + entry.textBytes, entry.extendedBytes});
        });
        if (const uint64_t refused = thread->ring.takeRefused()) {
            writer.dropped(log::DroppedWhat::Nvtx, refused);
        }
    }
    drainAnnouncements(writer);
}

void NvtxRecorder::drainAnnouncements(RecordWriter& writer) {
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

}  // namespace lanescope
