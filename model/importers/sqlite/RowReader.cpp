// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/RowReader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "model/text/formatTable.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Initial capacity. Most tables of most files have few rows.
constexpr size_t initialRows = 32;

constexpr auto rowsPerRange = static_cast<int64_t>(RowBatch::maxRows);
constexpr size_t slotsPerThread = 3;

/// A smaller table is read before a second thread has started.
constexpr int64_t parallelRowsThreshold = 8 * static_cast<int64_t>(RowBatch::maxRows);

std::optional<int64_t> extreme(const Database& database, const char* which, const char* table) {
    auto statement = database.prepare(fmt::format("SELECT {}(rowid) FROM {}", which, table));
    if (!statement) return std::nullopt;  // a table without row numbers
    const auto row = statement->step();
    if (!row || !*row || !statement->isInteger(0)) return std::nullopt;
    return statement->integer(0);
}

/// A column of that name would hide the row numbers.
bool declaresRowid(const Database& database, const char* table) {
    return std::ranges::any_of(database.columns(table),
                               [](const Database::Column& each) { return each.name == "rowid"; });
}

constexpr int64_t rowsBetweenReports = 1 << 13;
constexpr int64_t maxCellBytes = int64_t{1} << 50;

}  // namespace

RowBatch::End RowBatch::fill(Statement& statement, bool isNumbered) {
    const int columns = statement.columnCount() - (isNumbered ? 1 : 0);
    columnCount_ = static_cast<size_t>(columns);
    rowCount_ = 0;
    text_.clear();
    while (rowCount_ < maxRows && text_.size() < maxTextBytes) {
        const Result<bool> row = statement.step();
        if (!row) return End::Corrupt;
        if (!*row) return End::NoMoreRows;
        if ((rowCount_ + 1) * columnCount_ > cells_.size())
            cells_.resize(std::clamp(2 * rowCount_, initialRows, maxRows) * columnCount_);
        Cell* to = cells_.data() + rowCount_ * columnCount_;
        for (int column = 0; column < columns; ++column, ++to) {
            const CellView cell = statement.cell(column);
            *to = {cell.bits, static_cast<uint32_t>(cell.text.size()), cell.type};
            if (cell.type != CellType::Text) continue;
            to->bits = static_cast<int64_t>(text_.size());
            text_ += cell.text;
        }
        ++rowCount_;
        if (isNumbered) lastNumber_ = statement.integer(columns);
    }
    return End::Full;
}

std::unique_ptr<RowRangeReader> RowRangeReader::create(LoadContext& context, const std::string& sql, int64_t first,
                                                       int64_t last) {
    auto own = context.database().prepare(sql);
    if (!own) return nullptr;
    return std::unique_ptr<RowRangeReader>(new RowRangeReader(context, sql, std::move(*own), first, last));
}

RowRangeReader::RowRangeReader(LoadContext& context, std::string sql, Statement own, int64_t first, int64_t last)
    : context_(context),
      sql_(std::move(sql)),
      firstNumber_(first),
      lastNumber_(last),
      rangeCount_((last - first) / rowsPerRange + 1) {
    statements_.push_back(std::move(own));
}

/// Starts threads only when rows are requested, so that a waiting reader does not block the threads.
void RowRangeReader::start() {
    hasStarted_ = true;
    const std::span<const Database> connections = context_.borrowConnections();
    hasBorrowed_ = !connections.empty();
    for (const Database& database : connections) {
        auto statement = database.prepare(sql_);
        if (statement) statements_.push_back(std::move(*statement));
    }
    slots_ = std::vector<Slot>(statements_.size() * slotsPerThread);
    try {
        for (size_t thread = 1; thread < statements_.size(); ++thread)
            threads_.emplace_back([this, thread] { work(statements_[thread]); });
    } catch (const std::system_error&) {
        // The system refuses another thread. The existing ones read everything.
    }
}

RowRangeReader::~RowRangeReader() {
    {
        const std::lock_guard lock(mutex_);
        isStopped_ = true;
    }
    isWanted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    statements_.clear();
    if (hasBorrowed_) context_.returnConnections();
}

int64_t RowRangeReader::firstOf(int64_t range) const { return firstNumber_ + range * rowsPerRange; }

int64_t RowRangeReader::lastOf(int64_t range) const { return std::min(lastNumber_, firstOf(range) + rowsPerRange - 1); }

RowBatch::End RowRangeReader::read(Statement& statement, int64_t from, int64_t to, RowBatch& batch) {
    statement.reset();
    statement.bind(1, from);
    statement.bind(2, to);
    const RowBatch::End end = batch.fill(statement, true);
    statement.reset();
    // As many rows as numbers means that the range is complete.
    const bool isWhole = end == RowBatch::End::Full && batch.lastNumber() >= to;
    return isWhole ? RowBatch::End::NoMoreRows : end;
}

bool RowRangeReader::mayRead() const {
    return unread_ < rangeCount_ && unread_ < wanted_ + static_cast<int64_t>(slots_.size());
}

/// Reads the next unread range of rows. Releases the lock meanwhile.
void RowRangeReader::readNext(Statement& statement, std::unique_lock<std::mutex>& lock) {
    const int64_t range = unread_++;
    lock.unlock();
    Slot& slot = slotOf(range);
    try {
        slot.end = read(statement, firstOf(range), lastOf(range), slot.batch);
    } catch (...) {
        slot.error = std::current_exception();
    }
    lock.lock();
    slot.isReady = true;
    isReady_.notify_one();
}

void RowRangeReader::work(Statement& statement) {
    std::unique_lock lock(mutex_);
    for (;;) {
        isWanted_.wait(lock, [this] { return isStopped_ || mayRead(); });
        if (isStopped_) return;
        readNext(statement, lock);
    }
}

/// Reads the rest of the last range, if its texts exceeded one batch.
bool RowRangeReader::continueRange() {
    if (current_ < 0) return false;
    Slot& slot = slotOf(current_);
    if (slot.end != RowBatch::End::Full) return false;
    const int64_t from = slot.batch.lastNumber();
    // Row numbers that do not grow mean a corrupt tree, which could be infinite.
    slot.end = from >= firstOf(current_) && from < lastOf(current_)
                   ? read(statements_.front(), from + 1, lastOf(current_), slot.batch)
                   : RowBatch::End::Corrupt;
    return true;
}

const RowBatch* RowRangeReader::next() {
    if (!hasStarted_) start();
    while (!isCorrupt_) {
        if (!continueRange()) {
            if (current_ >= 0 && slotOf(current_).end == RowBatch::End::Corrupt) {
                isCorrupt_ = true;
                break;
            }
            std::unique_lock lock(mutex_);
            if (current_ >= 0) {
                slotOf(current_).isReady = false;
                wanted_ = current_ + 1;
                isWanted_.notify_one();
            }
            if (wanted_ >= rangeCount_) return nullptr;
            Slot& slot = slotOf(wanted_);
            while (!slot.isReady) {
                if (mayRead())
                    readNext(statements_.front(), lock);
                else
                    isReady_.wait(lock);
            }
            current_ = wanted_;
            if (slot.error) std::rethrow_exception(slot.error);
        }
        const Slot& slot = slotOf(current_);
        if (slot.batch.rowCount() > 0) return &slot.batch;
    }
    return nullptr;
}

TableRows::TableRows(LoadContext& context, const char* table, const std::string& columns) {
    if (readByRanges(context, table, columns)) return;
    auto statement = context.database().prepare(fmt::format("SELECT {} FROM {}", columns, table));
    if (statement)
        statement_ = std::move(*statement);
    else
        isCorrupt_ = true;
}

bool TableRows::readByRanges(LoadContext& context, const char* table, const std::string& columns) {
    const Database& database = context.database();
    if (declaresRowid(database, table)) return false;
    const std::optional<int64_t> first = extreme(database, "min", table);
    const std::optional<int64_t> last = extreme(database, "max", table);
    if (!first || !last || *first < 0 || *last - *first < parallelRowsThreshold) return false;
    // With few rows among many numbers, most ranges would be empty.
    if (*last - *first > 2 * context.possibleRows()) return false;
    ranges_ = RowRangeReader::create(
        context, fmt::format("SELECT {}, rowid FROM {} WHERE rowid BETWEEN ?1 AND ?2", columns, table), *first, *last);
    return ranges_ != nullptr;
}

const RowBatch* TableRows::next() {
    if (ranges_) {
        const RowBatch* batch = ranges_->next();
        isCorrupt_ = ranges_->isCorrupt();
        return batch;
    }
    while (statement_) {
        const RowBatch::End end = batch_.fill(*statement_, false);
        if (end != RowBatch::End::Full) statement_.reset();
        isCorrupt_ = end == RowBatch::End::Corrupt;
        if (batch_.rowCount() > 0) return &batch_;
    }
    return nullptr;
}

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
        list += fmt::format("{}{}", list.empty() ? "" : ", ", isPresent ? fmt::format("\"{}\"", column) : "NULL");
    }
    if (!hasTable_) return;
    numberTexts_.resize(columns.size());
    rows_.emplace(context, table, list);
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
