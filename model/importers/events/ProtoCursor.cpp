// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ProtoCursor.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace lanescope {

namespace {

using Wire = ProtoField::Wire;

bool takeVarint(std::string_view& rest, uint64_t& value) {
    constexpr size_t maxVarintBytes = 10;
    value = 0;
    for (size_t at = 0; at < rest.size() && at < maxVarintBytes; ++at) {
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

/// Size of a read, and so the maximum loss before an unreadable place.
constexpr size_t readBytes = size_t{1} << 17;
/// A key and a length.
constexpr size_t maxHeadBytes = 20;

}  // namespace

double ProtoField::real() const { return wire == Wire::Fixed64 ? std::bit_cast<double>(value) : 0.0; }

bool ProtoCursor::takeNumber(std::string_view& rest, Wire wire, uint64_t& value) {
    switch (wire) {
        case Wire::Varint: return takeVarint(rest, value);
        case Wire::Fixed64: return takeFixed(rest, 8, value);
        case Wire::Fixed32: return takeFixed(rest, 4, value);
        case Wire::Bytes: break;
    }
    return false;
}

bool ProtoCursor::next(ProtoField& field) {
    constexpr uint64_t maxFieldNumber = (uint64_t{1} << 29) - 1;
    if (rest_.empty() || isMalformed_) return false;
    isMalformed_ = true;
    uint64_t key = 0;
    if (!takeVarint(rest_, key)) return false;
    const uint64_t number = key >> 3;
    if (number == 0 || number > maxFieldNumber) return false;
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
            isTruncated_ = length > rest_.size();
            if (isTruncated_) return false;
            field.wire = Wire::Bytes;
            field.bytes = rest_.substr(0, length);
            rest_.remove_prefix(length);
            break;
        }
        default:
            // Groups, which have been obsolete for 20 years, and invalid wire types.
            return false;
    }
    isMalformed_ = false;
    return true;
}

ProtoEntry entryIn(std::string_view message, uint32_t bytesField) {
    ProtoEntry entry;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isNumber()) entry.number = field.value;
        if (field.number == bytesField && field.isBytes()) entry.bytes = field.bytes;
    }
    return entry;
}

ProtoStream::ProtoStream(const ByteSource& source, LargeMemory* memory, uint64_t maxFieldBytes, uint64_t maxBytes)
    : source_(source), maxFieldBytes_(maxFieldBytes), maxBytes_(maxBytes), buffer_(memory) {}

bool ProtoStream::finish(End end) {
    end_ = end;
    return false;
}

bool ProtoStream::fill(size_t bytes) {
    if (filled_ - at_ >= bytes) return true;
    if (at_ > 0) {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
        filled_ -= at_;
        at_ = 0;
    }
    while (!isAtEnd_ && filled_ < bytes) {
        // Grows with the read bytes, not with a claimed length.
        if (buffer_.size() < filled_ + readBytes) buffer_.resize(filled_ + filled_ / 2 + readBytes);
        const Result<size_t> count = source_(std::span(buffer_).subspan(filled_, readBytes));
        const size_t taken = count ? std::min(*count, readBytes) : 0;
        if (!count) readError_ = count.error();
        filled_ += taken;
        bytesRead_ += taken;
        isAtEnd_ = taken == 0;
    }
    return filled_ >= bytes;
}

bool ProtoStream::next(ProtoField& field) {
    if (end_ != End::None) return false;
    fill(maxHeadBytes);
    if (filled_ == at_) return finish(readError_ ? End::Truncated : End::Complete);
    fieldAt_ = bytesRead_ - (filled_ - at_);
    if (fieldAt_ > maxBytes_) return finish(End::TooLong);
    std::string_view head = rest();
    uint64_t key = 0, length = 0;
    if (!ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, key))
        return finish(head.size() < maxHeadBytes ? End::Truncated : End::Malformed);
    const size_t before = head.size();
    const bool isNumber = (key & 7) == 0;
    switch (key & 7) {
        case 0: ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, length); break;
        case 1: length = 8; break;
        case 2:
            if (!ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, length))
                return finish(before < 10 ? End::Truncated : End::Malformed);
            if (length > maxFieldBytes_) return finish(End::Malformed);
            break;
        case 5: length = 4; break;
        default: return finish(End::Malformed);
    }
    const size_t whole = rest().size() - head.size() + (isNumber ? 0 : length);
    if (!fill(whole)) return finish(End::Truncated);
    ProtoCursor cursor(rest().substr(0, whole));
    if (!cursor.next(field)) return finish(isNumber && isAtEnd_ ? End::Truncated : End::Malformed);
    at_ += whole;
    return true;
}

}  // namespace lanescope
