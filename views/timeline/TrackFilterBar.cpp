// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackFilterBar.h"

#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>

#include "views/theme/layouts.h"
#include "views/timeline/TrackMenu.h"

namespace lanescope::views {

TrackFilterBar::TrackFilterBar(TimelineState& state, QWidget* parent) : QWidget(parent), state_(state) {
    edit_->setPlaceholderText(tr("Filter tracks"));
    edit_->setAccessibleName(tr("Filter tracks by name"));
    edit_->setToolTip(tr("Shows only tracks with these words in their names. Escape clears it."));
    edit_->installEventFilter(this);
    auto* menu = new QMenu(chip_);
    chip_->setMenu(menu);
    chip_->setPopupMode(QToolButton::InstantPopup);
    chip_->setFocusPolicy(Qt::StrongFocus);
    chip_->setToolTip(tr("Tracks that you have hidden, to show them again"));
    chip_->hide();
    addTo(rowIn(this, {8, 2, 8, 3}, 6), Filling{edit_}, chip_);
    connect(edit_, &QLineEdit::textChanged, this, [this](const QString& text) { state_.tracks().setFilterText(text); });
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        TrackMenu::addHidden(*menu, state_);
        if (companion_) TrackMenu::addHidden(*menu, *companion_);
    });
    connect(&state_.tracks(), &TimelineTracks::changed, this, &TrackFilterBar::followState);
    connect(&state_.options(), &TimelineOptions::changed, this, &TrackFilterBar::style);
    style();
}

void TrackFilterBar::setCompanion(TimelineState* companion) {
    if (companion == companion_) return;
    companion_ = companion;
    if (companion) connect(&companion->tracks(), &TimelineTracks::changed, this, &TrackFilterBar::followState);
    followState();
}

void TrackFilterBar::activate() {
    edit_->setFocus(Qt::ShortcutFocusReason);
    edit_->selectAll();
}

void TrackFilterBar::followState() {
    size_t hidden = state_.tracks().layout().hiddenTracks().size();
    if (companion_) {
        // Tracks hidden on both sides count once.
        for (const uint32_t track : companion_->tracks().layout().hiddenTracks())
            if (companion_->tracks().counterpartOf(track) == noIndex) ++hidden;
    }
    const QString text = tr("%1 hidden").arg(hidden);
    if (chip_->text() != text) {
        chip_->setText(text);
        chip_->setAccessibleName(hidden == 1 ? tr("1 hidden track") : tr("%1 hidden tracks").arg(hidden));
    }
    chip_->setVisible(hidden > 0);
    edit_->setEnabled(state_.hasTracks());
    // Revealing an event clears a filter that hides it.
    if (state_.tracks().filterText().isEmpty() && !edit_->text().trimmed().isEmpty()) {
        const QSignalBlocker blocker(edit_);
        edit_->clear();
    }
}

void TrackFilterBar::style() {
    const Theme& theme = state_.options().theme();
    setStyleSheet(
        QStringLiteral(
            "QLineEdit { background: %1; color: %2; border: 1px solid %3; border-radius: 4px; padding: 1px 6px; "
            "selection-background-color: %4; selection-color: %5; }QLineEdit:focus { border-color: %4; }QToolButton { "
            "background: %6; color: %2; border: 1px solid %6; border-radius: 4px; padding: 1px 6px; "
            "}QToolButton:hover, QToolButton:focus { border-color: %4; }QToolButton::menu-indicator { image: none; }")
            .arg(theme.canvas.name(), theme.text.name(), theme.separator.name(), theme.accent.name(),
                 theme.accentText.name(), Theme::mix(theme.panel, theme.accent, 0.22).name()));
    update();
}

bool TrackFilterBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == edit_ && event->type() == QEvent::ShortcutOverride) {
        // Keys of the line edit belong to it, even if the timeline uses them elsewhere.
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) event->accept();
    }
    if (watched == edit_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Escape) edit_->clear();
        if (key == Qt::Key_Escape || key == Qt::Key_Return || key == Qt::Key_Enter) {
            emit dismissed();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void TrackFilterBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = state_.options().theme();
    painter.fillRect(rect(), theme.panel);
    painter.fillRect(QRect(0, height() - 1, width(), 1), theme.separator);
    painter.fillRect(QRect(width() - 1, 0, 1, height()), theme.separator);
}

}  // namespace lanescope::views
