// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "model/trace/Trace.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparedTimelines.h"
#include "views/tables/ReportModel.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

/// How long a test waits for work beside the GUI thread.
inline constexpr int patienceMs = 60'000;

/// "step 0", "step 1", ... as long as `durationsNs`, each half of it a kernel, from `offsetNs` on.
/// Simulated.
TracePtr numberedSteps(const std::vector<int64_t>& durationsNs, int64_t offsetNs = 0,
                       std::string title = "steps.lanescope");

/// Durations of six equal steps.
inline const std::vector<int64_t> evenSteps(6, 1'000'000);
inline const std::vector<int64_t> longerSteps(6, 1'200'000);

/// A shown comparison of runs, and the ways to poke at it.
struct ShownComparison {
    ShownComparison(TracePtr baseline, std::vector<TracePtr> candidates);
    ShownComparison(TracePtr baseline, TracePtr candidate);
    /// Several runs a side.
    ShownComparison(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate);

    /// Until the runs are compared; false if that takes more than `patienceMs`.
    bool wait();
    views::TimelineView& baseline() { return view.baseline().timeline(); }
    views::TimelineView& candidate() { return view.candidate().timeline(); }
    views::ReportView& table(const QString& title) { return *view.tables().find(title); }
    /// A click into the row of a table of which a text holds `text`.
    bool clickRow(const QString& title, const QString& text);

    views::CompareView view;
};

}  // namespace lanescope
