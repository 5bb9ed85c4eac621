// SPDX-License-Identifier: Apache-2.0
// The structs of Arrow's C data interface and C stream interface, with the layout of their
// specification. The producer sets `release`, which is null after its call. A struct is moved by
// copying its bytes and setting `release` of the old one to null.
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
    /// Both return 0 or an errno; the text of the last error is valid until the next call. At the
    /// end of the stream the returned array is a released one.
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

}  // extern "C"

namespace lanescope::python {

inline constexpr int64_t arrowFlagNullable = 2;

/// Max rows per batch of a stream.
inline constexpr int64_t rowsPerBatch = int64_t{1} << 20;

/// Exports the columns of a table as a struct; the metadata contains the unit of each ("unit": "ns").
void exportSchema(const Table& table, ArrowSchema& out);

/// Exports the rows of a table, in batches made on request. The stream and its batches keep their
/// data alive and can be released in any order. A stream is for one thread at a time.
void exportStream(TablePtr table, ArrowArrayStream& out);

}  // namespace lanescope::python
