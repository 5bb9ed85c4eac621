// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope::gate {

/// Reads the pieces of a condition from left to right, as the parser asks for them: what a piece is
/// depends on what may stand there. Spaces between pieces mean nothing.
class ConditionScanner {
  public:
    explicit ConditionScanner(std::string_view text) : text_(text) {}

    bool isAtEnd();
    /// Takes `symbol` if it comes next, with nothing between it and the piece before if `isTight`.
    bool take(std::string_view symbol, bool isTight = false);
    /// The letters, digits and '_' that come next; empty for anything else.
    std::string_view takeWord();
    /// `takeWord` without taking it.
    std::string_view peekWord();
    /// A name: in double or single quotes, in which a backslash takes the next character as it is;
    /// or without quotes up to a space, '.', '<', '>' or '='. Empty if none comes; fails for a
    /// quote that is not closed and for a name in quotes without a letter.
    Result<std::string> takeName();
    /// Digits with or without a fraction: "3", "0.25".
    Result<double> takeNumber();
    /// The unit that comes next: letters, "GB/s", "%", "\u00b5s"; may be empty.
    std::string_view takeUnit();

    /// Place of the next piece in bytes; of an error that is about it.
    size_t position();
    /// "In the condition "...", at character 7: " and then what is wrong. Characters, not bytes.
    [[nodiscard]] tl::unexpected<Error> failAt(size_t position, std::string_view what) const;
    /// `failAt` the next piece, with what stands there instead.
    [[nodiscard]] tl::unexpected<Error> failExpecting(std::string_view expected);

  private:
    void skipSpaces();
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace lanescope::gate
