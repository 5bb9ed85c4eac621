#include "model/load/unpackGzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "model/values/formatValue.h"
#include "model/format/checkSqliteHeader.h"

namespace lanescope {

namespace {

constexpr size_t chunkBytes = size_t{1} << 18;
constexpr int gzipWindowBits = 15 + 16;  ///< The largest window, and gzip's frame around it.
constexpr std::chrono::milliseconds reportInterval{40};
constexpr std::array<unsigned char, 3> gzipMagic{0x1f, 0x8b, 8};

/// One run of unpacking: reads chunks, inflates them, writes what comes out.
class Unpacker {
  public:
    Unpacker(const std::filesystem::path& path, const UnpackLimits& limits,
             const LoadProgress& progress, TemporaryFile& out)
        : path_(path.string()), limits_(limits), progress_(progress), out_(out) {}
    ~Unpacker() { inflateEnd(&stream_); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    Result<void> run() {
        std::error_code error;
        packedBytes_ = std::filesystem::file_size(path_, error);
        file_.open(path_, std::ios::binary);
        if (error || !file_) return fail("Cannot read {}: {}.", path_, std::strerror(errno));
        if (inflateInit2(&stream_, gzipWindowBits) != Z_OK)
            return fail("{} cannot be unpacked: memory is short.", path_);
        while (refill()) {
            if (!report()) return fail("Opening {} was cancelled.", path_);
            if (const auto done = inflateChunk(); !done) return done;
        }
        if (file_.bad()) return fail("Cannot read {}: {}.", path_, std::strerror(errno));
        if (!isAtEndOfMember_)
            return fail("The compressed file {} is cut short. Copy it again.", path_);
        // A header that came in pieces too small to be looked at before.
        return checkStart(true);
    }

  private:
    bool refill() {
        file_.read(reinterpret_cast<char*>(packed_.data()), static_cast<long>(packed_.size()));
        stream_.next_in = packed_.data();
        stream_.avail_in = static_cast<uInt>(file_.gcount());
        readBytes_ += stream_.avail_in;
        return stream_.avail_in > 0;
    }

    bool report() {
        const auto now = std::chrono::steady_clock::now();
        if (!progress_ || now < nextReport_) return true;
        nextReport_ = now + reportInterval;
        const auto whole = static_cast<double>(std::max(packedBytes_, readBytes_));
        return progress_(static_cast<double>(readBytes_) / whole, "unpacking");
    }

    Result<void> inflateChunk() {
        while (stream_.avail_in > 0 || isOutputFull_) {
            if (isAtEndOfMember_ && !startNextMember()) return damaged();
            if (isAtEndOfMember_) return {};  // Only padding was left.
            stream_.next_out = unpacked_.data();
            stream_.avail_out = static_cast<uInt>(unpacked_.size());
            const int code = inflate(&stream_, Z_NO_FLUSH);
            if (code == Z_MEM_ERROR) return fail("{} cannot be unpacked: memory is short.", path_);
            // Nothing may be left to come out of what went in; that is no error, but a standstill
            // is.
            const bool isDry = code == Z_BUF_ERROR && stream_.avail_in == 0;
            if (code != Z_OK && code != Z_STREAM_END && !isDry) return damaged();
            isOutputFull_ = code == Z_OK && stream_.avail_out == 0;
            isAtEndOfMember_ = code == Z_STREAM_END;
            const auto out = std::span(unpacked_).first(unpacked_.size() - stream_.avail_out);
            if (const auto done = take(out); !done) return done;
        }
        return {};
    }

    /// Files that were compressed one by one may be put together; some writers pad with zeros.
    /// False if what follows is neither. After padding there is no member.
    bool startNextMember() {
        while (stream_.avail_in > 0 && *stream_.next_in == 0) {
            ++stream_.next_in;
            --stream_.avail_in;
        }
        if (stream_.avail_in == 0) return true;
        if (*stream_.next_in != gzipMagic[0]) return false;
        isAtEndOfMember_ = false;
        return inflateReset(&stream_) == Z_OK;
    }

    Result<void> take(std::span<const unsigned char> bytes) {
        if (start_.size() < sqliteHeaderBytes) {
            const size_t wanted = std::min(bytes.size(), sqliteHeaderBytes - start_.size());
            start_.insert(start_.end(), bytes.begin(), bytes.begin() + static_cast<long>(wanted));
            if (const auto checked = checkStart(false); !checked) return checked;
        }
        if (const auto room = checkRoom(writtenBytes_ + bytes.size()); !room) return room;
        writtenBytes_ += bytes.size();
        const auto written = out_.write(bytes);
        if (!written) return fail("{} cannot be unpacked. {}", path_, written.error().sentence);
        return {};
    }

    Result<void> checkStart(bool isEnd) {
        if (!isSqliteHeader(start_) && (isEnd || !start_.empty()))
            return fail("{} is not a trace: what is compressed in it is no SQLite file.", path_);
        return start_.size() < sqliteHeaderBytes ? Result<void>()
                                                 : checkRoom(sqliteFileBytes(start_));
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

    tl::unexpected<Error> damaged() const {
        return fail("The compressed file {} is damaged. Copy it again.", path_);
    }

    const std::string path_;
    const UnpackLimits& limits_;
    const LoadProgress& progress_;
    TemporaryFile& out_;
    std::ifstream file_;
    z_stream stream_{};
    std::vector<unsigned char> packed_ = std::vector<unsigned char>(chunkBytes);
    std::vector<unsigned char> unpacked_ = std::vector<unsigned char>(4 * chunkBytes);
    std::vector<unsigned char> start_;  ///< The first bytes that came out, at most a header's.
    bool isAtEndOfMember_ = false;
    bool isOutputFull_ = false;  ///< More may come out without more going in.
    uint64_t packedBytes_ = 0;
    uint64_t readBytes_ = 0;
    uint64_t writtenBytes_ = 0;
    uint64_t allowedBytes_ = 0;  ///< Up to this much the disk has been asked.
    std::chrono::steady_clock::time_point nextReport_;
};

}  // namespace

bool isGzip(const std::filesystem::path& path) {
    std::error_code error;
    // Opening a pipe would wait for its writer.
    if (!std::filesystem::is_regular_file(path, error)) return false;
    std::ifstream file(path, std::ios::binary);
    std::array<unsigned char, gzipMagic.size()> start{};
    file.read(reinterpret_cast<char*>(start.data()), start.size());
    return file.gcount() == static_cast<long>(start.size()) && start == gzipMagic;
}

Result<TemporaryFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                 const LoadProgress& progress) {
    Result<TemporaryFile> out = TemporaryFile::create(limits.folder);
    if (!out) return fail("{} cannot be unpacked. {}", path.string(), out.error().sentence);
    if (const auto done = Unpacker(path, limits, progress, *out).run(); !done)
        return fail(done.error());
    return out;
}

}  // namespace lanescope
