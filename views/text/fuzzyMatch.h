// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace lanescope::views {

/// What is typed to find something by its name, made ready for many comparisons.
class FuzzyPattern {
  public:
    explicit FuzzyPattern(std::string_view typed);

    bool isEmpty() const { return words_.empty(); }
    /// How well `lowered` (see `lowerAscii`) fits: 0 if it does not, more for what is found in one
    /// piece, at the start of words and in short names. Every typed word must be found, in any
    /// order; its letters may have others between them, though not many. O(length of the name).
    int score(std::string_view lowered) const;

  private:
    std::string words_;  // lowered, with one space between two
};

/// ASCII letters in small; everything else as it is, so that UTF-8 stays UTF-8.
std::string lowerAscii(std::string_view text);

}  // namespace lanescope::views
