// SPDX-License-Identifier: Apache-2.0
#include "model/load/protobuf/ProtoStream.h"

#include <algorithm>

namespace lanescope {

namespace {

/// Read at once: what a damaged file still gave is lost by no more than this.
constexpr size_t readBytes = size_t{1} << 17;
/// A key and a length.
constexpr size_t longestHead = 20;

}  // namespace

ProtoStream::ProtoStream(const ByteSource& source, LargeMemory* memory, uint64_t longestField,
                         uint64_t mostBytes)
    : source_(source), longestField_(longestField), mostBytes_(mostBytes), buffer_(memory) {}

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
        // Grows with what there is, and not with what somebody says there is.
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
    fill(longestHead);
    if (filled_ == at_) return finish(readError_ ? End::Cut : End::Whole);
    fieldAt_ = bytesRead_ - (filled_ - at_);
    if (fieldAt_ > mostBytes_) return finish(End::TooLong);
    std::string_view head = rest();
    uint64_t key = 0, length = 0;
    if (!ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, key))
        return finish(head.size() < longestHead ? End::Cut : End::Broken);
    size_t whole = rest().size() - head.size();
    switch (key & 7) {
        case 0:
            whole += 1;
            break;
        case 1:
            whole += 8;
            break;
        case 2: {
            const size_t before = head.size();
            if (!ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, length))
                return finish(before < 10 ? End::Cut : End::Broken);
            if (length > longestField_) return finish(End::Broken);
            whole += before - head.size() + length;
            break;
        }
        case 5:
            whole += 4;
            break;
        default:
            return finish(End::Broken);
    }
    if (!fill(whole)) return finish(End::Cut);
    if ((key & 7) == 0) {
        // Its length is not known before it is read.
        ProtoCursor cursor(rest());
        if (!cursor.next(field)) return finish(isAtEnd_ ? End::Cut : End::Broken);
        head = rest();
        ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, key);
        ProtoCursor::takeNumber(head, ProtoField::Wire::Varint, key);
        whole = rest().size() - head.size();
    } else {
        ProtoCursor cursor(rest().substr(0, whole));
        if (!cursor.next(field)) return finish(End::Broken);
    }
    at_ += whole;
    return true;
}

}  // namespace lanescope
