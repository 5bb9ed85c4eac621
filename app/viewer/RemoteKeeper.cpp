// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/RemoteKeeper.h"

#include <algorithm>
#include <utility>

#include "app/viewer/LiveFollower.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "model/remote/RemoteTrace.h"
#include "views/theme/layouts.h"

namespace lanescope::viewer {

using namespace views;

RemoteKeeper::RemoteKeeper(TracePage& page)
    : QWidget(&page), page_(page), isFollowing_(remoteOf(*page.trace())->isGrowing()) {
    setObjectName("liveBar");
    setAttribute(Qt::WA_StyledBackground);
    again_->setObjectName("reconnect");
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* layout = rowIn(this, {14, 3, 6, 4}, -1);
    layout->addWidget(text_, 1);
    layout->addWidget(again_, 0, Qt::AlignTop);
    hide();
    connect(again_, &QPushButton::clicked, this, &RemoteKeeper::connectAgain);
    connect(timer_, &QTimer::timeout, this, &RemoteKeeper::check);
    constexpr int intervalMs = 300;
    timer_->start(intervalMs);
    since_.start();
}

void RemoteKeeper::check() {
    if (job_->isRunning()) return;
    const auto index = remoteOf(*page_.trace());
    if (const std::string problem = index->problem(); !problem.empty()) {
        text_->setText(toQString(problem));
        show();
        return;
    }
    // Like `refreshPeriod`: new states take a tenth of the time at most.
    constexpr qint64 minPeriodMs = 1000, periodPerWork = 10;
    if (isFollowing_ && since_.elapsed() > std::max(minPeriodMs, tookMs_ * periodPerWork)) open(false);
}

void RemoteKeeper::connectAgain() {
    again_->setEnabled(false);
    text_->setText(tr("Connecting…"));
    open(true);
}

void RemoteKeeper::open(bool isAgain) {
    since_.start();
    // The trace keeps its index until the new one has its pages.
    job_->start([this, isAgain, trace = page_.trace()]() -> LatestJob::Publish {
        const auto index = remoteOf(*trace);
        auto opened = std::make_shared<Result<TracePtr>>(openRemoteTrace(index->source(), {}, index.get()));
        if (*opened && **opened) *opened = freedInBackground(std::move(**opened));
        return [this, isAgain, opened] { take(*opened, isAgain); };
    });
}

void RemoteKeeper::take(const Result<TracePtr>& trace, bool isAgain) {
    tookMs_ = since_.elapsed();
    again_->setEnabled(true);
    if (!trace) {
        text_->setText(toQString(trace.error().sentence));
        if (!isAgain && isFollowing_) page_.endFollowing(text_->text());
        isFollowing_ = false;
        setVisible(isAgain || remoteOf(*page_.trace())->isBroken());
        return;
    }
    if (!*trace) return;
    hide();
    page_.updateTrace(*trace);
    const bool wasFollowing = std::exchange(isFollowing_, remoteOf(**trace)->isGrowing());
    if (wasFollowing && !isFollowing_) return page_.endFollowing({});
    if (isAgain && !isFollowing_) page_.guide().start();
}

}  // namespace lanescope::viewer
