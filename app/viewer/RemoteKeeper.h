// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

class QLabel;
class QPushButton;
class QTimer;

namespace lanescope::views {
class LatestJob;
}

namespace lanescope::viewer {

class TracePage;

/// Watches the line of a page with a trace on another machine: a bar with the reason and a button to connect again if
/// it broke, and new states of a trace that is being recorded there.
class RemoteKeeper : public QWidget {
    Q_OBJECT

  public:
    explicit RemoteKeeper(TracePage& page);

    QString text() const;
    /// Opens the trace again; what was fetched stays.
    void connectAgain();

  private:
    void check();
    void open(bool isAgain);
    void take(const Result<TracePtr>& trace, bool isAgain);

    TracePage& page_;
    views::LatestJob* job_;
    QLabel* text_;
    QPushButton* again_;
    QTimer* timer_;
    bool isFollowing_ = false;
    QElapsedTimer since_;  ///< Since the last state of a growing trace.
    qint64 tookMs_ = 0;    ///< To open that state.
};

}  // namespace lanescope::viewer
