// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/python/library/Columns.h"
#include "app/python/library/arrowAbi.h"

namespace lanescope::python {

/// Rows that a stream hands out at a time, at most.
inline constexpr int64_t rowsPerBatch = int64_t{1} << 20;

/// The columns of a table as a struct; the unit of each in its metadata ("unit": "ns").
void exportSchema(const Table& table, ArrowSchema& out);

/// The rows of a table, in batches that are made as they are asked for. The stream and all that it
/// hands out keep what they need of the table, in whatever order they are released. A stream is for
/// one thread at a time.
void exportStream(TablePtr table, ArrowArrayStream& out);

}  // namespace lanescope::python
