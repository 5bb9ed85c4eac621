// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "model/search/SearchQuery.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Takes the next hits, now and then none; false ends the search.
using HitSink = std::function<bool(std::span<const EventRef> hits)>;

/// Finds the events whose name matches and that start in `range`, in order of start: all that stand
/// on a track as slices, kernels by short or full name, memcpys by direction ("memcpy HtoD"), NCCL
/// calls also by data type, algorithm, protocol and communicator. Each distinct name is tested
/// once, so the time goes by the events, about a nanosecond for one that is no hit. With terms on
/// stacks only calls and work on GPUs, of whose stacks all terms hold; that takes a pass over all
/// launches. False if `sink` ended it. Any thread.
bool findEvents(const Trace& trace, const SearchQuery& query, TimeRange range, const HitSink& sink);

}  // namespace lanescope
