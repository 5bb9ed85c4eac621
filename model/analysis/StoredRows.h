// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"
#include "model/format/threadStates.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

/// A member of a struct and its column. `membersOf` lists them once for reading and writing.
template <class Column, class Member>
struct StoredMember {
    const Column& column;
    Member& member;
};
auto stored(const auto& column, auto& member) { return StoredMember{column, member}; }

/// An enumerator up to `last`, stored by its identifier.
template <class Column, class Member>
struct StoredEnumerator {
    const Column& column;
    Member& member;
    std::remove_const_t<Member> last;
};
auto stored(const auto& column, auto& member, auto last) { return StoredEnumerator{column, member, last}; }

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
    /// Reads a text, a flag, a thread state or a number, or an optional of one. Its range is checked.
    template <class Member>
    void read(Column column, Member& member) {
        if constexpr (std::is_same_v<Member, std::string>) {
            member = text(column);
        } else if constexpr (std::is_same_v<Member, bool>) {
            member = flag(column);
        } else if constexpr (std::is_same_v<Member, double>) {
            member = statement_.real(place(column));
        } else if constexpr (std::is_same_v<Member, ThreadState>) {
            member = threadStateFrom(number(column));
        } else if constexpr (std::is_integral_v<Member>) {
            const int64_t value = number(column);
            isGood_ = isGood_ && (sizeof(Member) == sizeof(value) || std::in_range<Member>(value));
            member = static_cast<Member>(value);
        } else if (!statement_.isNull(place(column))) {
            read(column, member.emplace());
        }
    }
    /// Reads all members of a list.
    void read(const auto& members) {
        std::apply([this](const auto&... each) { (readMember(each), ...); }, members);
    }
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
    /// Reads the cause of idle time if the row has the number of one. The name of work is another column.
    void readCause(std::vector<IdleCause>& causes, Column cause, ContributorName& name) {
        if (const IdleCause* idle = itemOrNull(causes, cause)) name = *idle;
    }
    bool isGood() const { return isGood_; }
    /// Ends the pass.
    void reject() { isGood_ = false; }

  private:
    template <class C, class Member>
    void readMember(const StoredMember<C, Member>& each) {
        read(each.column, each.member);
    }
    template <class C, class Member>
    void readMember(const StoredEnumerator<C, Member>& each) {
        each.member = identified(each.column, each.last);
    }
    static int place(Column column) { return static_cast<int>(column.number()); }

    Statement statement_;
    size_t left_;
    bool isGood_ = false;
};

template <class Column, class Member>
const Member& valueOf(const StoredMember<Column, Member>& each) {
    return each.member;
}
template <class Column, class Member>
std::string_view valueOf(const StoredEnumerator<Column, Member>& each) {
    return identifier(each.member);
}
/// Inserts a row of the members of a list and of further cells.
template <class Table, class... Members, class... Cells>
void insertRow(Inserter<Table>& rows, const std::tuple<Members...>& members, const Cells&... further) {
    std::apply([&](const auto&... each) { rows.insert((each.column = valueOf(each))..., further...); }, members);
}

}  // namespace lanescope::analysis
