// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "model/importers/events/emitEvents.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// What an operator says that it is in the graph of gradients.
enum class OperatorRole : uint8_t { Unsaid, Forward, Backward };

/// An operator, which may have an arrow to or from it.
struct ArrowOperator {
    int64_t startNs, endNs;
    uint32_t thread, row;  ///< Of the threads, and of the ranges.
    OperatorRole role;
};

/// An end of an arrow on the clock and the threads of the trace.
struct ArrowEnd {
    int64_t timeNs;
    uint64_t id;
    uint32_t process;  ///< In which the id holds; `noIndex` for all.
    uint32_t thread;
    uint32_t row;  ///< Of the operator that it belongs to, or `noIndex`.
    char phase;    ///< As `JsonArrowEnd`.

    auto arrow() const { return std::tuple(process, id); }
    /// A beginning comes before an end, and what is there twice stands together.
    auto order() const { return std::tuple(process, id, timeNs, phase != 's', row); }
};

/// Finds the operators that ends of arrows belong to: the innermost that begins there, first of
/// those that say that they are what the arrow takes them for, since where times are whole
/// microseconds an operator begins with what it is made of; else the innermost around it. Both in
/// order of thread and time, of operators that begin together the outer first. O(n).
void findOperators(LargeVector<ArrowEnd>& ends, const LargeVector<ArrowOperator>& operators);

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
