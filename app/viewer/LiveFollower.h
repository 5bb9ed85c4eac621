// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QWidget>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "model/format/Result.h"
#include "model/live/LiveTrace.h"
#include "model/trace/Trace.h"

namespace lanescope {
class TraceMirror;
}

namespace lanescope::viewer {

/// How long after its begin a refresh that took so much CPU time is followed by the next: a second,
/// but long enough that all of them together take at most a tenth of one core.
std::chrono::nanoseconds refreshPeriod(std::chrono::nanoseconds cpuTime);

/// Reads a trace again and again while it is being recorded, on a thread of its own, as often as
/// `refreshPeriod` allows. Signals arrive on the thread of this object. Ends by itself when the
/// recording does.
class LiveFollower : public QObject {
    Q_OBJECT

  public:
    explicit LiveFollower(LiveTrace live, QObject* parent = nullptr);
    /// Stops and waits for the thread.
    ~LiveFollower() override;

    const LiveTrace& live() const { return live_; }
    /// Call once.
    void start();
    /// Whoever shows the traces says that all of the last one is on the screen: what was computed
    /// for that counts as work of the refresh.
    void noteShown();

  signals:
    /// There is more than before, or this is the first that there is.
    void refreshed(lanescope::TracePtr trace);
    /// The recording has ended; this is the finished trace.
    void finished(lanescope::TracePtr trace);
    /// Nothing more will come, for this reason.
    void failed(const QString& sentence);

  private:
    /// How it ends: with the finished trace, with why nothing more comes, or with neither because
    /// it was stopped.
    struct End {
        TracePtr trace;
        QString failure;
    };

    End run();
    bool isStopping();
    /// Takes the rows that are new, as many as a refresh shows; tells how many there were.
    Result<int64_t> copyRows(TraceMirror& mirror);
    /// Something when nothing more is to be done.
    std::optional<End> refresh(TraceMirror& mirror);
    /// Waits until the next refresh is due. False if there is to be none.
    bool rest(std::chrono::steady_clock::time_point begun);
    End conclude();
    /// On the thread of this object, once `run` is done.
    void finish(const End& end);

    LiveTrace live_;
    bool hasShown_ = false;
    bool mayBeAbandoned_ = false;
    int failures_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool isStopping_ = false;
    std::chrono::nanoseconds cpuAtBegin_{0};  ///< Of the process, when the last refresh began.
    std::chrono::nanoseconds cpuTime_{0};     ///< What the last refresh took of it so far.
    std::thread thread_;
};

}  // namespace lanescope::viewer

class QLabel;
class QPushButton;

namespace lanescope::views {
class TimelineView;
struct Theme;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Says that a trace is still being recorded and how much there is of it, and keeps the end of it
/// in sight until the user looks elsewhere.
class LiveBar : public QWidget {
    Q_OBJECT

  public:
    explicit LiveBar(views::TimelineView& timeline, QWidget* parent = nullptr);

    bool isFollowing() const { return isFollowing_; }
    void setFollowing(bool isFollowing);
    QPushButton& followButton() const { return *follow_; }
    QString text() const;
    void setTheme(const views::Theme& theme);

    /// Around `TimelineView::setTrace`: what stood where, and that it stands there again, or at the
    /// new end.
    void beforeChange();
    void afterChange(const Trace& trace);
    /// Nothing more will come; an empty sentence hides the bar.
    void end(const QString& sentence);

  private:
    void noticeMove();
    void sayHowMuch(const Trace& trace);

    views::TimelineView& timeline_;
    QLabel* dot_;
    QLabel* text_;
    QPushButton* follow_;
    bool isFollowing_ = true;
    bool isChanging_ = false;
    bool wasFitted_ = true;
    TimeRange before_;
};

}  // namespace lanescope::viewer
