// SPDX-License-Identifier: Apache-2.0
#include "capture/nccl/NcclRecorder.h"

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "capture/agent/Agent.h"
#include "capture/agent/Inside.h"
#include "capture/log/clocks.h"

namespace lanescope::agent {

namespace {

constexpr size_t textCount = 4;
constexpr size_t maxTextBytes = 63;
constexpr size_t maxOpenEvents = 1u << 20;  // limits the cost of events that never end

std::atomic<NcclRecorder*> currentRecorder{nullptr};

}  // namespace

/// Layout of an event in a ring: this struct, then its texts.
struct NcclRecorder::Entry {
    CallStacks::Entry entry;
    bool isStop;
    uint8_t textBytes[textCount];
    log::NcclOperationRecord record;  ///< Without texts; `stack` is a number of `CallStacks`.
};

NcclStart::NcclStart() {
    record.event = log::NcclEvent::Task;
    record.sequence = record.rank = record.root = record.peer = -1;
}

NcclRecorder::NcclRecorder(Agent& agent)
    : agent_(&agent), stacks_(agent.stacks()), rings_(agent.burstMemory(), [&agent] { agent.startAndWake(); }) {}

NcclRecorder* NcclRecorder::current() {
    Agent* const agent = Agent::current();
    NcclRecorder* known = currentRecorder.load(std::memory_order_acquire);
    // After a fork it is the parent's. Agents are never destroyed, so no other agent has its address.
    if (!agent || (known && known->agent_ == agent)) [[likely]]
        return agent ? known : nullptr;
    auto* fresh = new (std::nothrow) NcclRecorder(*agent);
    if (!fresh) return nullptr;
    if (currentRecorder.compare_exchange_strong(known, fresh)) {
        agent->add(*fresh);
        return fresh;
    }
    delete fresh;  // another thread was first
    return known;
}

NcclCommunicator* NcclRecorder::introduce(const NcclCommunicator& communicator) {
    stacks_.search();  // NCCL has waited for the loader, to load this library
    auto* kept = new (std::nothrow) NcclCommunicator(communicator);
    if (!kept) return nullptr;
    kept->timestampNs = log::eventTimeNs();
    kept->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(kept->next, kept, std::memory_order_release)) {
    }
    return kept;
}

uint64_t NcclRecorder::start(const NcclStart& event) {
    const Inside inside;
    if (!inside) return 0;
    auto* ring = rings_.ofThisThread();
    if (!ring) return 0;
    // Launches are CUDA calls, which have stacks of their own.
    const uint32_t stack =
        event.record.event == log::NcclEvent::Launch ? uint32_t{0} : stacks_.number(ring->state.stacks, ring->events);
    const char* const texts[textCount] = {event.function, event.datatype, event.algorithm, event.protocol};
    uint8_t lengths[textCount];
    size_t textBytes = 0;
    for (size_t index = 0; index < textCount; ++index) {
        lengths[index] = texts[index] ? static_cast<uint8_t>(::strnlen(texts[index], maxTextBytes)) : 0;
        textBytes += lengths[index];
    }
    void* room = ring->events.reserve(sizeof(Entry) + textBytes);
    if (!room) return 0;
    auto* entry = new (room) Entry{CallStacks::Entry::Call, false, {}, event.record};
    log::NcclOperationRecord& record = entry->record;
    record.stack = stack;
    record.id = lastId_.fetch_add(1, std::memory_order_relaxed) + 1;
    record.threadId = ring->threadId;  // stored here because an ended thread's ring passes to another thread
    char* tail = reinterpret_cast<char*>(entry + 1);
    for (size_t index = 0; index < textCount; ++index) {
        entry->textBytes[index] = lengths[index];
        if (lengths[index]) std::memcpy(tail, texts[index], lengths[index]);
        tail += lengths[index];
    }
    const uint64_t id = record.id;
    record.timestampNs = log::eventTimeNs();
    rings_.commit(*ring);
    return id;
}

void NcclRecorder::stop(uint64_t id) {
    const Inside inside;
    if (!inside) return;
    const int64_t nowNs = log::eventTimeNs();
    auto* ring = rings_.ofThisThread();
    void* room = ring ? ring->events.reserve(sizeof(Entry)) : nullptr;
    if (!room) return;
    auto* entry = new (room) Entry{CallStacks::Entry::Call, true, {}, {}};
    entry->record.timestampNs = nowNs;
    entry->record.id = id;
    entry->record.threadId = ring->threadId;
    rings_.commit(*ring);
}

void NcclRecorder::drain(log::RecordWriter& writer, const Windows& windows) {
    if (!isUsed()) return;
    const uint64_t refused = stacks_.drain(rings_, [&](ThreadState&, const void* memory, size_t) {
        writer.beginPartIfDue();
        drainCommunicators(writer);  // a communicator precedes its first event
        const auto& entry = *static_cast<const Entry*>(memory);
        log::NcclOperationRecord record = entry.record;
        if (!windows.isEverything()) {
            const bool isInside = windows.isOpenAt(record.timestampNs);
            if (entry.isStop) {
                // A stop may be drained before its start; the reader skips a lone one.
                if (keptOpen_.erase(record.id) == 0 && !isInside) return;
            } else if (!isInside) {
                return;
            } else {
                if (keptOpen_.size() >= maxOpenEvents) keptOpen_.clear();
                keptOpen_.insert(record.id);
            }
        }
        if (entry.isStop) {
            log::NcclStopRecord stop{};
            stop.timestampNs = record.timestampNs;
            stop.id = record.id;
            stop.threadId = record.threadId;
            writer.write(stop, stop.timestampNs);
            return;
        }
        const char* tail = reinterpret_cast<const char*>(&entry + 1);
        uint32_t* const texts[textCount] = {&record.function, &record.datatype, &record.algorithm, &record.protocol};
        for (size_t index = 0; index < textCount; ++index) {
            *texts[index] = writer.string(std::string_view(tail, entry.textBytes[index]));
            tail += entry.textBytes[index];
        }
        record.stack = stacks_.write(record.stack, writer);
        writer.write(record, record.timestampNs);
    });
    if (refused) writer.dropped(Loss::NcclEvents, refused);
    drainCommunicators(writer);
}

void NcclRecorder::drainCommunicators(log::RecordWriter& writer) {
    if (std::exchange(writtenGeneration_, writer.generation()) != writer.generation()) newestWritten_ = nullptr;
    const NcclCommunicator* const newest = newest_.load(std::memory_order_acquire);
    for (const auto* one = newest; one != newestWritten_; one = one->next) {
        log::NcclCommunicatorRecord record{};
        record.timestampNs = one->timestampNs;
        record.hash = one->hash;
        record.name = writer.string(one->name);
        record.rank = one->rank;
        record.rankCount = one->rankCount;
        record.nodeCount = one->nodeCount;
        record.interfaceVersion = one->interfaceVersion;
        writer.write(record, record.timestampNs);
    }
    newestWritten_ = newest;
}

}  // namespace lanescope::agent
