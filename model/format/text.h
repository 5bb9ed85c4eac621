// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace lanescope {

/// Length of the well-formed UTF-8 sequence at the start of `text`, which is not empty; 0 if there
/// is none.
size_t utf8SequenceLength(std::string_view text);

/// Whether all of it is well-formed. O(length), and quick for what is plain ASCII.
bool isUtf8(std::string_view text);

/// `text` with U+FFFD for each byte that is not part of UTF-8, and else as it is.
std::string validUtf8(std::string_view text);

/// The text as a string of JSON, with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string jsonQuoted(std::string_view text);

/// Writes JSON as text, for who must not be ended where memory runs out: it throws
/// `std::bad_alloc` as any string does, while a tree of values asks for memory even to be
/// destroyed. Bytes that are not UTF-8 become U+FFFD.
class JsonText {
  public:
    /// Begins an object, or a list, as the whole, as a member or as an item.
    JsonText& object(std::string_view key = {}) { return begin(key, '{', '}'); }
    JsonText& list(std::string_view key = {}) { return begin(key, '[', ']'); }
    /// Ends what was begun last.
    JsonText& end();

    JsonText& member(std::string_view key, std::string_view value);
    /// Of a number or a flag.
    template <std::integral T>
    JsonText& member(std::string_view key, T value) {
        if constexpr (std::same_as<T, bool>) return word(key, value ? "true" : "false");
        return word(key, std::to_string(value));
    }
    JsonText& item(std::string_view value) { return member({}, value); }

    /// All of it, once everything has ended.
    const std::string& text() const { return text_; }

  private:
    JsonText& begin(std::string_view key, char open, char close);
    JsonText& word(std::string_view key, std::string_view value);
    /// What stands before a value.
    void next(std::string_view key);

    std::string text_;
    std::string closing_;  ///< Of what was begun, the outermost first.
    bool isFirst_ = true;
};

}  // namespace lanescope
