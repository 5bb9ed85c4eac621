// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// Packets that were packed together into one, end to end as they stand in a file.
struct UnpackedPackets {
    std::string bytes;     ///< up to the damage, if there is any
    bool isWhole = false;  ///< else they are damaged, cut, or would take more than a writer packs
};

/// Unpacks what zlib packed. Takes at most 64 MiB and about a thousand times the bytes of `packed`.
/// Any thread.
UnpackedPackets unpackDeflate(std::string_view packed);

/// Unpacks what Zstandard packed; with the same bounds.
UnpackedPackets unpackZstandard(std::string_view packed);

}  // namespace lanescope
