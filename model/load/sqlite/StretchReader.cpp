// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/StretchReader.h"

#include <algorithm>
#include <system_error>

namespace lanescope {

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

}  // namespace lanescope
