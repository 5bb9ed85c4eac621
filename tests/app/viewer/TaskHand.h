// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QStringList>

#include "model/trace/Trace.h"
#include "tests/app/viewer/ShownWindow.h"

class QWidget;

namespace lanescope {

namespace views {
class TrackCanvas;
}
namespace viewer {
class RunGuide;
}

/// Simulates a job of two ranks with 24 steps of 10 ms: rank 1 computes for 3 ms more in each `period`-th, for which
/// rank 0 waits in the collective of the step; then both are idle while their CPU is busy. 0: no rank is ever late.
TracePtr withALateRank(int period = 1);
/// Start of a step near the middle of the visible range.
int64_t startOfAStep(TimeRange visible);

/// The window at first sight, with counted user actions.
struct TaskHand : ShownWindow {
    TaskHand();
    explicit TaskHand(TracePtr trace);

    void click(QWidget& widget, QPoint place, Qt::MouseButton button = Qt::LeftButton);
    void key(QWidget& widget, Qt::Key pressed, Qt::KeyboardModifiers with = {});
    void type(const QString& word);
    void openTable(const QString& title);
    void drop(const QStringList& files);

    viewer::RunGuide& guide();
    views::TrackCanvas& canvas();
    /// Position on the stream of a GPU, which is unfolded if there are two.
    QPoint placeOn(uint32_t gpu, int64_t timeNs);

    /// Returns "0", "1 click", "2 keys and a word".
    QString effort() const;
    /// Prints the effort of a task, and the time from the first action, or from opening, to now. Returns an empty text
    /// if the table of app/viewer/README.md has the same effort, else the measured one.
    QString said(const QString& task) const;

  private:
    void touch();

    int clicks_ = 0, keys_ = 0, words_ = 0;
    QElapsedTimer timer_;
    bool isTouched_ = false;
};

}  // namespace lanescope
