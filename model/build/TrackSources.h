// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "model/trace/RowsByOwner.h"
#include "model/trace/Trace.h"
#include "model/trace/counterPairs.h"

namespace lanescope {

/// What has tracks beside streams and threads, by whose they are: counters, and the kinds of events
/// that have tracks of their own. Found once for all, as a file may name as many GPUs, processes
/// and counters as it has rows.
class TrackSources {
  public:
    /// O(counters, rows of those kinds, GPUs and processes).
    TrackSources(const Trace& trace, const std::stop_token& stop);

    /// A GPU, or a process where `gpu` is `noIndex`; where both are, the machine.
    struct Owner {
        uint32_t gpu = noIndex, process = noIndex;
    };
    /// In their order; of two that share a track the upper one.
    std::span<const uint32_t> countersOf(Owner owner) const {
        return counters_.of(numberOf(owner));
    }
    const CounterPairs& pairs() const { return pairs_; }
    /// `Trace::timelineRange`.
    TimeRange whole() const { return whole_; }
    /// Rows of the kind which is number `kind` of those with tracks of their own, in their order.
    std::span<const uint32_t> eventsOf(size_t kind, Owner owner) const {
        return events_[kind].of(numberOf(owner));
    }
    /// Whether there is anything of it that has a track. Of a counter also one that is not drawn.
    bool hasAny(Owner owner) const;

  private:
    uint32_t numberOf(Owner owner) const {
        if (owner.gpu != noIndex) return owner.gpu;
        return gpus_ + (owner.process != noIndex ? owner.process : processes_);
    }

    uint32_t gpus_, processes_;
    TimeRange whole_;
    CounterPairs pairs_;
    RowsByOwner counters_;
    std::vector<RowsByOwner> events_;
};

}  // namespace lanescope
