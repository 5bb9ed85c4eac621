// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/format/Result.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// A field of a message of protobuf as it stands in the bytes.
struct ProtoField {
    enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

    uint32_t number = 0;
    Wire wire = Wire::Varint;
    uint64_t value = 0;        ///< Of all but `Bytes`.
    std::string_view bytes{};  ///< A text, a message, or numbers packed together.

    bool isBytes() const { return wire == Wire::Bytes; }
    bool isNumber() const { return wire != Wire::Bytes; }
    int64_t signedValue() const { return static_cast<int64_t>(value); }
    /// Of what a schema calls `double`; 0 for other wires.
    double real() const;
};

/// Goes through the fields of a message that nobody vouches for. Copies nothing and is never
/// recursive: a message within is gone through by another cursor over its bytes.
class ProtoCursor {
  public:
    explicit ProtoCursor(std::string_view message) : rest_(message) {}

    /// Takes the next field. False at the end, and where no whole field follows.
    bool next(ProtoField& field);
    /// Whether it ended before the message did, as there is no field.
    bool isBroken() const { return isBroken_; }
    /// Whether it ended in a field of bytes that goes on behind the message; of that one, the field
    /// that was given to `next` has the number.
    bool isCut() const { return isCut_; }

    /// `visit(value)` for each number of a field that may be one number or several packed. False if
    /// they do not end with the field.
    template <class Visitor>
    static bool forEachNumber(const ProtoField& field, ProtoField::Wire wire, Visitor visit) {
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

    /// Takes a number off the front; false, and nothing is taken, if there is no whole one.
    static bool takeNumber(std::string_view& rest, ProtoField::Wire wire, uint64_t& value);

  private:
    std::string_view rest_;
    bool isBroken_ = false;
    bool isCut_ = false;
};

/// The fields of the outermost message of a file, one after the other as they are read. Holds one
/// of them at a time, and no more of it than the file has, whatever length it claims. One thread.
class ProtoStream {
  public:
    enum class End {
        None,     ///< There may be more.
        Whole,    ///< The file ended behind a field.
        Cut,      ///< It ended within one, or could not be read on.
        Broken,   ///< What follows is no field, or a longer one than any may be.
        TooLong,  ///< The rest was left: nothing that is worth reading is as long.
    };

    /// A field of more than `longestField` bytes ends it, and so does the end of `mostBytes`.
    ProtoStream(const ByteSource& source, LargeMemory* memory, uint64_t longestField,
                uint64_t mostBytes);

    /// Takes the next field, whose bytes stay until the next call. False at the end.
    bool next(ProtoField& field);
    End end() const { return end_; }
    /// Where the last field begins and, so far, how many bytes were read.
    uint64_t fieldAt() const { return fieldAt_; }
    uint64_t bytesRead() const { return bytesRead_; }
    const std::optional<Error>& readError() const { return readError_; }

  private:
    /// Sees to it that there are so many bytes behind `at_`; false if there are not.
    bool fill(size_t bytes);
    std::string_view rest() const { return {buffer_.data() + at_, filled_ - at_}; }
    bool finish(End end);

    const ByteSource& source_;
    const uint64_t longestField_, mostBytes_;
    LargeVector<char> buffer_;
    size_t at_ = 0, filled_ = 0;
    uint64_t fieldAt_ = 0, bytesRead_ = 0;
    bool isAtEnd_ = false;
    std::optional<Error> readError_;
    End end_ = End::None;
};

}  // namespace lanescope
