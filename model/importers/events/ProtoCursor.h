// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/format/Result.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

struct ProtoField {
    enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

    uint32_t number = 0;
    Wire wire = Wire::Varint;
    uint64_t value = 0;        ///< For all types but `Bytes`.
    std::string_view bytes{};  ///< A text, a message, or packed numbers.

    bool isBytes() const { return wire == Wire::Bytes; }
    bool isNumber() const { return wire != Wire::Bytes; }
    int64_t signedValue() const { return static_cast<int64_t>(value); }
    /// Returns the value of a `double` field; 0 for other wire types.
    double real() const;
};

/// Reads the fields of an untrusted message. Copies no data and never recurses: another cursor
/// reads the bytes of a nested message.
class ProtoCursor {
  public:
    explicit ProtoCursor(std::string_view message) : rest_(message) {}

    /// Reads the next field. Returns false at the end, or if no complete field follows.
    bool next(ProtoField& field);
    /// Iterates over the fields that `next` reads.
    class Iterator {
      public:
        explicit Iterator(ProtoCursor& cursor) : cursor_(cursor) { ++*this; }
        Iterator& operator++() {
            isEnd_ = !cursor_.next(field_);
            return *this;
        }
        const ProtoField& operator*() const { return field_; }
        bool operator==(std::default_sentinel_t) const { return isEnd_; }

      private:
        ProtoCursor& cursor_;
        ProtoField field_;
        bool isEnd_ = false;
    };
    Iterator begin() { return Iterator(*this); }
    std::default_sentinel_t end() const { return {}; }
    /// Returns true if the fields end before the message, at an invalid one.
    bool isMalformed() const { return isMalformed_; }
    /// Returns true if the fields end within a byte field that extends beyond the message. `field`
    /// of the last call has its number.
    bool isTruncated() const { return isTruncated_; }

    /// Calls `visit(value)` for each number of a field that is one number or several packed ones.
    /// Returns false if the numbers do not end with the field.
    static bool forEachNumber(const ProtoField& field, ProtoField::Wire wire, auto visit) {
        if (field.isNumber()) {
            visit(field.value);
            return true;
        }
        std::string_view rest = field.bytes;
        uint64_t value = 0;
        while (!rest.empty()) {
            if (!takeNumber(rest, wire, value)) return false;
            visit(value);
        }
        return true;
    }

    /// Removes a number from the front of `rest`. Returns false, without a change, if it is incomplete.
    static bool takeNumber(std::string_view& rest, ProtoField::Wire wire, uint64_t& value);

  private:
    std::string_view rest_;
    bool isMalformed_ = false;
    bool isTruncated_ = false;
};

/// An entry of a map, or any message with a number in its first field and bytes in another one.
struct ProtoEntry {
    uint64_t number = 0;
    std::string_view bytes;
};

/// Reads an untrusted entry. Members of other wire types and missing ones are 0 and empty.
ProtoEntry entryIn(std::string_view message, uint32_t bytesField = 2);

/// The fields of the outermost message of a file, read one after the other. Keeps one field in
/// memory, and only as many bytes as the file has, whatever its length claims. One thread.
class ProtoStream {
  public:
    enum class End {
        None,       ///< More fields may follow.
        Complete,   ///< The file ended after a field.
        Truncated,  ///< The file ended within a field, or is unreadable from there on.
        Malformed,  ///< Invalid, or longer than the maximum.
        TooLong,    ///< The rest was not read because the file is too long.
    };

    /// A field longer than `maxFieldBytes` ends the stream, as does a total of `maxBytes`.
    ProtoStream(const ByteSource& source, LargeMemory* memory, uint64_t maxFieldBytes, uint64_t maxBytes);

    /// Reads the next field, whose bytes are valid until the next call. Returns false at the end.
    bool next(ProtoField& field);
    End end() const { return end_; }
    uint64_t fieldAt() const { return fieldAt_; }
    uint64_t bytesRead() const { return bytesRead_; }
    const std::optional<Error>& readError() const { return readError_; }

  private:
    /// Reads until `bytes` bytes follow `at_`. Returns false if fewer exist.
    bool fill(size_t bytes);
    std::string_view rest() const { return {buffer_.data() + at_, filled_ - at_}; }
    bool finish(End end);

    const ByteSource& source_;
    const uint64_t maxFieldBytes_, maxBytes_;
    LargeVector<char> buffer_;
    size_t at_ = 0, filled_ = 0;
    uint64_t fieldAt_ = 0, bytesRead_ = 0;
    bool isAtEnd_ = false;
    std::optional<Error> readError_;
    End end_ = End::None;
};

}  // namespace lanescope
