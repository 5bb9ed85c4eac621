// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QWidget>
#include <optional>
#include <span>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"
#include "views/tables/Panel.h"

class QSplitter;
class QToolButton;

namespace lanescope::views {

/// Returns events as rows to choose from, in the given order: kind, start, duration, name. At most
/// `maxHitRows`, because longer lists are not read.
ReportTable hitTable(const Trace& trace, std::span<const EventRef> events);
inline constexpr size_t maxHitRows = 20'000;

class ReportView;

/// Statistics of the selected time range, updated while it is dragged: GPU utilization, names by
/// time, rates of memory copies. Counts off the GUI thread and only while visible.
class SelectionPanel : public ComputedPanel {
    Q_OBJECT
  public:
    explicit SelectionPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace) override;
    void setRange(std::optional<TimeRange> range) override;
    QString headline() const { return headline_->text(); }
    /// Returns the names; null without a range.
    ReportView* table() const override { return range_ ? names_ : nullptr; }

  private:
    struct Counted;
    void count();
    void refresh(LatestJob::Older older) override;
    void showCounted(const Counted& counted);
    void fillTracks();
    void choose(uint32_t track, bool isChosen);
    /// Returns the chosen groups with their subtracks; nullopt for all tracks.
    std::optional<std::vector<uint32_t>> chosenTracks() const;

    TracePtr trace_;
    std::optional<TimeRange> range_;
    QLabel* headline_;
    QToolButton* tracksButton_;
    std::vector<uint32_t> chosen_;  ///< Top tracks; empty for all.
    QSplitter* splitter_;
    ReportView* names_;
    ReportView* copies_;
};

}  // namespace lanescope::views
