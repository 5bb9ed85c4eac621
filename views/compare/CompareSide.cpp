#include "views/compare/CompareSide.h"

#include <QDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "views/details/HealthBar.h"
#include "views/details/HealthPanel.h"
#include "views/text/toQString.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

CompareSide::CompareSide(Role role, VisibleRange* range, QWidget* parent)
    : QWidget(parent),
      role_(role),
      mark_(new QLabel(this)),
      title_(new QLabel(this)),
      remark_(new QLabel(this)),
      healthBar_(new HealthBar(this)),
      timeline_(new TimelineView(this)) {
    timeline_->setVisibleRange(range);
    mark_->setFixedWidth(4);
    mark_->setAutoFillBackground(true);
    QFont font = title_->font();
    font.setWeight(QFont::DemiBold);
    title_->setFont(font);
    title_->setTextFormat(Qt::PlainText);
    remark_->setTextFormat(Qt::PlainText);

    auto* top = new QHBoxLayout;
    top->setContentsMargins(0, 0, 8, 0);
    top->setSpacing(8);
    top->addWidget(mark_);
    top->addWidget(title_);
    top->addWidget(remark_, 1);
    title_->setContentsMargins(0, 4, 0, 4);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(healthBar_);
    layout->addWidget(timeline_, 1);
    connect(healthBar_, &HealthBar::detailsRequested, this, &CompareSide::showHealth);
    updateTitle();
}

void CompareSide::setTrace(TracePtr trace) {
    healthBar_->setNotes(trace->health);
    timeline_->setTrace(std::move(trace));
    updateTitle();
}

void CompareSide::setTheme(const Theme& theme) {
    theme_ = theme;
    timeline_->setTheme(theme);
    healthBar_->setTheme(theme);
    updateTitle();
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

void CompareSide::updateTitle() {
    const bool isBaseline = role_ == Role::Baseline;
    const QColor color = isBaseline ? theme_.baseline : theme_.candidate;
    QPalette markColors = palette();
    markColors.setColor(QPalette::Window, color);
    mark_->setPalette(markColors);
    QPalette remarkColors = palette();
    remarkColors.setColor(QPalette::WindowText, theme_.mutedText);
    remark_->setPalette(remarkColors);

    const TracePtr& trace = timeline_->trace();
    const QString side = isBaseline ? tr("Baseline") : tr("Candidate");
    title_->setText(side);
    // The name stands in the corner of the timeline; two runs often share it, so here is where from.
    remark_->setText(trace ? toQString(trace->path.parent_path().string()) : QString());
}

}  // namespace lanescope
