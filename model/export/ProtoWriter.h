// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace lanescope {

/// Writes a protobuf message field by field.
class ProtoWriter {
  public:
    void number(uint32_t field, uint64_t value) {
        key(field, 0);
        varint(value);
    }
    void signedNumber(uint32_t field, int64_t value) { number(field, static_cast<uint64_t>(value)); }
    /// Writes a `fixed64`.
    void fixed(uint32_t field, uint64_t value) {
        key(field, 1);
        for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>((value >> (8 * byte)) & 0xff);
    }
    void real(uint32_t field, double value) { fixed(field, std::bit_cast<uint64_t>(value)); }
    /// Writes a text, or a finished message.
    void bytes(uint32_t field, std::string_view value) {
        key(field, 2);
        varint(value.size());
        bytes_ += value;
    }
    void message(uint32_t field, const ProtoWriter& message) { bytes(field, message.bytes_); }

    const std::string& bytes() const { return bytes_; }
    bool isEmpty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }

  private:
    void key(uint32_t field, uint32_t wire) { varint(uint64_t{field} << 3 | wire); }
    void varint(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

}  // namespace lanescope
