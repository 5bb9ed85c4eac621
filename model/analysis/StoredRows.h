// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

/// Rows of one stored table in order; an invalid cell ends the pass.
template <class Table>
class StoredRows {
  public:
    using Column = tables::ColumnOf<Table>;

    StoredRows(const Database& database, const Table& table, size_t maxRows) : left_(maxRows) {
        auto statement = database.prepare(selectSql(table));
        isGood_ = statement.has_value();
        if (isGood_) statement_ = std::move(*statement);
    }
    bool next() {
        if (!isGood_) return false;
        const auto row = statement_.step();
        isGood_ = row && (!*row || left_-- > 0);
        return isGood_ && *row;
    }
    int64_t number(Column column) {
        isGood_ = isGood_ && statement_.isInteger(place(column));
        return isGood_ ? statement_.integer(place(column)) : 0;
    }
    std::optional<int64_t> numberOrNull(Column column) {
        return statement_.isNull(place(column)) ? std::nullopt : std::optional(number(column));
    }
    bool flag(Column column) { return number(column) != 0; }
    std::string text(Column column) { return std::string(view(column)); }
    std::string_view view(Column column) { return statement_.text(place(column)); }
    /// Returns the enumerator up to `last` with this identifier.
    template <class Enumeration>
    Enumeration identified(Column column, Enumeration last) {
        const auto found = fromIdentifier(view(column), last);
        isGood_ = isGood_ && found.has_value();
        return found.value_or(last);
    }
    StepPart part(Column column) { return identified(column, StepPart::OtherIdle); }
    /// Returns the item of a list that a row belongs to. Null, which ends the pass, if there is none.
    template <class Item>
    Item* itemOf(std::vector<Item>& items, Column column) {
        const int64_t index = number(column);
        isGood_ = isGood_ && index >= 0 && static_cast<size_t>(index) < items.size();
        return isGood_ ? &items[static_cast<size_t>(index)] : nullptr;
    }
    /// Returns null for NULL.
    template <class Item>
    Item* itemOrNull(std::vector<Item>& items, Column column) {
        return statement_.isNull(place(column)) ? nullptr : itemOf(items, column);
    }
    /// Returns the name of work, or the cause of idle time if the row has the number of one.
    ContributorName name(std::vector<IdleCause>& causes, Column work, Column cause) {
        const IdleCause* idle = itemOrNull(causes, cause);
        return idle ? ContributorName(*idle) : ContributorName(text(work));
    }
    ThreadRef thread(Column role, Column name) { return {identified(role, ThreadRole::Other), text(name)}; }
    FrameRef frame(Column file, Column line, Column function) {
        const int64_t lineNumber = number(line);
        isGood_ = isGood_ && lineNumber >= 0 && lineNumber <= UINT32_MAX;
        return {text(file), static_cast<uint32_t>(lineNumber), text(function)};
    }
    bool isGood() const { return isGood_; }
    /// Ends the pass.
    void reject() { isGood_ = false; }

  private:
    static int place(Column column) { return static_cast<int>(column.number()); }

    Statement statement_;
    size_t left_;
    bool isGood_ = false;
};

}  // namespace lanescope::analysis
