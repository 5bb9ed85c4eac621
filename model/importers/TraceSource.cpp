// SPDX-License-Identifier: Apache-2.0
#include "model/importers/TraceSource.h"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>

#include "model/format/checkFile.h"
#include "model/importers/UnpackedStream.h"

namespace lanescope {

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
