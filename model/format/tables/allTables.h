// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "model/format/Table.h"

namespace lanescope::tables {

/// Every table that a new trace has, in the order in which they are made.
std::span<const Table* const> traceTables();
/// Those of them that hold events.
std::span<const Table* const> eventTables();
/// Those of what is stored when a recording is closed, which not every trace has.
std::span<const Table* const> storedTables();

}  // namespace lanescope::tables
