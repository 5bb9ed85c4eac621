// SPDX-License-Identifier: Apache-2.0
#include "model/format/checkFile.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "model/format/ReadWatch.h"
#include "model/format/files.h"

namespace lanescope {

Result<uint64_t> checkFile(const std::filesystem::path& path) {
    const std::string shown = path.string();
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    const std::string partial = shown + std::string(unfinishedEnding);
    if (status.type() == std::filesystem::file_type::not_found && std::filesystem::exists(partial, error))
        return fail(
            "{}: not there yet. It is being written, or writing was interrupted; {} has the data "
            "so far.",
            shown, partial);
    if (status.type() == std::filesystem::file_type::not_found) return fail("{}: no such file. Check the path.", shown);
    if (error) return fail("{}: cannot be opened: {}.", shown, error.message());
    if (status.type() == std::filesystem::file_type::directory)
        return fail("{}: this is a folder. Name a trace file in it.", shown);
    if (status.type() != std::filesystem::file_type::regular)
        return fail("{}: not a regular file. Name a trace file.", shown);
    const uintmax_t size = std::filesystem::file_size(path, error);
    if (error) return fail("{}: cannot be opened: {}.", shown, error.message());
    if (size == 0) return fail("{}: the file is empty, nothing was recorded into it.", shown);
    return static_cast<uint64_t>(size);
}

bool mayExist(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found &&
           error != std::errc::filename_too_long;
}

namespace {

uint32_t bigEndian32(const unsigned char* bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

/// Returns true if SQLite reads a file with this header together with a log.
bool usesLog(std::span<const unsigned char> header) {
    constexpr size_t readVersionAt = 19;
    constexpr unsigned char withLog = 2;
    return header.size() > readVersionAt && header[readVersionAt] == withLog;
}

}  // namespace

uint64_t logBytesOf(const std::filesystem::path& path) {
    std::error_code error;
    // SQLite follows a link before it looks for the log.
    const std::string name = std::filesystem::canonical(path, error).string();
    if (error || sideFileOf(name, "-wal") != SideFile::Trusted) return 0;
    const uintmax_t bytes = std::filesystem::file_size(name + "-wal", error);
    return error ? 0 : bytes;
}

Result<void> checkSqliteHeader(const std::filesystem::path& path) {
    const Result<uint64_t> size = checkFile(path);
    if (!size) return fail(size.error());
    const Result<UniqueFd> file = openRegularFile(path);
    if (!file) return fail(file.error());
    std::array<unsigned char, sqliteHeaderBytes> header{};
    const ssize_t got = ::pread(*file, header.data(), header.size(), 0);
    if (got < 0) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    const auto bytes = std::span(header).first(static_cast<size_t>(got));
    // Page 1 is copied first from a log to the file, which is then shorter than it states.
    const bool hasLog = usesLog(bytes) && logBytesOf(path) > 0;
    return checkSqliteHeader(bytes, hasLog ? std::numeric_limits<uint64_t>::max() : *size, path);
}

bool isSqliteHeader(std::span<const unsigned char> header) {
    static constexpr std::string_view magic("SQLite format 3\0", 16);
    return !header.empty() && std::memcmp(header.data(), magic.data(), std::min(header.size(), magic.size())) == 0;
}

uint32_t applicationIdOf(std::span<const unsigned char> header) {
    if (header.size() < sqliteHeaderBytes || !isSqliteHeader(header.first(sqliteHeaderBytes))) return 0;
    return bigEndian32(&header[68]);
}

uint64_t sqliteFileBytes(std::span<const unsigned char> header) {
    if (header.size() < sqliteHeaderBytes) return 0;
    uint64_t pageBytes = uint64_t{header[16]} << 8 | header[17];
    if (pageBytes == 1) pageBytes = 65536;
    // The page count is valid only if these two counters are equal.
    const bool countIsValid = bigEndian32(&header[24]) == bigEndian32(&header[92]);
    return countIsValid ? pageBytes * bigEndian32(&header[28]) : 0;
}

Result<void> checkSqliteHeader(std::span<const unsigned char> header, uint64_t fileBytes,
                               const std::filesystem::path& path) {
    const std::string shown = path.string();
    if (!isSqliteHeader(header)) {
        if (path.extension() == ".nsys-rep" || path.extension() == ".qdrep")
            return fail("{}: a report of Nsight Systems. Convert it with \"nsys export --type sqlite {}\".", shown,
                        path.filename().string());
        return fail("{}: not a trace, not an SQLite file.", shown);
    }
    if (header.size() < sqliteHeaderBytes) return fail("{}: truncated inside its header. Copy it again.", shown);
    if (applicationIdOf(header) == unfinishedTraceId)
        return fail(
            "{}: incomplete. If no program writes it any more, make it again: a recording with 'lanescope recover', "
            "another trace with the command that wrote it.",
            shown);
    // SQLite knows four schema formats, and does not report a higher number as corruption.
    constexpr size_t schemaFormatAt = 44;
    constexpr uint32_t lastSchemaFormat = 4;
    if (bigEndian32(&header[schemaFormatAt]) > lastSchemaFormat)
        return fail("{}: corrupt, its header is invalid. Copy it again.", shown);
    if (const uint64_t expected = sqliteFileBytes(header); expected > fileBytes)
        return fail("{}: truncated, only {} of {} bytes are there. Copy it again.", shown, fileBytes, expected);
    return {};
}

}  // namespace lanescope
