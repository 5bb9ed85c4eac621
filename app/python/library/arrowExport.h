// SPDX-License-Identifier: Apache-2.0
// The structs of Arrow's C data interface and C stream interface, as their specification lays them
// out. Whoever fills one in sets `release`; whoever calls it finds it null afterwards. A struct is
// moved by copying its bytes and setting `release` of the old place to null.
#pragma once

#include <cstdint>

#include "app/python/library/Columns.h"

extern "C" {

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    /// These two return 0 or a number of errno; the text of the last error is valid until the next
    /// call. At the end of the stream the array that is handed out is a released one.
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

}  // extern "C"

namespace lanescope::python {

inline constexpr int64_t arrowFlagNullable = 2;

/// Rows that a stream hands out at a time, at most.
inline constexpr int64_t rowsPerBatch = int64_t{1} << 20;

/// The columns of a table as a struct; the unit of each in its metadata ("unit": "ns").
void exportSchema(const Table& table, ArrowSchema& out);

/// The rows of a table, in batches that are made as they are asked for. The stream and all that it
/// hands out keep what they need of the table, in whatever order they are released. A stream is for
/// one thread at a time.
void exportStream(TablePtr table, ArrowArrayStream& out);

}  // namespace lanescope::python
