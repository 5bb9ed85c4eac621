// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/explain/IdleCard.h"

#include <QVBoxLayout>
#include <utility>

#include "model/compare/StateWords.h"
#include "model/compare/shownNumbers.h"
#include "model/values/formatValue.h"
#include "views/details/FactSheet.h"
#include "views/explain/IdleFinder.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace compare;

IdleCard::IdleCard(QWidget* parent) : QWidget(parent), sheet_(new FactSheet(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(sheet_);
    sheet_->setAccessibleName(tr("Why the GPU was idle"));
    connect(sheet_, &FactSheet::linkActivated, this,
            [this](quint32 bits) { emit eventActivated(EventRef::fromBits(bits)); });
}

void IdleCard::setGap(const TracePtr& trace, std::shared_ptr<const IdleGaps> gaps,
                      IdleGaps::Place place) {
    trace_ = trace;
    gaps_ = std::move(gaps);
    place_ = place;
    refresh();
}

void IdleCard::setTheme(const Theme& theme) {
    theme_ = theme;
    // Colours are written into the text; the sheet has the new ones once this event is through.
    QMetaObject::invokeMethod(this, &IdleCard::refresh, Qt::QueuedConnection);
}

void IdleCard::refresh() {
    sheet_->clearSheet();
    if (gaps_) {
        const IdleGap& gap = gaps_->at(place_);
        const std::vector<IdleCause> causes = gaps_->whyIdle(place_.worker, gap.range);
        sheet_->addTitle(tr("GPU %1 idle, %2")
                             .arg(trace_->gpus[gaps_->gpuOf(place_.worker)].id)
                             .arg(toQString(formatDuration(gap.range.durationNs()))),
                         causes.empty() ? QColor() : theme_.colorOf(causes.front().part));
        if (!causes.empty()) sheet_->addCaption(toQString(name(causes.front().part)));
        addCauses(causes, gap.range);
        addThreads(gap);
        addNeighbours(gap);
        const IdleGaps::Likes likes = gaps_->likesOf(place_);
        if (!causes.empty() && likes.count > 0) {
            sheet_->addHeading(tr("In the whole run"));
            sheet_->addParagraph(tr("%1 gaps of this GPU are mostly that; %2 in all.")
                                     .arg(toQString(formatCount(likes.count)),
                                          toQString(timeText(static_cast<double>(likes.ns)))));
        }
        sheet_->addParagraph(tr("I goes to the next-longest gap of the steps."));
    }
    sheet_->finish();
}

void IdleCard::addCauses(const std::vector<IdleCause>& causes, TimeRange gap) {
    std::vector<Property> facts{{"From", formatTimestamp(gap.startNs)},
                                {"To", formatTimestamp(gap.endNs)}};
    if (gaps_->at(place_).call != noIndex) {
        const Thread& thread = trace_->threads[trace_->apiCalls.thread[gaps_->at(place_).call]];
        facts.push_back({"Waits for", thread.name.empty() ? "TID " + std::to_string(thread.tid)
                                                          : printable(thread.name) + ", TID " +
                                                                std::to_string(thread.tid)});
    }
    sheet_->addFacts(facts);
    sheet_->addHeading(tr("Why"));
    for (const IdleCause& cause : causes)
        sheet_->addParagraph(
            tr("%1  %2").arg(toQString(formatDuration(cause.ns)), causeText(cause)),
            theme_.colorOf(cause.part));
}

void IdleCard::addThreads(const IdleGap& gap) {
    const std::vector<IdleGaps::ThreadInGap> threads = gaps_->threadsDuring(gap);
    if (threads.empty()) return;
    sheet_->addHeading(tr("What threads did"));
    for (const IdleGaps::ThreadInGap& each : threads) {
        const Thread& thread = trace_->threads[each.thread];
        const std::string which =
            each.isAwaited
                ? threadText(*trace_, each.thread)
                : thread.name + ", PID " + std::to_string(trace_->processes[thread.process].pid);
        sheet_->addParagraph(tr("%1: %2").arg(
            toQString(printable(which)),
            toQString(printable(timesText(*trace_, each.times, gap.range.durationNs())))));
    }
}

void IdleCard::addNeighbours(const IdleGap& gap) {
    if (const uint32_t before = gaps_->callBefore(gap); before != noIndex)
        addLink(tr("Call before"), {EventKind::Api, before});
    if (gap.call != noIndex) addLink(tr("Call that it waited for"), {EventKind::Api, gap.call});
    addLink(tr("Ran before"), gap.before);
    addLink(tr("Ran after"), gap.next);
}

void IdleCard::addLink(const QString& heading, EventRef event) {
    if (!event.isValid()) return;
    sheet_->addHeading(heading);
    const TimeRange range = trace_->rangeOf(event);
    const std::string name = trace_->nameOf(event);
    sheet_->addLink(toQString(name.empty() ? "(no name)" : name), event.bits(),
                    tr("%1 at %2")
                        .arg(toQString(formatDuration(range.durationNs())),
                             toQString(formatDuration(range.startNs))));
}

}  // namespace lanescope::views
