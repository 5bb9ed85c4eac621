// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>
#include <span>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope::views {

/// Events as rows to choose from, in the given order: what, start, duration, name. Not more than
/// `maximumHitRows`, as nobody reads on.
ReportTable hitTable(const Trace& trace, std::span<const EventRef> events);
inline constexpr size_t maximumHitRows = 20'000;

}  // namespace lanescope::views

class QLabel;
class QSplitter;
class QToolButton;

namespace lanescope::views {

class LatestJob;
class ReportView;

/// What lies in the selected range of time, while it is being dragged: how busy the GPUs were,
/// which names took the time, how fast memory was copied. Counts off the GUI thread, and only while
/// on the screen.
class SelectionPanel : public QWidget {
    Q_OBJECT
  public:
    explicit SelectionPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setRange(std::optional<TimeRange> range);
    ReportView& names() const { return *names_; }
    ReportView& copies() const { return *copies_; }
    QString headline() const;
    bool isStale() const { return isStale_; }
    /// Chooses whose slices count: GPUs, processes and the host, each with all that stands in it.
    QToolButton& tracksButton() const { return *tracksButton_; }

  signals:
    /// What is shown belongs to the trace and range set last.
    void updated();
    void nameActivated(const QString& name);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    struct Counted;
    void refresh();
    void showCounted(const Counted& counted);
    void fillTracks();
    void choose(uint32_t track, bool isChosen);
    /// The chosen groups with all that stands in them; nothing for all tracks.
    std::optional<std::vector<uint32_t>> chosenTracks() const;

    TracePtr trace_;
    std::optional<TimeRange> range_;
    bool isStale_ = false;
    LatestJob* job_;
    QLabel* headline_;
    QToolButton* tracksButton_;
    std::vector<uint32_t> chosen_;  ///< Top tracks; empty for all.
    QSplitter* splitter_;
    ReportView* names_;
    ReportView* copies_;
};

}  // namespace lanescope::views
