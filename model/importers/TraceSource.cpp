// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceSource.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <iterator>
#include <system_error>
#include <vector>

#include "model/format/ReadWatch.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr size_t bufferBytes = size_t{1} << 18;
/// More zeros than this after the compressed data are not padding.
constexpr size_t maxPaddingBytes = size_t{1} << 20;
constexpr unsigned char gzipMark[] = {0x1f, 0x8b};

bool isGzip(const unsigned char* bytes, size_t count) {
    return count >= std::size(gzipMark) && std::equal(std::begin(gzipMark), std::end(gzipMark), bytes);
}

constexpr size_t chunkBytes = size_t{1} << 20;
constexpr std::chrono::milliseconds reportInterval{40};
/// Checksums follow the pages of a trace and are smaller than this part of it.
constexpr uint64_t sealShare = 64;
/// Maximum size of other data after the pages.
constexpr uint64_t maxTrailingBytes = 64 << 10;

/// One decompression run, which writes the output of the stream.
class Unpacker {
  public:
    Unpacker(UnpackedStream stream, const std::filesystem::path& path, const UnpackLimits& limits,
             const LoadProgress& progress, TemporaryFile& out)
        : stream_(std::move(stream)), path_(path.string()), limits_(limits), progress_(progress), out_(out) {}

    /// Returns true if bytes follow the compressed data.
    Result<bool> run() {
        std::vector<char> chunk(chunkBytes);
        bool isFirst = true;
        for (;;) {
            if (!report()) return fail("{}: opening was cancelled.", path_);
            const Result<size_t> count = stream_.read(chunk);
            if (!count) return fail(count.error());
            const auto bytes = std::span(reinterpret_cast<const unsigned char*>(chunk.data()), *count);
            if (isFirst) {
                if (const auto checked = checkStart(bytes); !checked) return fail(checked.error());
                isFirst = false;
            }
            // Data beyond the size in the header is never read, so it is not written.
            if (maxBytes_ > 0 && writtenBytes_ > maxBytes_) return true;
            if (bytes.empty()) return stream_.hasTrailingBytes();
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

    /// Checks the size in the header first, so that nothing is written in vain.
    Result<void> checkStart(std::span<const unsigned char> bytes) {
        const auto header = bytes.first(std::min(bytes.size(), sqliteHeaderBytes));
        if (!isSqliteHeader(header))
            return fail("{}: not a trace, its compressed content is not an SQLite file.", path_);
        const uint64_t headerBytes = sqliteFileBytes(header);
        if (headerBytes > 0) maxBytes_ = headerBytes + headerBytes / sealShare + maxTrailingBytes;
        return checkRoom(headerBytes);
    }

    Result<void> take(std::span<const unsigned char> bytes) {
        if (const auto room = checkRoom(writtenBytes_ + bytes.size()); !room) return room;
        writtenBytes_ += bytes.size();
        const auto written = out_.write(bytes);
        if (!written) return fail("{}: cannot be unpacked. {}", path_, written.error().sentence);
        return {};
    }

    /// Fails if a file of `bytes` does not fit. Asks the file system only now and then.
    Result<void> checkRoom(uint64_t bytes) {
        if (bytes > limits_.unpackedBytes)
            return fail("{}: too large to open compressed (more than {} unpacked). Unpack it, then open the result.",
                        path_, formatBytes(static_cast<int64_t>(limits_.unpackedBytes)));
        if (bytes <= allowedBytes_) return {};
        const uint64_t free = out_.freeBytes();
        const uint64_t usable = free > limits_.spareBytes ? free - limits_.spareBytes : 0;
        const uint64_t missing = bytes - writtenBytes_;
        if (missing > usable)
            return fail("{}: not enough space to unpack {} ({} free). Free space, or set TMPDIR to a folder with more.",
                        out_.folder().string(), path_,
                        formatBytes(static_cast<int64_t>(std::min<uint64_t>(free, INT64_MAX))));
        constexpr uint64_t bytesBetweenChecks = 64 << 20;
        allowedBytes_ = writtenBytes_ + std::min(usable, std::max(missing, bytesBetweenChecks));
        return {};
    }

    UnpackedStream stream_;
    const std::string path_;
    const UnpackLimits& limits_;
    const LoadProgress& progress_;
    TemporaryFile& out_;
    uint64_t writtenBytes_ = 0;
    uint64_t maxBytes_ = 0;      ///< Above the size in the header; 0 if unknown.
    uint64_t allowedBytes_ = 0;  ///< Size up to which free space was checked.
    std::chrono::steady_clock::time_point nextReport_;
};

}  // namespace

/// The state of decompression. zlib's `gzread` would drop the data of a buffer in front of a corrupt place.
struct UnpackedStream::Packed {
    z_stream stream{};
    UniqueFd descriptor;
    bool isReady = false;   ///< `stream` must be ended.
    bool isInside = false;  ///< Within a gzip member.
    bool isEnd = false;
    bool hasTrailingBytes = false;
    int trailingError = 0;  ///< errno, if reading after the end failed.
    uint64_t bytesRead = 0;
    std::vector<unsigned char> input;

    Packed& operator=(Packed&&) = delete;
    ~Packed() {
        if (isReady) inflateEnd(&stream);
    }

    /// Reads more compressed bytes. Returns their number, 0 at the end, or -1 with `errno` on failure.
    ssize_t refill() {
        if (stream.avail_in > 0) std::memmove(input.data(), stream.next_in, stream.avail_in);
        const size_t room = input.size() - stream.avail_in;
        const size_t count = readAll(descriptor, input.data() + stream.avail_in, room);
        stream.next_in = input.data();
        if (count == 0) return room == 0 || errno == 0 ? 0 : -1;
        stream.avail_in += static_cast<unsigned>(count);
        bytesRead += static_cast<uint64_t>(count);
        return static_cast<ssize_t>(count);
    }

    /// Advances to the next gzip member. Bytes after the last one are ignored, like gzip does.
    void beginNext() {
        isEnd = !isGzip(stream.next_in, stream.avail_in) || inflateReset(&stream) != Z_OK;
        isInside = !isEnd;
        if (isEnd) checkTrailingBytes();
    }

    /// Checks the bytes after the end. Tapes and disks pad files with some zeros.
    void checkTrailingBytes() {
        size_t checkedBytes = 0;
        for (ssize_t came = 1; came > 0 && !hasTrailingBytes;) {
            const unsigned char* const begin = stream.next_in;
            checkedBytes += stream.avail_in;
            hasTrailingBytes =
                checkedBytes > maxPaddingBytes ||
                std::any_of(begin, begin + stream.avail_in, [](unsigned char byte) { return byte != 0; });
            stream.avail_in = 0;
            came = refill();
            if (came < 0) trailingError = errno;
        }
    }
};

UnpackedStream::UnpackedStream() = default;
UnpackedStream::UnpackedStream(UnpackedStream&& other) noexcept = default;
UnpackedStream::~UnpackedStream() = default;

Result<UnpackedStream> UnpackedStream::open(const std::filesystem::path& path) {
    const Result<uint64_t> bytes = checkFile(path);
    if (!bytes) return fail(bytes.error());
    const Result<UniqueFd> descriptor = openRegularFile(path);
    if (!descriptor) return fail(descriptor.error());
    return open(*descriptor, path);
}

Result<UnpackedStream> UnpackedStream::open(int descriptor, const std::filesystem::path& path) {
    UnpackedStream stream;
    stream.path_ = path;
    struct stat status {};
    UniqueFd own(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (own < 0 || ::fstat(own, &status) != 0 || ::lseek(own, 0, SEEK_SET) != 0)
        return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    stream.fileBytes_ = static_cast<uint64_t>(status.st_size);
    stream.packed_ = std::make_unique<Packed>();
    Packed& packed = *stream.packed_;
    packed.descriptor = std::move(own);
    unsigned char start[std::size(gzipMark)]{};
    const ssize_t count = ::pread(packed.descriptor, start, sizeof start, 0);
    stream.isCompressed_ = count > 0 && isGzip(start, static_cast<size_t>(count));
    if (!stream.isCompressed_) return stream;
    packed.input.resize(bufferBytes);
    packed.stream.next_in = packed.input.data();
    constexpr int gzipOnly = 16;
    packed.isReady = packed.isInside = inflateInit2(&packed.stream, MAX_WBITS + gzipOnly) == Z_OK;
    if (!packed.isReady) return fail("{}: cannot be read, not enough memory.", path.string());
    return stream;
}

Result<size_t> UnpackedStream::read(std::span<char> bytes) {
    auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
    const size_t wanted = std::min<size_t>(bytes.size(), INT_MAX);
    if (isCompressed_) return unpack(out, wanted);
    const ssize_t count = readAll(packed_->descriptor, out, wanted);
    if (count < 0) return fail("Cannot read {}: {}.", path_.string(), std::strerror(errno));
    packed_->bytesRead += static_cast<uint64_t>(count);
    return static_cast<size_t>(count);
}

Result<size_t> UnpackedStream::unpack(unsigned char* bytes, size_t wanted) {
    Packed& packed = *packed_;
    z_stream& stream = packed.stream;
    stream.next_out = bytes;
    stream.avail_out = static_cast<unsigned>(wanted);
    const auto taken = [&] { return wanted - stream.avail_out; };
    while (stream.avail_out > 0 && !packed.isEnd) {
        const size_t needed = packed.isInside ? 1 : std::size(gzipMark);
        const ssize_t came = stream.avail_in < needed ? packed.refill() : 1;
        if (came < 0) {
            if (taken() > 0) break;
            return fail("Cannot read {}: {}.", path_.string(), std::strerror(errno));
        }
        if (!packed.isInside) packed.beginNext();
        if (packed.isEnd) break;
        // Also at the end, as zlib may have output left.
        const int code = inflate(&stream, Z_NO_FLUSH);
        if (came == 0 && code == Z_BUF_ERROR) {
            if (taken() > 0) break;
            return fail("{}: the compressed file is truncated. Copy it again.", path_.string());
        }
        if (code == Z_STREAM_END) packed.isInside = false;
        if (code == Z_OK || code == Z_STREAM_END || (code == Z_BUF_ERROR && stream.avail_in == 0)) continue;
        // The next call finds the error again, after the data in front of it was read.
        if (taken() > 0) break;
        if (code == Z_MEM_ERROR) return fail("{}: cannot be unpacked, not enough memory.", path_.string());
        return fail("{}: the compressed file is corrupt. Copy it again.", path_.string());
    }
    if (taken() == 0 && packed.trailingError != 0)
        return fail("Cannot read {}: {}.", path_.string(), std::strerror(packed.trailingError));
    return taken();
}

bool UnpackedStream::hasTrailingBytes() const { return packed_->hasTrailingBytes; }

double UnpackedStream::fractionRead() const {
    if (fileBytes_ == 0) return 0;
    const uint64_t done = packed_->bytesRead - packed_->stream.avail_in;
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(fileBytes_));
}

Result<UnpackedFile> unpackGzip(const std::filesystem::path& path, const UnpackLimits& limits,
                                const LoadProgress& progress) {
    Result<UnpackedStream> stream = UnpackedStream::open(path);
    if (!stream) return fail(stream.error());
    Result<TemporaryFile> out = TemporaryFile::create(limits.folder);
    if (!out) return fail("{}: cannot be unpacked. {}", path.string(), out.error().sentence);
    const Result<bool> hasTrailingBytes = Unpacker(std::move(*stream), path, limits, progress, *out).run();
    if (!hasTrailingBytes) return fail(hasTrailingBytes.error());
    return UnpackedFile{std::move(*out), *hasTrailingBytes};
}

Result<TraceSource> TraceSource::begin(Result<UnpackedStream> stream, const std::filesystem::path& path) {
    if (!stream) return fail(stream.error());
    TraceSource source(std::move(*stream));
    source.path_ = path;
    source.start_.resize(startBytes);
    const Result<size_t> count = source.stream_.read(source.start_);
    if (!count) return fail(count.error());
    source.start_.resize(*count);
    if (*count == 0 && source.isCompressed())
        return fail("{}: empty, gzip compressed no data. Compress the trace again.", path.string());
    return source;
}

Result<TraceSource> TraceSource::open(const std::filesystem::path& path, const LoadProgress& unpacking) {
    Result<TraceSource> source = begin(UnpackedStream::open(path), path);
    if (source) source->unpacking_ = &unpacking;
    return source;
}

Result<TraceSource> TraceSource::open(int descriptor, const std::filesystem::path& path) {
    Result<TraceSource> source = begin(UnpackedStream::open(descriptor, path), path);
    if (source) source->descriptor_ = descriptor;
    return source;
}

std::string_view TraceSource::startOf(size_t bytes) {
    while (start_.size() < bytes && startRead_ == 0) {
        const size_t before = start_.size();
        start_.resize(bytes);
        const Result<size_t> count = stream_.read(std::span(start_).subspan(before));
        start_.resize(before + (count ? *count : 0));
        if (!count || *count == 0) break;
    }
    return std::string_view(start_).substr(0, bytes);
}

bool TraceSource::startsLikeSqlite() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(start_.data());
    return isSqliteHeader(std::span(bytes, std::min(start_.size(), sqliteHeaderBytes)));
}

Result<size_t> TraceSource::read(std::span<char> bytes) {
    const size_t count = std::min(bytes.size(), start_.size() - startRead_);
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(startRead_), count, bytes.begin());
    startRead_ += count;
    if (count == bytes.size()) return count;
    const Result<size_t> more = stream_.read(bytes.subspan(count));
    // The next call fails again.
    if (!more) return count > 0 ? Result<size_t>(count) : more;
    return count + *more;
}

Result<UnpackedFile> TraceSource::unpacked() const { return unpackGzip(path_, UnpackLimits{}, *unpacking_); }

Result<const Database*> TraceSource::database() {
    if (database_) return &*database_;
    const auto opened = [this]() -> Result<Database> {
        if (descriptor_ >= 0) return Database::openReadOnly(descriptor_, path_);
        if (!isCompressed()) return Database::openReadOnly(path_);
        const Result<UnpackedFile> whole = unpacked();
        if (!whole) return fail(whole.error());
        hasTrailingBytes_ = whole->hasTrailingBytes;
        return Database::openReadOnly(whole->file.descriptor(), path_);
    };
    Result<Database> database = opened();
    if (!database) return fail(database.error());
    database_.emplace(std::move(*database));
    return &*database_;
}

Result<void> checkNotTrace(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return {};
    if (std::filesystem::file_size(path, error) == 0) return {};
    Result<UnpackedStream> stream = UnpackedStream::open(path);
    if (!stream)
        return fail("{}: may be a trace, will not be overwritten. {} Choose another output file.", path.string(),
                    stream.error().sentence);
    std::array<char, sqliteHeaderBytes> start{};
    // A file that cannot be decompressed is not a trace.
    const Result<size_t> count = stream->read(start);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(start.data());
    if (!count || !isSqliteHeader(std::span(bytes, *count))) return {};
    return fail("{}: a trace or another database, will not be overwritten. Choose another output file.", path.string());
}

}  // namespace lanescope
