// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/CompareSide.h"

#include <QDialog>
#include <QVBoxLayout>

#include "model/trace/notesOf.h"
#include "views/details/HealthBar.h"
#include "views/details/HealthPanel.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::views {

CompareSide::CompareSide(Role role, VisibleRange* range, QWidget* parent)
    : QWidget(parent),
      role_(role),
      healthBar_(new HealthBar(this)),
      timeline_(new TimelineView(this)) {
    timeline_->setVisibleRange(range);
    timeline_->setAccessibleName(role == Role::Baseline ? tr("Timeline of both runs")
                                                        : tr("Timeline of the candidate"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(healthBar_);
    if (role == Role::Baseline) {
        layout->addWidget(timeline_, 1);
    } else {
        timeline_->hide();
    }
    connect(healthBar_, &HealthBar::detailsRequested, this, &CompareSide::showHealth);
}

void CompareSide::setTrace(TracePtr trace) {
    std::vector<HealthNote> notes = notesOf(*trace);
    const char* const side = role_ == Role::Baseline ? "Baseline: " : "Candidate: ";
    for (HealthNote& note : notes) note.sentence.insert(0, side);
    healthBar_->setNotes(notes);
    timeline_->setTrace(std::move(trace));
}

void CompareSide::setTheme(const Theme& theme) {
    theme_ = theme;
    timeline_->setTheme(theme);
    timeline_->setMark(role_ == Role::Baseline ? theme.baseline : theme.candidate);
    healthBar_->setTheme(theme);
}

TimeRange CompareSide::toAxis(TimeRange traceRange) const {
    return traceRange.shifted(-timeline_->timeOrigin());
}

TimeRange CompareSide::toTrace(TimeRange axisRange) const {
    return axisRange.shifted(timeline_->timeOrigin());
}

void CompareSide::showHealth() {
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(role_ == Role::Baseline ? tr("Health of the baseline")
                                                   : tr("Health of the candidate"));
    auto* panel = new HealthPanel(dialog);
    panel->setTrace(timeline_->trace());
    panel->setTheme(theme_);
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(panel);
    dialog->resize(720, 360);
    dialog->show();
}

}  // namespace lanescope::views
