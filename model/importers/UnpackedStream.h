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

/// What is said of a file where `UnpackedStream::hasBytesBehind`.
inline constexpr std::string_view bytesBehindSentence =
    "Behind the trace in the packed file are bytes that are not of it, which are left out: another "
    "file may have been put behind this one. Copy it again.";

/// The bytes of a file from first to last, unpacked if the file is compressed with gzip, whatever
/// it is called; files that were compressed one by one and put together are one. One thread.
class UnpackedStream {
  public:
    /// Errors: no such file, no regular file (opening a pipe would wait for its writer), empty, not
    /// readable.
    static Result<UnpackedStream> open(const std::filesystem::path& path);
    /// The same for a file that is open for reading and need not have a name. The descriptor stays
    /// the caller's, who may close it and must not rely on its place. `path` is what errors call
    /// it.
    static Result<UnpackedStream> open(int descriptor, const std::filesystem::path& path);

    /// Takes the next bytes: as many as fit, fewer at the end only, and then none. Errors: damaged,
    /// cut short, not readable; first all is taken that comes out before that.
    Result<size_t> read(std::span<char> bytes);
    /// How much of the file was read, in [0, 1].
    double fractionRead() const;
    /// Whether bytes were met behind what was packed, other than zeros of up to 1 MiB, with which a
    /// tape fills up. Known once all is read.
    bool hasBytesBehind() const;
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

/// How far unpacking may go. A small file can hold a gigantic one.
struct UnpackLimits {
    uint64_t unpackedBytes = uint64_t{64} << 30;
    /// Left free on the disk for everybody else.
    uint64_t spareBytes = uint64_t{256} << 20;
    /// Where to unpack to; empty for the usual folder of temporary files.
    std::filesystem::path folder;
};

struct UnpackedFile {
    TemporaryFile file;
    /// `UnpackedStream::hasBytesBehind`, or more was packed than its header tells of.
    bool hasBytesBehind = false;
};

/// Unpacks an SQLite file that was compressed with gzip into a temporary file that has no name,
/// since SQLite reads anywhere in its file. Stops at the first bytes if it is none. `progress`
/// hears fractions in [0, 1]. Errors: damaged, cut short, no trace, too large, no space, cancelled;
/// each one sentence about `path`. Linear in the size; blocks.
Result<UnpackedFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                const LoadProgress& progress);

}  // namespace lanescope
