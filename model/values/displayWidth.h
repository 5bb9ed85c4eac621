// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lanescope {

// How much room text takes on a terminal. Text is UTF-8 that `printable` has seen; everything is
// linear in its length.

/// How many columns a line of text may have where nothing tells.
constexpr size_t usualLineWidth = 100;

/// How many columns `text` takes: two for each wide character, as of Chinese, Japanese and Korean,
/// and for most emoji, one for every other code point. Combining marks, which take none, count,
/// too, so no line gets wider than its width says.
size_t displayWidth(std::string_view text);

/// As much of the beginning of `text` as takes at most `width` columns.
std::string_view prefixWithin(std::string_view text, size_t width);
/// As much of its end.
std::string_view suffixWithin(std::string_view text, size_t width);

/// `text`, or as much of its beginning as fits into `width` columns with "…" behind.
std::string cutEnd(std::string_view text, size_t width);
/// The same with as much of its beginning and of its end with "…" between: kernels of one family
/// differ at the end of their names.
std::string cutMiddle(std::string_view text, size_t width);

}  // namespace lanescope
