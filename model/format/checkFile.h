// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope {

/// What the name of a trace has behind it while it is recorded.
inline constexpr std::string_view unfinishedEnding = ".partial";

/// The size of a file that can be opened and holds something. Errors: missing, still under
/// its unfinished name, a folder, no regular file, empty.
Result<uint64_t> checkFile(const std::filesystem::path& path);

/// Whether anything has that name, be it a link that leads nowhere; true where nobody can tell. Not
/// a name that is too long for anything to have it.
bool isThere(const std::filesystem::path& path);

/// Looks at a file before SQLite does, for errors that say what is wrong with it: missing, a
/// folder, empty, no SQLite file, cut short. Reads 100 bytes.
Result<void> checkSqliteHeader(const std::filesystem::path& path);

/// Bytes at the start of an SQLite file that describe it.
inline constexpr size_t sqliteHeaderBytes = 100;

/// The same of a file that is open: its first bytes, `sqliteHeaderBytes` of them or all it has, and
/// its size. The error calls it `path`.
Result<void> checkSqliteHeader(std::span<const unsigned char> header, uint64_t fileBytes,
                               const std::filesystem::path& path);

/// Whether these first bytes of a file, at most `sqliteHeaderBytes`, are those of an SQLite file.
bool isSqliteHeader(std::span<const unsigned char> header);
/// What an SQLite file says to be a file of, by these first bytes of it; 0 if it says nothing or is
/// none.
uint32_t applicationIdOf(std::span<const unsigned char> header);
/// That of a report of `lanescope fleet`: "LNSF".
inline constexpr uint32_t fleetReportId = 0x4c4e5346;
/// The size that a whole header gives its file; 0 if the header does not know it.
uint64_t sqliteFileBytes(std::span<const unsigned char> header);

}  // namespace lanescope
