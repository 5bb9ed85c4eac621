// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// Returns a decimal number times 10 to the power of `places`, rounded to the nearest whole number, halves to even.
/// Examples: 12500 for "12.5" and for "1.25e1" with 3 places. Exact for any number of digits, without floating point.
/// Returns nullopt if the text is not a number ("inf" is not) or exceeds 64 bits. O(length).
std::optional<int64_t> decimalOf(std::string_view text, int places);

enum class JsonStatus : uint8_t {
    Complete,   ///< Complete. The cursor is after it.
    Truncated,  ///< The text ends within it.
    Malformed   ///< Not valid.
};

/// A JSON value as it is in the text.
struct JsonValue {
    enum class Kind : uint8_t { Word, String, Nested };
    Kind kind = Kind::Word;   ///< A word is a number, "null", "inf" and so on.
    bool isEscaped = false;   ///< A string with a backslash.
    std::string_view text{};  ///< For a string: the text between its quotes.

    bool isString() const { return kind == Kind::String; }
    bool isWord() const { return kind == Kind::Word; }
};

/// Returns the text of a string with escapes. Invalid escapes are kept as they are, as in unescaped Windows paths.
std::string unescaped(std::string_view text);

/// Reads untrusted JSON. It is only as strict as needed for detecting corruption at once: extra
/// commas, any words and any bytes in strings are accepted. Not recursive. The maximum depth is 64.
class JsonCursor {
  public:
    JsonCursor(const char* at, const char* end) : at_(at), end_(end) {}
    explicit JsonCursor(std::string_view text) : JsonCursor(text.data(), text.data() + text.size()) {}

    const char* at() const { return at_; }
    const char* end() const { return end_; }
    bool isAtEnd() const { return at_ == end_; }
    void moveTo(const char* at) { at_ = at; }
    void skipSpace() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    /// Skips the byte order mark that Windows programs write before a text.
    void skipMark() {
        if (std::string_view(at_, end_).starts_with("\xef\xbb\xbf")) at_ += 3;
    }
    /// Skips spaces. If `c` follows, consumes it and returns true.
    bool takes(char c) {
        skipSpace();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    /// Reads a string, which must come next.
    JsonStatus string(JsonValue& value);
    /// Reads any value. A missing one is an empty word.
    JsonStatus value(JsonValue& value);

    /// Reads an object, which must come next. Calls `read(key)` before each value, which it must read.
    JsonStatus members(auto read) {
        if (!takes('{')) return isAtEnd() ? JsonStatus::Truncated : JsonStatus::Malformed;
        while (true) {
            while (takes(',')) {
            }
            if (takes('}')) return JsonStatus::Complete;
            JsonValue key;
            if (const JsonStatus status = keyOfMember(key); status != JsonStatus::Complete) return status;
            if (const JsonStatus status = read(key.text); status != JsonStatus::Complete) return status;
            skipSpace();
            if (isAtEnd()) return JsonStatus::Truncated;
            if (*at_ != ',' && *at_ != '}') return JsonStatus::Malformed;
        }
    }
    /// Reads an object, which must come next, and calls `visit(key, value)` for each of its
    /// members. Another cursor can visit the text of a nested object.
    JsonStatus object(auto visit) {
        return members([&](std::string_view key) {
            JsonValue member;
            const JsonStatus status = value(member);
            if (status == JsonStatus::Complete) visit(key, member);
            return status;
        });
    }
    JsonStatus keyOfMember(JsonValue& key);

  private:
    JsonStatus word(JsonValue& value);
    JsonStatus nested(JsonValue& value);

    const char* at_;
    const char* end_;
};

}  // namespace lanescope
