#include "app/viewer/LiveFollower.h"

#include <QMetaObject>
#include <chrono>
#include <utility>

#include "model/index/openTrace.h"
#include "model/live/TraceMirror.h"
#include "model/load/loadTrace.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval{1000};
/// Of rest for each part of work: a fifth of one core.
constexpr int restPerWork = 4;
/// A reader can meet the moment in which the trace gets its name.
constexpr int mostFailures = 5;

}  // namespace

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
    thread_ = std::thread([this] { run(); });
}

template <class Signal, class Value>
void LiveFollower::tell(Signal signal, Value value) {
    QMetaObject::invokeMethod(
        this, [this, signal, value = std::move(value)] { emit(this->*signal)(value); },
        Qt::QueuedConnection);
}

void LiveFollower::run() {
    auto mirror = TraceMirror::create(live_.partial);
    if (!mirror) return tell(&LiveFollower::failed, toQString(mirror.error().sentence));
    for (;;) {
        const Clock::time_point begun = Clock::now();
        if (!refresh(*mirror)) return;
        const auto worked = Clock::now() - begun;
        std::unique_lock lock(mutex_);
        const auto rest = std::max<Clock::duration>(interval, worked * restPerWork);
        if (wake_.wait_for(lock, rest, [this] { return isStopping_; })) return;
    }
}

bool LiveFollower::refresh(TraceMirror& mirror) {
    // Looked at before reading: what is read after the end is the whole.
    const LiveState state = stateOf(live_);
    if (state == LiveState::Finished) return conclude();
    const auto rows = mirror.refresh();
    if (!rows) {
        if (++failures_ < mostFailures) return true;
        tell(&LiveFollower::failed, toQString(rows.error().sentence));
        return false;
    }
    failures_ = 0;
    if (*rows > 0 || !hasShown_) {
        auto trace = loadOpenTrace(mirror.descriptor(), live_.finished);
        if (trace) tell(&LiveFollower::refreshed, *trace);
        hasShown_ = hasShown_ || trace.has_value();
    }
    // Twice in a row: between the last name and the lock there is a moment without either.
    const bool isAbandoned = state == LiveState::Abandoned && *rows == 0;
    if (isAbandoned && std::exchange(mayBeAbandoned_, true)) {
        tell(&LiveFollower::failed,
             tr("The recording ended without finishing its trace. 'lanescope recover %1' makes one "
                "of what was recorded.")
                 .arg(toQString(logFolderOf(live_).string())));
        return false;
    }
    mayBeAbandoned_ = isAbandoned;
    return true;
}

bool LiveFollower::conclude() {
    const LoadProgress progress = [this](double, std::string_view) {
        const std::lock_guard lock(mutex_);
        return !isStopping_;
    };
    const auto trace = openTrace(live_.finished, {}, progress);
    if (trace)
        tell(&LiveFollower::finished, *trace);
    else
        tell(&LiveFollower::failed, toQString(trace.error().sentence));
    return false;
}

}  // namespace lanescope
