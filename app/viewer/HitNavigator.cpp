#include "app/viewer/HitNavigator.h"

#include <algorithm>
#include <utility>

#include "model/summary/search.h"
#include "views/summary/LatestJob.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {
namespace {

/// Where the hit stands on the axis that the timelines share.
int64_t axisTime(const HitNavigator::Hit& hit) {
    return hit.timeline->trace()->rangeOf(hit.event).startNs - hit.timeline->timeOrigin();
}

}  // namespace

HitNavigator::HitNavigator(std::vector<TimelineView*> timelines, QObject* parent)
    : QObject(parent), timelines_(std::move(timelines)), job_(new LatestJob(this)) {}

bool HitNavigator::isSearching() const {
    return job_->isRunning();
}

void HitNavigator::search(const QString& text) {
    if (text == text_) return;
    text_ = text;
    pendingStep_ = 0;
    if (text.isEmpty()) {
        job_->cancel();
        publish(std::vector<std::vector<EventRef>>(timelines_.size()));
        return;
    }
    std::vector<TracePtr> traces;
    for (const TimelineView* timeline : timelines_) traces.push_back(timeline->trace());
    job_->start(
        [this, traces = std::move(traces), needle = text.toStdString()]() -> LatestJob::Publish {
            std::vector<std::vector<EventRef>> found;
            for (const TracePtr& trace : traces) {
                found.push_back(trace ? findEvents(*trace, needle) : std::vector<EventRef>());
            }
            return [this, found = std::move(found)]() mutable { publish(std::move(found)); };
        });
}

void HitNavigator::repeat() {
    if (text_.isEmpty()) return;
    hits_.clear();
    current_ = -1;
    search(std::exchange(text_, {}));
}

void HitNavigator::publish(std::vector<std::vector<EventRef>> found) {
    ++generation_;
    hits_.clear();
    current_ = -1;
    for (size_t i = 0; i < timelines_.size(); ++i) {
        for (const EventRef event : found[i]) hits_.push_back({timelines_[i], event});
        timelines_[i]->setSearchHits(std::move(found[i]));
    }
    if (timelines_.size() > 1) {
        std::stable_sort(hits_.begin(), hits_.end(),
                         [](const Hit& a, const Hit& b) { return axisTime(a) < axisTime(b); });
    }
    if (pendingStep_ != 0) {
        step(std::exchange(pendingStep_, 0));
    } else {
        emit changed();
    }
}

void HitNavigator::step(int direction) {
    if (isSearching()) {
        pendingStep_ = direction;
        return;
    }
    if (hits_.empty()) {
        emit changed();
        return;
    }
    int next = current_ + direction;
    if (current_ < 0) next = direction > 0 ? firstVisible() : firstVisible() - 1;
    show((next + count()) % count());
}

void HitNavigator::show(int index) {
    if (index < 0 || index >= count()) return;
    current_ = index;
    const Hit& hit = hits_[size_t(index)];
    hit.timeline->revealEvent(hit.event);
    emit changed();
}

int HitNavigator::firstVisible() const {
    const int64_t from = timelines_.front()->visibleRange()->range().startNs;
    const auto at = std::partition_point(hits_.begin(), hits_.end(),
                                         [from](const Hit& hit) { return axisTime(hit) < from; });
    return at == hits_.end() ? 0 : static_cast<int>(at - hits_.begin());
}

}  // namespace lanescope
