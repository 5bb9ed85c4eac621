// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QStringList>
#include <QTemporaryDir>

#include "app/viewer/MainWindow.h"
#include "model/trace/Trace.h"

class QWidget;

namespace lanescope {

namespace views {
class TimelineView;
class TrackCanvas;
}  // namespace views
namespace viewer {
class RunGuide;
class TracePage;
}  // namespace viewer

/// What a simulated job of two ranks does in its 24 steps of 10 ms: rank 1 computes for 3 ms more
/// in each `period`-th, for which rank 0 waits in the collective of the step; then both are idle
/// while their CPU does something else. 0: no rank is ever late.
TracePtr withALateRank(int period = 1);
/// Of a step of it, from the middle of what is visible.
int64_t startOfAStep(TimeRange visible);

/// The window at first sight, and what a hand does to it, counted.
struct TaskHand {
    TaskHand();
    explicit TaskHand(TracePtr trace);

    bool wait();
    void click(QWidget& widget, QPoint place, Qt::MouseButton button = Qt::LeftButton);
    void key(QWidget& widget, Qt::Key pressed, Qt::KeyboardModifiers with = {});
    /// Types a word where the keyboard is.
    void type(const QString& word);
    /// Clicks at the tab of a table.
    void openTable(const QString& title);
    void drop(const QStringList& files);

    viewer::TracePage& page();
    viewer::RunGuide& guide();
    views::TimelineView& timeline();
    views::TrackCanvas& canvas();
    /// Of the stream of a GPU, which is unfolded for two of them.
    QPoint placeOn(uint32_t gpu, int64_t timeNs);

    /// "0", "1 click", "2 keys and a word".
    QString effort() const;
    /// Prints what a task took, and how long from the first touch, or from opening, to now. Empty
    /// if the table of the folder's page says the same, else what it says.
    QString said(const QString& task) const;

    QTemporaryDir folder;
    viewer::AppSettings settings;
    viewer::MainWindow window;

  private:
    void touch();

    int clicks_ = 0, keys_ = 0, words_ = 0;
    QElapsedTimer timer_;
    bool isTouched_ = false;
};

}  // namespace lanescope
