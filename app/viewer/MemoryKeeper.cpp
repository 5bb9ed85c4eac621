// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/MemoryKeeper.h"

#include <QTimer>
#include <chrono>
#include <utility>

#include "model/index/IndexFile.h"
#include "model/system/system.h"
#include "views/jobs/LatestJob.h"

namespace lanescope::viewer {

MemoryKeeper::MemoryKeeper(std::function<bool()> isBusy, std::function<std::vector<TracePtr>()> traces, QObject* parent)
    : QObject(parent), isBusy_(std::move(isBusy)), traces_(std::move(traces)), job_(new views::LatestJob(this)) {
    constexpr std::chrono::milliseconds interval{250};
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, &MemoryKeeper::check);
    timer->start(interval);
}

void MemoryKeeper::check() {
    const bool isBusy = isBusy_();
    if (!std::exchange(wasBusy_, isBusy) || isBusy) return;
    job_->start([this, traces = traces_()]() -> views::LatestJob::Publish {
        for (const TracePtr& trace : traces) unloadIndex(*trace);
        system::returnFreeMemory();
        return [this] { emit released(); };
    });
}

}  // namespace lanescope::viewer
