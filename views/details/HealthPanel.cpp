// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/HealthPanel.h"

#include <QHBoxLayout>

#include "model/summary/describeTrace.h"
#include "model/trace/notesOf.h"
#include "views/details/FactSheet.h"
#include "views/text/toQString.h"

namespace lanescope::views {

HealthPanel::HealthPanel(QWidget* parent)
    : QWidget(parent), notes_(new FactSheet(this)), facts_(new FactSheet(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    notes_->setAccessibleName(tr("What was lost or is doubtful"));
    facts_->setAccessibleName(tr("Facts about the trace"));
    layout->addWidget(notes_, 1);
    layout->addWidget(facts_, 1);
}

void HealthPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    refresh();
}

void HealthPanel::setTheme(const Theme& theme) {
    theme_ = theme;
    refresh();
}

void HealthPanel::refresh() {
    notes_->clearSheet();
    facts_->clearSheet();
    if (!trace_) return;
    const DescribedTrace description = describeTrace(*trace_);
    showNotes(description);
    showFacts(description);
}

void HealthPanel::showNotes(const DescribedTrace& description) {
    notes_->addHeading(tr("What was lost or is doubtful"));
    for (const HealthNote& note : description.health) {
        const QColor color = note.severity == Severity::Error     ? theme_.error
                             : note.severity == Severity::Warning ? theme_.warning
                                                                  : theme_.information;
        notes_->addParagraph(toQString(shownText(note)), color);
    }
    if (description.health.empty()) notes_->addParagraph(tr(nothingKnownLost), theme_.faster);
    notes_->addHeading(tr("What was recorded"));
    notes_->addFacts(description.counts);
    notes_->finish();
}

void HealthPanel::showFacts(const DescribedTrace& description) {
    facts_->addHeading(tr("The run"));
    facts_->addFacts(description.run);
    showThings(tr("GPUs"), description.gpus);
    showThings(tr("Processes"), description.processes);
    if (!description.memoryPeaks.empty()) facts_->addHeading(tr("Peak memory"));
    std::vector<Property> peaks;
    for (const MemoryPeak& peak : description.memoryPeaks) peaks.push_back(peak.line);
    facts_->addFacts(peaks);
    facts_->finish();
}

void HealthPanel::showThings(const QString& heading, const std::vector<DescribedThing>& things) {
    if (things.empty()) return;
    facts_->addHeading(heading);
    for (const DescribedThing& thing : things) {
        facts_->addParagraph(toQString(thing.title));
        facts_->addFacts(thing.facts);
    }
}

}  // namespace lanescope::views
