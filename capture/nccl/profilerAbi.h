// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::nccl {

// Layout of NCCL's profiler interface, as far as the agent reads it. NCCL searches for the symbols
// ncclProfiler_v1, _v2, ... and uses the newest that it supports. Descriptors are NCCL's, made for
// one call. Unused members are omitted only at the end of each union, so every offset is right.

using Result = int;
inline constexpr Result success = 0;
/// NCCL's function for log lines; never called.
using Logger = void (*)();

/// Bits of the activation mask, and the types of events, as far as they are used.
enum EventType : uint64_t {
    group = 1 << 0,
    collective = 1 << 1,
    pointToPoint = 1 << 2,
    groupCall = 1 << 8,
    collectiveCall = 1 << 9,
    pointToPointCall = 1 << 10,
    kernelLaunch = 1 << 11,
    copyEngineCollective = 1 << 12,
};

/// Descriptor of an event until NCCL 2.27.
template <class Collective, class PointToPoint>
struct Descriptor {
    uint8_t type;
    void* parent;
    int rank;
    union {
        Collective collective;
        PointToPoint pointToPoint;
    };
};

// NCCL 2.23. Numbers instead of names.
struct CollectiveV1 {
    const char* communicatorName;
    uint64_t communicator;
    uint64_t sequence;
    uint8_t function;
    const void* sendBuffer;
    void* receiveBuffer;
    size_t count;
    int root;
    uint8_t datatype;
    uint32_t reduction;
    size_t trafficBytes;
    uint8_t channels, warps, algorithm, protocol;
};
/// `Name` is the type of names, which version 1 writes as numbers.
template <class Name>
struct EarlyPointToPoint {
    const char* communicatorName;
    uint64_t communicator;
    Name function;
    void* buffer;
    Name datatype;
    size_t count;
    int peer;
};
using PointToPointV1 = EarlyPointToPoint<uint8_t>;
using DescriptorV1 = Descriptor<CollectiveV1, PointToPointV1>;
static_assert(offsetof(DescriptorV1, parent) == 8 && offsetof(DescriptorV1, rank) == 16);
static_assert(offsetof(DescriptorV1, collective) == 24 && offsetof(DescriptorV1, pointToPoint) == 24);
static_assert(offsetof(CollectiveV1, function) == 24 && offsetof(CollectiveV1, count) == 48);
static_assert(offsetof(CollectiveV1, root) == 56 && offsetof(CollectiveV1, datatype) == 60);
static_assert(offsetof(CollectiveV1, reduction) == 64 && offsetof(CollectiveV1, channels) == 80);
static_assert(offsetof(CollectiveV1, protocol) == 83);
static_assert(offsetof(PointToPointV1, datatype) == 32 && offsetof(PointToPointV1, peer) == 48);

// NCCL 2.24 and 2.25: names.
struct CollectiveV2 {
    const char* communicatorName;
    uint64_t communicator;
    uint64_t sequence;
    const char* function;
    const void* sendBuffer;
    void* receiveBuffer;
    size_t count;
    int root;
    const char* datatype;
    size_t trafficBytes;
    uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
using PointToPointV2 = EarlyPointToPoint<const char*>;
using DescriptorV2 = Descriptor<CollectiveV2, PointToPointV2>;
static_assert(offsetof(DescriptorV2, collective) == 24);
static_assert(offsetof(CollectiveV2, count) == 48 && offsetof(CollectiveV2, datatype) == 64);
static_assert(offsetof(CollectiveV2, channels) == 80 && offsetof(CollectiveV2, algorithm) == 88);
static_assert(offsetof(CollectiveV2, protocol) == 96);
static_assert(offsetof(PointToPointV2, datatype) == 32 && offsetof(PointToPointV2, peer) == 48);

// NCCL 2.26: without the traffic.
struct CollectiveV3 {
    const char* communicatorName;
    uint64_t communicator;
    uint64_t sequence;
    const char* function;
    const void* sendBuffer;
    void* receiveBuffer;
    size_t count;
    int root;
    const char* datatype;
    uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
using DescriptorV3 = Descriptor<CollectiveV3, PointToPointV2>;
static_assert(offsetof(CollectiveV3, channels) == 72 && offsetof(CollectiveV3, algorithm) == 80);
static_assert(offsetof(CollectiveV3, protocol) == 88);

// NCCL 2.27: the communicator is passed at initialization.
struct CollectiveV4 {
    uint64_t sequence;
    const char* function;
    const void* sendBuffer;
    void* receiveBuffer;
    size_t count;
    int root;
    const char* datatype;
    uint8_t channels, warps;
    const char* algorithm;
    const char* protocol;
};
struct PointToPointV4 {
    const char* function;
    void* buffer;
    const char* datatype;
    size_t count;
    int peer;
    uint8_t channels;
};
using DescriptorV4 = Descriptor<CollectiveV4, PointToPointV4>;
static_assert(offsetof(DescriptorV4, collective) == 24);
static_assert(offsetof(CollectiveV4, count) == 32 && offsetof(CollectiveV4, root) == 40);
static_assert(offsetof(CollectiveV4, datatype) == 48 && offsetof(CollectiveV4, channels) == 56);
static_assert(offsetof(CollectiveV4, algorithm) == 64 && offsetof(CollectiveV4, protocol) == 72);
static_assert(offsetof(PointToPointV4, count) == 24 && offsetof(PointToPointV4, peer) == 32);
static_assert(offsetof(PointToPointV4, channels) == 36);

// NCCL 2.28 (v5) and later (v6, v7): also the program's calls and the launches. Versions 6 and 7
// add members at ends only, so one description serves for all three.
struct CollectiveCallV5 {
    const char* function;
    size_t count;
    const char* datatype;
    int root;
    void* stream;
    bool isCaptured;
};
struct PointToPointCallV5 {
    const char* function;
    size_t count;
    const char* datatype;
    void* stream;
    bool isCaptured;
};
/// For version 6 and later; begins like `CollectiveV4`, then describes the use of copy engines.
struct CopyEngineV6 {
    uint64_t sequence;
    const char* function;
    const void* sendBuffer;
    void* receiveBuffer;
    size_t count;
    int root;
    const char* datatype;
};
struct DescriptorV5 {
    uint64_t type;
    void* parent;
    int rank;
    union {
        CollectiveCallV5 collectiveCall;
        PointToPointCallV5 pointToPointCall;
        CollectiveV4 collective;
        PointToPointV4 pointToPoint;
        CopyEngineV6 copyEngine;
    };
};
static_assert(offsetof(DescriptorV5, parent) == 8 && offsetof(DescriptorV5, collective) == 24);
static_assert(offsetof(CollectiveCallV5, root) == 24 && offsetof(CollectiveCallV5, stream) == 32);
static_assert(offsetof(CollectiveCallV5, isCaptured) == 40);
static_assert(offsetof(PointToPointCallV5, stream) == 24);
static_assert(offsetof(PointToPointCallV5, isCaptured) == 32);
static_assert(offsetof(CopyEngineV6, datatype) == 48);

template <class Init, class Descriptor>
struct Profiler {
    const char* name;
    Init init;
    Result (*startEvent)(void* context, void** event, Descriptor* descriptor);
    Result (*stopEvent)(void* event);
    Result (*recordEventState)(void* event, int state, void* arguments);
    Result (*finalize)(void* context);
};
/// Versions 1 to 3 differ in the descriptor only, as do 5 and later.
template <class Descriptor>
using ProfilerV1 = Profiler<Result (*)(void** context, int* activationMask), Descriptor>;
using ProfilerV4 = Profiler<Result (*)(void** context, int* activationMask, const char* communicatorName,
                                       uint64_t communicator, int nodeCount, int rankCount, int rank, Logger logger),
                            DescriptorV4>;
using ProfilerV5 =
    Profiler<Result (*)(void** context, uint64_t communicator, int* activationMask, const char* communicatorName,
                        int nodeCount, int rankCount, int rank, Logger logger),
             DescriptorV5>;
static_assert(sizeof(ProfilerV4) == 48 && sizeof(ProfilerV5) == 48);
static_assert(sizeof(ProfilerV1<DescriptorV1>) == 48);

}  // namespace lanescope::agent::nccl
