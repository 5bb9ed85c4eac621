// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/flowArrows.h"

#include "model/trace/clockError.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"

namespace lanescope::views {
namespace {

constexpr size_t mostArrows = 48;

std::optional<FlowEnd> endAt(const Trace& trace, const TrackLayout& layout, EventRef event) {
    const SliceLocation location = trace.locate(event);
    if (!location.isValid()) return std::nullopt;
    FlowEnd end{event, trace.rangeOf(event).startNs, 0, location.track, false};
    const LayoutRow* row = layout.visibleRowOf(location.track);
    if (!row) {
        end.isHidden = true;
        return end;
    }
    const bool isShown =
        row->track == location.track && location.lane < static_cast<uint32_t>(row->laneCount);
    end.y = isShown ? TrackLayout::laneTop(*row, location.lane) + row->laneHeight / 2.0
                    : row->top + row->height / 2.0;
    return end;
}

int64_t clockErrorOf(const Trace& trace, EventRef work) {
    const EventRef call = trace.launchingCall(work);
    if (!call.isValid()) return 0;
    return clockErrorNs(trace.processes[trace.threads[trace.apiCalls.thread[call.row()]].process]);
}

/// From the last rank of a collective to the others, or to `event` if that is one of these.
void addRanks(const Trace& trace, const TrackLayout& layout, EventRef event,
              std::vector<FlowArrow>& arrows) {
    const std::vector<EventRef> ranks = collectiveOf(trace, event);
    if (ranks.empty()) return;
    const EventRef last = ranks.back();
    const int64_t beganNs = trace.rangeOf(last).startNs;
    for (const EventRef each : ranks) {
        if (each == last || (event != last && event != each) || arrows.size() >= mostArrows)
            continue;
        auto from = endAt(trace, layout, last);
        auto to = endAt(trace, layout, each);
        if (!from || !to || (from->isHidden && to->isHidden)) continue;
        // Until then it waited, or to its own end, where clocks contradict each other.
        to->timeNs = std::min(beganNs, trace.rangeOf(each).endNs);
        arrows.push_back({FlowKind::Rank, *from, *to, each == event ? last : each,
                          clockErrorOf(trace, last) + clockErrorOf(trace, each)});
    }
}

}  // namespace

std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event) {
    std::vector<FlowArrow> arrows;
    const auto add = [&](FlowKind kind, EventRef cause, EventRef effect) {
        if (arrows.size() >= mostArrows) return;
        auto from = endAt(trace, layout, cause);
        const auto to = endAt(trace, layout, effect);
        if (!from || !to || (from->isHidden && to->isHidden)) return;
        // The work may begin while the call still runs; an arrow never points back in time.
        const int64_t endNs = trace.rangeOf(cause).endNs;
        if (endNs <= to->timeNs) from->timeNs = endNs;
        arrows.push_back({kind, *from, *to, cause == event ? effect : cause, 0});
    };
    if (event.kind() == EventKind::Api) {
        for (const EventRef work : trace.launchedWork(event)) add(FlowKind::Launch, event, work);
    } else if (event.kind() == EventKind::Nvtx) {
        for (const EventRef forward : forwardOf(trace, event))
            add(FlowKind::Backward, forward, event);
        for (const EventRef backward : backwardOf(trace, event))
            add(FlowKind::Backward, event, backward);
    } else if (event.isValid()) {
        if (const EventRef call = trace.launchingCall(event); call.isValid())
            add(FlowKind::Launch, call, event);
        for (const EventRef work : awaitedWork(trace, event)) add(FlowKind::Wait, work, event);
        for (const EventRef work : waitingWork(trace, event)) add(FlowKind::Wait, event, work);
        addRanks(trace, layout, event, arrows);
    }
    return arrows;
}

}  // namespace lanescope::views
