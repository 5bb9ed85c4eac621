// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/format/OutputFile.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"

namespace lanescope {

/// The warning for a file with `UnpackedStream::hasTrailingBytes`.
inline constexpr std::string_view trailingBytesSentence =
    "The packed file has other bytes after the trace, which are ignored (another file was appended?). Copy it again.";

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

/// A file to open, as formats read it: a sequence of bytes, or tables if it is SQLite, decompressed
/// in both cases. Its contents are untrusted. One thread.
class TraceSource {
  public:
    /// Opens a file. `unpacking` gets fractions in [0, 1] if the whole file must be decompressed,
    /// and must outlive the source. Errors: those of `UnpackedStream::open` and of the first read.
    static Result<TraceSource> open(const std::filesystem::path& path, const LoadProgress& unpacking);
    /// Opens a file from a readable descriptor. The file need not have a name, must not be
    /// compressed and must not change meanwhile. `path` names it in errors.
    static Result<TraceSource> open(int descriptor, const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    bool isCompressed() const { return stream_.isCompressed(); }
    uint64_t fileBytes() const { return stream_.fileBytes(); }
    /// Returns the first bytes, at most 4 KiB, decompressed.
    std::string_view start() const { return std::string_view(start_).substr(0, startBytes); }
    /// Returns the first `bytes`, or all if the file is shorter. A read error ends them; `read` reports it. Invalidates
    /// earlier results, also those of `start`. To be called before `read`.
    std::string_view startOf(size_t bytes);
    bool startsLikeSqlite() const;

    /// Reads the next bytes like `UnpackedStream::read`, from the first byte on.
    Result<size_t> read(std::span<char> bytes);
    /// Returns the fraction of the file that was read, in [0, 1].
    double fractionRead() const { return stream_.fractionRead(); }

    /// Decompresses the whole file into a file without a name. Errors: those of `unpackGzip`.
    Result<UnpackedFile> unpacked() const;
    /// Returns the tables, opened by the first call. A compressed file is then decompressed as a
    /// whole into a file without a name. Errors: not SQLite, corrupt, still being written, no
    /// space, cancelled. The result is valid for the lifetime of the source.
    Result<const Database*> database();
    /// Returns `UnpackedStream::hasTrailingBytes` for either way of decompression.
    bool hasTrailingBytes() const { return hasTrailingBytes_ || stream_.hasTrailingBytes(); }
    bool wasUnpacked() const { return isCompressed() && database_.has_value(); }
    /// Number of threads that may read the file. The result must not depend on it.
    unsigned threads() const { return threads_; }
    void setThreads(unsigned threads) { threads_ = threads; }

  private:
    static constexpr size_t startBytes = 4096;

    explicit TraceSource(UnpackedStream stream) : stream_(std::move(stream)) {}
    static Result<TraceSource> begin(Result<UnpackedStream> stream, const std::filesystem::path& path);

    std::filesystem::path path_;
    int descriptor_ = -1;  ///< -1 for a file with a name.
    unsigned threads_ = 1;
    const LoadProgress* unpacking_ = nullptr;
    UnpackedStream stream_;
    std::string start_;
    size_t startRead_ = 0;  ///< Bytes of the start that `read` has returned.
    std::optional<Database> database_;
    bool hasTrailingBytes_ = false;  ///< For the file that `database` decompressed.
};

/// Fails if `path` is an SQLite file, compressed by gzip or not, or cannot be read. Protects traces from being
/// overwritten by reports or pictures, which are easier to recreate. Reads some bytes. Never blocks on a pipe.
Result<void> checkNotTrace(const std::filesystem::path& path);

}  // namespace lanescope
