#pragma once

#include <QWidget>
#include <optional>

#include "model/compare/Comparison.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

class QSplitter;

namespace lanescope {

class AlignmentBar;
class CompareSide;
class DetailsPanel;
class DifferenceModel;
class HeadlineCard;
class LatestJob;
class ReportView;
class TimelineView;
class VisibleRange;

/// Two runs on one time axis: baseline above, candidate below, the outcome in words on top and the
/// differences by name underneath. A range selected on either side is selected on both and narrows
/// the comparison to it; runs aligned at an NVTX range are compared from there to the last range of
/// that name, so that start-up does not count. Runs with steps start aligned at the first step
/// after the warm-up. Compares off the GUI thread.
class CompareView : public QWidget {
    Q_OBJECT
  public:
    explicit CompareView(QWidget* parent = nullptr);

    /// Both non-null.
    void setTraces(TracePtr baseline, TracePtr candidate);
    void setTheme(const Theme& theme);

    CompareSide& baseline() const { return *baseline_; }
    CompareSide& candidate() const { return *candidate_; }
    VisibleRange& visibleRange() const { return *visibleRange_; }
    AlignmentBar& alignment() const { return *alignment_; }
    ReportView& differences() const { return *differences_; }
    HeadlineCard& headline() const { return *headline_; }
    DetailsPanel& details() const { return *details_; }
    /// A comparison is being made.
    bool isBusy() const;
    /// On the shared axis.
    std::optional<TimeRange> selectedRange() const { return selectedRange_; }

    /// Sizes of the parts, to keep from run to run.
    QByteArray saveState() const;
    void restoreState(const QByteArray& state);

  signals:
    /// Headline and differences belong to the selection made last.
    void compared();
    /// The user asks for the row of differences called `name` on the timelines.
    void nameActivated(const QString& name);

  private:
    void build();
    void addGroupFilter();
    void connectSide(CompareSide* side, CompareSide* other);
    bool alignAtSteps();
    void align();
    void showCompared(const std::string& name);
    void selectRange(CompareSide* from, std::optional<TimeRange> traceRange);
    void startComparison();
    AlignedRanges comparedRanges() const;
    QString comparedText(const AlignedRanges& ranges) const;
    void showComparison(const Comparison& comparison);

    TracePtr baselineTrace_;
    TracePtr candidateTrace_;
    std::optional<TimeRange> selectedRange_;
    std::string shownName_;  // of the alignment that the visible range was set for
    bool isMirroring_ = false;
    VisibleRange* visibleRange_;
    LatestJob* job_;
    HeadlineCard* headline_;
    AlignmentBar* alignment_;
    CompareSide* baseline_;
    CompareSide* candidate_;
    DetailsPanel* details_;
    DifferenceModel* model_;
    ReportView* differences_;
    QSplitter* parts_;
};

}  // namespace lanescope
