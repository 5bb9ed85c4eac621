// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lzma.h>

#include <array>
#include <cstdint>
#include <span>

#include "installer/single/unpack.h"

namespace lanescope::single {

/// Reads what is packed, piece by piece.
class XzReader {
  public:
    explicit XzReader(const Payload& payload);
    ~XzReader() { lzma_end(&stream_); }
    XzReader(const XzReader&) = delete;
    XzReader& operator=(const XzReader&) = delete;

    /// Fills all of `piece`. False if there is less, or it is damaged.
    bool read(std::span<uint8_t> piece);
    /// Whether nothing but the end follows, and the checksum fits all that was read. Reads up to
    /// there.
    bool isAtSoundEnd();

  private:
    void fill();

    int file_;
    off_t place_;
    off_t left_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    lzma_ret state_;
    std::array<uint8_t, 65536> packed_;
};

}  // namespace lanescope::single
