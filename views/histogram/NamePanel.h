// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/trace/Trace.h"
#include "views/theme/Theme.h"

class QLabel;

namespace lanescope::views {

class LatestJob;
class NameHistogram;

/// Everything in a trace that is called as one event: a line that sums it up, and when and how long
/// it ran. Found off the GUI thread.
class NamePanel : public QWidget {
    Q_OBJECT

  public:
    explicit NamePanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// Shows what is called as this one. Events that stand on no lane leave what was shown.
    void showNameOf(EventRef event);
    void setTheme(const Theme& theme);
    NameHistogram& histogram() const { return *histogram_; }
    QString headline() const;
    bool isStale() const;

  signals:
    void eventActivated(lanescope::EventRef event);

  private:
    TracePtr trace_;
    LatestJob* job_;
    QLabel* headline_;
    NameHistogram* histogram_;
};

}  // namespace lanescope::views
