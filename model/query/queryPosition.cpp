// SPDX-License-Identifier: Apache-2.0
#include "model/query/queryPosition.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope {

QueryPosition queryPosition(std::string_view sql, size_t offset) {
    const std::string_view before = sql.substr(0, std::min(offset, sql.size()));
    const size_t lineStart = before.rfind('\n');
    return {static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
            before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1) + 1};
}

std::string sentenceOf(const QueryError& error, std::string_view sql) {
    if (!error.offset) return error.sentence;
    const QueryPosition position = queryPosition(sql, *error.offset);
    return fmt::format("Line {}, column {}: {}", position.line, position.column, error.sentence);
}

}  // namespace lanescope
