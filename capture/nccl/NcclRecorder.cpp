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
    uint32_t stack;
    int64_t timestampNs;
    uint64_t id, parent, communicator, count;
    int64_t sequence;
    uint32_t threadId;  // stored here because an ended thread's ring passes to another thread
    int32_t rank, root, peer;
    log::NcclEvent event;
    uint8_t channels, warps;
    bool isCaptured, isStop;
    uint8_t textBytes[textCount];
};

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
        event.event == log::NcclEvent::Launch ? uint32_t{0} : stacks_.number(ring->state.stacks, ring->events);
    const char* const texts[textCount] = {event.function, event.datatype, event.algorithm, event.protocol};
    uint8_t lengths[textCount];
    size_t textBytes = 0;
    for (size_t index = 0; index < textCount; ++index) {
        lengths[index] = texts[index] ? static_cast<uint8_t>(::strnlen(texts[index], maxTextBytes)) : 0;
        textBytes += lengths[index];
    }
    void* room = ring->events.reserve(sizeof(Entry) + textBytes);
    if (!room) return 0;
    auto* entry = new (room) Entry{};
    entry->entry = CallStacks::Entry::Call;
    entry->stack = stack;
    entry->id = lastId_.fetch_add(1, std::memory_order_relaxed) + 1;
    entry->parent = event.parent;
    entry->communicator = event.communicator;
    entry->count = event.count;
    entry->sequence = event.sequence;
    entry->threadId = ring->threadId;
    entry->rank = event.rank;
    entry->root = event.root;
    entry->peer = event.peer;
    entry->event = event.event;
    entry->channels = event.channels;
    entry->warps = event.warps;
    entry->isCaptured = event.isCaptured;
    char* tail = reinterpret_cast<char*>(entry + 1);
    for (size_t index = 0; index < textCount; ++index) {
        entry->textBytes[index] = lengths[index];
        if (lengths[index]) std::memcpy(tail, texts[index], lengths[index]);
        tail += lengths[index];
    }
    const uint64_t id = entry->id;
    entry->timestampNs = log::eventTimeNs();
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
    auto* entry = new (room) Entry{};
    entry->entry = CallStacks::Entry::Call;
    entry->timestampNs = nowNs;
    entry->id = id;
    entry->threadId = ring->threadId;
    entry->isStop = true;
    rings_.commit(*ring);
}

void NcclRecorder::drain(log::RecordWriter& writer, const Windows& windows) {
    if (!isUsed()) return;
    const uint64_t refused = rings_.drain([&](ThreadState&, const void* memory, size_t) {
        const auto kind = *static_cast<const CallStacks::Entry*>(memory);
        if (kind != CallStacks::Entry::Call) {
            stacks_.take(kind, memory);
            return;
        }
        drainCommunicators(writer);  // a communicator precedes its first event
        const auto& entry = *static_cast<const Entry*>(memory);
        if (!windows.isEverything()) {
            const bool isInside = windows.isOpenAt(entry.timestampNs);
            if (entry.isStop) {
                // A stop may be drained before its start; the reader skips a lone one.
                if (keptOpen_.erase(entry.id) == 0 && !isInside) return;
            } else if (!isInside) {
                return;
            } else {
                if (keptOpen_.size() >= maxOpenEvents) keptOpen_.clear();
                keptOpen_.insert(entry.id);
            }
        }
        if (entry.isStop) {
            log::NcclStopRecord record{};
            record.timestampNs = entry.timestampNs;
            record.id = entry.id;
            record.threadId = entry.threadId;
            writer.write(record, record.timestampNs);
            return;
        }
        log::NcclOperationRecord record{};
        const char* tail = reinterpret_cast<const char*>(&entry + 1);
        uint32_t* const texts[textCount] = {&record.function, &record.datatype, &record.algorithm, &record.protocol};
        for (size_t index = 0; index < textCount; ++index) {
            *texts[index] = writer.string(std::string_view(tail, entry.textBytes[index]));
            tail += entry.textBytes[index];
        }
        record.timestampNs = entry.timestampNs;
        record.id = entry.id;
        record.parent = entry.parent;
        record.communicator = entry.communicator;
        record.count = entry.count;
        record.sequence = entry.sequence;
        record.threadId = entry.threadId;
        record.rank = entry.rank;
        record.root = entry.root;
        record.peer = entry.peer;
        record.event = entry.event;
        record.channels = entry.channels;
        record.warps = entry.warps;
        record.isCaptured = entry.isCaptured ? 1 : 0;
        record.stack = stacks_.write(entry.stack, writer);
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

namespace lanescope::agent::nccl {

namespace {

// Descriptors of version 1 contain NCCL 2.23's own numbers.
constexpr const char* functionNames[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                         "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* datatypeNames[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                         "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
constexpr const char* algorithmNames[] = {"TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
                                          "NVLS_TREE", "PAT"};
constexpr const char* protocolNames[] = {"LL", "LL128", "SIMPLE"};

template <size_t N>
const char* nameOf(const char* const (&names)[N], uint8_t number) {
    return number < N ? names[number] : nullptr;
}
template <size_t N>
const char* nameOf(const char* const (&)[N], const char* name) {
    return name;
}

template <class Collective>
NcclStart readCollective(const Collective& descriptor) {
    return NcclStart{.count = descriptor.count,
                     .sequence = static_cast<int64_t>(descriptor.sequence),
                     .function = nameOf(functionNames, descriptor.function),
                     .datatype = nameOf(datatypeNames, descriptor.datatype),
                     .algorithm = nameOf(algorithmNames, descriptor.algorithm),
                     .protocol = nameOf(protocolNames, descriptor.protocol),
                     .root = descriptor.root,
                     .channels = descriptor.channels,
                     .warps = descriptor.warps};
}

template <class PointToPoint>
NcclStart readPointToPoint(const PointToPoint& descriptor) {
    return NcclStart{.count = descriptor.count,
                     .function = nameOf(functionNames, descriptor.function),
                     .datatype = nameOf(datatypeNames, descriptor.datatype),
                     .peer = descriptor.peer};
}

NcclStart readPointToPoint(const PointToPointV4& descriptor) {
    NcclStart start = readPointToPoint<PointToPointV4>(descriptor);
    start.channels = descriptor.channels;
    return start;
}

template <class Call>
NcclStart readCall(const Call& descriptor) {
    return NcclStart{.event = log::NcclEvent::Call,
                     .count = descriptor.count,
                     .function = descriptor.function,
                     .datatype = descriptor.datatype,
                     .isCaptured = descriptor.isCaptured};
}

/// Versions 1 to 3 name the communicator in every descriptor.
template <class Descriptor>
std::optional<NcclStart> readEarly(const Descriptor& descriptor) {
    NcclStart start;
    if (descriptor.type == collective) {
        start = readCollective(descriptor.collective);
        start.communicator = descriptor.collective.communicator;
    } else if (descriptor.type == pointToPoint) {
        start = readPointToPoint(descriptor.pointToPoint);
        start.communicator = descriptor.pointToPoint.communicator;
    } else {
        return std::nullopt;
    }
    start.rank = descriptor.rank;
    return start;
}

}  // namespace

std::optional<NcclStart> readDescriptor(const DescriptorV1& descriptor) { return readEarly(descriptor); }

std::optional<NcclStart> readDescriptor(const DescriptorV2& descriptor) { return readEarly(descriptor); }

std::optional<NcclStart> readDescriptor(const DescriptorV3& descriptor) { return readEarly(descriptor); }

std::optional<NcclStart> readDescriptor(const DescriptorV4& descriptor) {
    if (descriptor.type == collective) return readCollective(descriptor.collective);
    if (descriptor.type == pointToPoint) return readPointToPoint(descriptor.pointToPoint);
    return std::nullopt;
}

std::optional<NcclStart> readDescriptor(const DescriptorV5& descriptor) {
    NcclStart start;
    switch (descriptor.type) {
        case collectiveCall:
            start = readCall(descriptor.collectiveCall);
            start.root = descriptor.collectiveCall.root;
            return start;
        case pointToPointCall: return readCall(descriptor.pointToPointCall);
        case kernelLaunch: start.event = log::NcclEvent::Launch; return start;
        case collective: return readCollective(descriptor.collective);
        case pointToPoint: return readPointToPoint(descriptor.pointToPoint);
        case copyEngineCollective:
            start.event = log::NcclEvent::CopyEngine;
            start.count = descriptor.copyEngine.count;
            start.sequence = static_cast<int64_t>(descriptor.copyEngine.sequence);
            start.function = descriptor.copyEngine.function;
            start.datatype = descriptor.copyEngine.datatype;
            start.root = descriptor.copyEngine.root;
            return start;
        default: return std::nullopt;
    }
}

}  // namespace lanescope::agent::nccl
