// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "model/load/sqlite/LoadContext.h"

namespace lanescope {

/// A table of a foreign file that nothing is made of.
struct UnreadTable {
    std::string_view table;
    std::string_view rows;  ///< What its rows are, in the plural.
};

/// Adds a health note for each of the tables that has rows, so that nobody takes what is not shown
/// for what is not there; says how many. O(rows of these tables).
size_t noteNotShown(LoadContext& context, std::span<const UnreadTable> tables);

/// The same of what exports of Nsight Systems hold beside what was read of them until now: tables
/// that are known to hold events, and any others whose rows have a time.
void noteNotShownOfNsight(LoadContext& context);

}  // namespace lanescope
