// SPDX-License-Identifier: Apache-2.0
#include "model/load/unpackGzip.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "model/format/checkSqliteHeader.h"
#include "model/load/UnpackedStream.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

constexpr size_t chunkBytes = size_t{1} << 20;
constexpr std::chrono::milliseconds reportInterval{40};
/// The checksums of a trace, which stand behind its pages, are less than this part of them.
constexpr uint64_t sealShare = 64;
/// And what else may stand there.
constexpr uint64_t mostBehind = 64 << 10;

/// One run of unpacking: writes what comes out of the stream.
class Unpacker {
  public:
    Unpacker(UnpackedStream stream, const std::filesystem::path& path, const UnpackLimits& limits,
             const LoadProgress& progress, TemporaryFile& out)
        : stream_(std::move(stream)),
          path_(path.string()),
          limits_(limits),
          progress_(progress),
          out_(out) {}

    /// Whether there are bytes behind what was packed.
    Result<bool> run() {
        std::vector<char> chunk(chunkBytes);
        bool isFirst = true;
        for (;;) {
            if (!report()) return fail("Opening {} was cancelled.", path_);
            const Result<size_t> count = stream_.read(chunk);
            if (!count) return fail(count.error());
            const auto bytes =
                std::span(reinterpret_cast<const unsigned char*>(chunk.data()), *count);
            if (isFirst) {
                if (const auto checked = checkStart(bytes); !checked) return fail(checked.error());
                isFirst = false;
            }
            // Nobody reads what lies behind what the header tells of, nor need it be written.
            if (mostBytes_ > 0 && writtenBytes_ > mostBytes_) return true;
            if (bytes.empty()) return stream_.hasBytesBehind();
            if (const auto taken = take(bytes); !taken) return fail(taken.error());
        }
    }

  private:
    bool report() {
        const auto now = std::chrono::steady_clock::now();
        if (!progress_ || now < nextReport_) return true;
        nextReport_ = now + reportInterval;
        return progress_(stream_.fractionRead(), "unpacking");
    }

    /// The header knows how large the file is, so that nothing is written in vain.
    Result<void> checkStart(std::span<const unsigned char> bytes) {
        const auto header = bytes.first(std::min(bytes.size(), sqliteHeaderBytes));
        if (!isSqliteHeader(header))
            return fail("{} is not a trace: what is compressed in it is no SQLite file.", path_);
        const uint64_t told = sqliteFileBytes(header);
        if (told > 0) mostBytes_ = told + told / sealShare + mostBehind;
        return checkRoom(told);
    }

    Result<void> take(std::span<const unsigned char> bytes) {
        if (const auto room = checkRoom(writtenBytes_ + bytes.size()); !room) return room;
        writtenBytes_ += bytes.size();
        const auto written = out_.write(bytes);
        if (!written) return fail("{} cannot be unpacked. {}", path_, written.error().sentence);
        return {};
    }

    /// Whether a file of `bytes` may be written; asks the disk only now and then.
    Result<void> checkRoom(uint64_t bytes) {
        if (bytes > limits_.unpackedBytes)
            return fail(
                "{} is too large to be opened compressed: it unpacks to more than {}. Unpack it, "
                "then open what comes out.",
                path_, formatBytes(static_cast<int64_t>(limits_.unpackedBytes)));
        if (bytes <= allowedBytes_) return {};
        const uint64_t free = out_.freeBytes();
        const uint64_t usable = free > limits_.spareBytes ? free - limits_.spareBytes : 0;
        const uint64_t missing = bytes - writtenBytes_;
        if (missing > usable)
            return fail(
                "There is not enough space in {} to unpack {}: {} are free. Make space, or set "
                "TMPDIR to a folder that has more.",
                out_.folder().string(), path_,
                formatBytes(static_cast<int64_t>(std::min<uint64_t>(free, INT64_MAX))));
        constexpr uint64_t bytesBetweenLooks = 64 << 20;
        allowedBytes_ = writtenBytes_ + std::min(usable, std::max(missing, bytesBetweenLooks));
        return {};
    }

    UnpackedStream stream_;
    const std::string path_;
    const UnpackLimits& limits_;
    const LoadProgress& progress_;
    TemporaryFile& out_;
    uint64_t writtenBytes_ = 0;
    uint64_t mostBytes_ = 0;     ///< More than the header says, its checksums included; 0: unknown.
    uint64_t allowedBytes_ = 0;  ///< Up to this much the disk has been asked.
    std::chrono::steady_clock::time_point nextReport_;
};

}  // namespace

Result<UnpackedFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                const LoadProgress& progress) {
    Result<UnpackedStream> stream = UnpackedStream::open(path);
    if (!stream) return fail(stream.error());
    Result<TemporaryFile> out = TemporaryFile::create(limits.folder);
    if (!out) return fail("{} cannot be unpacked. {}", path.string(), out.error().sentence);
    const Result<bool> hasBytesBehind =
        Unpacker(std::move(*stream), path, limits, progress, *out).run();
    if (!hasBytesBehind) return fail(hasBytesBehind.error());
    return UnpackedFile{std::move(*out), *hasBytesBehind};
}

}  // namespace lanescope
