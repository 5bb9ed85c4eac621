// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/LoadContext.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope {

namespace {

/// Minimum size of a row: a cell pointer, two lengths and a record header.
constexpr int64_t minBytesPerRow = 6;
/// Each byte of a file belongs to at most one text. A table may be read twice, and the default text
/// of an added column is stored once in the file.
constexpr uint64_t textsPerByte = 4;
constexpr uint64_t minTextLimitBytes = uint64_t{1} << 20;
constexpr std::chrono::milliseconds reportInterval{40};

}  // namespace

LoadContext::LoadContext(const Database& database, TraceBuilder& builder, unsigned threads,
                         const LoadProgress& progress)
    : database_(database),
      builder_(builder),
      threads_(threads),
      progress_(progress),
      possibleRows_(static_cast<int64_t>(database.fileBytes()) / minBytesPerRow),
      possibleTextBytes_(minTextLimitBytes + textsPerByte * database.fileBytes()) {}

std::span<const Database> LoadContext::borrowConnections() {
    if (areBorrowed_) return {};
    while (furtherConnections_.size() + 1 < threads_) {
        Result<Database> database = database_.reopen();
        if (!database) break;
        furtherConnections_.push_back(std::move(*database));
    }
    areBorrowed_ = !furtherConnections_.empty();
    return furtherConnections_;
}

int64_t LoadContext::estimatedRows(const char* table) const {
    if (!database_.hasTable(table)) return 0;
    auto statement = database_.prepare(fmt::format("SELECT max(rowid) FROM {}", table));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? std::clamp<int64_t>(statement->integer(0), 0, possibleRows_) : 0;
}

bool LoadContext::advance(int64_t rows, std::string_view what) {
    readRows_ += rows;
    const double read =
        static_cast<double>(readRows_) / static_cast<double>(std::max<int64_t>({1, expectedRows_, readRows_}));
    return report(read, what);
}

bool LoadContext::report(double fraction, std::string_view what) {
    if (!progress_ || isCancelled_) return !isCancelled_;
    const auto now = std::chrono::steady_clock::now();
    if (now < nextReport_) return true;
    nextReport_ = now + reportInterval;
    isCancelled_ = !progress_(fraction, what);
    return !isCancelled_;
}

}  // namespace lanescope
