// SPDX-License-Identifier: Apache-2.0
//
// Profiler plugin that NCCL finds in this library if NCCL_PROFILER_PLUGIN names it. It always
// returns success: the program continues whether or not its communication can be recorded.

#include <cstring>
#include <optional>
#include <type_traits>

#include "capture/agent/Agent.h"
#include "capture/nccl/NcclRecorder.h"
#include "capture/nccl/profilerAbi.h"

namespace lanescope::agent::nccl {

namespace {

// NCCL gets a number for an event, never an address. It may come back after the event has ended,
// from another thread or in a forked child, where an address would be invalid.
constexpr uint64_t unrecorded = 1;  // an event that is not kept, but whose children NCCL then reports

void* handleOf(uint64_t id) { return reinterpret_cast<void*>(unrecorded + id); }
uint64_t idOf(const void* handle) {
    const auto number = reinterpret_cast<uint64_t>(handle);
    return number > unrecorded ? number - unrecorded : 0;
}

/// Context of communicators that could not be kept, and of interface versions that name the
/// communicator with each event.
constinit NcclCommunicator nameless;

// Groups are requested because NCCL reports no content of a group that it does not report.
constexpr uint64_t groups = group | groupCall;
constexpr uint64_t wantedEarly = group | collective | pointToPoint;
constexpr uint64_t wantedV5 = wantedEarly | groupCall | collectiveCall | pointToPointCall | kernelLaunch;
constexpr uint64_t wantedV6 = wantedV5 | copyEngineCollective;

Result init(void** context, int* activationMask, uint64_t wanted, uint32_t version, const char* name, uint64_t hash,
            int nodeCount, int rankCount, int rank) {
    if (context) *context = &nameless;
    try {
        NcclRecorder* const recorder = NcclRecorder::current();
        // All communicators share one mask, and other threads of NCCL may be reading it.
        if (activationMask) __atomic_store_n(activationMask, recorder ? static_cast<int>(wanted) : 0, __ATOMIC_RELAXED);
        if (!recorder || version < 4) return success;
        NcclCommunicator made;
        made.hash = hash;
        if (name) std::memcpy(made.name, name, ::strnlen(name, sizeof made.name - 1));
        made.rank = rank;
        made.rankCount = rankCount;
        made.nodeCount = nodeCount;
        made.interfaceVersion = version;
        NcclCommunicator* kept = recorder->introduce(made);
        if (context && kept) *context = kept;
    } catch (...) {
    }
    return success;
}

Result initEarly(void** context, int* activationMask) {
    return init(context, activationMask, wantedEarly, 1, nullptr, 0, -1, -1, -1);
}

Result initV4(void** context, int* activationMask, const char* name, uint64_t hash, int nodeCount, int rankCount,
              int rank, Logger) {
    return init(context, activationMask, wantedEarly, 4, name, hash, nodeCount, rankCount, rank);
}

template <uint32_t version, uint64_t wanted>
Result initV5(void** context, uint64_t hash, int* activationMask, const char* name, int nodeCount, int rankCount,
              int rank, Logger) {
    return init(context, activationMask, wanted, version, name, hash, nodeCount, rankCount, rank);
}

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

/// Returns an event by the fields that its part of a descriptor has.
NcclStart startOf(log::NcclEvent event, const auto& part) {
    NcclStart start;
    log::NcclOperationRecord& record = start.record;
    record.event = event;
    record.count = part.count;
    start.function = nameOf(functionNames, part.function);
    start.datatype = nameOf(datatypeNames, part.datatype);
    if constexpr (requires { part.algorithm; }) start.algorithm = nameOf(algorithmNames, part.algorithm);
    if constexpr (requires { part.protocol; }) start.protocol = nameOf(protocolNames, part.protocol);
    // Versions 1 to 3 name the communicator in every descriptor.
    if constexpr (requires { part.communicator; }) record.communicator = part.communicator;
    if constexpr (requires { part.sequence; }) record.sequence = static_cast<int64_t>(part.sequence);
    if constexpr (requires { part.root; }) record.root = part.root;
    if constexpr (requires { part.peer; }) record.peer = part.peer;
    if constexpr (requires { part.channels; }) record.channels = part.channels;
    if constexpr (requires { part.warps; }) record.warps = part.warps;
    if constexpr (requires { part.isCaptured; }) record.isCaptured = part.isCaptured ? 1 : 0;
    return start;
}

/// Converts an event described by NCCL. Returns nullopt for a kind that is not kept.
template <class Descriptor>
std::optional<NcclStart> readDescriptor(const Descriptor& descriptor) {
    if (descriptor.type == collective) return startOf(log::NcclEvent::Task, descriptor.collective);
    if (descriptor.type == pointToPoint) return startOf(log::NcclEvent::Task, descriptor.pointToPoint);
    if constexpr (std::is_same_v<Descriptor, DescriptorV5>) {
        if (descriptor.type == collectiveCall) return startOf(log::NcclEvent::Call, descriptor.collectiveCall);
        if (descriptor.type == pointToPointCall) return startOf(log::NcclEvent::Call, descriptor.pointToPointCall);
        if (descriptor.type == copyEngineCollective) return startOf(log::NcclEvent::CopyEngine, descriptor.copyEngine);
        if (descriptor.type == kernelLaunch) {
            NcclStart start;
            start.record.event = log::NcclEvent::Launch;
            return start;
        }
    }
    return std::nullopt;
}

template <class Descriptor>
Result startEvent(void* context, void** event, Descriptor* descriptor) {
    if (!event) return success;
    *event = nullptr;  // then NCCL makes no further calls for it
    if (!descriptor || Agent::isAsleep()) return success;
    try {
        if (descriptor->type & groups) *event = handleOf(0);
        std::optional<NcclStart> start = readDescriptor(*descriptor);
        NcclRecorder* const recorder = start ? NcclRecorder::current() : nullptr;
        if (!recorder) return success;
        constexpr bool isLate = std::is_same_v<Descriptor, DescriptorV5>;
        log::NcclOperationRecord& record = start->record;
        record.rank = descriptor->rank;
        if (isLate && record.event != log::NcclEvent::Launch) record.parent = idOf(descriptor->parent);
        if (isLate || std::is_same_v<Descriptor, DescriptorV4>) {
            const auto* communicator = static_cast<const NcclCommunicator*>(context);
            if (!communicator) communicator = &nameless;
            record.communicator = communicator->hash;
            record.rank = communicator->rank;  // NCCL 2.28 reports rank 0 for calls
        }
        *event = handleOf(recorder->start(*start));
    } catch (...) {
    }
    return success;
}

Result stopEvent(void* event) {
    try {
        const uint64_t id = idOf(event);
        if (auto* recorder = id != 0 ? NcclRecorder::current() : nullptr) recorder->stop(id);
    } catch (...) {
    }
    return success;
}

Result recordState(void*, int, void*) { return success; }

/// Communicators live to the end of the process: a thread of NCCL may still be running.
Result finalize(void*) { return success; }

template <class Profiler>
constexpr Profiler profiler(decltype(Profiler::init) init) {
    return {"Lanescope", init, startEvent, stopEvent, recordState, finalize};
}

}  // namespace

#define LANESCOPE_EXPORT extern "C" __attribute__((visibility("default")))

LANESCOPE_EXPORT const ProfilerV1<DescriptorV1> ncclProfiler_v1 = profiler<ProfilerV1<DescriptorV1>>(initEarly);
LANESCOPE_EXPORT const ProfilerV1<DescriptorV2> ncclProfiler_v2 = profiler<ProfilerV1<DescriptorV2>>(initEarly);
LANESCOPE_EXPORT const ProfilerV1<DescriptorV3> ncclProfiler_v3 = profiler<ProfilerV1<DescriptorV3>>(initEarly);
LANESCOPE_EXPORT const ProfilerV4 ncclProfiler_v4 = profiler<ProfilerV4>(initV4);
LANESCOPE_EXPORT const ProfilerV5 ncclProfiler_v5 = profiler<ProfilerV5>(initV5<5, wantedV5>);
LANESCOPE_EXPORT const ProfilerV5 ncclProfiler_v6 = profiler<ProfilerV5>(initV5<6, wantedV6>);
LANESCOPE_EXPORT const ProfilerV5 ncclProfiler_v7 = profiler<ProfilerV5>(initV5<7, wantedV6>);

}  // namespace lanescope::agent::nccl
