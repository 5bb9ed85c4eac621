// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/LiveFollower.h"

#include <time.h>

#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <new>
#include <utility>

#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/text/formatValue.h"
#include "views/jobs/LatestJob.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

using namespace views;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds minPeriod{1};
/// A period of ten times the work: a tenth of one core.
constexpr int periodPerWork = 10;
/// A reader can hit the short time in which the trace is renamed.
constexpr int maxFailures = 5;
/// Rows copied between checks for a stop, and before they are shown.
constexpr int64_t rowsAtOnce = 50'000, maxRowsPerRefresh = 2'000'000;

/// Returns the CPU time of all threads: loading and computing for the screen use several.
std::chrono::nanoseconds processCpuTime() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Part of the visible range; a smaller distance counts as at the end.
constexpr int64_t nearEnd = 50;

}  // namespace

std::chrono::nanoseconds refreshPeriod(std::chrono::nanoseconds cpuTime) {
    return std::max<std::chrono::nanoseconds>(minPeriod, cpuTime * periodPerWork);
}

LiveFollower::~LiveFollower() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void LiveFollower::start() {
    // Allocated before, so that any failure can be reported.
    auto end = std::make_shared<End>();
    end->failure = tr("Not enough memory to continue reading %1. Close other traces.")
                       .arg(views::toQString(live_.finished.string()));
    auto* const courier = new views::Courier([guard = QPointer<LiveFollower>(this), end] {
        if (guard) guard->finish(*end);
    });
    thread_ = std::thread([this, courier, end = std::move(end)]() mutable {
        try {
            *end = run();
        } catch (const std::bad_alloc&) {
        }
        end.reset();  // its content is deleted on arrival
        courier->send();
    });
}

void LiveFollower::finish(const End& end) {
    if (end.trace)
        emit finished(end.trace);
    else if (!end.failure.isEmpty())
        emit failed(end.failure);
}

LiveFollower::End LiveFollower::run() {
    auto mirror = TraceMirror::create(live_.partial);
    if (!mirror) return {nullptr, views::toQString(mirror.error().sentence)};
    for (;;) {
        const Clock::time_point begun = Clock::now();
        {
            const std::lock_guard lock(mutex_);
            cpuAtBegin_ = processCpuTime();
            cpuTime_ = {};
        }
        if (auto end = refresh(*mirror)) return std::move(*end);
        if (!rest(begun)) return {};
    }
}

bool LiveFollower::rest(Clock::time_point begun) {
    std::unique_lock lock(mutex_);
    cpuTime_ = std::max(cpuTime_, processCpuTime() - cpuAtBegin_);
    // The work may still increase, and the wait must end on a stop.
    Clock::time_point due = begun + minPeriod;
    const auto isRecording = [this] { return stateOf(live_) == LiveState::Recording; };
    do {
        while (!isStopping_ && Clock::now() < due) wake_.wait_until(lock, due);
        due = std::min(Clock::now() + minPeriod, begun + refreshPeriod(cpuTime_));
    } while (!isStopping_ && Clock::now() < due && isRecording());
    return !isStopping_;
}

void LiveFollower::noteShown() {
    {
        const std::lock_guard lock(mutex_);
        cpuTime_ = std::max(cpuTime_, processCpuTime() - cpuAtBegin_);
    }
    wake_.notify_all();
}

bool LiveFollower::isStopping() {
    const std::lock_guard lock(mutex_);
    return isStopping_;
}

/// In parts, because the recorder waits for this reader to finish the trace.
Result<int64_t> LiveFollower::copyRows(TraceMirror& mirror) {
    int64_t all = 0;
    while (!isStopping()) {
        const auto rows = mirror.refresh(rowsAtOnce);
        if (!rows) return rows;
        all += *rows;
        if (*rows < rowsAtOnce || all >= maxRowsPerRefresh) break;
    }
    return all;
}

std::optional<LiveFollower::End> LiveFollower::refresh(TraceMirror& mirror) {
    // Checked before reading: data read after the end is complete.
    const LiveState state = stateOf(live_);
    if (state == LiveState::Finished) {
        auto whole = openTrace(live_.finished, {}, [this](double, std::string_view) { return !isStopping(); });
        return whole ? End{std::move(*whole), {}} : End{nullptr, views::toQString(whole.error().sentence)};
    }
    const auto rows = copyRows(mirror);
    if (isStopping()) return End{};
    if (!rows) {
        if (++failures_ < maxFailures) return std::nullopt;
        return End{nullptr, views::toQString(rows.error().sentence)};
    }
    failures_ = 0;
    if (*rows > 0 || !hasShown_) {
        auto trace = loadOpenTrace(mirror.descriptor(), live_.finished,
                                   [this](double, std::string_view) { return !isStopping(); });
        if (trace)
            QMetaObject::invokeMethod(
                this, [this, shown = views::freedInBackground(std::move(*trace))] { emit refreshed(shown); },
                Qt::QueuedConnection);
        hasShown_ = hasShown_ || trace.has_value();
    }
    // Twice in a row: between the last name and the lock there is a short time without either.
    const bool isAbandoned = state == LiveState::Abandoned && *rows == 0;
    if (isAbandoned && std::exchange(mayBeAbandoned_, true))
        return End{nullptr, tr("The recording ended without finishing its trace. 'lanescope recover %1' makes one of "
                               "what was recorded.")
                                .arg(views::toQString(logFolderOf(live_).string()))};
    mayBeAbandoned_ = isAbandoned;
    return std::nullopt;
}

LiveBar::LiveBar(TimelineView& timeline, QWidget* parent) : QWidget(parent), timeline_(timeline) {
    setObjectName("liveBar");
    // Otherwise a widget subclass has no background from the window's style.
    setAttribute(Qt::WA_StyledBackground);
    text_->setText(tr("Recording…"));
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    follow_->setCheckable(true);
    follow_->setChecked(true);
    follow_->setToolTip(tr("Keep the newest events in sight"));
    auto* layout = rowIn(this, {14, 3, 6, 4}, 8);
    addTo(layout, dot_, Filling{text_});
    layout->addWidget(follow_, 0, Qt::AlignTop);
    if (timeline.trace()) showProgress(*timeline.trace());
    connect(follow_, &QPushButton::toggled, this, &LiveBar::setFollowing);
    connect(&timeline_.state().range().axis(), &VisibleRange::changed, this, &LiveBar::noticeMove);
}

void LiveBar::setTheme(const Theme& theme) { dot_->setStyleSheet(QStringLiteral("color: %1").arg(theme.error.name())); }

void LiveBar::setFollowing(bool isFollowing) {
    isFollowing_ = isFollowing;
    follow_->setChecked(isFollowing);
    if (!isFollowing) return;
    VisibleRange& visible = timeline_.state().range().axis();
    const TimeRange range = visible.range();
    isChanging_ = true;
    visible.setRange(range.shifted(visible.limits().endNs - range.endNs));
    isChanging_ = false;
}

void LiveBar::noticeMove() {
    if (isChanging_ || !isVisible()) return;
    const VisibleRange& visible = timeline_.state().range().axis();
    const int64_t missing = visible.limits().endNs - visible.range().endNs;
    const bool isAtEnd = missing <= visible.range().durationNs() / nearEnd;
    if (isAtEnd == isFollowing_) return;
    isFollowing_ = isAtEnd;
    const QSignalBlocker blocker(follow_);
    follow_->setChecked(isAtEnd);
}

void LiveBar::beforeChange() {
    isChanging_ = true;
    before_ = timeline_.state().range().axis().range();
    wasFitted_ = timeline_.state().range().axis().isFitted();
}

void LiveBar::afterChange(const Trace& trace) {
    VisibleRange& visible = timeline_.state().range().axis();
    if (!wasFitted_ || !isFollowing_) visible.setRange(before_);
    if (isFollowing_ && !wasFitted_) visible.setRange(before_.shifted(visible.limits().endNs - before_.endNs));
    isChanging_ = false;
    showProgress(trace);
}

void LiveBar::showProgress(const Trace& trace) {
    text_->setText(tr("Recording… %1 so far").arg(toQString(formatDuration(std::max<int64_t>(0, trace.range.endNs)))));
}

void LiveBar::end(const QString& sentence) {
    follow_->hide();
    dot_->hide();
    text_->setText(sentence);
    setVisible(!sentence.isEmpty());
}

}  // namespace lanescope::viewer
