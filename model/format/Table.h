// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace lanescope::tables {

/// Type of the cells of a column, in addition to NULL.
enum class Type : uint8_t {
    Integer,
    Real,
    Text,
    Number,  ///< Declared INTEGER as in the exports, though values may have fractions.
    Any,     ///< Declared without a type.
};

/// Rule whether a cell may be NULL.
enum class Presence : uint8_t {
    Optional,
    Required,
    Key,  ///< Primary key, SQLite's row number.
};

enum class Content : uint8_t {
    Facts,
    Events,  ///< Events of the run with their times; a file with such a table is a trace.
};

/// Description of a column for programs that know its table at run time only.
struct ColumnInfo {
    const char* name = "";
    const char* meaning = "";  ///< With the unit, if the column has one.
    Type type = Type::Any;
    Presence presence = Presence::Optional;
};

/// Table of the file: its name and its columns in order. Each table is a constant in a header of
/// `tables/`. All code that creates, fills, reads or documents tables uses it.
class Table {
  public:
    static constexpr size_t maxColumns = 56;

    constexpr Table(const char* tableName, const char* rowMeaning, Content content = Content::Facts)
        : tableName_(tableName), rowMeaning_(rowMeaning), content_(content) {}
    Table& operator=(Table&&) = delete;

    constexpr const char* tableName() const { return tableName_; }
    /// Returns the meaning of a row, such as "a kernel on the GPU".
    constexpr const char* rowMeaning() const { return rowMeaning_; }
    constexpr Content content() const { return content_; }
    constexpr std::span<const ColumnInfo> columns() const { return std::span(columns_).first(columnCount_); }
    /// Returns the number of columns that must not be NULL.
    constexpr size_t requiredCount() const {
        size_t count = 0;
        for (const ColumnInfo& column : columns())
            if (column.presence != Presence::Optional) ++count;
        return count;
    }
    /// Adds a column and returns its number from 0; the constructors of columns call it. More than
    /// `maxColumns` do not compile.
    constexpr size_t add(const ColumnInfo& column) {
        columns_[columnCount_] = column;
        return columnCount_++;
    }

  private:
    const char* tableName_;
    const char* rowMeaning_;
    Content content_;
    size_t columnCount_ = 0;
    std::array<ColumnInfo, maxColumns> columns_{};
};

template <size_t size>
struct Name {
    char text[size]{};
    // Implicit, so that a literal can be the argument.
    constexpr Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

/// Value for a column, made by `column = value`. It refers to the value, so use it within the same statement.
template <class Column, class Value>
struct Cell {
    using ColumnType = Column;
    size_t column;  ///< Column number from 0.
    const Value& value;
};

template <class Value>
inline constexpr bool isNothing = std::is_same_v<Value, std::nullptr_t> || std::is_same_v<Value, std::nullopt_t>;

/// True if a column of `type` accepts values of that C++ type.
template <Type type, class Value>
inline constexpr bool holds = [] {
    constexpr bool isWhole = std::is_integral_v<Value> || std::is_enum_v<Value>;
    constexpr bool isText = !isNothing<Value> && std::is_convertible_v<const Value&, std::string_view>;
    switch (type) {
        case Type::Integer: return isWhole;
        case Type::Real:
        case Type::Number: return isWhole || std::is_floating_point_v<Value>;
        case Type::Text: return isText;
        case Type::Any: return isWhole || std::is_floating_point_v<Value> || isText;
    }
    return false;
}();

template <Type type, class Value>
inline constexpr bool holds<type, std::optional<Value>> = holds<type, Value>;

template <class Value>
inline constexpr bool isOptional = isNothing<Value>;
template <class Value>
inline constexpr bool isOptional<std::optional<Value>> = true;

/// True if `column = value` compiles: the type fits, and only optional columns accept an absent value.
template <Type type, Presence presence, class Value>
concept Fits = (holds<type, Value> || isNothing<Value>)&&(presence == Presence::Optional || !isOptional<Value>);

template <class Owner>
class ColumnOf {
  public:
    constexpr explicit ColumnOf(size_t number) : number_(number) {}

    /// Returns the position in the table, from 0.
    constexpr size_t number() const { return number_; }

  private:
    size_t number_;
};

/// SQLite's row number of `Owner`, read like a column; it is not part of the description.
template <class Owner>
inline constexpr ColumnOf<Owner> rowNumber{Table::maxColumns};

/// Column of the table `Owner`. Each column has its own type, so the compiler checks reads and writes.
template <class Owner, Name columnName, Type columnType, Presence columnPresence>
class Column : public ColumnOf<Owner> {
  public:
    using Table = Owner;
    static constexpr const char* name = columnName.text;
    static constexpr bool isRequired = columnPresence != Presence::Optional;

    constexpr Column(tables::Table* table, const char* meaning)
        : ColumnOf<Owner>(table->add({columnName.text, meaning, columnType, columnPresence})) {}

    /// Returns a value for an `Inserter`.
    template <class Value>
    requires Fits<columnType, columnPresence, Value>
    constexpr Cell<Column, Value> operator=(const Value& value) const { return {this->number(), value}; }
};

/// Base of every table: `struct Kernels : TableOf<Kernels>`. The columns are members, declared by the aliases below.
template <class Owner>
class TableOf : public Table {
  public:
    using Table::Table;

  protected:
    template <Name name>
    using Key = Column<Owner, name, Type::Integer, Presence::Key>;
    template <Name name>
    using Integer = Column<Owner, name, Type::Integer, Presence::Required>;
    template <Name name>
    using OptionalInteger = Column<Owner, name, Type::Integer, Presence::Optional>;
    template <Name name>
    using Real = Column<Owner, name, Type::Real, Presence::Required>;
    template <Name name>
    using OptionalReal = Column<Owner, name, Type::Real, Presence::Optional>;
    template <Name name>
    using Text = Column<Owner, name, Type::Text, Presence::Required>;
    template <Name name>
    using OptionalText = Column<Owner, name, Type::Text, Presence::Optional>;
    template <Name name>
    using OptionalNumber = Column<Owner, name, Type::Number, Presence::Optional>;
    template <Name name>
    using OptionalAny = Column<Owner, name, Type::Any, Presence::Optional>;
};

/// True if the cells form a row of the table: its own columns, no duplicate, and all required ones.
template <class Owner, class... Cells>
concept RowOf = (std::is_same_v<typename Cells::ColumnType::Table, Owner> && ...) &&
                (size_t{0} + ... + size_t{Cells::ColumnType::isRequired}) == Owner().requiredCount() && [] {
                    const std::array<std::string_view, sizeof...(Cells)> names{Cells::ColumnType::name...};
                    for (size_t each = 0; each < names.size(); ++each)
                        for (size_t other = 0; other < each; ++other)
                            if (names[each] == names[other]) return false;
                    return true;
                }();

}  // namespace lanescope::tables
