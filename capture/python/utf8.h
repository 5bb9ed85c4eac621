// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::python {

/// Writes a character in UTF-8, at most four bytes, and returns their number. Of a number that is none, writes the
/// lowest 21 bits.
inline size_t putUtf8(uint32_t character, char* into) {
    constexpr uint32_t leads[] = {0, 0xc0, 0xe0, 0xf0}, masks[] = {0x7f, 0x1f, 0x0f, 0x07};
    const unsigned tails = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    into[0] = static_cast<char>(leads[tails] | ((character >> (6 * tails)) & masks[tails]));
    for (unsigned at = 1; at <= tails; ++at)
        into[at] = static_cast<char>(0x80 | ((character >> (6 * (tails - at))) & 0x3f));
    return tails + 1;
}

}  // namespace lanescope::agent::python
