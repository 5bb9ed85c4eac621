// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/format/Sqlite.h"

namespace lanescope {

/// Whose tables an SQLite file holds.
enum class SqliteKind : uint8_t {
    Unknown,
    Lanescope,
    Nsight,  ///< An export of Nsight Systems.
    Nvprof,  ///< Its tables of the same names have other columns.
    Rocpd,   ///< What ROCm's rocprofv3 and rocprof-sys write.
    Rpd,     ///< What ROCm's RPD writes, whose tables begin with the same word.
};

/// Goes by the mark that our files carry and by the names of tables. O(tables).
SqliteKind kindOf(const Database& database);

}  // namespace lanescope
