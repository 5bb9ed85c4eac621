// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

namespace lanescope {
struct DescribedThing;
struct DescribedTrace;
}  // namespace lanescope

namespace lanescope::views {

class FactSheet;

/// What `describeTrace` says of a trace: what was lost or is doubtful, what was recorded, and where
/// and how.
class HealthPanel : public QWidget {
    Q_OBJECT
  public:
    explicit HealthPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    void setTheme(const Theme& theme);
    FactSheet& notes() const { return *notes_; }
    FactSheet& facts() const { return *facts_; }

  private:
    void refresh();
    void showNotes(const DescribedTrace& description);
    void showFacts(const DescribedTrace& description);
    void showThings(const QString& heading, const std::vector<DescribedThing>& things);

    TracePtr trace_;
    Theme theme_ = Theme::light();
    FactSheet* notes_;
    FactSheet* facts_;
};

}  // namespace lanescope::views
