// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope {

/// Suffix of the name of a trace while it is recorded.
inline constexpr std::string_view unfinishedEnding = ".partial";

/// Returns the size of a file that can be opened and is not empty. Errors: missing, still under its
/// unfinished name, a folder, no regular file, empty.
Result<uint64_t> checkFile(const std::filesystem::path& path);

/// Returns true if the name exists, even as a dangling link, and if that cannot be determined.
/// Returns false for names that are too long to exist.
bool mayExist(const std::filesystem::path& path);

/// Checks a file before SQLite opens it, for specific errors: missing, a folder, empty, no SQLite
/// file, not whole yet, truncated. Reads 100 bytes.
Result<void> checkSqliteHeader(const std::filesystem::path& path);

inline constexpr size_t sqliteHeaderBytes = 100;

/// Returns the size of the write-ahead log that SQLite reads with the file; 0 if there is none or it is ignored.
uint64_t logBytesOf(const std::filesystem::path& path);

/// Checks an open file: its first `sqliteHeaderBytes` (or all it has) and its size. `path` is its name in errors.
Result<void> checkSqliteHeader(std::span<const unsigned char> header, uint64_t fileBytes,
                               const std::filesystem::path& path);

/// Returns true if the first bytes of a file, at most `sqliteHeaderBytes`, are an SQLite header.
bool isSqliteHeader(std::span<const unsigned char> header);
/// Returns the application id in a header; 0 if none.
uint32_t applicationIdOf(std::span<const unsigned char> header);
/// Application id of a `lanescope fleet` report: "LNSF".
inline constexpr uint32_t fleetReportId = 0x4c4e5346;
/// Application id of a trace that is written without a journal and not whole yet: "LNSU". Readers refuse it.
inline constexpr uint32_t unfinishedTraceId = 0x4c4e5355;
/// Returns the file size that a complete header states; 0 if unknown.
uint64_t sqliteFileBytes(std::span<const unsigned char> header);

}  // namespace lanescope
