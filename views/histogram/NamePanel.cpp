// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/histogram/NamePanel.h"

#include <QLabel>
#include <QVBoxLayout>
#include <memory>

#include "model/values/formatTable.h"
#include "model/values/formatValue.h"
#include "views/histogram/NameHistogram.h"
#include "views/jobs/LatestJob.h"
#include "views/text/WrappedLabel.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

QString sentenceOf(const NameOccurrences& found) {
    return NamePanel::tr("%1: %2 times, %3 in all; shortest %4, median %5, longest %6.")
        .arg(toQString(found.name), toQString(formatCount(int64_t(found.events.size()))),
             toQString(formatDuration(found.totalNs)), toQString(formatDuration(found.shortestNs)),
             toQString(formatDuration(found.medianNs)), toQString(formatDuration(found.longestNs)));
}

}  // namespace

NamePanel::NamePanel(QWidget* parent)
    : QWidget(parent),
      job_(new LatestJob(this)),
      headline_(new WrappedLabel(this)),
      histogram_(new NameHistogram(this)) {
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headline_->setContentsMargins(8, 6, 8, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(headline_);
    layout->addWidget(histogram_, 1);
    connect(histogram_, &NameHistogram::eventActivated, this, &NamePanel::eventActivated);
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        histogram_->setOccurrences(nullptr, {});
        headline_->setText(tr("There is not enough memory to find all of this name."));
    });
    setTrace(nullptr);
}

void NamePanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    job_->cancel();
    histogram_->setOccurrences(nullptr, {});
    headline_->setText(
        tr("Right-click a slice and choose \"How long and when they ran\" to see "
           "all of its name here."));
}

void NamePanel::showNameOf(EventRef event) {
    if (!trace_ || !event.isValid()) return;
    job_->start([this, trace = trace_, event]() -> LatestJob::Publish {
        auto found = std::make_shared<const NameOccurrences>(occurrencesOf(*trace, event));
        return [this, found, trace] {
            if (found->isEmpty()) return;
            headline_->setText(sentenceOf(*found));
            histogram_->setOccurrences(found, trace->timelineRange());
        };
    });
}

void NamePanel::setTheme(const Theme& theme) {
    histogram_->setTheme(theme);
}

QString NamePanel::headline() const {
    return headline_->text();
}

bool NamePanel::isStale() const {
    return job_->isRunning();
}

}  // namespace lanescope::views
