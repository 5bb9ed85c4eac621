// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/PayloadDecoder.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "model/format/ncclFunctions.h"

namespace lanescope::capture {

namespace {

using Json = nlohmann::ordered_json;

constexpr uint32_t maxEntries = 4096;
constexpr int maxDepth = 6;
constexpr uint64_t maxArrayItems = 1024;
/// Maximum fields decoded in one payload: layouts may refer to each other, and to themselves.
constexpr int maxFields = 4096;

// Numbers of nvToolsExtPayload.h, which is not needed to read a log.
constexpr uint64_t flagPointer = 1 << 1;
constexpr uint64_t flagOffsetFromBase = 1 << 2;
constexpr uint64_t flagOffsetFromHere = 1 << 3;
constexpr uint64_t flagArrayMask = 3 << 4;
constexpr uint64_t flagArrayFixed = 1 << 4;
constexpr uint64_t typeCString = 75;
constexpr uint64_t typeCStringUtf8 = 76;
/// First id of a program's own types. A type without a layout is an enumeration, of four bytes by
/// default in C, whatever padding follows.
constexpr uint64_t ownTypesStart = 1 << 24;
constexpr uint64_t defaultEnumBytes = 4;
constexpr size_t maxEnumerators = 4096;
constexpr size_t maxEnumeratorNameBytes = 256;

enum class Form { Signed, Unsigned, Real, Character };
struct TypeInfo {
    uint64_t type;
    uint8_t bytes;
    Form form;
};
constexpr TypeInfo types[] = {
    {1, 1, Form::Character}, {2, 1, Form::Unsigned},  {3, 2, Form::Signed},    {4, 2, Form::Unsigned},
    {5, 4, Form::Signed},    {6, 4, Form::Unsigned},  {7, 8, Form::Signed},    {8, 8, Form::Unsigned},
    {9, 8, Form::Signed},    {10, 8, Form::Unsigned}, {11, 1, Form::Signed},   {12, 1, Form::Unsigned},
    {13, 2, Form::Signed},   {14, 2, Form::Unsigned}, {15, 4, Form::Signed},   {16, 4, Form::Unsigned},
    {17, 8, Form::Signed},   {18, 8, Form::Unsigned}, {19, 4, Form::Real},     {20, 8, Form::Real},
    {22, 8, Form::Unsigned}, {23, 8, Form::Unsigned}, {24, 4, Form::Unsigned}, {25, 1, Form::Character},
    {26, 2, Form::Unsigned}, {27, 4, Form::Unsigned}, {32, 1, Form::Unsigned}, {43, 4, Form::Real},
    {44, 8, Form::Real},     {68, 4, Form::Unsigned}, {69, 4, Form::Unsigned}, {70, 8, Form::Unsigned},
    {71, 4, Form::Unsigned}, {72, 8, Form::Unsigned}, {73, 4, Form::Unsigned}, {74, 8, Form::Unsigned},
};

const TypeInfo* typeInfo(uint64_t type) {
    const auto* found = std::ranges::find(types, type, &TypeInfo::type);
    return found == std::end(types) ? nullptr : found;
}

template <class T>
T read(std::span<const std::byte> bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
    return value;
}

int64_t readSigned(std::span<const std::byte> bytes) {
    switch (bytes.size()) {
        case 1: return read<int8_t>(bytes);
        case 2: return read<int16_t>(bytes);
        case 4: return read<int32_t>(bytes);
        default: return read<int64_t>(bytes);
    }
}

Json readValue(Form form, std::span<const std::byte> bytes) {
    switch (form) {
        case Form::Signed: return readSigned(bytes);
        case Form::Unsigned: return read<uint64_t>(bytes);
        case Form::Real: return bytes.size() == 4 ? double{read<float>(bytes)} : read<double>(bytes);
        case Form::Character: return std::string(1, read<char>(bytes));
    }
    return nullptr;
}

std::string textOf(std::span<const std::byte> bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    return {text, strnlen(text, bytes.size())};
}

/// Start of NVTX's static layout ids; NCCL numbers its own from there.
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
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
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

/// Reads one number of a payload without a registered layout and advances.
template <class T>
std::optional<T> take(std::span<const std::byte>& payload) {
    if (payload.size() < sizeof(T)) return std::nullopt;
    const T value = read<T>(payload);
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
        case reduceScatter: call.reduction = take<uint32_t>(payload); break;
        case broadcast:
        case gather:
        case scatter: call.root = take<int32_t>(payload); break;
        case reduce:
            call.root = take<int32_t>(payload);
            call.reduction = take<uint32_t>(payload);
            break;
        case send:
        case receive: call.peer = take<int32_t>(payload); break;
        default: break;
    }
}

/// Returns true for layouts whose first fields are a communicator and a size.
bool isKnownLayout(uint64_t schema) {
    return schema == commInitRank || (schema >= 4 && schema <= receive) || (schema >= 16 && schema <= scatter);
}

}  // namespace

void PayloadDecoder::addSchema(uint32_t domain, uint64_t schemaId, uint64_t payloadBytes) {
    schemas_[{domain, schemaId}] = {payloadBytes, {}};
}

void PayloadDecoder::addEntry(uint32_t domain, uint64_t schemaId, uint32_t index, PayloadEntry entry) {
    const auto found = schemas_.find({domain, schemaId});
    if (found == schemas_.end() || index >= maxEntries) return;
    auto& entries = found->second.entries;
    if (entries.size() <= index) entries.resize(index + 1);
    entries[index] = std::move(entry);
}

void PayloadDecoder::addEnumeration(uint32_t domain, uint64_t schemaId, uint64_t bytes) {
    const bool isUsual = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    enumerations_[{domain, schemaId}] = {isUsual ? bytes : defaultEnumBytes, {}, {}};
}

void PayloadDecoder::addEnumerator(uint32_t domain, uint64_t schemaId, uint64_t value, bool isFlag,
                                   std::string_view name) {
    const auto found = enumerations_.find({domain, schemaId});
    if (found == enumerations_.end() || name.empty()) return;
    Enumeration& enumeration = found->second;
    if (enumeration.names.size() + enumeration.flagNames.size() >= maxEnumerators) return;
    // A negative value has more bits than the payload contains.
    if (enumeration.bytes < 8) value &= (uint64_t{1} << (8 * enumeration.bytes)) - 1;
    std::string kept(name.substr(0, maxEnumeratorNameBytes));
    if (isFlag && value != 0)
        enumeration.flagNames.emplace_back(value, std::move(kept));
    else
        enumeration.names.try_emplace(value, std::move(kept));
}

const PayloadDecoder::Enumeration* PayloadDecoder::findEnumeration(uint32_t domain, uint64_t schemaId) const {
    const auto found = enumerations_.find({domain, schemaId});
    return found == enumerations_.end() ? nullptr : &found->second;
}

/// Returns nullopt if the value, or a bit of it, has no name.
std::optional<std::string> PayloadDecoder::nameOf(const Enumeration& enumeration, uint64_t value) {
    if (const auto found = enumeration.names.find(value); found != enumeration.names.end()) return found->second;
    std::string names;
    uint64_t left = value;
    for (const auto& [bits, name] : enumeration.flagNames) {
        if ((value & bits) != bits || (left & bits) == 0) continue;
        left &= ~bits;
        names += (names.empty() ? "" : "|") + name;
    }
    if (left != 0 || names.empty()) return std::nullopt;
    return names;
}

const PayloadDecoder::Schema* PayloadDecoder::find(uint32_t domain, uint64_t schemaId) const {
    const auto found = schemas_.find({domain, schemaId});
    return found == schemas_.end() ? nullptr : &found->second;
}

uint64_t PayloadDecoder::itemBytes(uint32_t domain, uint64_t type) const {
    if (const TypeInfo* info = typeInfo(type)) return info->bytes;
    if (const Schema* nested = find(domain, type)) return nested->payloadBytes;
    if (const Enumeration* enumeration = findEnumeration(domain, type)) return enumeration->bytes;
    return type >= ownTypesStart ? defaultEnumBytes : 0;
}

uint64_t PayloadDecoder::sizeOf(uint32_t domain, const PayloadEntry& entry) const {
    if ((entry.flags & (flagPointer | flagOffsetFromBase | flagOffsetFromHere)) != 0) return 8;
    if (entry.type == typeCString || entry.type == typeCStringUtf8)
        return entry.arrayOrUnionDetail != 0 ? entry.arrayOrUnionDetail : 8;
    const uint64_t item = itemBytes(domain, entry.type);
    if ((entry.flags & flagArrayMask) == 0) return item;
    if ((entry.flags & flagArrayMask) != flagArrayFixed) return 0;
    const uint64_t items = entry.arrayOrUnionDetail;
    return items != 0 && item > UINT32_MAX / items ? 0 : item * items;
}

/// Returns the offsets of the fields. In a layout without offsets they follow from the previous sizes, aligned as in C.
std::vector<uint64_t> PayloadDecoder::offsetsOf(uint32_t domain, const Schema& schema) const {
    std::vector<uint64_t> offsets;
    uint64_t next = 0;
    for (const PayloadEntry& entry : schema.entries) {
        const bool isNested = typeInfo(entry.type) == nullptr && find(domain, entry.type);
        const uint64_t itself = isNested ? 0 : itemBytes(domain, entry.type);
        const uint64_t alignment = itself != 0 ? itself : 4;
        uint64_t offset = (next + alignment - 1) / alignment * alignment;
        if (entry.offset != 0 || offsets.empty()) offset = entry.offset;
        offsets.push_back(offset);
        const uint64_t bytes = sizeOf(domain, entry);
        next = offset > UINT32_MAX ? offset : offset + bytes;
    }
    return offsets;
}

std::optional<Json> PayloadDecoder::decode(uint32_t domain, uint64_t schemaId, std::span<const std::byte> payload,
                                           Enumerators enumerators) const {
    const Schema* schema = find(domain, schemaId);
    if (schema == nullptr) return std::nullopt;
    Limits limits{0, maxFields, enumerators};
    return decodeSchema(domain, *schema, payload, limits);
}

Json PayloadDecoder::decodeSchema(uint32_t domain, const Schema& schema, std::span<const std::byte> payload,
                                  Limits& limits) const {
    Json object = Json::object();
    const std::vector<uint64_t> offsets = offsetsOf(domain, schema);
    for (size_t index = 0; index < offsets.size() && limits.fieldsLeft > 0; ++index) {
        --limits.fieldsLeft;
        const PayloadEntry& entry = schema.entries[index];
        const uint64_t offset = offsets[index];
        if (offset >= payload.size()) continue;
        uint64_t bytes = sizeOf(domain, entry);
        if (bytes == 0) {
            // An unknown type extends to the next field.
            uint64_t end = payload.size();
            for (const uint64_t other : offsets)
                if (other > offset) end = std::min(end, other);
            bytes = end - offset;
        }
        if (bytes > payload.size() - offset) continue;
        auto value = decodeEntry(domain, entry, payload.subspan(offset, bytes), limits);
        if (!value) continue;
        std::string name = entry.name.empty() ? std::to_string(index) : entry.name;
        object[std::move(name)] = std::move(*value);
    }
    return object;
}

std::optional<Json> PayloadDecoder::decodeEntry(uint32_t domain, const PayloadEntry& entry,
                                                std::span<const std::byte> field, Limits& limits) const {
    // The target of an address or offset is not in the payload.
    if ((entry.flags & (flagPointer | flagOffsetFromBase | flagOffsetFromHere)) != 0) return std::nullopt;
    if (entry.type == typeCString || entry.type == typeCStringUtf8) {
        if (entry.arrayOrUnionDetail == 0) return std::nullopt;
        return textOf(field);
    }
    const TypeInfo* info = typeInfo(entry.type);
    const Schema* nested = info == nullptr ? find(domain, entry.type) : nullptr;
    const Enumeration* enumeration =
        info == nullptr && limits.enumerators == Enumerators::Named ? findEnumeration(domain, entry.type) : nullptr;
    const uint64_t items = (entry.flags & flagArrayMask) == flagArrayFixed ? entry.arrayOrUnionDetail : 1;
    if (items == 0 || items > maxArrayItems) return std::nullopt;
    if (info != nullptr && info->form == Form::Character && items > 1) return textOf(field);
    const size_t each = field.size() / items;
    if (each == 0 || (info != nullptr && each < info->bytes)) return std::nullopt;

    const auto decodeItem = [&](std::span<const std::byte> bytes) -> std::optional<Json> {
        if (info != nullptr) return readValue(info->form, bytes.first(info->bytes));
        if (nested != nullptr && limits.depth < maxDepth && limits.fieldsLeft > 0) {
            ++limits.depth;
            Json object = decodeSchema(domain, *nested, bytes, limits);
            --limits.depth;
            return object;
        }
        if (nested != nullptr || (each != 1 && each != 2 && each != 4 && each != 8)) return std::nullopt;
        const auto value = read<uint64_t>(bytes);
        if (enumeration != nullptr && limits.fieldsLeft > 0) {
            --limits.fieldsLeft;
            if (auto name = nameOf(*enumeration, value)) return *name;
        }
        return value;
    };
    if (items == 1) return decodeItem(field);
    Json array = Json::array();
    for (uint64_t item = 0; item < items; ++item) {
        auto value = decodeItem(field.subspan(item * each, each));
        if (!value) return std::nullopt;
        array.push_back(std::move(*value));
    }
    return array;
}

NcclCall decodeNcclCall(std::string_view functionName, uint64_t schemaId, std::span<const std::byte> payload,
                        const std::optional<Json>& decoded) {
    NcclCall call{.operation = std::string(ncclOperationOf(functionName))};
    if (decoded && decoded->is_object()) {
        for (const auto& [name, value] : decoded->items()) readField(call, name, value);
    } else if (schemaId >= staticSchemaStart && isKnownLayout(schemaId - staticSchemaStart)) {
        readByLayout(call, schemaId - staticSchemaStart, payload);
    }
    return call;
}

}  // namespace lanescope::capture
