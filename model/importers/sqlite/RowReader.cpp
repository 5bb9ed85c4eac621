// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/RowReader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "model/importers/sqlite/FileStrings.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

constexpr int64_t rowsBetweenReports = 1 << 13;
constexpr int64_t maxCellBytes = int64_t{1} << 50;

}  // namespace

RowReader::RowReader(LoadContext& context, const char* table, const std::vector<const char*>& columns, const char* what)
    : context_(context), table_(table), what_(what) {
    context.reads(table);
    untimedElsewhere_ = context.untimedOf(table);
    hasTable_ = context.database().hasTable(table);
    const std::vector<Database::Column> known =
        hasTable_ ? context.database().columns(table) : std::vector<Database::Column>();
    std::string list;
    for (const char* column : columns) {
        // "rowid" is not a declared column, but every table of ours has it. A computed column could
        // have any length, and our tables have none.
        const bool isPresent = hasTable_ && (std::string_view(column) == "rowid" ||
                                             std::ranges::count(known, Database::Column{lowerCase(column), true}) > 0);
        if (!isPresent_.empty()) list += ", ";
        list += isPresent ? fmt::format("\"{}\"", column) : "NULL";
        isPresent_.push_back(isPresent);
    }
    if (!hasTable_) return;
    numberTexts_.resize(columns.size());
    rows_.emplace(context, table, list);
    estimatedRows_ = context.estimatedRows(table);
}

RowReader::~RowReader() {
    context_.builder().skip(table_, skippedRows_);
    context_.builder().ignore(table_, ignoredCells_);
}

void RowReader::throwUnknownColumn() const {
    throw std::logic_error(fmt::format("a column of {} is read that was not asked for", table_));
}

void RowReader::noteCorruption() {
    context_.note({Severity::Error, HealthCode::TableDamaged,
                   fmt::format("The table {} is corrupt: only {} of its rows could be read. Copy the file again.",
                               table_, formatCount(rowCount_))});
}

bool RowReader::stop() {
    rows_.reset();
    return false;
}

bool RowReader::next() {
    if (!rows_ || context_.isCancelled()) return false;
    if (rowCount_ % rowsBetweenReports == 0 && rowCount_ > 0 && !context_.advance(rowsBetweenReports, what_))
        return false;
    if (rowCount_ >= EventRef::maxRow) {
        context_.note({Severity::Warning, HealthCode::TableCut,
                       fmt::format("Only the first {} rows of {} are shown.", formatCount(rowCount_), table_)});
        return stop();
    }
    if (batch_ == nullptr || nextInBatch_ == batch_->rowCount()) {
        batch_ = rows_->next();
        nextInBatch_ = 0;
        // A corrupt tree can lead SQLite in circles, with more rows and texts than the file can contain.
        if (batch_ == nullptr ? rows_->isCorrupt()
                              : rowCount_ > context_.possibleRows() || !context_.mayTake(batch_->textBytes())) {
            noteCorruption();
            return stop();
        }
        if (batch_ == nullptr) {
            context_.advance(rowCount_ % rowsBetweenReports, what_);
            return stop();
        }
    }
    row_ = batch_->row(nextInBatch_++);
    ++rowCount_;
    return true;
}

std::string_view RowReader::text(int column) {
    const RowBatch::Cell& cell = at(column);
    if (cell.type == CellType::Text) return batch_->text(cell);
    if (cell.type == CellType::Null) return {};
    std::string& text = numberTexts_[static_cast<size_t>(column)];
    text = cell.type == CellType::Integer ? fmt::format("{}", cell.bits) : fmt::format("{}", real(column));
    return text;
}

double RowReader::real(int column) const {
    const RowBatch::Cell& cell = at(column);
    if (cell.type == CellType::Real) return std::bit_cast<double>(cell.bits);
    return cell.type == CellType::Integer ? static_cast<double>(cell.bits) : 0.0;
}

long double RowReader::number(int column) {
    const RowBatch::Cell& cell = at(column);
    if (cell.type == CellType::Integer) return static_cast<long double>(cell.bits);
    if (cell.type == CellType::Real) return static_cast<long double>(real(column));
    if (cell.type != CellType::Null) ignoreCell();
    return std::numeric_limits<long double>::quiet_NaN();
}

uint32_t RowReader::unsigned32(int column) {
    const int64_t value = integerOr(column, 0);
    if (value >= 0 && value <= UINT32_MAX) return static_cast<uint32_t>(value);
    // Some columns are unsigned in CUDA but stored signed.
    if (value < 0 && value >= INT32_MIN) return static_cast<uint32_t>(static_cast<int32_t>(value));
    ignoreCell();
    return 0;
}

int64_t RowReader::bytes(int column) {
    const int64_t value = integerOr(column, 0);
    if (value >= 0 && value <= maxCellBytes) return value;
    ignoreCell();
    return 0;
}

std::optional<StringIndex> RowReader::string(int column, FileStrings& strings) {
    const RowBatch::Cell& cell = at(column);
    if (cell.type == CellType::Integer) {
        const auto found = strings.find(cell.bits);
        if (!found) ignoreCell();
        return found;
    }
    if (cell.type == CellType::Null) return std::nullopt;
    return strings.intern(text(column));
}

std::optional<int64_t> RowReader::time(int column) {
    const RowBatch::Cell& cell = at(column);
    if (cell.type == CellType::Null) {
        ++untimedCount_;
        return std::nullopt;
    }
    if (cell.type == CellType::Integer && cell.bits >= -maxTimestampNs && cell.bits <= maxTimestampNs) return cell.bits;
    skipRow();
    return std::nullopt;
}

std::optional<TimeRange> RowReader::times(int startColumn, int endColumn) {
    const bool isUntimed =
        isNull(startColumn) || isNull(endColumn) ||
        (isInteger(startColumn) && isInteger(endColumn) && at(startColumn).bits == 0 && at(endColumn).bits == 0);
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
