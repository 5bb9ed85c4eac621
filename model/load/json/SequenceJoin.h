// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/load/json/giveEvents.h"
#include "model/values/LargeMemory.h"

namespace lanescope {

/// An operator that says its number in the graph of gradients.
struct NumberedOperator {
    int64_t sequence = 0;
    int64_t startNs = 0, endNs = 0;
    uint32_t process = 0, thread = 0;
    uint32_t forwardThread = 0;  ///< As `JsonSequence`.
    uint32_t row = 0;            ///< Of the ranges.
};
using NumberedOperators = LargeVector<NumberedOperator>;

/// Joins operators with their backward by these numbers, where no arrow says it, and gives the
/// pairs to the builder. Of the operators of a thread that have a number, the last one made the
/// node of the graph, as PyTorch itself takes it; of those of its backward that lie in each other
/// the innermost is it. The file counts threads in a way of its own, so each of those is taken for
/// the one thread that knows most of its numbers, if no other knows more than half as many. Sorts
/// both. O(n log n).
void joinBySequence(JsonGiving& giving, JsonFindings& findings, NumberedOperators& forwards,
                    NumberedOperators& backwards);

}  // namespace lanescope
