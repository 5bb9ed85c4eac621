// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/flowArrows.h"

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
        arrows.push_back({kind, *from, *to, cause == event ? effect : cause});
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
    }
    return arrows;
}

}  // namespace lanescope::views
