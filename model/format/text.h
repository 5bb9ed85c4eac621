// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace lanescope {

/// Returns the length of the valid UTF-8 sequence at the start of `text`, which must not be empty;
/// 0 if invalid.
size_t utf8SequenceLength(std::string_view text);

bool isUtf8(std::string_view text);

/// Returns `text` with U+FFFD in place of each invalid byte.
std::string validUtf8(std::string_view text);

/// Returns the text as a quoted JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string jsonQuoted(std::string_view text);

/// Writer of JSON text for callers that must survive running out of memory. It throws
/// `std::bad_alloc` as a string does; a tree of values allocates even to be destroyed. Bytes that
/// are not UTF-8 become U+FFFD.
class JsonText {
  public:
    /// Opens an object or a list: the root, a member or an item.
    JsonText& object(std::string_view key = {}) { return begin(key, '{', '}'); }
    JsonText& list(std::string_view key = {}) { return begin(key, '[', ']'); }
    /// Closes the innermost open object or list.
    JsonText& end();

    JsonText& member(std::string_view key, std::string_view value);
    template <std::integral T>
    JsonText& member(std::string_view key, T value) {
        if constexpr (std::same_as<T, bool>) return word(key, value ? "true" : "false");
        return word(key, std::to_string(value));
    }
    JsonText& item(std::string_view value) { return member({}, value); }

    const std::string& text() const { return text_; }

  private:
    JsonText& begin(std::string_view key, char open, char close);
    JsonText& word(std::string_view key, std::string_view value);
    /// Writes the separator and key in front of a value.
    void next(std::string_view key);

    std::string text_;
    std::string closing_;  ///< Closing brackets of the open objects and lists, outermost first.
    bool isFirst_ = true;
};

}  // namespace lanescope
