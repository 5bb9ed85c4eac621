// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "model/load/inspector/InspectorFile.h"

namespace lanescope {

/// Calls `visit` for the operations of each rank of each communicator of each process.
void forEachRank(std::span<const InspectorOperation> operations,
                 const std::function<void(std::span<const InspectorOperation>)>& visit);

/// Sorts them by process, communicator and rank, and gives each a time: what says nothing of when
/// it ran is laid where it was written down, its end there at the latest and no two of a rank of a
/// communicator over each other, those of one name in the order of their numbers. O(n log n).
void placeOperations(LargeVector<InspectorOperation>& operations);

}  // namespace lanescope
