// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/analysis/StepSelection.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Whether anything in a trace says that a model is trained: a range, kernel or thread named like
/// the backward or an optimizer, or a collective that sums up gradients (AllReduce, ReduceScatter).
/// O(ranges + calls of NCCL + launch configurations).
bool isTraining(const Trace& trace);

/// Whether a name says that its ranges are requests: one of its words is request, query or req.
bool isRequestName(std::string_view pattern);
/// The same of ranges of a trace in which nothing is trained.
bool areRequestsNamed(const Trace& trace, std::string_view pattern);

/// Whether steps that were found are requests of a server, by what looks saw between them:
///
/// - nothing is trained (`isTraining`), and they are not called steps, iterations or batches,
/// - the thread that launches their work waited for input or to be woken for most of the time
///   between the last work of one and the first of the next, and for a tenth of all time at least,
///   not in a loader of data,
/// - meanwhile the rest of the program waited, too, and did not prepare what comes next,
/// - they come irregularly, as what comes from outside does.
///
/// What is less certain stays a step. Each request then ends where its work does. O(n log n) in the
/// GPU work.
void tellRequests(const Trace& trace, RunSteps& run);

}  // namespace lanescope
