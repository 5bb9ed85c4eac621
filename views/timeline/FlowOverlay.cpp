// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/FlowOverlay.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/processes.h"
#include "views/text/shownText.h"

namespace lanescope::views {
namespace {

constexpr size_t maxFlowArrows = 48;

std::optional<FlowEnd> endAt(const Trace& trace, const TrackLayout& layout, EventRef event) {
    const SliceLocation location = trace.locate(event);
    if (!location.isValid()) return std::nullopt;
    FlowEnd end{event, trace.rangeOf(event).startNs, 0, location.track, false};
    if (const auto area = layout.areaOf({location.track, location.lane})) {
        end.y = area->top + area->height / 2.0;
        return end;
    }
    const LayoutRow* row = layout.visibleRowOf(location.track);
    if (!row) {
        end.isHidden = true;
        return end;
    }
    end.y = row->top + row->height / 2.0;
    return end;
}

int64_t clockErrorOf(const Trace& trace, EventRef work) {
    const EventRef call = trace.launchingCall(work);
    if (!call.isValid()) return 0;
    return clockErrorNs(trace.processes[trace.threads[trace.apiCalls.thread[call.row()]].process]);
}

/// Adds the arrow from the last rank of a collective to `event`, or to the rank that waited longest.
void addRanks(const Trace& trace, const TrackLayout& layout, EventRef event, std::vector<FlowArrow>& arrows) {
    const std::vector<EventRef> ranks = collectiveOf(trace, event);
    if (ranks.empty()) return;
    const EventRef last = ranks.back();
    const EventRef waiting = event == last ? ranks.front() : event;
    if (waiting == last) return;
    auto from = endAt(trace, layout, last);
    auto to = endAt(trace, layout, waiting);
    if (!from || !to || (from->isHidden && to->isHidden)) return;
    // The end of the wait, or the event's own end if clocks contradict each other.
    to->timeNs = std::min(trace.rangeOf(last).startNs, trace.rangeOf(waiting).endNs);
    arrows.push_back({FlowKind::Rank, *from, *to, waiting == event ? last : waiting,
                      clockErrorOf(trace, last) + clockErrorOf(trace, waiting), event == last ? ranks.size() - 2 : 0});
}

/// Returns the work that `work` waited for last; invalid if all had ended before `work` was launched.
EventRef decidingOf(const Trace& trace, const std::vector<EventRef>& awaited, EventRef call) {
    const auto endOf = [&](EventRef event) { return trace.rangeOf(event).endNs; };
    const auto latest = std::ranges::max_element(awaited, {}, endOf);
    if (latest == awaited.end()) return {};
    return call.isValid() && endOf(*latest) < trace.rangeOf(call).startNs ? EventRef() : *latest;
}

constexpr double headLength = 7;
constexpr double headHalfWidth = 4;
// Farther points are invisible, and painting far outside the window loses precision.
constexpr double farOutside = 4000;
constexpr double edgeInset = 6;
constexpr double textInset = 7;
constexpr size_t maxMoves = 6;  // away from other labels
constexpr qsizetype maxNameLetters = 32;

constexpr double minBendPx = 16, maxBendPx = 160;
constexpr double spread = 9;  // between arrows that come from labels above each other
/// Size of the mark for the clock error between two ends; smaller ones are invisible.
constexpr double errorHeight = 12, minErrorPx = 1.5;
/// Distance around the visible event that no label may cover, in pixels.
constexpr double sparedAround = 14;

QPainterPath curve(QPointF from, QPointF leaving, QPointF neck, QPointF arriving) {
    const auto reach = [&](QPointF direction) {
        const QPointF way = neck - from;
        const double along = std::abs(way.x() * direction.x() + way.y() * direction.y());
        return std::clamp(along * 0.5, minBendPx, maxBendPx);
    };
    QPainterPath path(from);
    path.cubicTo(from + leaving * reach(leaving), neck - arriving * reach(arriving), neck);
    return path;
}

QString shortened(QString name) {
    name = name.simplified();
    if (name.size() > maxNameLetters) name = name.left(maxNameLetters - 1) + QChar(0x2026);
    return name;
}

}  // namespace

std::vector<FlowArrow> flowArrows(const Trace& trace, const TrackLayout& layout, EventRef event) {
    std::vector<FlowArrow> arrows;
    const auto add = [&](FlowKind kind, EventRef cause, EventRef effect, size_t others = 0) {
        if (arrows.size() >= maxFlowArrows) {
            ++arrows.back().others;
            return;
        }
        auto from = endAt(trace, layout, cause);
        const auto to = endAt(trace, layout, effect);
        if (!from || !to || (from->isHidden && to->isHidden)) return;
        // The work may begin while the call still runs; an arrow never points back in time.
        const int64_t endNs = trace.rangeOf(cause).endNs;
        if (endNs <= to->timeNs) from->timeNs = endNs;
        arrows.push_back({kind, *from, *to, cause == event ? effect : cause, 0, others});
    };
    if (event.kind() == EventKind::Api) {
        for (const EventRef work : trace.launchedWork(event)) add(FlowKind::Launch, event, work);
    } else if (event.kind() == EventKind::Nvtx) {
        for (const EventRef forward : forwardOf(trace, event)) add(FlowKind::Backward, forward, event);
        for (const EventRef backward : backwardOf(trace, event)) add(FlowKind::Backward, event, backward);
    } else if (event.isValid()) {
        const EventRef call = trace.launchingCall(event);
        if (call.isValid()) add(FlowKind::Launch, call, event);
        const std::vector<EventRef> awaited = awaitedWork(trace, event), waiting = waitingWork(trace, event);
        if (const EventRef deciding = decidingOf(trace, awaited, call); deciding.isValid())
            add(FlowKind::Wait, deciding, event, awaited.size() - 1);
        if (!waiting.empty()) add(FlowKind::Wait, event, waiting.front(), waiting.size() - 1);
        addRanks(trace, layout, event, arrows);
    }
    return arrows;
}

void FlowOverlay::update(QSize size, const QFont& font) {
    if (isKnown_ && size == size_) return;
    isKnown_ = true;
    size_ = size;
    lines_.clear();
    labels_.clear();
    if (!state_.hasTracks()) return;
    for (const FlowArrow& arrow : flowArrows(*state_.trace(), state_.tracks().layout(), state_.selection().event()))
        addLine(arrow, size, font);
    for (size_t label = labels_.size(); label-- > 0;) {
        if (labels_[label].others == 0) continue;
        Label changed = std::move(labels_[label]);
        labels_.erase(labels_.begin() + static_cast<std::ptrdiff_t>(label));
        changed.text += QStringLiteral(" and %1 more").arg(changed.others);
        changed.area =
            place({QFontMetricsF(font).horizontalAdvance(changed.text) + 2 * textInset, changed.area.height()},
                  changed.area.center(), size, {});
        labels_.push_back(std::move(changed));
    }
}

/// Connects the invisible end of a line to its label: at the side of the label if the arrow follows the time there,
/// else at its upper or lower edge, so that no arrow turns back on itself.
void FlowOverlay::join(Line& line, const QRectF& label, bool isEffectInSight, double distance) {
    const QPointF here = isEffectInSight ? line.to : line.from;
    QPointF& end = isEffectInSight ? line.from : line.to;
    QPointF& way = isEffectInSight ? line.leaving : line.arriving;
    const double side = isEffectInSight ? label.right() : label.left();
    const double ahead = isEffectInSight ? here.x() - side : side - here.x();
    if (ahead >= minBendPx) {
        end = {side, label.center().y()};
        return;
    }
    const bool isBelow = label.center().y() > here.y();
    // Below the point where the curve bends before it reaches the event.
    const double bend = here.x() + (isEffectInSight ? -minBendPx - distance : minBendPx + distance);
    end = {std::clamp(bend, label.left() + textInset, label.right() - textInset),
           isBelow ? label.top() : label.bottom()};
    way = {0, isBelow == isEffectInSight ? -1.0 : 1.0};
}

void FlowOverlay::addLine(const FlowArrow& arrow, QSize size, const QFont& font) {
    const TimeScale scale = state_.range().scale(size.width());
    const auto pointOf = [&](const FlowEnd& end) {
        const double x = std::clamp(scale.toX(end.timeNs), -farOutside, size.width() + farOutside);
        // An end without a row is treated as below all rows.
        if (end.isHidden) return QPointF(x, size.height() + farOutside);
        const int pinned = state_.scroll().pinnedHeight();
        const double y = state_.scroll().toScreenY(static_cast<int>(end.y));
        // An end scrolled under the pinned rows is treated as above the others.
        return QPointF(x, end.y >= pinned && y < pinned ? -1.0 : y);
    };
    const auto isInside = [&](QPointF at) {
        return at.x() >= 0 && at.x() <= size.width() && at.y() >= 0 && at.y() <= size.height();
    };
    Line line{arrow.kind, pointOf(arrow.from), pointOf(arrow.to), true, true};
    if (arrow.kind == FlowKind::Rank) {
        // At the same time, from row to row.
        line.leaving = line.arriving = {0, line.to.y() < line.from.y() ? -1.0 : 1.0};
        line.error = std::min(scale.toX(arrow.to.timeNs + arrow.errorNs) - scale.toX(arrow.to.timeNs), farOutside);
    }
    const bool seesFrom = isInside(line.from);
    const bool seesTo = isInside(line.to);
    if (seesFrom != seesTo) return addLabel(line, arrow, seesFrom, font);
    if (arrow.from.isHidden || arrow.to.isHidden) return;
    lines_.push_back(line);
    if (arrow.others > 0 && seesFrom) countOthers(arrow, (line.from + line.to) / 2, font);
}

/// The kinds of arrows of which one stands for all are counted where it ends.
void FlowOverlay::countOthers(const FlowArrow& arrow, QPointF at, const QFont& font) {
    const QString text = (arrow.kind == FlowKind::Rank   ? QStringLiteral("and %1 more ranks")
                          : arrow.kind == FlowKind::Wait ? QStringLiteral("and %1 more waits")
                                                         : QStringLiteral("and %1 more"))
                             .arg(arrow.others);
    const QFontMetricsF metrics(font);
    const QSizeF label(metrics.horizontalAdvance(text) + 2 * textInset, metrics.height() + 4);
    const QPointF here = lines_.back().to;
    labels_.push_back({place(label, at, size_, here), text, {}, arrow.kind});
}

void FlowOverlay::addLabel(Line& line, const FlowArrow& arrow, bool seesFrom, const QFont& font) {
    const QSize size = size_;
    const bool seesTo = !seesFrom;
    const FlowEnd& there = seesFrom ? arrow.to : arrow.from;
    const FlowEnd& here = seesFrom ? arrow.from : arrow.to;
    QPointF& outside = seesFrom ? line.to : line.from;
    (seesFrom ? line.hasHead : line.hasFoot) = false;
    const auto same = std::ranges::find(labels_, arrow.kind, &Label::kind);
    if (same != labels_.end() && arrow.kind == FlowKind::Launch) {
        same->others += 1 + arrow.others;
        return;
    }
    QString text = labelText(there, here, outside.x(), outside.y(), size);
    if (arrow.others > 0) text += QStringLiteral(" and %1 more").arg(arrow.others);
    const QFontMetricsF metrics(font);
    const QSizeF label(metrics.horizontalAdvance(text) + 2 * textInset, metrics.height() + 4);
    const QRectF area = place(label, outside, size, seesFrom ? line.from : line.to);
    join(line, area, seesTo, spread * static_cast<double>(labels_.size()));
    lines_.push_back(line);
    labels_.push_back({area, text, there.event, arrow.kind});
}

QString FlowOverlay::labelText(const FlowEnd& there, const FlowEnd& here, double x, double y, QSize size) const {
    const Trace& trace = *state_.trace();
    QString text;
    if (there.isHidden || y < 0 || y > size.height()) {
        const Track& track = trace.tracks[there.track];
        QString place = QString::fromStdString(track.title);
        // "Compute, stream 7" could belong to any GPU, "CUDA API" to any thread.
        if (track.parent >= 0)
            place = QStringLiteral("%1 %2").arg(
                QString::fromStdString(trace.tracks[static_cast<size_t>(track.parent)].title), place);
        text = QStringLiteral("%1 %2").arg(shortened(place), there.isHidden ? QStringLiteral("hidden")
                                                             : y < 0        ? QStringLiteral("above")
                                                                            : QStringLiteral("below"));
    } else {
        text = shortened(QString::fromStdString(trace.nameOf(there.event)));
    }
    if (x < 0 || x > size.width()) text += QStringLiteral(" at %1").arg(signedDuration(there.timeNs - here.timeNs));
    return text;
}

QRectF FlowOverlay::place(QSizeF label, QPointF at, QSize size, QPointF spared) const {
    QRectF area(QPointF(), label);
    area.moveCenter(at);
    const double right = std::max(edgeInset, size.width() - edgeInset - label.width());
    const double bottom = std::max(edgeInset, size.height() - edgeInset - label.height());
    area.moveLeft(std::clamp(area.left(), edgeInset, right));
    area.moveTop(std::clamp(area.top(), edgeInset, bottom));
    // If another label or the event is in the way, this one moves towards the middle.
    const double step = at.y() > size.height() / 2.0 ? -(label.height() + 2) : label.height() + 2;
    const QRectF event(spared - QPointF(sparedAround, sparedAround), QSizeF(2 * sparedAround, 2 * sparedAround));
    const auto isTaken = [&] {
        return (!spared.isNull() && event.intersects(area)) ||
               std::ranges::any_of(labels_, [&](const Label& each) { return each.area.intersects(area); });
    };
    for (size_t tries = 0; tries < maxMoves && isTaken(); ++tries) area.translate(0, step);
    return area;
}

const std::vector<FlowOverlay::Label>& FlowOverlay::labels(QSize size, const QFont& font) {
    update(size, font);
    return labels_;
}

EventRef FlowOverlay::eventAt(QPointF position, QSize size, const QFont& font) {
    for (const Label& label : labels(size, font))
        if (label.area.contains(position)) return label.event;
    return {};
}

void FlowOverlay::paint(QPainter& painter, QSize size, const QFont& font) {
    update(size, font);
    if (lines_.empty()) return;
    const Theme& theme = state_.options().theme();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor halo = translucent(theme.canvas, 170);
    for (const Line& line : lines_) {
        const bool isWait = line.kind == FlowKind::Wait || line.kind == FlowKind::Rank;
        const QColor color = isWait ? theme.wait : theme.flow;
        const QPointF ahead = line.arriving * headLength;
        const QPointF neck = line.hasHead ? line.to - ahead : line.to;
        if (line.hasHead && line.error >= minErrorPx) {
            const double left = line.to.x() - line.error, right = line.to.x() + line.error, half = errorHeight / 2;
            for (const QPen& pen : {QPen(halo, 4), QPen(color, 1.5)}) {
                painter.setPen(pen);
                painter.drawLine(QPointF(left, line.to.y()), QPointF(right, line.to.y()));
                for (const double x : {left, right})
                    painter.drawLine(QPointF(x, line.to.y() - half), QPointF(x, line.to.y() + half));
            }
        }
        const QPointF across = QPointF(-line.arriving.y(), line.arriving.x()) * headHalfWidth;
        const QPainterPath path = curve(line.from, line.leaving, neck, line.arriving);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(halo, 4, Qt::SolidLine, Qt::FlatCap));
        painter.drawPath(path);
        QPen pen(color, 1.5, Qt::SolidLine, Qt::FlatCap);
        if (line.kind == FlowKind::Wait) pen.setDashPattern({4, 2.5});
        painter.setPen(pen);
        painter.drawPath(path);
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        if (line.hasHead) painter.drawPolygon(QPolygonF{line.to, neck + across, neck - across});
        if (line.hasFoot) painter.drawEllipse(line.from, 3, 3);
    }
    painter.setFont(font);
    for (const Label& label : labels_) {
        painter.setPen(QPen(theme.separator, 1));
        painter.setBrush(theme.card);
        painter.drawRoundedRect(label.area.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        painter.setPen(theme.text);
        painter.drawText(label.area, Qt::AlignCenter, label.text);
    }
    painter.restore();
}

}  // namespace lanescope::views
