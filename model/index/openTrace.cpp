// SPDX-License-Identifier: Apache-2.0
#include "model/index/openTrace.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "model/format/OutputFile.h"
#include "model/format/ReadWatch.h"
#include "model/format/Sqlite.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"
#include "model/format/tables/Schema.h"
#include "model/index/indexedSummary.h"
#include "model/system/system.h"

namespace lanescope {

namespace {

constexpr const char* keyName = "key";

constexpr const char* suffix = ".lanescope-index";

/// Returns a hash of the first and last bytes: SQLite's whole header, gzip's checksum. Returns nullopt if unreadable.
std::optional<uint64_t> hashOfEnds(int file, uint64_t size) {
    constexpr uint64_t part = 4096;
    std::array<char, part> bytes{};
    Fnv1a hash;
    for (const uint64_t from : {uint64_t{0}, size > part ? size - part : 0}) {
        const ssize_t count = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(from));
        if (count < 0) return std::nullopt;
        hash.add(std::string_view(bytes.data(), static_cast<size_t>(count)));
    }
    return hash.value();
}

/// Returns a hash of a log of changes that are not in the file yet; 0 without a log.
uint64_t hashOfLog(const std::filesystem::path& trace) {
    struct stat status {};
    std::error_code error;
    const std::string file = std::filesystem::weakly_canonical(trace, error).string();
    if (error || sideFileOf(file, "-wal") != SideFile::Trusted) return 0;
    if (::stat((file + "-wal").c_str(), &status) != 0 || status.st_size == 0) return 0;
    Fnv1a hash;
    for (const int64_t part : {int64_t{status.st_size}, system::modifiedNs(status)})
        hash.add(static_cast<uint64_t>(part));
    return hash.value();
}

constexpr double readingShare = 0.9;

struct Indexed {
    TracePtr trace;
    std::filesystem::path index;
};

Indexed findIndexed(const std::filesystem::path& path, const SourceKey& source,
                    const std::shared_ptr<LargeMemory>& memory) {
    for (const std::filesystem::path& index : indexPaths(path)) {
        TracePtr trace = readIndex(index, source, path, memory);
        if (trace) return {std::move(trace), index};
    }
    return {};
}

/// Returns true if this user owns the trace or is root. Others would not believe an index of another user.
bool isOwnTrace(const std::filesystem::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) != 0 || status.st_uid == ::geteuid() || ::geteuid() == 0;
}

using PlaceWriter = std::function<Result<void>(const std::filesystem::path& index)>;

/// Calls `write` with the possible places for the index of `name`, the later name of `file`.
Result<void> writeSomewhere(const std::filesystem::path& file, const std::filesystem::path& name,
                            const PlaceWriter& write, const std::function<bool()>& isWanted) {
    Result<void> first;
    bool isFirst = true;
    for (const std::filesystem::path& index : indexPaths(name)) {
        const bool isPossible = !isFirst || isOwnTrace(file);
        Result<void> written = isPossible ? write(index) : fail("{}: another user owns the trace.", index.string());
        if (written || !isWanted()) return written;
        if (isFirst) first = std::move(written);
        isFirst = false;
    }
    return first;
}

/// Writes to the first possible place for the index of `name`: next to an own trace, or the cache.
Result<void> writeSomewhere(const Trace& trace, const SourceKey& source, const std::filesystem::path& name,
                            const std::function<bool()>& isWanted) {
    const auto write = [&](const std::filesystem::path& index) { return writeIndex(trace, source, index, isWanted); };
    return writeSomewhere(trace.path, name, write, isWanted);
}

bool keepsFromIndex(const HealthNote& note) {
    return note.code == HealthCode::PagesDamaged || note.code == HealthCode::ChecksumsDamaged;
}

bool isUnreliable(const Trace& trace) { return std::ranges::any_of(trace.health, keepsFromIndex); }

/// Returns the reason for not writing an index of an unreliable trace.
Error errorForUnreliable(const Trace& trace, const std::filesystem::path& path) {
    Error why{fmt::format("{}: no index is built, because the trace changed since the recording.", path.string())};
    for (const HealthNote& note : trace.health)
        if (keepsFromIndex(note) || note.code == HealthCode::TableDamaged) why.sentence += " " + note.sentence;
    return why;
}

struct Opened {
    TracePtr trace;
    Result<std::filesystem::path> index;  ///< Or the reason for its absence.
};

/// Like `openTrace`, but may run out of memory.
Result<Opened> open(const std::filesystem::path& path, const OpenOptions& options, const LoadProgress& progress) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(path, error);
    const bool isSmall = error || bytes < options.minBytes;
    const std::optional<SourceKey> source = isSmall ? std::nullopt : sourceKeyOf(path);
    LoadOptions loading{.memory = std::make_shared<LargeMemory>()};
    const auto withoutIndex = [&]() -> Result<Opened> {
        Result<TracePtr> trace = loadTrace(path, progress, loading);
        if (!trace) return fail(trace.error());
        return Opened{std::move(*trace), fail("{}: no index is built.", path.string())};
    };
    if (!source) return withoutIndex();
    if (Indexed indexed = findIndexed(path, *source, loading.memory); indexed.trace)
        return Opened{indexed.trace, indexed.index};
    if (!options.mayWrite) return withoutIndex();

    {
        Result<TraceBuilder> builder = readTrace(path, partOf(progress, 0, readingShare), loading);
        if (!builder) return fail(builder.error());
        // An error may be gone at the next read, for example after a memory error.
        if (isUnreliable(builder->trace())) {
            Error why = errorForUnreliable(builder->trace(), path);
            return Opened{builder->take(), fail(std::move(why))};
        }
        bool isWanted = true;
        const auto ask = [&] {
            isWanted = isWanted && (!progress || progress(readingShare, "writing the index"));
            return isWanted;
        };
        const Result<void> written = writeSomewhere(builder->trace(), *source, path, ask);
        if (!isWanted) return fail("{}: opening was cancelled.", path.string());
        if (!written) {
            const std::string& cause = written.error().sentence;
            builder->note({Severity::Info, HealthCode::IndexNotWritten,
                           fmt::format("No index could be written, so the trace is read again each time. {}", cause)});
            return Opened{builder->take(), fail("{}: the index could not be written: {}", path.string(), cause)};
        }
    }
    // The trace was freed first: both would need the memory twice.
    system::returnFreeMemory();
    if (Indexed indexed = findIndexed(path, *source, loading.memory); indexed.trace)
        return Opened{indexed.trace, indexed.index};
    Result<Opened> opened = withoutIndex();
    if (opened) opened->index = fail("{}: the index could not be written: It was removed again.", path.string());
    return opened;
}

}  // namespace

std::optional<SipHash::Key> userKey() {
    const auto folder = cacheFolder("index");
    if (!folder) return std::nullopt;
    const UniqueFd file = openTrustedFile(*folder / keyName);
    SipHash::Key key;
    struct stat status {};
    constexpr mode_t others = 0077;
    if (file < 0 || ::fstat(file, &status) != 0 || status.st_uid != ::geteuid() || (status.st_mode & others) != 0 ||
        status.st_size != static_cast<off_t>(key.size()) ||
        ::pread(file, key.data(), key.size(), 0) != static_cast<ssize_t>(key.size()))
        return std::nullopt;
    return key;
}

Result<SipHash::Key> ensureUserKey() {
    if (const auto key = userKey()) return *key;
    const Result<Folder> folder = Folder::openCache("index");
    if (!folder) return fail(folder.error());
    // Several processes may need the first key at once. The lock ends with the descriptor.
    static_cast<void>(::flock(folder->descriptor(), LOCK_EX));
    if (const auto key = userKey()) return *key;
    const std::string path = (folder->path() / keyName).string();
    const std::optional<uint64_t> halves[]{system::randomNumber(), system::randomNumber(), system::randomNumber()};
    if (!halves[0] || !halves[1] || !halves[2]) return fail("{}: no random numbers for the key.", path);
    // An unusable key, such as an incomplete one.
    if (folder->contains(keyName)) static_cast<void>(folder->removeFile(keyName));
    const std::string name = fmt::format("{}-{:x}", keyName, *halves[2]);
    const UniqueFd file = folder->createFile(name);
    const bool isWritten = file >= 0 && writeAll(file, &*halves[0], 8) && writeAll(file, &*halves[1], 8);
    if (!isWritten) {
        const int problem = errno;
        static_cast<void>(folder->removeFile(name));
        return fail("{}: cannot be written: {}.", path, std::strerror(problem));
    }
    if (!publishFile(folder->path() / name, path, IfExists::Fail)) static_cast<void>(folder->removeFile(name));
    if (const auto key = userKey()) return *key;
    return fail("{}: cannot be read back.", path);
}

std::vector<std::filesystem::path> indexPaths(const std::filesystem::path& trace) {
    std::vector<std::filesystem::path> paths{trace.string() + suffix};
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::weakly_canonical(trace, error);
    const auto folder = cacheFolder("index");
    if (error || !folder) return paths;
    Fnv1a hash;
    hash.add(absolute.string());
    paths.push_back(*folder / (fmt::format("{:016x}", hash.value()) + suffix));
    return paths;
}

std::optional<SourceKey> sourceKeyOf(const std::filesystem::path& trace) {
    struct stat status {};
    std::optional<uint64_t> ends;
    if (const Result<UniqueFd> file = openRegularFile(trace); file && ::fstat(*file, &status) == 0)
        ends = hashOfEnds(*file, static_cast<uint64_t>(status.st_size));
    if (!ends) return std::nullopt;
    SourceKey key{.bytes = static_cast<uint64_t>(status.st_size), .modifiedNs = system::modifiedNs(status)};
    uint64_t fingerprint = *ends ^ hashOfLog(trace);
    // A compressed file has only its own checksum.
    if (const auto database = Database::openReadOnly(trace)) {
        fingerprint ^= static_cast<uint64_t>(traceFingerprint(*database)) * 31;
        if (database->trouble()) return std::nullopt;
        // The warnings of the trace are part of its index.
        if (const auto ignored = database->ignoredFiles()) {
            Fnv1a hash;
            hash.add(ignored->sentence);
            fingerprint ^= hash.value();
        }
    }
    key.fingerprint = static_cast<int64_t>(fingerprint);
    return key;
}

Result<int> removeIndexes(const std::filesystem::path& trace) {
    int removed = 0;
    for (const std::filesystem::path& index : indexPaths(trace)) {
        for (const std::filesystem::path& path : {index, summaryPathOf(index)}) {
            if (!mayExist(path)) continue;
            if (const Result<void> done = removeFile(path); !done) return fail(done.error());
            ++removed;
        }
    }
    return removed;
}

Result<void> writeNextTo(const std::filesystem::path& trace,
                         const std::function<Result<void>(const std::filesystem::path& index)>& write) {
    return writeSomewhere(trace, trace, write, [] { return true; });
}

bool hasIndex(const std::filesystem::path& path) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(path, error);
    if (error || bytes < OpenOptions().minBytes) return false;
    const std::optional<SourceKey> source = sourceKeyOf(path);
    return source && findIndexed(path, *source, std::make_shared<LargeMemory>()).trace != nullptr;
}

Result<TracePtr> openTrace(const std::filesystem::path& path, const OpenOptions& options,
                           const LoadProgress& progress) {
    Result<Opened> opened = orOutOfMemory(path, [&] { return open(path, options, progress); });
    if (!opened) return fail(opened.error());
    return std::move(opened->trace);
}

Result<std::filesystem::path> ensureIndex(const std::filesystem::path& path, const LoadProgress& progress) {
    OpenOptions options{.minBytes = 0};
    const Result<Opened> opened = orOutOfMemory(path, [&] { return open(path, options, progress); });
    if (!opened) return fail(opened.error());
    return opened->index;
}

Result<void> checkIndex(const Trace& trace) {
    if (!trace.isCorrupt()) return {};
    if (const Result<int> removed = removeIndexes(trace.path); !removed)
        return fail("{}: the index is corrupt, and results may be wrong. {}", trace.path.string(),
                    removed.error().sentence);
    return fail("{}: the index was corrupt, and results may be wrong. It was removed. Run the command again.",
                trace.path.string());
}

Result<void> writeIndexFor(const Trace& trace, const std::filesystem::path& file, const std::filesystem::path& name,
                           const LoadProgress& progress) {
    const std::optional<SourceKey> source = sourceKeyOf(file);
    if (!source) return fail("Cannot read {}.", file.string());
    bool isWanted = true;
    return writeSomewhere(trace, *source, name, [&] {
        isWanted = isWanted && (!progress || progress(0, "writing the index"));
        return isWanted;
    });
}

}  // namespace lanescope
