// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/TimelineMarks.h"

#include <QCursor>
#include <QLabel>
#include <algorithm>

#include "model/notes/markTracks.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {
namespace {

/// Where the names of the tracks begin.
constexpr int labelIndent = 12;

}  // namespace

TimelineMarks::TimelineMarks(MarkStore& store, TimelineView& timeline, QObject* parent)
    : QObject(parent),
      store_(store),
      timeline_(timeline),
      label_(new QLabel(tr("Marks"))),
      strip_(new MarkStrip(store, timeline)),
      lines_(new MarkLines(store, timeline)),
      editor_(new MarkEditor(&timeline)) {
    label_->setIndent(labelIndent);
    label_->setAutoFillBackground(true);
    timeline_.setStrip(label_, strip_, MarkStrip::stripHeight);
    setTheme(timeline_.theme());
    connect(&store_, &MarkStore::changed, this, &TimelineMarks::updateStrip);
    connect(strip_, &MarkStrip::editRequested, this, [this](const std::string& id) {
        store_.select(id);
        editMark();
    });
    connect(strip_, &MarkStrip::newMarkRequested, this, [this](qint64 timeNs) {
        Mark mark = newMark({timeNs, timeNs});
        mark.color = lastColor_;
        begin(mark, true);
    });
    connect(editor_, &MarkEditor::accepted, this, [this](const Mark& mark, bool isNew) {
        isWriting_ = false;
        lastColor_ = mark.color;
        isNew ? store_.add(mark) : store_.change(mark);
        store_.select(mark.id);
        updateStrip();
        timeline_.setFocus();
    });
    connect(editor_, &MarkEditor::rejected, this, [this] {
        isWriting_ = false;
        updateStrip();
        timeline_.setFocus();
    });
    connect(&timeline_, &TimelineView::placesChanged, this, &TimelineMarks::placeEditor);
    updateStrip();
}

void TimelineMarks::setTheme(const Theme& theme) {
    QPalette colors = label_->palette();
    colors.setColor(QPalette::Window, theme.panel);
    colors.setColor(QPalette::WindowText, theme.mutedText);
    label_->setPalette(colors);
    editor_->setTheme(theme);
    strip_->update();
    lines_->update();
}

Mark TimelineMarks::markHere() const {
    Mark mark = newMark({});
    mark.color = lastColor_;
    const EventRef event = timeline_.selectedEvent();
    const auto setTrack = [&](uint32_t track) {
        if (track != noIndex) mark.track = trackPath(*timeline_.trace(), track);
    };
    if (const auto range = timeline_.selectedRange()) {
        mark.range = *range;
    } else if (event.isValid()) {
        mark.range = timeline_.trace()->rangeOf(event);
        setTrack(timeline_.trackOf(event));
    } else {
        const QPoint pointer = timeline_.mapFromGlobal(QCursor::pos());
        const QRect tracks = timeline_.tracksArea();
        const bool isInside = timeline_.underMouse() && tracks.contains(pointer);
        const QPoint place = isInside ? pointer : QPoint(tracks.center().x(), -1);
        mark.range.startNs = mark.range.endNs = timeline_.timeAt(place.x());
        setTrack(timeline_.trackAt(place.y()));
    }
    return mark;
}

void TimelineMarks::addMark() {
    if (timeline_.trace()) begin(markHere(), true);
}

void TimelineMarks::editMark() {
    if (const Mark* mark = store_.find(store_.selected())) begin(*mark, false);
}

void TimelineMarks::removeMark() {
    store_.remove(store_.selected());
}

void TimelineMarks::begin(const Mark& mark, bool isNew) {
    isWriting_ = true;
    updateStrip();
    editor_->setTheme(timeline_.theme());
    editor_->edit(mark, isNew);
    placeEditor();
}

void TimelineMarks::placeEditor() {
    if (!isWriting_ || !editor_) return;
    const QRect tracks = timeline_.tracksArea();
    const double x = std::clamp(timeline_.xOf(editor_->mark().range.startNs), double(tracks.left()),
                                double(tracks.right()));
    const int left = std::clamp(int(x), tracks.left() + 4,
                                std::max(tracks.left() + 4, tracks.right() - editor_->width() - 4));
    editor_->move(left, tracks.top() + 4);
    editor_->raise();
}

void TimelineMarks::goToNext() {
    step(true);
}

void TimelineMarks::goToPrevious() {
    step(false);
}

void TimelineMarks::step(bool isForward) {
    const Mark* selected = store_.find(store_.selected());
    const TimeRange visible = timeline_.visibleRange()->range().shifted(timeline_.timeOrigin());
    const int64_t from =
        selected ? selected->range.startNs : visible.startNs + visible.durationNs() / 2;
    if (const Mark* mark = store_.next(from, isForward)) show(mark->id);
}

void TimelineMarks::show(const std::string& id) {
    const Mark* mark = store_.find(id);
    if (!mark) return;
    store_.select(id);
    const TimeRange range = mark->range.shifted(-timeline_.timeOrigin());
    VisibleRange& visible = *timeline_.visibleRange();
    const int64_t shownNs = visible.range().durationNs();
    if (range.durationNs() / 9 > shownNs / 10) {
        const int64_t margin = range.durationNs() / 8;
        visible.setRange({range.startNs - margin, range.endNs + margin});
    } else if (range.startNs < visible.range().startNs || range.endNs > visible.range().endNs) {
        const int64_t middle = range.startNs + range.durationNs() / 2;
        visible.setRange({middle - shownNs / 2, middle - shownNs / 2 + shownNs});
    }
    const uint32_t track =
        timeline_.trace() ? trackOfPath(*timeline_.trace(), mark->track) : noIndex;
    if (track != noIndex && timeline_.trackArea(track).isEmpty()) timeline_.scrollToTrack(track);
}

void TimelineMarks::updateStrip() {
    const bool isNeeded = !store_.marks().empty() || isWriting_;
    timeline_.setStripHeight(isNeeded ? MarkStrip::stripHeight : 0);
}

}  // namespace lanescope::views
