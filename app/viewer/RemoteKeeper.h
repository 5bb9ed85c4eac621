// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QPushButton>
#include <QTimer>
#include <QWidget>

#include "model/format/Result.h"
#include "model/trace/Trace.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"

namespace lanescope::viewer {

class TracePage;

/// Watches the line of a page with a trace on another machine: a bar with the reason and a button to connect again if
/// it broke, and new states of a trace that is being recorded there.
class RemoteKeeper : public QWidget {
    Q_OBJECT
  public:
    explicit RemoteKeeper(TracePage& page);

    QString text() const { return isHidden() ? QString() : text_->text(); }
    /// Opens the trace again; what was fetched stays.
    void connectAgain();

  private:
    void check();
    void open(bool isAgain);
    void take(const Result<TracePtr>& trace, bool isAgain);

    TracePage& page_;
    views::LatestJob* job_ = new views::LatestJob(this);
    QLabel* text_ = new views::WrappedLabel(this);
    QPushButton* again_ = new QPushButton(tr("&Reconnect"), this);
    QTimer* timer_ = new QTimer(this);
    bool isFollowing_ = false;
    QElapsedTimer since_;  ///< Since the last state of a growing trace.
    qint64 tookMs_ = 0;    ///< To open that state.
};

}  // namespace lanescope::viewer
