// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/export/TextSink.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Writes the time of work on GPUs over the Python stacks that launched it as folded text, which
/// makers of flame graphs take: a line for each stack and name of work, its frames from outside
/// inwards with semicolons between them, then what ran, a blank and nanoseconds. Lines come in the
/// order of their text. What was launched for another thread has the launching thread behind that
/// thread's stack, in brackets. O(work) and the sorting of the lines.
void writeFoldedStacks(const Trace& trace, const TextSink& sink);

}  // namespace lanescope
