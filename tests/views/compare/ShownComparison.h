// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparedTimelines.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

/// Maximum wait of a test for work outside the GUI thread.
inline constexpr int patienceMs = 60'000;

/// Simulated steps "step 0", "step 1", ... with these durations, each half a kernel, from `offsetNs` on.
TracePtr numberedSteps(const std::vector<int64_t>& durationsNs, int64_t offsetNs = 0,
                       std::string title = "steps.lanescope");

inline const std::vector<int64_t> evenSteps(6, 1'000'000);
inline const std::vector<int64_t> longerSteps(6, 1'200'000);

/// A shown and complete comparison of runs, with helpers for user actions.
struct ShownComparison {
    ShownComparison(TracePtr baseline, std::vector<TracePtr> candidates);
    ShownComparison(TracePtr baseline, TracePtr candidate);
    /// Compares several runs per side.
    ShownComparison(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate);

    /// Waits until the runs are compared again; returns false if that takes more than `patienceMs`.
    bool wait();
    views::TimelineView& baseline() { return view.baseline().timeline(); }
    views::TimelineView& candidate() { return view.candidate().timeline(); }
    views::ReportView& table(const QString& title) { return *view.tables().find(title); }
    /// Shows and returns the first tab with this text in its title.
    views::LazyTab& showTab(const QString& title);
    /// Clicks on the first table row with a text that contains `text`.
    bool clickRow(const QString& title, const QString& text);

    views::CompareView view;

  private:
    void show();
};

}  // namespace lanescope
