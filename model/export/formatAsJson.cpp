#include <nlohmann/json.hpp>

#include "model/export/formatTable.h"

namespace lanescope {

namespace {

using Json = nlohmann::ordered_json;

Json toJson(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return nullptr;
}

std::string dumped(const Json& json) {
    // Names in a trace may be any bytes; without this, dump() would throw on them.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string formatAsJson(const ReportTable& table) {
    // A row at a time, so that a long table needs no second copy of itself as a document.
    std::vector<std::string> keys;
    for (const ReportColumn& column : table.columns) keys.push_back(headerOf(column));
    std::string text = "[";
    const char* separator = "\n  ";
    for (const std::vector<Cell>& row : table.rows) {
        Json object = Json::object();
        for (size_t column = 0; column < row.size() && column < keys.size(); ++column)
            object[keys[column]] = toJson(row[column]);
        text += separator + dumped(object);
        separator = ",\n  ";
    }
    text += table.rows.empty() ? "]\n" : "\n]\n";
    return text;
}

}  // namespace lanescope
