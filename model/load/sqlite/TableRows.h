// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/load/sqlite/LoadContext.h"
#include "model/load/sqlite/RowBatch.h"
#include "model/load/sqlite/StretchReader.h"

namespace lanescope {

/// The rows of a table in the order of the file, some at a time. A large table whose rows are
/// numbered is read by all threads of the load; what comes is the same however many there are.
class TableRows {
  public:
    /// `columns` as they follow SELECT; `table` is a constant of this program.
    TableRows(LoadContext& context, const char* table, const std::string& columns);

    /// The next rows; null at the end and behind a damaged place. Valid until the next call.
    const RowBatch* next();
    bool isDamaged() const { return isDamaged_; }

  private:
    bool readByStretches(LoadContext& context, const char* table, const std::string& columns);

    std::unique_ptr<StretchReader> stretches_;  ///< Null where one statement reads all.
    std::optional<Statement> statement_;
    RowBatch batch_;
    bool isDamaged_ = false;
};

}  // namespace lanescope
