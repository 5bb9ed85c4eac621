// SPDX-License-Identifier: Apache-2.0
#include "model/load/protobuf/ProtoCursor.h"

#include <bit>
#include <cstddef>

namespace lanescope {

namespace {

using Wire = ProtoField::Wire;

bool takeVarint(std::string_view& rest, uint64_t& value) {
    constexpr size_t longest = 10;
    value = 0;
    for (size_t at = 0; at < rest.size() && at < longest; ++at) {
        const auto byte = static_cast<unsigned char>(rest[at]);
        value |= static_cast<uint64_t>(byte & 0x7f) << (7 * at);
        if (byte >= 0x80) continue;
        rest.remove_prefix(at + 1);
        return true;
    }
    return false;
}

bool takeFixed(std::string_view& rest, size_t bytes, uint64_t& value) {
    if (rest.size() < bytes) return false;
    value = 0;
    for (size_t at = bytes; at-- > 0;) value = value << 8 | static_cast<unsigned char>(rest[at]);
    rest.remove_prefix(bytes);
    return true;
}

}  // namespace

double ProtoField::real() const {
    return wire == Wire::Fixed64 ? std::bit_cast<double>(value) : 0.0;
}

bool ProtoCursor::takeNumber(std::string_view& rest, Wire wire, uint64_t& value) {
    switch (wire) {
        case Wire::Varint:
            return takeVarint(rest, value);
        case Wire::Fixed64:
            return takeFixed(rest, 8, value);
        case Wire::Fixed32:
            return takeFixed(rest, 4, value);
        case Wire::Bytes:
            break;
    }
    return false;
}

bool ProtoCursor::next(ProtoField& field) {
    constexpr uint64_t greatestNumber = (uint64_t{1} << 29) - 1;
    if (rest_.empty() || isBroken_) return false;
    isBroken_ = true;
    uint64_t key = 0;
    if (!takeVarint(rest_, key)) return false;
    const uint64_t number = key >> 3;
    if (number == 0 || number > greatestNumber) return false;
    field.number = static_cast<uint32_t>(number);
    field.value = 0;
    field.bytes = {};
    switch (key & 7) {
        case 0:
        case 1:
        case 5:
            field.wire = static_cast<Wire>(key & 7);
            if (!takeNumber(rest_, field.wire, field.value)) return false;
            break;
        case 2: {
            uint64_t length = 0;
            if (!takeVarint(rest_, length)) return false;
            isCut_ = length > rest_.size();
            if (isCut_) return false;
            field.wire = Wire::Bytes;
            field.bytes = rest_.substr(0, length);
            rest_.remove_prefix(length);
            break;
        }
        default:
            // Groups, which no file of ours has had for twenty years, and what is none.
            return false;
    }
    isBroken_ = false;
    return true;
}

}  // namespace lanescope
