// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarkEditor.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>
#include <iterator>
#include <utility>

#include "views/notes/MarkStore.h"
#include "views/text/toQString.h"
#include "views/theme/Theme.h"

namespace lanescope::views {
namespace {

constexpr int swatchSize = 18;
const char* const colorNames[] = {
    QT_TRANSLATE_NOOP("MarkEditor", "Orange"), QT_TRANSLATE_NOOP("MarkEditor", "Sky blue"),
    QT_TRANSLATE_NOOP("MarkEditor", "Green"),  QT_TRANSLATE_NOOP("MarkEditor", "Vermilion"),
    QT_TRANSLATE_NOOP("MarkEditor", "Pink"),   QT_TRANSLATE_NOOP("MarkEditor", "Blue")};

}  // namespace

MarkEditor::MarkEditor(QWidget* parent) : QFrame(parent), text_(new QLineEdit(this)) {
    setObjectName("markEditor");
    setAutoFillBackground(true);
    text_->setPlaceholderText(tr("What is here? Enter keeps it."));
    text_->setAccessibleName(tr("Text of the mark"));
    text_->setMinimumWidth(260);
    text_->installEventFilter(this);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(6, 5, 6, 5);
    layout->setSpacing(4);
    layout->addWidget(text_);
    for (size_t index = 0; index < std::size(markColors); ++index) {
        auto* swatch = new QToolButton(this);
        swatch->setCheckable(true);
        swatch->setAutoExclusive(true);
        swatch->setFixedSize(swatchSize, swatchSize);
        swatch->setFocusPolicy(Qt::TabFocus);
        swatch->setToolTip(tr("%1 (Alt+%2)").arg(tr(colorNames[index])).arg(index + 1));
        swatch->setAccessibleName(tr(colorNames[index]));
        swatch->setShortcut(QKeySequence(Qt::ALT | Qt::Key(int(Qt::Key_1) + int(index))));
        swatch->installEventFilter(this);
        connect(swatch, &QToolButton::clicked, this, [this, index] {
            pick(markColors[index]);
            text_->setFocus();
        });
        colors_.push_back(swatch);
        layout->addWidget(swatch);
    }
    hide();
}

MarkEditor::~MarkEditor() {
    isOpen_ = false;
}

void MarkEditor::setTheme(const Theme& theme) {
    QString style =
        QStringLiteral("#markEditor { background: %1; border: 1px solid %2; border-radius: 4px; }")
            .arg(theme.card.name(), theme.accent.name());
    setStyleSheet(style);
    for (size_t index = 0; index < colors_.size(); ++index) {
        colors_[index]->setStyleSheet(
            QStringLiteral("QToolButton { background: #%1; border: 2px solid %2; border-radius: "
                           "3px; } QToolButton:checked, QToolButton:focus { border-color: %3; }")
                .arg(markColors[index], 6, 16, QLatin1Char('0'))
                .arg(theme.card.name(), theme.text.name()));
    }
}

void MarkEditor::edit(const Mark& mark, bool isNew) {
    if (isOpen_) finish(true);
    mark_ = mark;
    isNew_ = isNew;
    isOpen_ = true;
    text_->setText(toQString(mark.text));
    text_->selectAll();
    pick(mark.color);
    adjustSize();
    show();
    raise();
    text_->setFocus();
}

void MarkEditor::pick(uint32_t color) {
    mark_.color = color;
    for (size_t index = 0; index < colors_.size(); ++index)
        colors_[index]->setChecked(markColors[index] == color);
}

void MarkEditor::finish(bool isKept) {
    if (!std::exchange(isOpen_, false)) return;
    hide();
    if (!isKept) {
        emit rejected(mark_, isNew_);
        return;
    }
    mark_.text = text_->text().trimmed().toStdString();
    emit accepted(mark_, isNew_);
}

bool MarkEditor::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (isEnter || key->key() == Qt::Key_Escape) {
            event->accept();
            if (event->type() == QEvent::KeyPress) finish(isEnter);
            return true;
        }
    }
    if (event->type() == QEvent::FocusOut) {
        // To a colour of this very window is not away, nor to a menu or another program.
        const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
        if (reason == Qt::PopupFocusReason || reason == Qt::ActiveWindowFocusReason)
            return QFrame::eventFilter(watched, event);
        const QWidget* now = QApplication::focusWidget();
        if (!now || !isAncestorOf(now)) finish(true);
    }
    return QFrame::eventFilter(watched, event);
}

}  // namespace lanescope::views
