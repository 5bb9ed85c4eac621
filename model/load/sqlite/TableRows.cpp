// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/TableRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lanescope {

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
