// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/TableRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

namespace lanescope {

namespace {

/// For as many there is room at first: most tables of most files have few.
constexpr size_t fewRows = 32;

}  // namespace

RowBatch::End RowBatch::fill(Statement& statement, bool isNumbered) {
    const int columns = statement.columnCount() - (isNumbered ? 1 : 0);
    columnCount_ = static_cast<size_t>(columns);
    rowCount_ = 0;
    text_.clear();
    while (rowCount_ < mostRows && text_.size() < enoughTextBytes) {
        const Result<bool> row = statement.step();
        if (!row) return End::Damaged;
        if (!*row) return End::NoMoreRows;
        if ((rowCount_ + 1) * columnCount_ > cells_.size())
            cells_.resize(std::clamp(2 * rowCount_, fewRows, mostRows) * columnCount_);
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

namespace {

constexpr auto stretchRows = static_cast<int64_t>(RowBatch::mostRows);
/// How many are read ahead for each thread.
constexpr size_t slotsPerThread = 3;

}  // namespace

std::unique_ptr<StretchReader> StretchReader::create(LoadContext& context, const std::string& sql,
                                                     int64_t first, int64_t last) {
    auto own = context.database().prepare(sql);
    if (!own) return nullptr;
    return std::unique_ptr<StretchReader>(
        new StretchReader(context, sql, std::move(*own), first, last));
}

StretchReader::StretchReader(LoadContext& context, std::string sql, Statement own, int64_t first,
                             int64_t last)
    : context_(context),
      sql_(std::move(sql)),
      firstNumber_(first),
      lastNumber_(last),
      stretchCount_((last - first) / stretchRows + 1) {
    statements_.push_back(std::move(own));
}

/// Not before rows are wanted, so that a reader that waits its turn keeps no thread from others.
void StretchReader::start() {
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
        // The system gives no more threads; those that there are read it all.
    }
}

StretchReader::~StretchReader() {
    {
        const std::lock_guard lock(mutex_);
        isStopped_ = true;
    }
    isWanted_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    statements_.clear();
    if (hasBorrowed_) context_.returnConnections();
}

int64_t StretchReader::firstOf(int64_t stretch) const {
    return firstNumber_ + stretch * stretchRows;
}

int64_t StretchReader::lastOf(int64_t stretch) const {
    return std::min(lastNumber_, firstOf(stretch) + stretchRows - 1);
}

RowBatch::End StretchReader::read(Statement& statement, int64_t from, int64_t to, RowBatch& batch) {
    statement.reset();
    statement.bind(1, from);
    statement.bind(2, to);
    const RowBatch::End end = batch.fill(statement, true);
    statement.reset();
    // As many rows as there are numbers are all.
    const bool isWhole = end == RowBatch::End::Full && batch.lastNumber() >= to;
    return isWhole ? RowBatch::End::NoMoreRows : end;
}

bool StretchReader::mayRead() const {
    return unread_ < stretchCount_ && unread_ < wanted_ + static_cast<int64_t>(slots_.size());
}

/// Reads the next stretch that nobody has begun; the lock is let go meanwhile.
void StretchReader::readNext(Statement& statement, std::unique_lock<std::mutex>& lock) {
    const int64_t stretch = unread_++;
    lock.unlock();
    Slot& slot = slotOf(stretch);
    try {
        slot.end = read(statement, firstOf(stretch), lastOf(stretch), slot.batch);
    } catch (...) {
        slot.error = std::current_exception();
    }
    lock.lock();
    slot.isReady = true;
    isReady_.notify_one();
}

void StretchReader::work(Statement& statement) {
    std::unique_lock lock(mutex_);
    for (;;) {
        isWanted_.wait(lock, [this] { return isStopped_ || mayRead(); });
        if (isStopped_) return;
        readNext(statement, lock);
    }
}

/// Takes what the last stretch holds behind the rows that were handed out, if its texts were too
/// long for one batch.
bool StretchReader::continueCut() {
    if (current_ < 0) return false;
    Slot& slot = slotOf(current_);
    if (slot.end != RowBatch::End::Full) return false;
    const int64_t from = slot.batch.lastNumber();
    // Numbers that do not grow are a damaged tree, which could go on for ever.
    slot.end = from >= firstOf(current_) && from < lastOf(current_)
                   ? read(statements_.front(), from + 1, lastOf(current_), slot.batch)
                   : RowBatch::End::Damaged;
    return true;
}

const RowBatch* StretchReader::next() {
    if (!hasStarted_) start();
    while (!isDamaged_) {
        if (!continueCut()) {
            if (current_ >= 0 && slotOf(current_).end == RowBatch::End::Damaged) {
                isDamaged_ = true;
                break;
            }
            std::unique_lock lock(mutex_);
            if (current_ >= 0) {
                slotOf(current_).isReady = false;
                wanted_ = current_ + 1;
                isWanted_.notify_one();
            }
            if (wanted_ >= stretchCount_) return nullptr;
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

namespace {

/// A table with fewer is read before a second thread has begun.
constexpr int64_t leastNumbers = 8 * static_cast<int64_t>(RowBatch::mostRows);

std::optional<int64_t> extreme(const Database& database, const char* which, const char* table) {
    auto statement = database.prepare(fmt::format("SELECT {}(rowid) FROM {}", which, table));
    if (!statement) return std::nullopt;  // a table without such numbers
    const auto row = statement->step();
    if (!row || !*row || !statement->isInteger(0)) return std::nullopt;
    return statement->integer(0);
}

/// A column of that name would hide the numbers of rows.
bool declaresRowid(const Database& database, const char* table) {
    return std::ranges::any_of(database.columns(table),
                               [](const Database::Column& each) { return each.name == "rowid"; });
}

}  // namespace

TableRows::TableRows(LoadContext& context, const char* table, const std::string& columns) {
    if (readByStretches(context, table, columns)) return;
    auto statement = context.database().prepare(fmt::format("SELECT {} FROM {}", columns, table));
    if (statement)
        statement_ = std::move(*statement);
    else
        isDamaged_ = true;
}

bool TableRows::readByStretches(LoadContext& context, const char* table,
                                const std::string& columns) {
    const Database& database = context.database();
    if (declaresRowid(database, table)) return false;
    const std::optional<int64_t> first = extreme(database, "min", table);
    const std::optional<int64_t> last = extreme(database, "max", table);
    if (!first || !last || *first < 0 || *last - *first < leastNumbers) return false;
    // With few rows among many numbers most stretches would be empty.
    if (*last - *first > 2 * context.possibleRows()) return false;
    stretches_ = StretchReader::create(
        context,
        fmt::format("SELECT {}, rowid FROM {} WHERE rowid BETWEEN ?1 AND ?2", columns, table),
        *first, *last);
    return stretches_ != nullptr;
}

const RowBatch* TableRows::next() {
    if (stretches_) {
        const RowBatch* batch = stretches_->next();
        isDamaged_ = stretches_->isDamaged();
        return batch;
    }
    while (statement_) {
        const RowBatch::End end = batch_.fill(*statement_, false);
        if (end != RowBatch::End::Full) statement_.reset();
        isDamaged_ = end == RowBatch::End::Damaged;
        if (batch_.rowCount() > 0) return &batch_;
    }
    return nullptr;
}

}  // namespace lanescope
