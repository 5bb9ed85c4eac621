// SPDX-License-Identifier: Apache-2.0
#include "model/index/indexedSummary.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "model/analysis/storedSummary.h"
#include "model/format/OutputFile.h"
#include "model/format/Sqlite.h"
#include "model/format/checksums.h"
#include "model/format/files.h"
#include "model/index/MappedFile.h"
#include "model/index/openTrace.h"

namespace lanescope {

namespace {

constexpr const char* summarySuffix = ".lanescope-index-summary";
/// More than millions of steps need.
constexpr off_t maxFileBytes = off_t{1} << 30;

/// The start of the file. The tables `LANESCOPE_STORED*` follow, as a SQLite database.
struct SummaryHeader {
    std::array<char, 8> magic{'L', 'S', 'C', 'P', 'S', 'U', 'M', '\n'};
    uint32_t version = analysis::storedVersion;
    uint32_t checksum = 0;  ///< Checksum of the tables.
    SourceKey source;
    uint64_t tableBytes = 0;
    SipHash::Value code{};  ///< Keyed hash of the header up to here and of the tables.
};
static_assert(sizeof(SummaryHeader) == 64);

std::span<const std::byte> bytesOf(const SummaryHeader& header) { return std::as_bytes(std::span(&header, 1)); }

SipHash::Value codeOf(const SummaryHeader& header, std::span<const std::byte> tables, const SipHash::Key& key) {
    SipHash code(key);
    code.add(bytesOf(header).first(offsetof(SummaryHeader, code)));
    code.add(tables);
    return code.value();
}

std::optional<analysis::RunSummary> readFile(const std::filesystem::path& path, const std::filesystem::path& trace,
                                             std::optional<SourceKey>& source) {
    struct stat status {};
    const UniqueFd descriptor = openTrustedFile(path, trace);
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0 || status.st_size > maxFileBytes) return std::nullopt;
    // A copy cannot change between the check and its use.
    const std::optional<MappedFile> file = MappedFile::open(descriptor, MappedFile::Access::Copied);
    SummaryHeader header;
    if (!file || file->bytes().size() < sizeof header) return std::nullopt;
    std::memcpy(&header, file->bytes().data(), sizeof header);
    const std::span<const std::byte> tables = file->bytes().subspan(sizeof header);
    if (header.magic != SummaryHeader().magic || header.version != SummaryHeader().version ||
        header.tableBytes != tables.size() || header.checksum != checksumOf(tables))
        return std::nullopt;
    if (status.st_uid == ::geteuid()) {
        const std::optional<SipHash::Key> key = userKey();
        if (!key || codeOf(header, tables, *key) != header.code) return std::nullopt;
    }
    if (!source) source = sourceKeyOf(trace);
    return source && header.source == *source ? unpackedSummary(tables, trace) : std::nullopt;
}

}  // namespace

Result<std::vector<std::byte>> packedSummary(const analysis::RunSummary& summary, const std::filesystem::path& trace) {
    Result<Database> database = Database::createInMemory(trace.string());
    if (!database) return fail(database.error());
    if (const auto written = analysis::writeRunSummary(*database, summary); !written) return fail(written.error());
    Result<std::vector<std::byte>> bytes = database->bytes();
    // Values outside of their limits, as of a corrupt trace, are not read.
    if (bytes && unpackedSummary(*bytes, trace) != summary)
        return fail("{}: its summary cannot be stored, because it is inconsistent.", trace.string());
    return bytes;
}

std::optional<analysis::RunSummary> unpackedSummary(std::span<const std::byte> bytes,
                                                    const std::filesystem::path& trace) {
    const Result<Database> database = Database::openBytes(bytes, trace);
    return database ? analysis::readRunSummary(*database) : std::nullopt;
}

std::filesystem::path summaryPathOf(const std::filesystem::path& index) {
    std::filesystem::path path = index;
    return path.replace_extension(summarySuffix);
}

std::optional<analysis::RunSummary> readIndexedSummary(const std::filesystem::path& trace) {
    std::optional<SourceKey> source;
    for (const std::filesystem::path& index : indexPaths(trace))
        if (auto summary = readFile(summaryPathOf(index), trace, source)) return summary;
    return std::nullopt;
}

Result<void> writeIndexedSummary(const analysis::RunSummary& summary, const std::filesystem::path& trace,
                                 const SourceKey& source) {
    const Result<SipHash::Key> key = ensureUserKey();
    if (!key) return fail(key.error());
    const Result<std::vector<std::byte>> tables = packedSummary(summary, trace);
    if (!tables) return fail(tables.error());
    SummaryHeader header{.checksum = checksumOf(*tables), .source = source, .tableBytes = tables->size()};
    header.code = codeOf(header, *tables, *key);
    if (sourceKeyOf(trace) != source) return fail("{}: the trace changed while it was read.", trace.string());
    return writeNextTo(trace, [&](const std::filesystem::path& index) -> Result<void> {
        Result<AtomicFile> file = AtomicFile::create(summaryPathOf(index));
        if (!file) return fail(file.error());
        file->copyReadPermissionsOf(trace);
        file->write(bytesOf(header));
        file->write(*tables);
        return file->commit();
    });
}

}  // namespace lanescope
