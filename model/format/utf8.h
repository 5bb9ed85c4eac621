// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace lanescope
