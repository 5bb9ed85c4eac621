// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>

#include "model/importers/events/emitEvents.h"
#include "model/numbers/LargeMemory.h"

namespace lanescope {

/// The role of an operator in the autograd graph, as stated in the file.
enum class OperatorRole : uint8_t { Unknown, Forward, Backward };

/// An operator, which may have a flow event to or from it.
struct FlowOperator {
    int64_t startNs, endNs;
    uint32_t thread, row;  ///< Index of the thread and row of the range.
    OperatorRole role;
};

/// An end of a flow event on the clock and the threads of the trace.
struct FlowEnd {
    int64_t timeNs;
    uint64_t id;
    uint32_t process;  ///< The scope of the id; `noIndex` for all processes.
    uint32_t thread;
    uint32_t row;  ///< Row of its operator, or `noIndex`.
    char phase;    ///< Like in `ForeignFlowEnd`.

    auto flow() const { return std::tuple(process, id); }
    /// Sort key: starts come first, and duplicates are adjacent.
    auto order() const { return std::tuple(process, id, timeNs, phase != 's', row); }
};

/// Finds the operator of each flow end. It is the innermost operator that begins there, preferably one with the role
/// that the flow event requires. With times in whole microseconds, an operator begins together with its parts. Else it
/// is the innermost operator around the end. Both lists must be sorted by thread and time, outer operators first. O(n).
void findOperators(LargeVector<FlowEnd>& ends, const LargeVector<FlowOperator>& operators);

struct NumberedOperator {
    int64_t sequence = 0;
    int64_t startNs = 0, endNs = 0;
    uint32_t process = 0, thread = 0;
    uint32_t forwardThread = 0;  ///< Like in `ForeignSequence`.
    uint32_t row = 0;            ///< Row of the ranges.
};
using NumberedOperators = LargeVector<NumberedOperator>;

/// Connects operators with their backward by sequence number, where no flow event does, and emits the pairs.
/// - The forward is the last operator of a thread with the number, since it made the node of the
///   graph in PyTorch.
/// - The backward is the innermost of its nested operators.
/// - The file numbers threads in its own way. Each number is mapped to the thread that matches most
///   of its sequence numbers, if no other thread matches more than half as many.
///
/// Sorts both lists. O(n log n).
void joinBySequence(EmitContext& output, EmitFindings& findings, NumberedOperators& forwards,
                    NumberedOperators& backwards);

}  // namespace lanescope
