// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/values/ReportTable.h"

namespace lanescope {

/// What a query answered.
struct QueryResult {
    ReportTable table;
    bool isCut = false;  ///< There is more than the limits let through.
    std::chrono::milliseconds took{0};
};

/// Why a query has no answer.
struct QueryError {
    std::string sentence;
    /// Where in the text of the query, in bytes; none if it is not about a place.
    std::optional<size_t> offset;
};

/// A table that can be asked, with its columns in their order.
struct QueryTable {
    struct Column {
        std::string name;
        std::string type;  ///< As declared; may be empty.
    };
    std::string name;
    std::vector<Column> columns;
};

}  // namespace lanescope
