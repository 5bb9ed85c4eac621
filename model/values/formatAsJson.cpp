// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/values/formatTable.h"
#include "model/values/formatValue.h"

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
    return withoutControls(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// A row at a time, so that a long table needs no second copy of itself as a document.
class JsonFormatter : public TableFormatter {
  public:
    std::string next(const ReportTable& part) override {
        std::vector<std::string> keys;
        for (const ReportColumn& column : part.columns) keys.push_back(headerOf(column));
        std::string text;
        for (const std::vector<Cell>& row : part.rows) {
            Json object = Json::object();
            for (size_t column = 0; column < row.size() && column < keys.size(); ++column)
                object[keys[column]] = toJson(row[column]);
            text += (isEmpty_ ? "[\n  " : ",\n  ") + dumped(object);
            isEmpty_ = false;
        }
        return text;
    }

    std::string end() override { return isEmpty_ ? "[]\n" : "\n]\n"; }

  private:
    bool isEmpty_ = true;
};

}  // namespace

std::unique_ptr<TableFormatter> makeJsonFormatter() {
    return std::make_unique<JsonFormatter>();
}

}  // namespace lanescope
