// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/RowTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/format/text.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"

namespace lanescope::python {

namespace {

/// Returns, for example, "total_time_ns" for "Total Time" in nanoseconds, "alg_bw_gbps" for "Alg BW" in GB/s.
std::string identifierOf(const ReportColumn& column) {
    std::string name;
    for (const char letter : column.name) {
        const auto character = static_cast<unsigned char>(letter);
        name += std::isalnum(character) != 0 ? static_cast<char>(std::tolower(character)) : '_';
    }
    switch (column.unit) {
        case Unit::Nanoseconds:
        case Unit::Timestamp: return name + "_ns";
        case Unit::Bytes: return name + "_bytes";
        case Unit::GigabytesPerSecond: return name + "_gbps";
        case Unit::TeraflopsPerSecond: return name + "_tflops";
        case Unit::Percent: return name + "_percent";
        case Unit::Text:
        case Unit::Count:
        case Unit::Identifier: break;
    }
    return name;
}

ColumnType typeOf(const ReportTable& table, size_t column, ColumnType text) {
    bool isReal = false, isWhole = false;
    for (const std::vector<Cell>& row : table.rows) {
        if (std::holds_alternative<std::string>(row[column])) return text;
        isReal |= std::holds_alternative<double>(row[column]);
        isWhole |= std::holds_alternative<int64_t>(row[column]);
    }
    const Unit unit = table.columns[column].unit;
    if (!isReal && !isWhole && unit == Unit::Text) return text;
    if (!isWhole && (unit == Unit::GigabytesPerSecond || unit == Unit::TeraflopsPerSecond || unit == Unit::Percent))
        isReal = true;
    return isReal ? ColumnType::Float64 : ColumnType::Int64;
}

/// Returns the text of a non-text cell in a text column: a number as in CSV.
std::string textOf(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return validUtf8(*text);
    if (const auto* whole = std::get_if<int64_t>(&cell)) return fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
    return {};
}

template <class T>
T numberOf(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<T>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return static_cast<T>(*real);
    return {};
}

/// Converts the cells of a column by `valueOf`.
template <class T, class ValueOf>
ColumnValues columnOf(const ReportTable& table, const ValueOf& valueOf) {
    ColumnValues values{Buffer(table.rows.size() * sizeof(T)), {}, {}, 0};
    for (size_t row = 0; row < table.rows.size(); ++row) values.values.as<T>()[row] = valueOf(table.rows[row]);
    return values;
}

ColumnValues valuesOf(const ReportTable& table, size_t column, ColumnType type, Names& names) {
    switch (type) {
        case ColumnType::Name:
            return columnOf<int32_t>(table, [&](const auto& row) { return names.numberOf(textOf(row[column])); });
        case ColumnType::Float64:
            return columnOf<double>(table, [&](const auto& row) { return numberOf<double>(row[column]); });
        case ColumnType::Text: {
            std::vector<std::string> texts;
            for (const std::vector<Cell>& row : table.rows) texts.push_back(textOf(row[column]));
            return textsAsColumn(texts);
        }
        default: return columnOf<int64_t>(table, [&](const auto& row) { return numberOf<int64_t>(row[column]); });
    }
}

}  // namespace

RowTable::RowTable(const ReportTable& table, ColumnNames names)
    : RowTable(
          table.name, [&table](const auto& add) { add(table); }, names, TextsAre::Plain) {}

RowTable::RowTable(std::string name, const Parts& forEachPart, ColumnNames names, TextsAre texts)
    : Table(std::move(name)) {
    std::vector<Names> dictionaries;
    forEachPart([&](const ReportTable& part) {
        if (columns_.empty()) describeColumns(part, names, texts);
        dictionaries.resize(columns_.size());
        add(part, dictionaries);
        notes_ = part.notes;
    });
    for (size_t column = 0; column < columns_.size(); ++column)
        if (columns_[column].type == ColumnType::Name)
            columns_[column].dictionary = std::make_shared<Dictionary>(dictionaries[column]);
    for (std::string& note : notes_) note = printable(note);
}

void RowTable::describeColumns(const ReportTable& part, ColumnNames names, TextsAre texts) {
    const ColumnType text = texts == TextsAre::Names ? ColumnType::Name : ColumnType::Text;
    for (size_t column = 0; column < part.columns.size(); ++column) {
        const ReportColumn& from = part.columns[column];
        std::string name = names == ColumnNames::Headers ? validUtf8(headerOf(from)) : identifierOf(from);
        columns_.push_back({std::move(name), from.name, from.unit, typeOf(part, column, text)});
    }
}

void RowTable::add(const ReportTable& part, std::vector<Names>& names) {
    if (part.rows.empty()) return;
    parts_.push_back({rowCount_, part.rows.size(), {}});
    rowCount_ += static_cast<int64_t>(part.rows.size());
    for (size_t column = 0; column < columns_.size(); ++column) {
        ColumnValues values = valuesOf(part, column, columns_[column].type, names[column]);
        ValidityBits validity(part.rows.size());
        for (size_t row = 0; row < part.rows.size(); ++row)
            if (std::holds_alternative<std::monostate>(part.rows[row][column])) validity.setNull(row);
        validity.moveTo(values);
        parts_.back().columns.push_back(std::make_shared<ColumnValues>(std::move(values)));
    }
}

Batch RowTable::rows(int64_t first, int64_t maxRows) const {
    const auto next = std::upper_bound(parts_.begin(), parts_.end(), first,
                                       [](int64_t row, const Part& part) { return row < part.firstRow; });
    const Part& part = *std::prev(next);
    const auto offset = static_cast<size_t>(first - part.firstRow);
    return {offset, std::min(part.rows - offset, static_cast<size_t>(maxRows)), part.columns};
}

}  // namespace lanescope::python
