// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/SearchJob.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "model/search/findEvents.h"
#include "views/jobs/Courier.h"
#include "views/jobs/freedElsewhere.h"

namespace lanescope::viewer {
namespace {

/// Told before the end; enough for many steps.
constexpr size_t mostFirstHits = 4096;
constexpr qint64 countPeriodMs = 100;
constexpr int64_t earliestNs = std::numeric_limits<int64_t>::min();
constexpr int64_t latestNs = std::numeric_limits<int64_t>::max();

}  // namespace

class SearchJob::Run : public std::enable_shared_from_this<SearchJob::Run> {
  public:
    Run(SearchJob* job, std::vector<Place> places, SearchQuery query)
        : job_(job), places_(std::move(places)), query_(std::move(query)) {}

    void cancel() { isCancelled_ = true; }

    void work() {
        sinceCount_.start();
        try {
            for (size_t index = 0; index < places_.size() && !isCancelled_; ++index)
                found_.push_back(search(places_[index], index == 0));
            isWhole_ = true;
        } catch (const std::bad_alloc&) {
            found_.clear();
        }
    }

    /// On the GUI thread, once `work` is done.
    void deliver() {
        if (!isWanted()) return;
        SearchJob& job = *job_;
        job.run_.reset();
        if (isWhole_)
            emit job.finished(found_);
        else
            emit job.ranOutOfMemory();
    }

  private:
    /// First from the place on, as that is where the eyes are, then what is before it.
    SearchHitsPtr search(const Place& place, bool isFirst) {
        if (!place.trace) return nullptr;
        std::vector<EventRef> behind, before;
        find(*place.trace, {place.fromNs, latestNs}, behind, isFirst);
        find(*place.trace, {earliestNs, place.fromNs}, before, false);
        before.insert(before.end(), behind.begin(), behind.end());
        if (isCancelled_) return nullptr;
        return views::freedElsewhere(SearchHits::of(*place.trace, std::move(before)));
    }

    void find(const Trace& trace, TimeRange range, std::vector<EventRef>& hits, bool tellsFirst) {
        findEvents(trace, query_, range, [&](std::span<const EventRef> batch) {
            hits.insert(hits.end(), batch.begin(), batch.end());
            count_ += static_cast<qint64>(batch.size());
            if (tellsFirst && !batch.empty()) {
                tellsFirst = false;
                const auto first = batch.first(std::min(batch.size(), mostFirstHits));
                post([first = std::vector(first.begin(), first.end()),
                      count = count_](SearchJob& job) {
                    emit job.begun(first);
                    emit job.counted(count);
                });
            } else if (sinceCount_.elapsed() >= countPeriodMs) {
                sinceCount_.start();
                post([count = count_](SearchJob& job) { emit job.counted(count); });
            }
            return !isCancelled_;
        });
    }

    bool isWanted() const { return job_ && job_->run_.get() == this; }

    /// Lets the GUI thread do it, unless the job is gone or does another search by then.
    void post(std::function<void(SearchJob&)> report) {
        QCoreApplication* application = QCoreApplication::instance();
        if (!application || isCancelled_) return;
        QMetaObject::invokeMethod(
            application,
            [self = shared_from_this(), report = std::move(report)] {
                if (self->isWanted()) report(*self->job_);
            },
            Qt::QueuedConnection);
    }

    const QPointer<SearchJob> job_;  // looked at on the GUI thread only
    const std::vector<Place> places_;
    const SearchQuery query_;
    std::atomic<bool> isCancelled_ = false;
    qint64 count_ = 0;
    QElapsedTimer sinceCount_;
    std::vector<SearchHitsPtr> found_;  // these two by the GUI thread, after the work
    bool isWhole_ = false;
};

SearchJob::SearchJob(QObject* parent) : QObject(parent) {}

SearchJob::~SearchJob() {
    cancel();
}

void SearchJob::start(std::vector<Place> places, SearchQuery query) {
    cancel();
    run_ = std::make_shared<Run>(this, std::move(places), std::move(query));
    // What brings the answer is made by now, so that it arrives even if memory runs out.
    auto* const courier = new views::Courier([run = run_] { run->deliver(); });
    QThreadPool::globalInstance()->start([run = run_, courier]() mutable {
        run->work();
        run.reset();  // what it holds goes away on the GUI thread
        courier->send();
    });
}

void SearchJob::cancel() {
    if (run_) run_->cancel();
    run_.reset();
}

}  // namespace lanescope::viewer
