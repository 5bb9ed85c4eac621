// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "model/load/sqlite/LoadContext.h"

namespace lanescope {

/// A table of a foreign file that nothing is made of.
struct UnreadTable {
    const char* table;
    std::string_view rows;  ///< What its rows are, in the plural.
};

/// Adds a health note for each of the tables that has rows, so that nobody takes what is not shown
/// for what is not there. O(rows of these tables).
void noteNotShown(LoadContext& context, std::span<const UnreadTable> tables);

/// The same of what exports of Nsight Systems hold beside what is read of them.
void noteNotShownOfNsight(LoadContext& context);

}  // namespace lanescope
