// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/text/ReportTable.h"

namespace lanescope {

/// How much one query may take before it is stopped or cut.
struct QueryLimits {
    std::chrono::milliseconds time{30'000};    ///< Then the query fails.
    int64_t rows = 100'000;                    ///< What comes after is left out, which is said.
    int64_t resultBytes = int64_t{256} << 20;  ///< The same for the size of what is kept.
    int64_t workingBytes = int64_t{1} << 30;   ///< For sorting and grouping; then the query fails.
};

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
