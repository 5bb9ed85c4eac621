// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/LiveFollower.h"

#include <time.h>

#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <new>
#include <utility>

#include "model/index/openTrace.h"
#include "model/live/TraceMirror.h"
#include "model/load/loadTrace.h"
#include "views/jobs/Courier.h"
#include "views/jobs/freedElsewhere.h"
#include "views/text/toQString.h"

namespace lanescope::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds shortestPeriod{1};
/// A period for each part of work: a tenth of one core.
constexpr int periodPerWork = 10;
/// A reader can meet the moment in which the trace gets its name.
constexpr int mostFailures = 5;
/// Rows copied before a look at whether to stop, and before they are shown.
constexpr int64_t rowsAtOnce = 50'000, mostRows = 2'000'000;

/// Of all threads: reading and what is computed for the screen take several.
std::chrono::nanoseconds processCpuTime() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds refreshPeriod(std::chrono::nanoseconds cpuTime) {
    return std::max<std::chrono::nanoseconds>(shortestPeriod, cpuTime * periodPerWork);
}

LiveFollower::LiveFollower(LiveTrace live, QObject* parent)
    : QObject(parent), live_(std::move(live)) {}

LiveFollower::~LiveFollower() {
    {
        const std::lock_guard lock(mutex_);
        isStopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void LiveFollower::start() {
    // Whatever fails in there, this can be said: it is made by now.
    auto end = std::make_shared<End>();
    end->failure = tr("There is not enough memory to go on reading %1.")
                       .arg(views::toQString(live_.finished.string()));
    auto* const courier = new views::Courier([guard = QPointer<LiveFollower>(this), end] {
        if (guard) guard->finish(*end);
    });
    thread_ = std::thread([this, courier, end = std::move(end)]() mutable {
        try {
            *end = run();
        } catch (const std::bad_alloc&) {
        }
        end.reset();  // what it holds goes away where it arrives
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
    // It may still turn out to have been more, and an end is not waited for.
    Clock::time_point due = begun + shortestPeriod;
    const auto isRecording = [this] { return stateOf(live_) == LiveState::Recording; };
    do {
        while (!isStopping_ && Clock::now() < due) wake_.wait_until(lock, due);
        due = std::min(Clock::now() + shortestPeriod, begun + refreshPeriod(cpuTime_));
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

/// In parts, since whoever closes the trace waits for us.
Result<int64_t> LiveFollower::copyRows(TraceMirror& mirror) {
    int64_t all = 0;
    while (!isStopping()) {
        const auto rows = mirror.refresh(rowsAtOnce);
        if (!rows) return rows;
        all += *rows;
        if (*rows < rowsAtOnce || all >= mostRows) break;
    }
    return all;
}

std::optional<LiveFollower::End> LiveFollower::refresh(TraceMirror& mirror) {
    // Looked at before reading: what is read after the end is the whole.
    const LiveState state = stateOf(live_);
    if (state == LiveState::Finished) return conclude();
    const auto rows = copyRows(mirror);
    if (isStopping()) return End{};
    if (!rows) {
        if (++failures_ < mostFailures) return std::nullopt;
        return End{nullptr, views::toQString(rows.error().sentence)};
    }
    failures_ = 0;
    if (*rows > 0 || !hasShown_) {
        auto trace = loadOpenTrace(mirror.descriptor(), live_.finished,
                                   [this](double, std::string_view) { return !isStopping(); });
        if (trace)
            QMetaObject::invokeMethod(
                this,
                [this, shown = views::freedElsewhere(std::move(*trace))] { emit refreshed(shown); },
                Qt::QueuedConnection);
        hasShown_ = hasShown_ || trace.has_value();
    }
    // Twice in a row: between the last name and the lock there is a moment without either.
    const bool isAbandoned = state == LiveState::Abandoned && *rows == 0;
    if (isAbandoned && std::exchange(mayBeAbandoned_, true))
        return End{
            nullptr,
            tr("The recording ended without finishing its trace. 'lanescope recover %1' makes one "
               "of what was recorded.")
                .arg(views::toQString(logFolderOf(live_).string()))};
    mayBeAbandoned_ = isAbandoned;
    return std::nullopt;
}

LiveFollower::End LiveFollower::conclude() {
    auto trace =
        openTrace(live_.finished, {}, [this](double, std::string_view) { return !isStopping(); });
    if (!trace) return {nullptr, views::toQString(trace.error().sentence)};
    return {std::move(*trace), {}};
}

}  // namespace lanescope::viewer
