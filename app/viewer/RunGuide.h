// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QList>
#include <QObject>
#include <QPointer>
#include <optional>
#include <vector>

#include "model/analysis/IdleCauses.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"
#include "model/explain/findingQueries.h"
#include "model/trace/Trace.h"
#include "views/explain/ExplainJob.h"
#include "views/explain/IdlePanel.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/timeline/TrackArrangement.h"

namespace lanescope::views {
class ExplanationPanel;
class PartsLegend;
class StepStrip;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

class AppSettings;

/// Guides through one run: explains it, begins at its steady steps, and leads from findings, steps
/// and idle times to their places on the timeline.
class RunGuide : public QObject {
    Q_OBJECT
  public:
    /// The page owns the widgets and places them.
    RunGuide(TracePtr trace, views::TimelineView& timeline, QWidget* page);
    ~RunGuide() override;

    views::ExplanationPanel& card() const { return *card_; }
    views::StepStrip& strip() const { return *strip_; }
    views::PartsLegend& legend() const { return *legend_; }
    views::IdlePanel& idlePanel() const { return *idlePanel_; }
    views::IdleFinder& idle() const { return *idle_; }
    /// Null until it is known.
    const views::ExplainedRunPtr& run() const { return run_; }

    /// Uses `known`, or starts the explanation if `known` is null or has no plain steps. Call it again at the end of a
    /// trace that is still being recorded; `setTrace` cancels the explanation until then.
    void start(views::ExplainedRunPtr known = {});
    /// Sets another trace and discards earlier results; the view stays where it is from now on.
    void setTrace(TracePtr trace);
    void setTheme(const views::Theme& theme);
    /// Sets the height of the page: a low one shows less of the panel.
    void setPageHeight(int height);
    bool isBusy() const;
    /// For the menu Analyse.
    QList<QAction*> actions() const { return actions_; }
    /// For keys that apply only to the timeline.
    QList<QAction*> timelineActions() const { return timelineActions_; }
    void restore(const AppSettings& settings);
    void store(AppSettings& settings) const;

    void showStep(explain::StepPlace place);
    /// Goes to the step of this number of `worker`, else of the rank that the others wait for, else of any. Returns
    /// false if there is none.
    bool showStepOf(int64_t number, std::optional<uint32_t> worker = {});
    /// Explains the run with another unit as its steps; empty for the detected one. The view stays. Emits `failed`
    /// and keeps the unit if that fails.
    void chooseUnit(const std::string& pattern);
    /// Returns the units that can be chosen, the detected one first; empty until known.
    const std::vector<StepUnit>& units() const { return units_; }
    const std::string& chosenUnit() const { return chosenUnit_; }
    /// Returns why the unit chosen last could not be shown; empty if it is.
    const QString& unitError() const { return unitError_; }
    /// Goes to the neighbouring step of the last viewed rank.
    void stepBy(int direction);
    void showSlowestStep();
    /// Goes to the next-shorter (+1) or next-longer (-1) idle gap: first those of the step in view, then all of the
    /// steps; begins with the longest.
    void showNextGap(int direction);

  signals:
    void queryRequested(const QString& sql);
    /// Emitted when a gap was marked (its panel must be shown) or unmarked.
    void gapShown(bool isShown);
    /// Emitted when runs and steps are known or cannot be.
    void explained();
    void failed(const QString& sentence);

  private:
    void makeActions();
    QAction* make(const QString& text, const QKeySequence& key, bool isForTimeline);
    void connectParts();
    void take(views::ExplainedRunPtr run);
    void showFinding(const explain::Finding& finding);
    void showCriticalPath(bool isOn);
    void showPlace(const explain::FindingPlace& place, uint32_t worker);
    void showPendingGap();
    /// Restores the view and selection before the last finding that was shown; the timeline has the focus after all.
    void undoFinding();
    void showGap(size_t worker, size_t gap, bool movesThere);
    void updatePanel();
    void updateStrip();
    void setChosen(std::optional<explain::StepPlace> step);
    /// Shows the parts of the chosen step, else of the mean step.
    void updateLegend();
    QString meanTitle(const explain::WorkerParts& mean) const;
    std::optional<explain::StepPlace> stepInView() const;
    /// Returns the gaps in the order of `showNextGap`.
    std::vector<analysis::IdleGaps::Place> gapsInOrder() const;
    /// Returns the gaps of a step, longest first; empty while unknown.
    std::vector<analysis::IdleGaps::Place> gapsOf(explain::StepPlace place) const;
    TimeRange rangeOf(explain::StepPlace place) const;
    /// Returns the GPU track of a rank of the summary, or `noIndex`.
    uint32_t trackOf(uint32_t worker) const;

    TracePtr trace_;
    views::TimelineView& timeline_;
    QPointer<views::TimelineView> timelineLeft_;  ///< Null if the page was deleted before this.
    views::ExplainedRunPtr run_;
    std::vector<StepUnit> units_;
    std::string chosenUnit_, shownUnit_;  ///< The shown one is that of `run_`.
    QString unitError_;
    bool mayMove_ = true;
    std::vector<analysis::IdleGaps::Place> order_;  ///< The gaps to go to, from the first key press on.
    std::optional<size_t> ranked_;                  ///< The index of the shown gap among them.
    bool isNextGapPending_ = false;
    /// A gap to show once the gaps are known.
    struct PendingGap {
        uint32_t track = 0;
        TimeRange range;
    };
    std::optional<PendingGap> pendingGap_;
    /// View and selection before a finding was shown.
    struct Before {
        TimeRange visible;
        int scrollY = 0;
        views::TrackArrangement tracks;
        EventRef event;
        std::optional<TimeRange> range;
        std::optional<analysis::IdleGaps::Place> gap;
        std::optional<explain::StepPlace> step;
    };
    std::vector<Before> before_;
    std::optional<analysis::IdleGaps::Place> shownGap_;
    views::ExplainJob* job_ = new views::ExplainJob(this);
    views::LatestJob* placeJob_ = new views::LatestJob(this);
    views::LatestJob* pathJob_ = new views::LatestJob(this);
    views::ExplanationPanel* card_;
    views::StepStrip* strip_;
    views::PartsLegend* legend_;
    views::IdlePanel* idlePanel_;
    views::IdleFinder* idle_ = new views::IdleFinder(this);
    QAction *showPanel_ = nullptr, *showPath_ = nullptr;
    QList<QAction*> actions_, timelineActions_;
};

}  // namespace lanescope::viewer
