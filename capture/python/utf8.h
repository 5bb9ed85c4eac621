// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::agent::python {

/// Writes a character in UTF-8, at most four bytes, and returns their number. Of a number that is none, writes the
/// lowest 21 bits.
inline size_t putUtf8(uint32_t character, char* into) {
    const unsigned tails = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    into[0] = static_cast<char>(tails == 0 ? character : 0xff80 >> tails | (character >> 6 * tails & 0x3f >> tails));
    for (unsigned at = 1; at <= tails; ++at)
        into[at] = static_cast<char>(0x80 | (character >> 6 * (tails - at) & 0x3f));
    return tails + 1;
}

}  // namespace lanescope::agent::python
