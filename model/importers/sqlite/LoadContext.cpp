// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/LoadContext.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/format/tables/Session.h"
#include "model/format/text.h"
#include "model/importers/sqlite/RowReader.h"

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

void FileStrings::read(LoadContext& context) {
    constexpr const auto& table = tables::strings;
    TableReader reader(context, table, {table.id, table.value}, "strings");
    // Larger ids than the file can contain rows would make the vector larger than the file.
    const int64_t denseLimit = context.possibleRows();
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (reader.skipRowIf(!id)) continue;
        const StringIndex index = builder_.intern(reader.text(table.value));
        if (*id < 0 || *id >= denseLimit) {
            sparse_[*id] = index;
            continue;
        }
        const auto position = static_cast<size_t>(*id);
        if (position >= dense_.size()) dense_.resize(position + 1, missing);
        dense_[position] = index;
    }
}

std::optional<StringIndex> FileStrings::find(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
        const StringIndex index = dense_[static_cast<size_t>(id)];
        return index != missing ? std::optional(index) : std::nullopt;
    }
    const auto found = sparse_.find(id);
    return found != sparse_.end() ? std::optional(found->second) : std::nullopt;
}

std::string_view plainApiName(std::string_view entryPoint) {
    const size_t version = entryPoint.rfind("_v");
    if (version == std::string_view::npos) return entryPoint;
    const std::string_view digits = entryPoint.substr(version + 2);
    // CUDA versions have four or five digits ("_v3020", "_v12000").
    if (digits.size() < 4 || digits.size() > 5 || !isNumber(digits)) return entryPoint;
    std::string_view name = entryPoint.substr(0, version);
    // Variants of the default stream, which are the same call for the user.
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

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
