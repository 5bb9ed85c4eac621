// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lanescope {

// Messages of Protocol Buffers, field by field, without their classes. What other tools write in
// this form is larger than the library takes at once (2 GB), and must be read in bounded memory;
// and a generator of code is more to carry along than this.

/// Goes through the fields of a message, which is untrusted: what is damaged ends it early.
class ProtoFields {
  public:
    enum class Kind : uint8_t { Number = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

    explicit ProtoFields(std::string_view message) : rest_(message) {}

    /// Goes to the next field; false at the end, or where there is none that makes sense.
    bool next() {
        if (rest_.empty()) return false;
        uint64_t key = 0;
        if (!takeNumber(key) || key >> 3 == 0 || key >> 3 > mostFields) return broken();
        number_ = static_cast<uint32_t>(key >> 3);
        kind_ = static_cast<Kind>(key & 7);
        switch (kind_) {
            case Kind::Number:
                return takeNumber(value_) || broken();
            case Kind::Fixed64:
                return takeFixed(8) || broken();
            case Kind::Fixed32:
                return takeFixed(4) || broken();
            case Kind::Bytes: {
                uint64_t size = 0;
                if (!takeNumber(size) || size > rest_.size()) return broken();
                bytes_ = rest_.substr(0, size);
                rest_.remove_prefix(size);
                return true;
            }
        }
        return broken();
    }
    bool isDamaged() const { return isDamaged_; }

    uint32_t number() const { return number_; }
    Kind kind() const { return kind_; }
    /// Of a field of bytes 0.
    uint64_t value() const { return kind_ == Kind::Bytes ? 0 : value_; }
    int64_t integer() const { return static_cast<int64_t>(value()); }
    double real() const {
        return kind_ == Kind::Fixed32
                   ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value_)))
                   : std::bit_cast<double>(value());
    }
    /// Bytes, a text or a message; empty if it is a number.
    std::string_view bytes() const { return kind_ == Kind::Bytes ? bytes_ : std::string_view(); }

  private:
    static constexpr uint64_t mostFields = (uint64_t{1} << 29) - 1;

    bool takeNumber(uint64_t& value) {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) return false;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }
    bool takeFixed(size_t size) {
        if (rest_.size() < size) return false;
        value_ = 0;
        for (size_t byte = size; byte-- > 0;)
            value_ = value_ << 8 | static_cast<unsigned char>(rest_[byte]);
        rest_.remove_prefix(size);
        return true;
    }
    bool broken() {
        isDamaged_ = true;
        rest_ = {};
        return false;
    }

    std::string_view rest_, bytes_;
    uint64_t value_ = 0;
    uint32_t number_ = 0;
    Kind kind_ = Kind::Number;
    bool isDamaged_ = false;
};

/// A message that is being written.
class ProtoMessage {
  public:
    const std::string& bytes() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }

    void number(uint32_t field, uint64_t value) {
        key(field, ProtoFields::Kind::Number);
        put(value);
    }
    void integer(uint32_t field, int64_t value) { number(field, static_cast<uint64_t>(value)); }
    void fixed64(uint32_t field, uint64_t value) {
        key(field, ProtoFields::Kind::Fixed64);
        for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> 8 * byte & 0xff);
    }
    void real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
    void text(uint32_t field, std::string_view value) {
        key(field, ProtoFields::Kind::Bytes);
        put(value.size());
        bytes_ += value;
    }
    void message(uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }

  private:
    void key(uint32_t field, ProtoFields::Kind kind) {
        put(uint64_t{field} << 3 | static_cast<uint64_t>(kind));
    }
    void put(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

}  // namespace lanescope
