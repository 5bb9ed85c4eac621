// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/GoToBar.h"

#include <QLineEdit>
#include <algorithm>

#include "model/analysis/StepSelection.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"
#include "views/timeline/TimelineNavigator.h"

namespace lanescope::viewer {

using namespace views;

namespace {

/// Returns the GPU time of the step, for the rank with the largest number of steps; the slowest
/// step of all ranks, excluding warm-up.
Result<TimeRange> rangeOfStep(const Trace& trace, const TimeTarget& target) {
    StepSelection selection{.keepsWarmUp = !target.isSlowestStep};
    // The typed word is ignored for detected steps.
    if (target.stepName != "step" && !target.stepName.empty())
        selection.rangeName = target.stepName + (target.stepName.back() == '#' ? "" : " #");
    const auto found = findSteps(trace, selection);
    if (!found) return fail(found.error());
    const auto largestWorker =
        std::ranges::max_element(found->workers, {}, [](const auto& each) { return each.steps.size(); });
    if (largestWorker == found->workers.end() || largestWorker->steps.empty()) return fail("This trace has no steps.");
    if (target.isSlowestStep) {
        TimeRange slowest;
        for (const auto& worker : found->workers)
            for (const StepSpan& step : worker.steps)
                if (step.range.durationNs() > slowest.durationNs()) slowest = step.range;
        return slowest;
    }
    for (const StepSpan& step : largestWorker->steps)
        if (step.number == *target.step) return step.range;
    return fail("There is no step {}: they are counted from {} to {}.", *target.step,
                largestWorker->steps.front().number, largestWorker->steps.back().number);
}

}  // namespace

GoToBar::GoToBar(QWidget* parent) : PopupPanel(parent), remark_(new PlainLabel(this)), job_(new LatestJob(this)) {
    setAccessibleName(tr("Go to a time"));
    edit().setPlaceholderText(tr("1.5 s, +350 us, 50 %, 12:34:56, step 12, slowest, 1.2s..1.4s"));
    edit().setAccessibleName(tr("Go to a time"));
    remark_->setContentsMargins(4, 0, 4, 0);
    addTo(columnIn(this, {8, 8, 8, 8}, -1), &edit(), remark_);
    connect(&edit(), &QLineEdit::textEdited, this, [this] {
        job_->cancel();
        showStatus(tr("Enter goes there, Esc closes."), false);
    });
    connect(job_, &LatestJob::ranOutOfMemory, this,
            [this] { showStatus(tr("There is not enough memory to find this step."), true); });
}

void GoToBar::setTimeline(TimelineView* timeline) {
    job_->cancel();
    timeline_ = timeline;
}

void GoToBar::popUp() {
    showStatus(tr("A time, a share of the trace, a step, or a range with two dots."), false);
    PopupPanel::popUp();
}

void GoToBar::showStatus(const QString& sentence, bool isError) {
    QPalette colors = palette();
    if (timeline_ && isError) colors.setColor(QPalette::WindowText, timeline_->state().options().theme().error);
    remark_->setPalette(colors);
    remark_->setText(sentence);
    edit().setAccessibleDescription(sentence);
    if (isVisible()) place();
}

void GoToBar::accept() {
    if (!timeline_ || !timeline_->trace()) return dismiss();
    const Trace& trace = *timeline_->trace();
    const TimeContext context{trace.timelineRange(), timeline_->state().range().visible(),
                              timeline_->state().range().origin(), trace.startUtcNs};
    const auto target = parseTimeTarget(edit().text().toStdString(), context);
    if (!target) return showStatus(toQString(target.error().sentence), true);
    if (target->step || target->isSlowestStep) return findStep(*target);
    target->isSingleTime() ? showTime(target->range.startNs) : showRange(target->range);
}

void GoToBar::showRange(TimeRange range) {
    dismiss();
    timeline_->state().range().zoomTo(range);
}

void GoToBar::showTime(int64_t timeNs) {
    dismiss();
    TimelineNavigator(timeline_->state()).showTime(timeNs);
}

void GoToBar::findStep(const TimeTarget& target) {
    showStatus(tr("Searching for the step…"), false);
    job_->start([trace = timeline_->trace(), target, this]() -> LatestJob::Publish {
        const auto range = rangeOfStep(*trace, target);
        return [range, this] {
            if (!timeline_ || isHidden()) return;
            range ? showRange(*range) : showStatus(toQString(range.error().sentence), true);
        };
    });
}

QSize GoToBar::preferredSize() const {
    const int line = fontMetrics().height();
    const int width = std::max(520, 34 * line);
    const int remark = remark_->heightForWidth(width - 24);
    return {width, edit().sizeHint().height() + std::max(line, remark) + 26};
}

}  // namespace lanescope::viewer
