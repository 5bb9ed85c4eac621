// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// What a decimal number comes to, times ten to the power of `places`, rounded to a whole number,
/// halves to the even one: 12500 of "12.5" and of "1.25e1" with 3 places. Exact however many digits
/// it has, as no floating point is. Nothing for what is no number ("inf" is none) and for what 64
/// bits do not hold. O(length).
std::optional<int64_t> decimalOf(std::string_view text, int places);

/// How far a look at JSON came.
enum class JsonLook : uint8_t {
    Whole,  ///< It is there, and the cursor stands behind it.
    Cut,    ///< The text ends within it.
    Broken  ///< It is none.
};

/// A value of JSON as it stands in the text.
struct JsonValue {
    enum class Kind : uint8_t { Word, String, Nested };
    Kind kind = Kind::Word;   ///< A word is a number, "null", "inf" and the like.
    bool isEscaped = false;   ///< A string in which a backslash stands.
    std::string_view text{};  ///< Of a string what is between its quotes.

    bool isString() const { return kind == Kind::String; }
    bool isWord() const { return kind == Kind::Word; }
};

/// What a string with backslashes says. One that means nothing stays as it stands, as in paths of
/// Windows that were written as they are.
std::string unescaped(std::string_view text);

/// Goes through JSON that nobody vouches for. It is as strict as finding damage at once takes, and
/// no stricter: commas may be too many, words may be any, strings may hold any byte. Nothing is
/// recursive, and nesting ends at 64.
class JsonCursor {
  public:
    JsonCursor(const char* at, const char* end) : at_(at), end_(end) {}
    explicit JsonCursor(std::string_view text)
        : JsonCursor(text.data(), text.data() + text.size()) {}

    const char* at() const { return at_; }
    const char* end() const { return end_; }
    bool isAtEnd() const { return at_ == end_; }
    void moveTo(const char* at) { at_ = at; }
    void skipSpace() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    /// Passes over the mark of UTF-8, which programs of Windows put before a text.
    void skipMark() {
        if (std::string_view(at_, end_).starts_with("\xef\xbb\xbf")) at_ += 3;
    }
    /// Whether `c` comes next, behind space; if so it is taken.
    bool takes(char c) {
        skipSpace();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    /// Takes a string, which must come next.
    JsonLook string(JsonValue& value);
    /// Takes any value. One that is missing is an empty word.
    JsonLook value(JsonValue& value);

    /// Takes an object, which must come next: `visit(key, value)` for each of its members. A member
    /// whose value is an object can be visited by another cursor over its text.
    template <class Visitor>
    JsonLook object(Visitor visit) {
        if (!takes('{')) return isAtEnd() ? JsonLook::Cut : JsonLook::Broken;
        while (true) {
            while (takes(',')) {
            }
            if (takes('}')) return JsonLook::Whole;
            JsonValue key, member;
            if (const JsonLook look = keyOfMember(key); look != JsonLook::Whole) return look;
            if (const JsonLook look = value(member); look != JsonLook::Whole) return look;
            visit(key.text, member);
            skipSpace();
            if (isAtEnd()) return JsonLook::Cut;
            if (*at_ != ',' && *at_ != '}') return JsonLook::Broken;
        }
    }
    /// Takes the name of a member and its colon.
    JsonLook keyOfMember(JsonValue& key);

  private:
    JsonLook word(JsonValue& value);
    JsonLook nested(JsonValue& value);

    const char* at_;
    const char* end_;
};

}  // namespace lanescope
