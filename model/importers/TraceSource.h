// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/assemble/LoadProgress.h"
#include "model/format/Result.h"
#include "model/format/Sqlite.h"
#include "model/importers/UnpackedStream.h"

namespace lanescope {

/// A file that somebody wants to open, as formats see it: its bytes from first to last, or its
/// tables if it is SQLite, with gzip taken off in both. It is untrusted. One thread.
class TraceSource {
  public:
    /// `unpacking` hears fractions in [0, 1] if the file must be unpacked as a whole, and must stay
    /// alive. Errors are those of `UnpackedStream::open`, and what its first read finds.
    static Result<TraceSource> open(const std::filesystem::path& path,
                                    const LoadProgress& unpacking);
    /// The same for a file that is open for reading, need not have a name, and is not compressed.
    /// Nobody may change it meanwhile. `path` is what errors call it.
    static Result<TraceSource> open(int descriptor, const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    bool isCompressed() const { return stream_.isCompressed(); }
    /// As it lies on the disk.
    uint64_t fileBytes() const { return stream_.fileBytes(); }
    /// The first bytes, 4 KiB or all there are; those of what is compressed, if it is.
    std::string_view start() const { return start_; }
    bool startsLikeSqlite() const;

    /// Takes the next bytes, as `UnpackedStream::read` does, the first ones first.
    Result<size_t> read(std::span<char> bytes);
    /// How much of the file was read, in [0, 1].
    double fractionRead() const { return stream_.fractionRead(); }

    /// All of a compressed file, unpacked into one without a name. Errors: those of `unpackGzip`.
    Result<UnpackedFile> unpacked() const;
    /// The tables, opened when first asked for: a compressed file is unpacked as a whole then, into
    /// a file without a name. Errors: no SQLite file, damaged, still being written, no space,
    /// cancelled. The answer lives as long as the source.
    Result<const Database*> database();
    /// `UnpackedStream::hasBytesBehind`, of whichever way the file was unpacked.
    bool hasBytesBehind() const { return hasBytesBehind_ || stream_.hasBytesBehind(); }
    /// Whether `database` had to unpack the file.
    bool wasUnpacked() const { return isCompressed() && database_.has_value(); }
    /// How many threads may read it; what is read must be the same for any number.
    unsigned threads() const { return threads_; }
    void setThreads(unsigned threads) { threads_ = threads; }

  private:
    explicit TraceSource(UnpackedStream stream) : stream_(std::move(stream)) {}
    static Result<TraceSource> begin(Result<UnpackedStream> stream,
                                     const std::filesystem::path& path);

    std::filesystem::path path_;
    int descriptor_ = -1;  ///< Of a file without a name.
    unsigned threads_ = 1;
    const LoadProgress* unpacking_ = nullptr;
    UnpackedStream stream_;
    std::string start_;
    size_t startRead_ = 0;  ///< How much of the start `read` gave out.
    std::optional<Database> database_;
    bool hasBytesBehind_ = false;  ///< Of what `database` unpacked.
};

/// Fails if an SQLite file, as a trace is, lies at `path`, packed by gzip or not, or a file that
/// cannot be read and so may be one: what is written instead of it, a report or a picture, is made
/// again more easily than a recording. Reads some bytes; blocks for no pipe.
Result<void> checkIsNoTrace(const std::filesystem::path& path);

}  // namespace lanescope
