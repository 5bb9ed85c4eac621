#include "model/load/TableReader.h"

#include <fmt/format.h>

#include <limits>

#include "model/export/formatTable.h"
#include "model/load/FileStrings.h"

namespace lanescope {

namespace {

constexpr int64_t rowsBetweenReports = 1 << 13;
/// Times further than this from 0 are no nanoseconds of any clock; sums of two stay in range.
constexpr int64_t greatestTimeNs = int64_t{1} << 61;
constexpr int64_t greatestBytes = int64_t{1} << 50;

}  // namespace

TableReader::TableReader(LoadContext& context, const char* table,
                         const std::vector<const char*>& columns, const char* what)
    : context_(context), table_(table), what_(what) {
    const bool exists = context.database().hasTable(table);
    std::string sql = "SELECT ";
    for (const char* column : columns) {
        // "rowid" is no declared column but every table that we write has it.
        const bool isPresent = exists && (std::string_view(column) == "rowid" ||
                                          context.database().hasColumn(table, column));
        if (!isPresent_.empty()) sql += ", ";
        sql += isPresent ? fmt::format("\"{}\"", column) : "NULL";
        isPresent_.push_back(isPresent);
    }
    if (!exists) return;
    sql += fmt::format(" FROM {}", table);
    auto statement = context.database().prepare(sql);
    if (!statement) {
        noteDamage();
        return;
    }
    statement_ = std::move(*statement);
    estimatedRows_ = context.estimatedRows(table);
}

TableReader::~TableReader() {
    if (skippedRows_ > 0) context_.countSkippedRows(table_, skippedRows_);
    if (ignoredCells_ > 0) context_.countIgnoredCells(table_, ignoredCells_);
}

void TableReader::noteDamage() {
    context_.note(Severity::Error,
                  fmt::format("The table {} is damaged: only {} of its rows could be read.", table_,
                              formatCount(rowCount_)));
}

bool TableReader::next() {
    if (!statement_ || context_.isCancelled()) return false;
    if (rowCount_ % rowsBetweenReports == 0 && rowCount_ > 0 &&
        !context_.advance(rowsBetweenReports, what_))
        return false;
    if (rowCount_ >= EventRef::maximumRow) {
        context_.note(Severity::Warning, fmt::format("Only the first {} rows of {} are shown.",
                                                     formatCount(rowCount_), table_));
        statement_.reset();
        return false;
    }
    const Result<bool> row = statement_->step();
    // A damaged tree can lead SQLite in circles, through more rows than the file has room for.
    if (!row || rowCount_ > context_.possibleRows()) {
        noteDamage();
        statement_.reset();
        return false;
    }
    if (!*row) {
        context_.advance(rowCount_ % rowsBetweenReports, what_);
        return false;
    }
    ++rowCount_;
    return true;
}

std::optional<int64_t> TableReader::integer(int column) {
    if (statement_->isInteger(column)) return statement_->integer(column);
    if (!statement_->isNull(column)) ignoreCell();
    return std::nullopt;
}

long double TableReader::number(int column) {
    constexpr long double nothing = std::numeric_limits<long double>::quiet_NaN();
    if (statement_->isInteger(column))
        return static_cast<long double>(statement_->integer(column));
    if (statement_->isNull(column)) return nothing;
    if (statement_->isReal(column)) return static_cast<long double>(statement_->real(column));
    ignoreCell();
    return nothing;
}

uint32_t TableReader::unsigned32(int column) {
    const int64_t value = integerOr(column, 0);
    if (value >= 0 && value <= UINT32_MAX) return static_cast<uint32_t>(value);
    // Some columns are unsigned in CUDA but were stored signed.
    if (value < 0 && value >= INT32_MIN) return static_cast<uint32_t>(static_cast<int32_t>(value));
    ignoreCell();
    return 0;
}

int64_t TableReader::bytes(int column) {
    const int64_t value = integerOr(column, 0);
    if (value >= 0 && value <= greatestBytes) return value;
    ignoreCell();
    return 0;
}

std::optional<StringIndex> TableReader::string(int column, FileStrings& strings) {
    if (statement_->isInteger(column)) {
        const auto found = strings.find(statement_->integer(column));
        if (!found) ignoreCell();
        return found;
    }
    if (statement_->isNull(column)) return std::nullopt;
    return strings.intern(statement_->text(column));
}

std::optional<int64_t> TableReader::time(int column) {
    if (statement_->isNull(column)) {
        ++untimedCount_;
        return std::nullopt;
    }
    const int64_t timeNs = statement_->integer(column);
    if (statement_->isInteger(column) && timeNs >= -greatestTimeNs && timeNs <= greatestTimeNs)
        return timeNs;
    skipRow();
    return std::nullopt;
}

std::optional<TimeRange> TableReader::times(int startColumn, int endColumn) {
    const bool isUntimed =
        statement_->isNull(startColumn) || statement_->isNull(endColumn) ||
        (statement_->isInteger(startColumn) && statement_->isInteger(endColumn) &&
         statement_->integer(startColumn) == 0 && statement_->integer(endColumn) == 0);
    if (isUntimed) {
        ++untimedCount_;
        return std::nullopt;
    }
    const std::optional<int64_t> startNs = time(startColumn);
    if (!startNs) return std::nullopt;
    const std::optional<int64_t> endNs = time(endColumn);
    if (!endNs) return std::nullopt;
    if (*endNs < *startNs) {
        ignoreCell();
        return TimeRange{*startNs, *startNs};
    }
    return TimeRange{*startNs, *endNs};
}

}  // namespace lanescope
