#include "views/details/HealthPanel.h"

#include <QHBoxLayout>
#include <algorithm>

#include "model/values/formatTable.h"
#include "views/details/FactSheet.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

std::vector<Property> countsOf(const Trace& trace) {
    std::vector<Property> facts;
    for (const EventCount& count : trace.counts) {
        std::string value = formatCount(count.total);
        if (count.untimed > 0) value += ", " + formatCount(count.untimed) + " of them not timed";
        facts.push_back({count.name, value});
    }
    return facts;
}

}  // namespace

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
    showNotes();
    showFacts();
}

void HealthPanel::showNotes() {
    notes_->addHeading(tr("What was lost or is doubtful"));
    std::vector<HealthNote> sorted = trace_->health;
    std::stable_sort(sorted.begin(), sorted.end(), [](const HealthNote& a, const HealthNote& b) {
        return a.severity > b.severity;
    });
    for (const HealthNote& note : sorted) {
        const QColor color = note.severity == Severity::Error     ? theme_.error
                             : note.severity == Severity::Warning ? theme_.warning
                                                                  : theme_.information;
        notes_->addParagraph(toQString(note.sentence), color);
    }
    if (sorted.empty()) {
        notes_->addParagraph(tr("Nothing that this file knows of."), theme_.faster);
    }
    notes_->addHeading(tr("What was recorded"));
    notes_->addFacts(countsOf(*trace_));
    notes_->finish();
}

void HealthPanel::showFacts() {
    facts_->addHeading(tr("The run"));
    std::vector<Property> facts = {
        {"File", trace_->path.string()},
        {"Written by", trace_->producer},
        {"Length", formatDuration(trace_->range.durationNs())},
    };
    facts.insert(facts.end(), trace_->properties.begin(), trace_->properties.end());
    facts_->addFacts(facts);
    facts_->finish();
}

}  // namespace lanescope
