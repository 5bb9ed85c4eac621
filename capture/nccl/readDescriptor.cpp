// SPDX-License-Identifier: Apache-2.0
#include "capture/nccl/readDescriptor.h"

#include <cstddef>

namespace lanescope::agent::nccl {

namespace {

// Descriptors of version 1 hold NCCL 2.23's own numbers.
constexpr const char* functionNames[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                         "AllReduce", "SendRecv", "Send",      "Recv"};
constexpr const char* datatypeNames[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                         "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                         "ncclFloat64", "ncclBfloat16"};
constexpr const char* algorithmNames[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
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
NcclStart readCollective(const Collective& said) {
    NcclStart start;
    start.count = said.count;
    start.sequence = static_cast<int64_t>(said.sequence);
    start.function = nameOf(functionNames, said.function);
    start.datatype = nameOf(datatypeNames, said.datatype);
    start.algorithm = nameOf(algorithmNames, said.algorithm);
    start.protocol = nameOf(protocolNames, said.protocol);
    start.root = said.root;
    start.channels = said.channels;
    start.warps = said.warps;
    return start;
}

template <class PointToPoint>
NcclStart readPointToPoint(const PointToPoint& said) {
    NcclStart start;
    start.count = said.count;
    start.function = nameOf(functionNames, said.function);
    start.datatype = nameOf(datatypeNames, said.datatype);
    start.peer = said.peer;
    return start;
}

NcclStart readPointToPoint(const PointToPointV4& said) {
    NcclStart start = readPointToPoint<PointToPointV4>(said);
    start.channels = said.channels;
    return start;
}

template <class Call>
NcclStart readCall(const Call& said) {
    NcclStart start;
    start.event = log::NcclEvent::Call;
    start.count = said.count;
    start.function = said.function;
    start.datatype = said.datatype;
    start.isCaptured = said.isCaptured;
    return start;
}

/// Versions 1 to 3 name the communicator in every descriptor.
template <class Descriptor>
std::optional<NcclStart> readEarly(const Descriptor& said) {
    NcclStart start;
    if (said.type == collective) {
        start = readCollective(said.collective);
        start.communicator = said.collective.communicator;
    } else if (said.type == pointToPoint) {
        start = readPointToPoint(said.pointToPoint);
        start.communicator = said.pointToPoint.communicator;
    } else {
        return std::nullopt;
    }
    start.rank = said.rank;
    return start;
}

}  // namespace

std::optional<NcclStart> readDescriptor(const DescriptorV1& said) {
    return readEarly(said);
}

std::optional<NcclStart> readDescriptor(const DescriptorV2& said) {
    return readEarly(said);
}

std::optional<NcclStart> readDescriptor(const DescriptorV3& said) {
    return readEarly(said);
}

std::optional<NcclStart> readDescriptor(const DescriptorV4& said) {
    if (said.type == collective) return readCollective(said.collective);
    if (said.type == pointToPoint) return readPointToPoint(said.pointToPoint);
    return std::nullopt;
}

std::optional<NcclStart> readDescriptor(const DescriptorV5& said) {
    NcclStart start;
    switch (said.type) {
        case collectiveCall:
            start = readCall(said.collectiveCall);
            start.root = said.collectiveCall.root;
            return start;
        case pointToPointCall:
            return readCall(said.pointToPointCall);
        case kernelLaunch:
            start.event = log::NcclEvent::Launch;
            return start;
        case collective:
            return readCollective(said.collective);
        case pointToPoint:
            return readPointToPoint(said.pointToPoint);
        case copyEngineCollective:
            start.event = log::NcclEvent::CopyEngine;
            start.count = said.copyEngine.count;
            start.sequence = static_cast<int64_t>(said.copyEngine.sequence);
            start.function = said.copyEngine.function;
            start.datatype = said.copyEngine.datatype;
            start.root = said.copyEngine.root;
            return start;
        default:
            return std::nullopt;
    }
}

}  // namespace lanescope::agent::nccl
