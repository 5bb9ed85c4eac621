// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/flows.h"

#include <algorithm>
#include <ranges>

#include "model/trace/collectives.h"
#include "model/trace/kinds/eventFacts.h"

namespace lanescope {

namespace {

/// Limit of waits of one piece of work; an untrusted file may contain any number.
constexpr uint32_t maxWaits = 256;
/// Limit of skipped work without a correlation.
constexpr uint32_t maxSkips = 64;
/// Limits of NCCL calls searched on each side for other calls of a collective, and of CUDA calls within an NCCL call.
constexpr uint32_t maxCallsPerSide = 20'000, maxLaunchesWithin = 4096;

/// Stream and correlation of GPU work; stream `noIndex` for other events.
struct Launch {
    uint32_t stream = noIndex;
    uint32_t correlation = 0;
};

Launch launchOf(const Trace& trace, EventRef event) {
    if (!isGpuWork(event.kind())) return {};
    return {streamOf(trace, event), correlationOf(trace, event)};
}

const Track* trackOf(const Trace& trace, uint32_t stream) {
    for (const Track& track : trace.tracks)
        if (track.kind == TrackKind::Stream && track.subject == stream) return &track;
    return nullptr;
}

/// Work of a stream in submission order: a stream runs in that order, so in each lane correlations
/// ascend with the starts.
class StreamWork {
  public:
    StreamWork(const Trace& trace, uint32_t stream) : trace_(trace), track_(trackOf(trace, stream)) {}

    /// Returns the last work submitted before `correlation`, or an invalid reference.
    EventRef lastBefore(uint32_t correlation) const {
        EventRef last;
        uint32_t greatest = 0;
        for (uint32_t lane = 0; lane < laneCount(); ++lane) {
            for (uint32_t slice = firstFrom(lane, correlation); slice-- > 0;) {
                const uint32_t found = correlationAt(lane, slice);
                if (found == 0) continue;
                if (found > greatest) {
                    greatest = found;
                    last = track_->lanes[lane].event[slice];
                }
                break;
            }
        }
        return last;
    }

    /// Returns the first work submitted after `correlation`, or an invalid reference.
    EventRef firstAfter(uint32_t correlation) const {
        EventRef first;
        if (correlation == noIndex) return first;
        uint32_t least = noIndex;
        for (uint32_t lane = 0; lane < laneCount(); ++lane) {
            const uint32_t count = track_->lanes[lane].size();
            const uint32_t from = firstFrom(lane, correlation + 1);
            for (uint32_t slice = from; slice < count; ++slice) {
                const uint32_t found = correlationAt(lane, slice);
                if (found == 0) continue;
                if (found < least) {
                    least = found;
                    first = track_->lanes[lane].event[slice];
                }
                break;
            }
        }
        return first;
    }

  private:
    uint32_t laneCount() const { return track_ ? uint32_t(track_->lanes.size()) : 0; }
    uint32_t correlationAt(uint32_t lane, uint32_t slice) const {
        return launchOf(trace_, track_->lanes[lane].event[slice]).correlation;
    }
    /// Returns the first slice of the lane that was submitted at `correlation` or later.
    uint32_t firstFrom(uint32_t lane, uint32_t correlation) const {
        uint32_t low = 0, high = track_->lanes[lane].size();
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            uint32_t known = middle;
            while (known < high && known - middle < maxSkips && correlationAt(lane, known) == 0) ++known;
            if (known < high && correlationAt(lane, known) < correlation) {
                low = known + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    const Trace& trace_;
    const Track* track_;
};

/// Returns the rows `[first, last)` whose `keyOf` is greater than `after` and at most `upTo`.
template <class KeyOf, class Key>
std::pair<uint32_t, uint32_t> rowsBetween(uint32_t count, const KeyOf& keyOf, Key after, Key upTo) {
    const auto firstAbove = [&](const Key& key) {
        return *std::ranges::upper_bound(std::views::iota(0u, count), key, {}, keyOf);
    };
    const uint32_t first = firstAbove(after);
    return {first, std::min(std::max(first, firstAbove(upTo)), first + maxWaits)};
}

using Key = std::pair<uint32_t, uint32_t>;  // Stream and correlation.

void addOnce(std::vector<EventRef>& events, EventRef event) {
    if (event.isValid() && std::ranges::find(events, event) == events.end()) events.push_back(event);
}

void sortByStart(const Trace& trace, std::vector<EventRef>& events) {
    std::ranges::stable_sort(events, {}, [&trace](EventRef event) { return trace.rangeOf(event).startNs; });
}

bool isRange(EventRef event) { return event.kind() == EventKind::Nvtx || event.kind() == EventKind::Projection; }

/// Returns the row of `NvtxTable` of an event or of its projection; `noIndex` for others.
uint32_t rangeRowOf(const Trace& trace, EventRef event) {
    if (event.kind() == EventKind::Nvtx) return event.row();
    if (event.kind() != EventKind::Projection || event.row() >= trace.projections.size()) return noIndex;
    return trace.projections.nvtx[event.row()];
}

/// Returns the positions of a range within sorted pairs that `keyAt` returns.
std::pair<uint32_t, uint32_t> placesOf(const Trace& trace, uint32_t nvtx, const auto& keyAt) {
    if (nvtx == noIndex) return {0, 0};
    const auto keyOf = [&keyAt](uint32_t place) { return int64_t{keyAt(place)}; };
    return rowsBetween(trace.backwards.size(), keyOf, int64_t{nvtx} - 1, int64_t{nvtx});
}

std::pair<uint32_t, uint32_t> placesAsForward(const Trace& trace, uint32_t nvtx) {
    return placesOf(trace, nvtx, [&](uint32_t pair) { return trace.backwards.forward[pair]; });
}

/// Returns positions in `byBackward`.
std::pair<uint32_t, uint32_t> placesAsBackward(const Trace& trace, uint32_t nvtx) {
    const BackwardTable& table = trace.backwards;
    return placesOf(trace, nvtx, [&table](uint32_t place) { return table.backward[table.byBackward[place]]; });
}

uint32_t processOfCall(const Trace& trace, uint32_t row) {
    return trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
}

/// Returns true if NCCL's sequence number of the call is known, so that the calls of other ranks can be matched.
bool isNumberedCollective(const Trace& trace, uint32_t row) {
    const NcclFacts facts = trace.nccl.facts[row];
    return facts.sequence >= 0 && facts.operationCount > 0 && !facts.isCaptured && trace.nccl.communicator[row] != 0 &&
           isCollective(trace.strings.at(trace.nccl.operation[row]));
}

/// Returns the first work that an NCCL call launched, or an invalid reference.
EventRef workOfCall(const Trace& trace, uint32_t row) {
    const int64_t startNs = trace.nccl.facts[row].gpu.startNs;
    const auto [thread, during] = launchOfNcclCall(trace, row);
    const ApiTable& calls = trace.apiCalls;
    auto call = static_cast<uint32_t>(std::ranges::lower_bound(calls.startNs, during.startNs) - calls.startNs.begin());
    const uint32_t end = call + std::min(calls.size() - call, maxLaunchesWithin);
    for (; call < end && calls.startNs[call] < during.endNs; ++call) {
        if (calls.thread[call] != thread) continue;
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, call)))
            if (trace.rangeOf(work).startNs == startNs) return work;
    }
    return {};
}

}  // namespace

std::vector<EventRef> awaitedWork(const Trace& trace, EventRef work) {
    std::vector<EventRef> awaited;
    const StreamWaitTable& waits = trace.streamWaits;
    const Launch launch = launchOf(trace, work);
    if (launch.correlation == 0 || waits.size() == 0) return awaited;
    // Waits between the previous work and this one delay this one.
    const EventRef before = StreamWork(trace, launch.stream).lastBefore(launch.correlation);
    const auto keyOf = [&](uint32_t row) { return Key(waits.waitingStream[row], waits.waitCorrelation[row]); };
    const auto [first, last] = rowsBetween(waits.size(), keyOf, Key(launch.stream, launchOf(trace, before).correlation),
                                           Key(launch.stream, launch.correlation));
    for (uint32_t row = first; row < last; ++row)
        addOnce(awaited, StreamWork(trace, waits.recordedStream[row]).lastBefore(waits.recordCorrelation[row]));
    sortByStart(trace, awaited);
    return awaited;
}

std::vector<EventRef> waitingWork(const Trace& trace, EventRef work) {
    std::vector<EventRef> waiting;
    const StreamWaitTable& waits = trace.streamWaits;
    const Launch launch = launchOf(trace, work);
    if (launch.correlation == 0 || waits.size() == 0) return waiting;
    // Events recorded between this work and the next of its stream complete with this one.
    const StreamWork own(trace, launch.stream);
    const EventRef next = own.firstAfter(launch.correlation);
    const uint32_t upTo = next.isValid() ? launchOf(trace, next).correlation : noIndex;
    const auto keyOf = [&](uint32_t row) {
        const uint32_t wait = waits.byRecord[row];
        return Key(waits.recordedStream[wait], waits.recordCorrelation[wait]);
    };
    const auto [first, last] =
        rowsBetween(waits.size(), keyOf, Key(launch.stream, launch.correlation), Key(launch.stream, upTo));
    // If one call launched several pieces of work, waits depend on the last one.
    if (own.lastBefore(upTo) != work) return waiting;
    for (uint32_t row = first; row < last; ++row) {
        const uint32_t wait = waits.byRecord[row];
        addOnce(waiting, StreamWork(trace, waits.waitingStream[wait]).firstAfter(waits.waitCorrelation[wait]));
    }
    sortByStart(trace, waiting);
    return waiting;
}

std::vector<EventRef> forwardOf(const Trace& trace, EventRef range) {
    std::vector<EventRef> found;
    const BackwardTable& table = trace.backwards;
    const auto [first, last] = placesAsBackward(trace, rangeRowOf(trace, range));
    for (uint32_t place = first; place < last; ++place)
        found.emplace_back(EventKind::Nvtx, table.forward[table.byBackward[place]]);
    return found;
}

std::vector<EventRef> backwardOf(const Trace& trace, EventRef range) {
    std::vector<EventRef> found;
    const auto [first, last] = placesAsForward(trace, rangeRowOf(trace, range));
    for (uint32_t pair = first; pair < last; ++pair)
        found.emplace_back(EventKind::Nvtx, trace.backwards.backward[pair]);
    return found;
}

std::vector<uint32_t> pairsOf(const Trace& trace, uint32_t nvtx) {
    std::vector<uint32_t> pairs;
    const auto [first, last] = placesAsForward(trace, nvtx);
    for (uint32_t pair = first; pair < last; ++pair) pairs.push_back(pair);
    const auto [from, to] = placesAsBackward(trace, nvtx);
    for (uint32_t place = from; place < to; ++place) pairs.push_back(trace.backwards.byBackward[place]);
    return pairs;
}

std::vector<EventRef> collectiveOf(const Trace& trace, EventRef work) {
    const uint32_t row = isGpuWork(work.kind()) ? ncclCallOfWork(trace, work) : noIndex;
    if (row == noIndex || !isNumberedCollective(trace, row)) return {};
    const int64_t sequence = trace.nccl.facts[row].sequence;
    std::vector<EventRef> found{work};
    const uint32_t end = row + std::min(trace.nccl.size() - row, maxCallsPerSide);
    for (uint32_t other = row - std::min(row, maxCallsPerSide); other < end; ++other) {
        if (other == row || trace.nccl.communicator[other] != trace.nccl.communicator[row] ||
            trace.nccl.operation[other] != trace.nccl.operation[row] ||
            processOfCall(trace, other) == processOfCall(trace, row) || !isNumberedCollective(trace, other) ||
            trace.nccl.facts[other].sequence != sequence)
            continue;
        if (const EventRef its = workOfCall(trace, other); its.isValid()) found.push_back(its);
    }
    if (found.size() < 2) return {};
    std::ranges::sort(found, {}, [&trace](EventRef each) { return trace.rangeOf(each).startNs; });
    return found;
}

std::vector<EventRef> causesOf(const Trace& trace, EventRef event) {
    if (isRange(event)) return forwardOf(trace, event);
    std::vector<EventRef> causes = awaitedWork(trace, event);
    if (const EventRef call = trace.launchingCall(event); call.isValid()) causes.insert(causes.begin(), call);
    return causes;
}

std::vector<EventRef> causedBy(const Trace& trace, EventRef event) {
    if (isRange(event)) return backwardOf(trace, event);
    return event.kind() == EventKind::Api ? trace.launchedWork(event) : waitingWork(trace, event);
}

}  // namespace lanescope
