// SPDX-License-Identifier: Apache-2.0
#include "model/build/TrackSources.h"

#include <algorithm>

#include "model/trace/kinds/allKinds.h"

namespace lanescope {

TrackSources::TrackSources(const Trace& trace, const std::stop_token& stop)
    : gpus_(static_cast<uint32_t>(trace.gpus.size())),
      processes_(static_cast<uint32_t>(trace.processes.size())),
      whole_(trace.timelineRange()),
      pairs_(counterPairs(trace.counters)) {
    const size_t owners = size_t{gpus_} + processes_ + 1;
    Column<uint32_t> ofCounters(trace.memory.get());
    for (const CounterSeries& series : trace.counters)
        ofCounters.push_back(numberOf({series.gpu, series.process}));
    counters_ = RowsByOwner(ofCounters, owners, stop, [this](uint32_t counter) {
        return pairs_.upperOf[counter] == noIndex;
    });
    forEachKind([&](auto each) {
        if constexpr (requires { each.trackTitle; }) {
            Column<uint32_t> ofEvents(trace.memory.get());
            for (uint32_t row = 0; row < each.size(trace); ++row) {
                if (isStopped(stop, row)) break;
                const kinds::TrackSubject own = each.trackOf(trace, row);
                const bool isOfGpu = own.kind == TrackKind::GpuEvents;
                ofEvents.push_back(
                    numberOf({isOfGpu ? own.subject : noIndex, isOfGpu ? noIndex : own.subject}));
            }
            events_.emplace_back(ofEvents, owners, stop);
        }
    });
}

bool TrackSources::hasAny(Owner owner) const {
    const uint32_t number = numberOf(owner);
    return !counters_.of(number).empty() ||
           std::ranges::any_of(events_,
                               [&](const RowsByOwner& kind) { return !kind.of(number).empty(); });
}

}  // namespace lanescope
