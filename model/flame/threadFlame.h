// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/flame/FlameTree.h"
#include "model/flame/makeFlame.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What threads did as a tree, arranged: each process, in it each thread, in that its stacks, by
/// samples where it was sampled while it ran, else by looks. Time that it did not run stands in a
/// last frame in brackets, called as the state is: "[GIL]". `base` says whether lines are told
/// apart; of `Ranges` functions are. O(states and frames). Any thread.
FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range = {});

}  // namespace lanescope
