// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QObject>
#include <QPushButton>
#include <QWidget>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "model/format/Result.h"
#include "model/live/LiveTrace.h"
#include "model/trace/Trace.h"
#include "views/text/shownText.h"

namespace lanescope::views {
class TimelineView;
struct Theme;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Returns the period of a refresh with this CPU time: a second, but long enough that all refreshes
/// together take at most a tenth of one core.
std::chrono::nanoseconds refreshPeriod(std::chrono::nanoseconds cpuTime);

/// Reloads a trace repeatedly while it is being recorded, on a separate thread, as often as
/// `refreshPeriod` allows. Signals arrive on the thread of this object. Ends with the recording.
class LiveFollower : public QObject {
    Q_OBJECT
  public:
    explicit LiveFollower(LiveTrace live, QObject* parent = nullptr) : QObject(parent), live_(std::move(live)) {}
    /// Stops and waits for the thread.
    ~LiveFollower() override;

    const LiveTrace& live() const { return live_; }
    /// Call once.
    void start();
    /// Call when the last trace is completely visible: its computations count as work of the refresh.
    void noteShown();

  signals:
    /// Emitted with more data than before, or with the first.
    void refreshed(lanescope::TracePtr trace);
    /// Emitted with the finished trace when the recording has ended.
    void finished(lanescope::TracePtr trace);
    /// Emitted with the reason when no more data follows.
    void failed(const QString& sentence);

  private:
    /// The end of the loop: the finished trace, the reason for a failure, or neither if it was stopped.
    struct End {
        TracePtr trace;
        QString failure;
    };

    End run();
    bool isStopping();
    /// Copies the new rows, as many as a refresh shows; returns their number.
    Result<int64_t> copyRows(TraceMirror& mirror);
    /// Returns an end if there is no more work.
    std::optional<End> refresh(TraceMirror& mirror);
    /// Waits until the next refresh is due. Returns false if there is none.
    bool rest(std::chrono::steady_clock::time_point begun);
    /// Runs on the thread of this object after `run`.
    void finish(const End& end);

    LiveTrace live_;
    bool hasShown_ = false;
    bool mayBeAbandoned_ = false;
    int failures_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool isStopping_ = false;
    std::chrono::nanoseconds cpuAtBegin_{0};  ///< Process CPU time when the last refresh began.
    std::chrono::nanoseconds cpuTime_{0};     ///< CPU time of the last refresh so far.
    std::thread thread_;
};

/// Shows that a trace is still being recorded and its length so far. Keeps the end visible until
/// the user moves the view.
class LiveBar : public QWidget {
    Q_OBJECT
  public:
    explicit LiveBar(views::TimelineView& timeline, QWidget* parent = nullptr);

    bool isFollowing() const { return isFollowing_; }
    void setFollowing(bool isFollowing);
    QString text() const { return text_->text(); }
    void setTheme(const views::Theme& theme);

    /// Call around `TimelineView::setTrace` to restore the view, or to move it to the new end.
    void beforeChange();
    void afterChange(const Trace& trace);
    /// Call when no more data follows; an empty sentence hides the bar.
    void end(const QString& sentence);

  private:
    void noticeMove();
    void showProgress(const Trace& trace);

    views::TimelineView& timeline_;
    QLabel* dot_ = new QLabel(QStringLiteral("●"), this);
    QLabel* text_ = new views::WrappedLabel(this);
    QPushButton* follow_ = new QPushButton(tr("Follow the end"), this);
    bool isFollowing_ = true;
    bool isChanging_ = false;
    bool wasFitted_ = true;
    TimeRange before_;
};

}  // namespace lanescope::viewer
