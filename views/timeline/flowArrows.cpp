#include "views/timeline/flowArrows.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <optional>

#include "views/theme/Theme.h"

namespace lanescope {
namespace {

constexpr size_t mostArrows = 48;
constexpr double headLength = 7;
constexpr double headHalfWidth = 4;
// Farther out nothing is seen, and painting far beyond the window loses precision.
constexpr double farOutside = 4000;

std::optional<double> middleOf(const Trace& trace, const TrackLayout& layout, EventRef event) {
    const SliceLocation location = trace.locate(event);
    if (!location.isValid()) return std::nullopt;
    const LayoutRow* row = layout.visibleRowOf(location.track);
    if (!row) return std::nullopt;
    const bool isShown =
        row->track == location.track && location.lane < static_cast<uint32_t>(row->laneCount);
    if (!isShown) return row->top + row->height / 2.0;
    return TrackLayout::laneTop(*row, location.lane) + row->laneHeight / 2.0;
}

std::optional<FlowArrow> arrowBetween(const Trace& trace, const TrackLayout& layout, EventRef call,
                                      EventRef work) {
    const auto fromY = middleOf(trace, layout, call);
    const auto toY = middleOf(trace, layout, work);
    if (!fromY || !toY) return std::nullopt;
    const TimeRange callRange = trace.rangeOf(call);
    const int64_t toNs = trace.rangeOf(work).startNs;
    // The work may begin while the call still runs; an arrow never points back in time.
    const int64_t fromNs = callRange.endNs <= toNs ? callRange.endNs : callRange.startNs;
    return FlowArrow{fromNs, toNs, *fromY, *toY};
}

void paintArrow(QPainter& painter, QPointF from, QPointF to, const QColor& color,
                const QColor& halo) {
    const QPointF neck = to - QPointF(headLength, 0);
    const double reach = std::clamp(std::abs(neck.x() - from.x()) * 0.5, 16.0, 160.0);
    QPainterPath path(from);
    path.cubicTo(from + QPointF(reach, 0), neck - QPointF(reach, 0), neck);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(halo, 4, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(
        QPolygonF{to, neck + QPointF(0, headHalfWidth), neck - QPointF(0, headHalfWidth)});
    painter.drawEllipse(from, 3, 3);
}

}  // namespace

std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event) {
    std::vector<FlowArrow> arrows;
    const auto add = [&](EventRef call, EventRef work) {
        if (!call.isValid() || !work.isValid() || arrows.size() >= mostArrows) return;
        if (const auto arrow = arrowBetween(trace, layout, call, work)) arrows.push_back(*arrow);
    };
    if (event.kind() == EventKind::Api) {
        for (const EventRef work : trace.launchedWork(event)) add(event, work);
    } else if (event.isValid()) {
        add(trace.launchingCall(event), event);
    }
    return arrows;
}

void paintFlowArrows(QPainter& painter, const std::vector<FlowArrow>& arrows,
                     const TimeScale& scale, int scrollY, const Theme& theme) {
    if (arrows.empty()) return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QColor halo = theme.canvas;
    halo.setAlpha(170);
    const auto xOf = [&](int64_t timeNs) {
        return std::clamp(scale.toX(timeNs), scale.left - farOutside,
                          scale.left + scale.width + farOutside);
    };
    for (const FlowArrow& arrow : arrows) {
        paintArrow(painter, {xOf(arrow.fromNs), arrow.fromY - scrollY},
                   {xOf(arrow.toNs), arrow.toY - scrollY}, theme.flow, halo);
    }
    painter.restore();
}

}  // namespace lanescope
