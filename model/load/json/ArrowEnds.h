// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "model/values/LargeMemory.h"

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

}  // namespace lanescope
