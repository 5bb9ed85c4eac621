// SPDX-License-Identifier: Apache-2.0
#include "model/format/checksum.h"

#include <zlib.h>

namespace lanescope {

uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t before) {
    const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
    return static_cast<uint32_t>(::crc32_z(before, from, bytes.size()));
}

}  // namespace lanescope
