// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/DetailsPanel.h"

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "model/values/formatTable.h"
#include "views/details/FactSheet.h"
#include "views/text/toQString.h"

namespace lanescope::views {
namespace {

/// A graph launch may start thousands of kernels; more links than this help nobody.
constexpr size_t maximumLinks = 20;

/// A number and its unit stay on one line.
QString unbroken(const std::string& value) {
    return toQString(value).replace(' ', QChar(QChar::Nbsp));
}

}  // namespace

DetailsPanel::DetailsPanel(QWidget* parent) : QWidget(parent), sheet_(new FactSheet(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(sheet_);
    sheet_->setAccessibleName(tr("Details of the selected event"));
    connect(sheet_, &FactSheet::linkActivated, this, [this](quint32 bits) {
        const EventRef target(static_cast<EventKind>(bits >> EventRef::rowBits), bits);
        emit eventActivated(target);
    });
    refresh();
}

void DetailsPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    event_ = {};
    refresh();
}

void DetailsPanel::setEvent(EventRef event) {
    event_ = event;
    refresh();
}

void DetailsPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    // Colours are written into the text; the sheet has the new ones once this event is through.
    QMetaObject::invokeMethod(this, &DetailsPanel::refresh, Qt::QueuedConnection);
}

void DetailsPanel::refresh() {
    sheet_->clearSheet();
    if (!trace_ || !event_.isValid()) {
        sheet_->addHeading(tr("Nothing selected"));
        sheet_->addParagraph(tr("Click a slice to see what it is."));
        sheet_->addParagraph(
            tr("Drag along the ruler to select a range; the tables below then count "
               "that range only."));
        sheet_->finish();
        return;
    }
    const std::string name = trace_->nameOf(event_);
    std::vector<Property> facts = describe(*trace_, event_);
    sheet_->addTitle(toQString(name));
    // What only says the title again says what kind of thing it is.
    if (!facts.empty() && facts.front().value == name) {
        sheet_->addCaption(toQString(facts.front().name));
        facts.erase(facts.begin());
    }
    sheet_->addFacts(facts);
    addFlowLinks();
    sheet_->finish();
}

void DetailsPanel::addFlowLinks() {
    if (event_.kind() == EventKind::Api) {
        addLinks(tr("Launched on the GPU"), trace_->launchedWork(event_));
        return;
    }
    addLinks(tr("Forward operator"), forwardOf(*trace_, event_));
    addLinks(tr("Backward operator"), backwardOf(*trace_, event_));
    if (const EventRef call = trace_->launchingCall(event_); call.isValid())
        addLinks(tr("Launched by"), {call});
    addLinks(tr("Waited for, in other streams"), awaitedWork(*trace_, event_));
    addLinks(tr("Held up, in other streams"), waitingWork(*trace_, event_));
}

void DetailsPanel::addLinks(const QString& heading, const std::vector<EventRef>& events) {
    if (events.empty()) return;
    sheet_->addHeading(heading);
    const size_t shown = std::min(events.size(), maximumLinks);
    for (size_t i = 0; i < shown; ++i) addLinkTo(events[i]);
    if (events.size() > shown) sheet_->addParagraph(tr("and %1 more").arg(events.size() - shown));
}

void DetailsPanel::addLinkTo(EventRef event) {
    const TimeRange range = trace_->rangeOf(event);
    const std::string name = trace_->nameOf(event);
    sheet_->addLink(toQString(name.empty() ? "(no name)" : name), event.bits(),
                    tr("%1 at %2")
                        .arg(unbroken(formatDuration(range.durationNs())),
                             unbroken(formatDuration(range.startNs))));
}

}  // namespace lanescope::views
