// SPDX-License-Identifier: Apache-2.0
#include "model/load/perfetto/unpackPackets.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace lanescope {

namespace {

constexpr size_t atOnce = size_t{1} << 16;
/// 16 MiB: more than a writer looks back in a buffer of its own, and what a frame may make us
/// allocate.
constexpr int widestWindowLog = 24;

/// A writer packs a buffer of some hundred KiB. Deflate makes at most a thousand bytes of one; what
/// Zstandard makes more of was packed to take up the reader.
size_t mostBytesOf(std::string_view packed) {
    constexpr size_t most = size_t{64} << 20;
    constexpr size_t highestRatio = 1024;
    return packed.size() > most / highestRatio ? most : packed.size() * highestRatio + atOnce;
}

}  // namespace

UnpackedPackets unpackDeflate(std::string_view packed) {
    UnpackedPackets unpacked;
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return unpacked;
    // zlib does not write there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    int code = Z_OK;
    while (code == Z_OK && unpacked.bytes.size() < mostBytesOf(packed)) {
        const size_t before = unpacked.bytes.size();
        unpacked.bytes.resize(before + atOnce);
        stream.next_out = reinterpret_cast<Bytef*>(unpacked.bytes.data() + before);
        stream.avail_out = static_cast<uInt>(atOnce);
        code = inflate(&stream, Z_NO_FLUSH);
        unpacked.bytes.resize(unpacked.bytes.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    unpacked.isWhole = code == Z_STREAM_END;
    return unpacked;
}

UnpackedPackets unpackZstandard(std::string_view packed) {
    UnpackedPackets unpacked;
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                       &ZSTD_freeDCtx);
    if (context == nullptr) return unpacked;
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, widestWindowLog);
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    size_t left = 1;
    while (in.pos < in.size || left != 0) {
        const size_t before = unpacked.bytes.size();
        if (before >= mostBytesOf(packed)) return unpacked;
        unpacked.bytes.resize(before + atOnce);
        ZSTD_outBuffer out{unpacked.bytes.data() + before, atOnce, 0};
        const size_t readBefore = in.pos;
        left = ZSTD_decompressStream(context.get(), &out, &in);
        unpacked.bytes.resize(before + out.pos);
        // An end in the middle makes no progress, and what is behind a whole frame may be another
        // one.
        if (ZSTD_isError(left) != 0 || (out.pos == 0 && in.pos == readBefore)) return unpacked;
    }
    unpacked.isWhole = true;
    return unpacked;
}

}  // namespace lanescope
