// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/searchText.h"

#include <string>
#include <string_view>

#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

std::string_view textAt(const ReportTable& table, int row, std::string_view columnName) {
    if (row < 0 || size_t(row) >= table.rows.size()) return {};
    const auto& cells = table.rows[size_t(row)];
    for (size_t column = 0; column < table.columns.size() && column < cells.size(); ++column) {
        if (table.columns[column].name != columnName) continue;
        const auto* text = std::get_if<std::string>(&cells[column]);
        return text ? std::string_view(*text) : std::string_view();
    }
    return {};
}

QString withoutDomain(std::string_view label) {
    const size_t colon = label.find(':');
    return toQString(colon == std::string_view::npos ? label : label.substr(colon + 1)).trimmed();
}

QString memcpyOf(std::string_view kind) {
    return QStringLiteral("memcpy ") + toQString(kind);
}

}  // namespace

QString searchText(const ReportTable& table, int row) {
    const std::string_view name = textAt(table, row, "Name");
    if (const std::string_view group = textAt(table, row, "Group"); !group.empty()) {
        if (group == "memcpy") return memcpyOf(name);
        if (group == "NVTX range") return withoutDomain(name);
    }
    if (!name.empty()) return toQString(name);
    if (const auto range = textAt(table, row, "Range"); !range.empty()) return withoutDomain(range);
    if (const auto kind = textAt(table, row, "Kind"); !kind.empty()) return memcpyOf(kind);
    return toQString(textAt(table, row, "Operation"));
}

}  // namespace lanescope::views
