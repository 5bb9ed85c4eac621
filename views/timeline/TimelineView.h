// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRect>
#include <QScrollBar>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/compare/matchContributors.h"
#include "views/timeline/CriticalPath.h"
#include "views/timeline/LabelColumn.h"
#include "views/timeline/OverviewStrip.h"
#include "views/timeline/TimeRuler.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/TrackCanvas.h"
#include "views/timeline/TrackFilterBar.h"
#include "views/timeline/ZoomHistory.h"

namespace lanescope::views {

class KeyMotion;
class PairedRows;
class TimelineNavigator;
enum class SliceStep : uint8_t;

/// The places of times and tracks on the screen, for widgets that cover a timeline. In its
/// coordinates and in trace time. GUI thread.
class TimelinePlaces : public QObject {
    Q_OBJECT
  public:
    /// Both outlive this. `canvas` is the widget of the slices.
    TimelinePlaces(const TimelineState& state, const QWidget& canvas, QObject* parent);

    QRect tracksArea() const { return canvas_.geometry(); }
    /// Returns the visible part of the row of a track; that of its group while folded.
    QRect trackArea(uint32_t track) const;
    /// Between the left and the right edge of the tracks, or outside.
    double xOf(int64_t timeNs) const { return tracksArea().left() + state_.range().scale(canvas_.width()).toX(timeNs); }
    int64_t timeAt(double x) const { return state_.range().scale(canvas_.width()).toTimeNs(x - tracksArea().left()); }
    /// Returns the track at this height of the tracks, or `noIndex`.
    uint32_t trackAt(int y) const;

  signals:
    /// Emitted on a change of range, size, folding or scroll position.
    void changed();

  private:
    const TimelineState& state_;
    const QWidget& canvas_;
};

/// The commands of a timeline, for menus, keys and the widgets around it. With a companion, a
/// command applies to the timeline of the selected event or of the current track, or to both. The
/// current track is the last one clicked or walked to, or that of the selected event. GUI thread.
class TimelineCommands {
  public:
    /// `state` and `canvas` outlive this object. `canvas` is as wide as the visible range.
    TimelineCommands(TimelineState& state, const QWidget& canvas) : state_(state), canvas_(canvas) {}

    /// Adds the timeline whose tracks are shown, too; null for none.
    void setCompanion(TimelineState* companion, PairedRows* rows);
    /// Returns the state of the selected event.
    TimelineState& active() const;
    /// Returns the moves of this state.
    TimelineNavigator navigator() const;

    void fit() { state_.range().axis().fit(); }
    /// Scrolls nearly a screen of tracks up (-1) or down (+1).
    void scrollPages(int direction);
    void scrollToTop() { state_.scroll().setY(0); }
    void scrollToBottom() { state_.scroll().setY(state_.scroll().maxY()); }
    /// Resets the arrangement of the tracks and the view.
    void restoreDefaults();

    /// Selects the next (+1) or previous (-1) slice of the lane; see `TimelineNavigator`.
    void selectNeighbour(int direction, SliceStep step);
    /// With a companion: selects the same place of the other trace.
    void selectCounterpart();
    /// Selects the time of the selected event or gap as the range; clears the range if it is selected already.
    void selectTimeOfEvent();
    void clearSelection();
    /// Copies the selection to the clipboard; see `copySelection`.
    void copySelected();

    void togglePinnedTrack();
    void hideTrack();
    void moveTrack(int direction);
    /// Folds or unfolds the current track, including its descendants if `isDeep`.
    void toggleFold(bool isDeep);
    void showAllTracks();
    void hideEmptyTracks();
    /// Undoes the last change of folding, order, hidden and pinned tracks.
    void undoArrangement();

    void setColorMode(ColorMode mode);
    /// If true, slices with the name under the pointer, or of the selected one, stand out.
    void setHighlighting(bool isOn);

  private:
    /// Returns the state of the current track.
    TimelineState& trackState() const;

    TimelineState& state_;
    const QWidget& canvas_;
    TimelineState* companion_ = nullptr;
    PairedRows* rows_ = nullptr;
};

/// A trace as a zoomable timeline: overview, ruler, track labels and slices. The widgets show `state`, and a change of
/// the state is shown at once. `resources/manual/look.md` describes the mouse and the keys. GUI thread.
class TimelineView : public QWidget {
    Q_OBJECT
  public:
    explicit TimelineView(QWidget* parent = nullptr);
    ~TimelineView() override;

    /// Shows `trace`, or the empty page for null. Clears selection, hits and folding.
    void setTrace(TracePtr trace) { state_.setTrace(std::move(trace)); }
    const TracePtr& trace() const { return state_.trace(); }
    /// The visible range, the tracks, the selection and the options.
    TimelineState& state() { return state_; }
    const TimelineState& state() const { return state_; }
    /// What menus and keys do.
    TimelineCommands& commands() { return commands_; }
    ZoomHistory& history() const { return *history_; }
    /// Hides tracks while they have no visible events. Off at first, and with a companion, whose
    /// tracks are placed under their counterparts.
    EmptyTrackHider& emptyTracks() const { return *emptyTracks_; }
    const TimelinePlaces& places() const { return *places_; }

    /// Shows the tracks of `other` too, each under its counterpart, folded alike and scrolled
    /// together. `other` keeps its trace, selection and hits and must stay hidden; both share one
    /// axis. Call again with the same timeline whenever one of the traces changes.
    void setCompanion(TimelineView& other, std::vector<compare::TrackPair> pairs);
    bool hasCompanion() const { return companion_ != nullptr; }
    /// Outlines the events of the tracks above in the companion's lanes.
    void setBaselineOverlayVisible(bool isVisible) { canvas_->setBaselineOverlayVisible(isVisible); }
    bool isBaselineOverlayVisible() const { return canvas_->isBaselineOverlayVisible(); }
    /// Places widgets between the ruler and the tracks: `strip` as wide as the tracks, `label` left
    /// of it. Takes ownership of both; null removes them.
    void setStrip(QWidget* label, QWidget* strip, int height);
    void setStripHeight(int height);
    /// Sets a child widget of this view that covers it and is included in pictures. Null for none.
    void setOverlay(QWidget* overlay) { overlay_ = overlay; }

    /// Selects `event`, unfolds its tracks, and scrolls and zooms so that it is visible and
    /// readable. Events that are on no track are only selected.
    void revealEvent(EventRef event);
    /// Scrolls to a track and highlights its label for a short time.
    void flashTrack(uint32_t track);
    /// Sets the keyboard focus to the track filter.
    void filterTracks() { filter_->activate(); }
    /// Call when the explanations of empty places have changed.
    void refreshEmptyPlaces() { canvas_->refreshHover(); }

    /// Paints the timeline as shown into `size` logical pixels, without hover. For pictures.
    void renderTo(QPainter* painter, QSize size);

    QSize sizeHint() const override { return {1200, 640}; }
    QSize minimumSizeHint() const override;

  protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent*) override { arrange(); }
    void changeEvent(QEvent* event) override;

  private:
    /// The geometry of the parts in a view of this size; the same on the screen and in a picture.
    struct Areas {
        QRect corner, filter, overview, ruler, stripLabel, strip, path, labels, canvas, scrollBar;
    };
    Areas areasFor(QSize size) const;
    void describeToReaders();
    void arrange();
    void updateMetrics() { state_.tracks().setTextHeight(QFontMetrics(font()).height()); }
    void updateScrollBar();
    void styleScrollBar();
    void speak();

    TimelineState state_;
    TimelineCorner* corner_ = new TimelineCorner(state_, this);
    TrackFilterBar* filter_ = new TrackFilterBar(state_, this);
    OverviewStrip* overview_ = new OverviewStrip(state_, this);
    TimeRuler* ruler_ = new TimeRuler(state_, this);
    CriticalPathLane* path_ = new CriticalPathLane(state_, this);
    LabelColumn* labels_ = new LabelColumn(state_, this);
    TrackCanvas* canvas_ = new TrackCanvas(state_, this);
    QScrollBar* scrollBar_ = new QScrollBar(Qt::Vertical, this);
    KeyMotion* motion_;
    ZoomHistory* history_ = new ZoomHistory(state_, this);
    EmptyTrackHider* emptyTracks_ = new EmptyTrackHider(state_, this);
    TimelinePlaces* places_ = new TimelinePlaces(state_, *canvas_, this);
    TimelineCommands commands_;
    TimelineState* companion_ = nullptr;
    PairedRows* rows_ = nullptr;
    QWidget* stripLabel_ = nullptr;
    QWidget* strip_ = nullptr;
    QWidget* overlay_ = nullptr;
    int stripHeight_ = 0;
    std::optional<int> labelWidth_;  ///< The width dragged by the user.
};

}  // namespace lanescope::views
