// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lanescope {

/// CRC-32 as zlib computes it, of `bytes` behind others whose checksum is `before`. A changed bit
/// always changes it, more changes all but once in 2^32. About 1 GB/s.
uint32_t checksumOf(std::span<const std::byte> bytes, uint32_t before = 0);

}  // namespace lanescope
