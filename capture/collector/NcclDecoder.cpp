// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NcclDecoder.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "model/format/ncclFunctions.h"

namespace lanescope::capture {

namespace {

using Json = nlohmann::ordered_json;

/// Where NVTX's static layout ids begin; NCCL counts its own from there.
constexpr uint64_t staticSchemaStart = 1 << 24;
enum NcclSchema : uint64_t {
    commInitRank = 0,
    allReduce = 5,
    broadcast = 6,
    reduceScatter = 7,
    reduce = 8,
    send = 9,
    receive = 10,
    gather = 17,
    scatter = 18,
};

bool contains(std::string_view text, std::string_view word) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == b;
    };
    return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

void readField(NcclCall& call, std::string_view name, const Json& value) {
    if (!value.is_number_integer()) return;
    const auto number = static_cast<int64_t>(value.get<uint64_t>());
    if (contains(name, "communicator"))
        call.communicator = static_cast<uint64_t>(number);
    else if (contains(name, "size") && contains(name, "byte"))
        call.bytes = number;
    else if (contains(name, "reduction"))
        call.reduction = number;
    else if (contains(name, "root"))
        call.root = number;
    else if (contains(name, "peer"))
        call.peer = number;
    else if (contains(name, "no. of ranks") || contains(name, "nranks"))
        call.rankCount = number;
    else if (contains(name, "device"))
        call.cudaDevice = number;
    else if (contains(name, "rank"))
        call.rank = number;
}

/// Reads one number of a payload without a registered layout and steps over it.
template <class T>
std::optional<T> take(std::span<const std::byte>& payload) {
    if (payload.size() < sizeof(T)) return std::nullopt;
    T value{};
    std::memcpy(&value, payload.data(), sizeof(T));
    payload = payload.subspan(sizeof(T));
    return value;
}

void readByLayout(NcclCall& call, uint64_t schema, std::span<const std::byte> payload) {
    call.communicator = take<uint64_t>(payload);
    if (schema == commInitRank) {
        call.rankCount = take<int32_t>(payload);
        call.rank = take<int32_t>(payload);
        call.cudaDevice = take<int32_t>(payload);
        return;
    }
    call.bytes = take<int64_t>(payload);
    switch (schema) {
        case allReduce:
        case reduceScatter:
            call.reduction = take<uint32_t>(payload);
            break;
        case broadcast:
        case gather:
        case scatter:
            call.root = take<int32_t>(payload);
            break;
        case reduce:
            call.root = take<int32_t>(payload);
            call.reduction = take<uint32_t>(payload);
            break;
        case send:
        case receive:
            call.peer = take<int32_t>(payload);
            break;
        default:
            break;
    }
}

/// Layouts whose first fields are a communicator and a size.
bool isKnownLayout(uint64_t schema) {
    return schema == commInitRank || (schema >= 4 && schema <= receive) ||
           (schema >= 16 && schema <= scatter);
}

}  // namespace

NcclCall decodeNcclCall(std::string_view functionName, uint64_t schemaId,
                        std::span<const std::byte> payload, const std::optional<Json>& decoded) {
    NcclCall call;
    call.operation = ncclOperationOf(functionName);
    if (decoded && decoded->is_object()) {
        for (const auto& [name, value] : decoded->items()) readField(call, name, value);
    } else if (schemaId >= staticSchemaStart && isKnownLayout(schemaId - staticSchemaStart)) {
        readByLayout(call, schemaId - staticSchemaStart, payload);
    }
    return call;
}

}  // namespace lanescope::capture
