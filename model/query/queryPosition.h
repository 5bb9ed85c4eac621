// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/query/QueryResult.h"

namespace lanescope {

/// Where in the query it went wrong, counted from 1; the column in bytes.
struct QueryPosition {
    size_t line = 1;
    size_t column = 1;
};
QueryPosition queryPosition(std::string_view sql, size_t offset);

/// The error as one sentence, with line and column where they are known.
std::string sentenceOf(const QueryError& error, std::string_view sql);

}  // namespace lanescope
