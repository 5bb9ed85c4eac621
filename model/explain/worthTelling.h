// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/compare/RunSummary.h"
#include "model/compare/stepPatterns.h"

namespace lanescope::explain {

/// What the median step has of a part. Half of the steps have as much at least, so it is a matter
/// of the program; what only fewer have is one of those steps.
int64_t ofTypicalStepNs(const compare::WorkerSummary& worker, compare::StepPart part);

/// A kernel that does nothing but set memory, as `zeros` and `fill_` of PyTorch: a memset, though
/// the driver knows of none.
bool isFill(const compare::Contributor& each);

/// Whether the steps of a pattern are longer by what the GPU computes in them, and not so long that
/// they are odd ones: batches of several sizes, in turn or in no order. That is what the program
/// does, and where nobody waits for it nothing is lost. Steps that grow or that are longer from one
/// on are no such thing.
bool isOfBatchSize(const compare::StepPattern& pattern, const compare::WorkerSummary& worker);

}  // namespace lanescope::explain
