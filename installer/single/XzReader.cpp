// SPDX-License-Identifier: Apache-2.0
#include "installer/single/XzReader.h"

#include <unistd.h>

#include <algorithm>

namespace lanescope::single {

XzReader::XzReader(const Payload& payload)
    : file_(payload.file),
      place_(payload.start),
      left_(payload.size),
      state_(lzma_stream_decoder(&stream_, uint64_t{256} << 20, LZMA_FAIL_FAST)) {}

void XzReader::fill() {
    if (stream_.avail_in > 0 || left_ == 0) return;
    const auto wanted = static_cast<size_t>(std::min<off_t>(left_, static_cast<off_t>(packed_.size())));
    const ssize_t got = ::pread(file_, packed_.data(), wanted, place_);
    if (got <= 0) {
        left_ = 0;
        return;
    }
    place_ += got;
    left_ -= got;
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<size_t>(got);
}

bool XzReader::read(std::span<uint8_t> piece) {
    stream_.next_out = piece.data();
    stream_.avail_out = piece.size();
    while (state_ == LZMA_OK && stream_.avail_out > 0) {
        fill();
        state_ = lzma_code(&stream_, left_ == 0 ? LZMA_FINISH : LZMA_RUN);
    }
    return stream_.avail_out == 0;
}

bool XzReader::isAtSoundEnd() {
    std::array<uint8_t, 4096> rest;
    while (read(rest)) continue;
    return state_ == LZMA_STREAM_END;
}

}  // namespace lanescope::single
