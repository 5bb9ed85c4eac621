// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/format/tables/Enums.h"

namespace lanescope {

/// One row of an `ENUM_*` table.
struct EnumRow {
    int64_t id;
    std::string_view name;   ///< As NVIDIA's headers spell it.
    std::string_view label;  ///< As people read it; what Nsight Systems' reports print.
};

/// An `ENUM_*` table and what it holds.
struct EnumTable {
    const tables::Enum* table;
    std::span<const EnumRow> rows;
};

/// Every `ENUM_*` table of a trace but those of memcpy and memory kinds, which `Memory.h` names.
std::span<const EnumTable> enumTables();

}  // namespace lanescope
