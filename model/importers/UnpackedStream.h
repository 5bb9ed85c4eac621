// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/format/OutputFile.h"
#include "model/format/Result.h"

namespace lanescope {

/// The warning for a file with `UnpackedStream::hasTrailingBytes`.
inline constexpr std::string_view trailingBytesSentence =
    "The packed file has other bytes after the trace, which are ignored (another file was "
    "appended?). Copy it again.";

/// The bytes of a file from first to last, decompressed if it is a gzip file, independent of its
/// name. Concatenated gzip members are one stream. One thread.
class UnpackedStream {
  public:
    /// Opens a file. Errors: no such file, not a regular file (opening a pipe would wait for its
    /// writer), empty, not readable.
    static Result<UnpackedStream> open(const std::filesystem::path& path);
    /// Opens a file from a readable descriptor, which need not have a name. The caller keeps the
    /// descriptor, may close it and must not rely on its offset. `path` names the file in errors.
    static Result<UnpackedStream> open(int descriptor, const std::filesystem::path& path);

    /// Reads the next bytes: as many as fit, fewer only at the end, then none. Errors: corrupt,
    /// truncated, not readable. All data in front of an error is returned first.
    Result<size_t> read(std::span<char> bytes);
    /// Returns the fraction of the file that was read, in [0, 1].
    double fractionRead() const;
    /// Returns true if bytes follow the compressed data, other than up to 1 MiB of zeros as tape
    /// padding. Known after all is read.
    bool hasTrailingBytes() const;
    bool isCompressed() const { return isCompressed_; }
    uint64_t fileBytes() const { return fileBytes_; }

    UnpackedStream(UnpackedStream&& other) noexcept;
    UnpackedStream& operator=(UnpackedStream&& other) noexcept;
    ~UnpackedStream();

  private:
    struct Packed;

    UnpackedStream();
    Result<size_t> unpack(unsigned char* bytes, size_t wanted);

    std::unique_ptr<Packed> packed_;
    std::filesystem::path path_;
    uint64_t fileBytes_ = 0;
    bool isCompressed_ = false;
};

struct UnpackLimits {
    uint64_t unpackedBytes = uint64_t{64} << 30;
    /// Space to leave free on the disk.
    uint64_t spareBytes = uint64_t{256} << 20;
    /// Target folder; empty for the default temporary folder.
    std::filesystem::path folder;
};

struct UnpackedFile {
    TemporaryFile file;
    /// `UnpackedStream::hasTrailingBytes`, or more data than stated in its header.
    bool hasTrailingBytes = false;
};

/// Decompresses an SQLite file into a temporary file without a name, since SQLite needs random access. Stops at the
/// first bytes of any other file. `progress` gets fractions in [0, 1]. Errors, one sentence each about `path`: corrupt,
/// truncated, not a trace, too large, no space, cancelled. O(bytes). Blocks.
Result<UnpackedFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                const LoadProgress& progress);

}  // namespace lanescope
