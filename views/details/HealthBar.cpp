// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/HealthBar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <algorithm>

#include "model/trace/notesOf.h"
#include "model/values/formatValue.h"
#include "views/text/WrappedLabel.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {

HealthBar::HealthBar(QWidget* parent)
    : QWidget(parent),
      label_(new WrappedLabel(this)),
      more_(new QToolButton(this)),
      place_(new QToolButton(this)),
      close_(new QToolButton(this)) {
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    label_->installEventFilter(this);
    place_->setText(tr("Show where"));
    place_->setAutoRaise(true);
    place_->hide();
    connect(place_, &QToolButton::clicked, this, &HealthBar::placeRequested);
    more_->setAutoRaise(true);
    close_->setAutoRaise(true);
    close_->setText(QStringLiteral("✕"));
    close_->setToolTip(tr("Hide this message"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(14, 4, 6, 4);
    layout->addWidget(label_, 1);
    layout->addWidget(place_);
    layout->addWidget(more_);
    layout->addWidget(close_);
    connect(more_, &QToolButton::clicked, this, &HealthBar::detailsRequested);
    connect(close_, &QToolButton::clicked, this, &QWidget::hide);
    hide();
}

void HealthBar::setNotes(const std::vector<HealthNote>& notes) {
    const auto isGrave = [](const HealthNote& note) { return note.severity >= Severity::Warning; };
    const auto graveCount = std::count_if(notes.begin(), notes.end(), isGrave);
    setVisible(graveCount > 0);
    if (graveCount == 0) {
        label_->clear();
        worstNote_ = {};
        return;
    }
    const auto worst = std::max_element(
        notes.begin(), notes.end(),
        [](const HealthNote& a, const HealthNote& b) { return a.severity < b.severity; });
    worst_ = worst->severity;
    worstNote_ = *worst;
    // Other tools break their sentences as they like.
    label_->setText(toQString(printable(shownText(*worst))).simplified());
    label_->setToolTip(plainToolTip(label_->text()));
    more_->setText(graveCount == 1 ? tr("Details") : tr("%1 more").arg(graveCount - 1));
    updateColors();
}

QString HealthBar::text() const {
    return label_->text();
}

void HealthBar::setPlaceKnown(bool isKnown) {
    place_->setVisible(isKnown);
    label_->setCursor(isKnown ? Qt::PointingHandCursor : Qt::IBeamCursor);
}

bool HealthBar::eventFilter(QObject* watched, QEvent* event) {
    // A click on the sentence; a drag still selects its text.
    if (watched == label_ && event->type() == QEvent::MouseButtonRelease && !place_->isHidden() &&
        !label_->hasSelectedText())
        emit placeRequested();
    return QWidget::eventFilter(watched, event);
}

void HealthBar::setTheme(const Theme& theme) {
    theme_ = theme;
    updateColors();
}

void HealthBar::updateColors() {
    const QColor color = worst_ == Severity::Error ? theme_.error : theme_.warning;
    QPalette colors = palette();
    colors.setColor(QPalette::Window, Theme::mix(theme_.window, color, 0.14));
    colors.setColor(QPalette::WindowText, theme_.text);
    colors.setColor(QPalette::ButtonText, color);
    setPalette(colors);
    update();
}

void HealthBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Window));
    painter.fillRect(QRect(0, 0, 4, height()),
                     worst_ == Severity::Error ? theme_.error : theme_.warning);
}

}  // namespace lanescope::views
