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

struct QueryLimits {
    std::chrono::milliseconds time{30'000};    ///< The query fails after this time.
    int64_t rows = 100'000;                    ///< Later rows are skipped, which is reported.
    int64_t resultBytes = int64_t{256} << 20;  ///< Size of the result. Later rows are skipped, too.
    int64_t workingBytes = int64_t{1} << 30;   ///< For sorting and grouping; then the query fails.
};

struct QueryResult {
    ReportTable table;
    bool isCut = false;  ///< More rows exist beyond the limits.
    std::chrono::milliseconds took{0};
};

struct QueryError {
    std::string sentence;
    /// Position in the text of the query in bytes, if known.
    std::optional<size_t> offset;
};

/// A readable table with its columns in order.
struct QueryTable {
    struct Column {
        std::string name;
        std::string type;  ///< As declared. May be empty.
    };
    std::string name;
    std::vector<Column> columns;
};

}  // namespace lanescope
