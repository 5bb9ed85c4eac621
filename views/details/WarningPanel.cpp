// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/WarningPanel.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>

#include "model/reports/describeTrace.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"
#include "views/details/DetailsPanel.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

WarningBar::WarningBar(QWidget* parent) : QWidget(parent) {
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    label_->installEventFilter(this);
    place_->setText(tr("Show where"));
    place_->setAutoRaise(true);
    place_->hide();
    connect(place_, &QToolButton::clicked, this, &WarningBar::placeRequested);
    more_->setAutoRaise(true);
    close_->setAutoRaise(true);
    close_->setText(QStringLiteral("✕"));
    close_->setToolTip(tr("Close this message"));
    auto* layout = rowIn(this, {14, 4, 6, 4}, -1);
    layout->addWidget(label_, 1);
    addTo(layout, place_, more_, close_);
    connect(more_, &QToolButton::clicked, this, &WarningBar::detailsRequested);
    connect(close_, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void WarningBar::setNotes(const std::vector<HealthNote>& notes) {
    const auto isSevere = [](const HealthNote& note) { return note.severity >= Severity::Warning; };
    const auto severeCount = std::count_if(notes.begin(), notes.end(), isSevere);
    setVisible(severeCount > 0);
    if (severeCount == 0) {
        label_->clear();
        worstNote_ = {};
        return;
    }
    const auto worst = std::ranges::max_element(notes, {}, &HealthNote::severity);
    worstNote_ = *worst;
    // Sentences of other tools may contain line breaks.
    label_->setText(toQString(printable(shownText(*worst))).simplified());
    label_->setToolTip(plainToolTip(label_->text()));
    more_->setText(severeCount == 1 ? tr("Details") : tr("%1 more").arg(severeCount - 1));
    updateColors();
}

void WarningBar::setPlaceKnown(bool isKnown) {
    place_->setVisible(isKnown);
    label_->setCursor(isKnown ? Qt::PointingHandCursor : Qt::IBeamCursor);
}

bool WarningBar::eventFilter(QObject* watched, QEvent* event) {
    // A click on the sentence; a drag still selects its text.
    if (watched == label_ && event->type() == QEvent::MouseButtonRelease && !place_->isHidden() &&
        !label_->hasSelectedText())
        emit placeRequested();
    return QWidget::eventFilter(watched, event);
}

void WarningBar::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
}

void WarningBar::updateColors() {
    const QColor color = worstNote_.severity == Severity::Error ? theme_.error : theme_.warning;
    QPalette colors = palette();
    colors.setColor(QPalette::Window, Theme::mix(theme_.window, color, 0.14));
    colors.setColor(QPalette::WindowText, theme_.text);
    colors.setColor(QPalette::ButtonText, color);
    setPalette(colors);
    update();
}

void WarningBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, 0, 4, height()), worstNote_.severity == Severity::Error ? theme_.error : theme_.warning);
}

WarningPanel::WarningPanel(QWidget* parent) : Panel(parent), notes_(new FactSheet(this)), facts_(new FactSheet(this)) {
    auto* layout = rowIn(this);
    notes_->setObjectName("notes");
    facts_->setObjectName("facts");
    notes_->setAccessibleName(tr("Warnings"));
    facts_->setAccessibleName(tr("Facts about the trace"));
    addTo(layout, Filling{notes_}, Filling{facts_});
}

void WarningPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    refresh();
}

void WarningPanel::setTheme(const Theme& theme) {
    theme_ = theme;
    refresh();
}

void WarningPanel::refresh() {
    notes_->clearSheet();
    facts_->clearSheet();
    if (!trace_) return;
    const DescribedTrace description = describeTrace(*trace_);
    showNotes(description);
    showFacts(description);
}

void WarningPanel::showNotes(const DescribedTrace& description) {
    notes_->addHeading(tr("Warnings"));
    for (const HealthNote& note : description.health) {
        const QColor color = note.severity == Severity::Error     ? theme_.error
                             : note.severity == Severity::Warning ? theme_.warning
                                                                  : theme_.information;
        notes_->addParagraph(toQString(shownText(note)), color);
    }
    if (description.health.empty()) notes_->addParagraph(tr(nothingKnownLost), theme_.faster);
    notes_->addHeading(tr("Recorded data"));
    notes_->addFacts(description.counts);
    notes_->finish();
}

void WarningPanel::showFacts(const DescribedTrace& description) {
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

void WarningPanel::showThings(const QString& heading, const std::vector<DescribedThing>& things) {
    if (things.empty()) return;
    facts_->addHeading(heading);
    for (const DescribedThing& thing : things) {
        facts_->addParagraph(toQString(thing.title));
        facts_->addFacts(thing.facts);
    }
}

}  // namespace lanescope::views
