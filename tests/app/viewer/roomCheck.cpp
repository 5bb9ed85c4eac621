// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/viewer/roomCheck.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSplitterHandle>
#include <QTabBar>
#include <QToolButton>

namespace lanescope {
namespace {

QString placeOf(const QWidget& widget) {
    return QStringLiteral("%1 at %2,%3 of %4x%5 in %6")
        .arg(widget.metaObject()->className())
        .arg(widget.x())
        .arg(widget.y())
        .arg(widget.width())
        .arg(widget.height())
        .arg(widget.parentWidget() ? widget.parentWidget()->metaObject()->className() : "nothing");
}

/// Truncated on purpose: the tool tip shows the rest.
bool isElided(const QString& text, const QWidget& widget) {
    return text.contains(QChar(0x2026)) && !widget.toolTip().isEmpty();
}

QString lackOf(const QLabel& label) {
    if (label.text().isEmpty() || isElided(label.text(), label)) return {};
    const QSize needed(label.wordWrap() ? 0 : label.sizeHint().width(),
                       label.wordWrap() ? label.heightForWidth(label.width()) : label.fontMetrics().height());
    if (label.width() >= needed.width() && label.height() >= needed.height()) return {};
    return QStringLiteral("label needs %1x%2: %3; %4")
        .arg(needed.width())
        .arg(needed.height())
        .arg(label.text(), placeOf(label));
}

QString lackOf(const QAbstractButton& button) {
    // Buttons that paint their text truncate it themselves.
    const bool isDrawnHere = !qobject_cast<const QToolButton*>(&button) && !button.inherits("QPushButton") &&
                             !button.inherits("QCheckBox") && !button.inherits("QRadioButton");
    const bool isLow = button.height() < button.fontMetrics().height();
    const bool isNarrow = !isDrawnHere && button.width() < button.sizeHint().width();
    if (button.text().isEmpty() || (!isLow && !isNarrow)) return {};
    return "button " + button.text() + "; " + placeOf(button);
}

QString lackOf(const QTabBar& bar) {
    for (int tab = 0; tab < bar.count(); ++tab) {
        if (!bar.isTabVisible(tab)) continue;
        const QRect rect = bar.tabRect(tab);
        const bool isCut =
            bar.elideMode() == Qt::ElideNone && rect.width() < bar.fontMetrics().horizontalAdvance(bar.tabText(tab));
        if (isCut || rect.height() < bar.fontMetrics().height() || rect.bottom() >= bar.height())
            return "tab " + bar.tabText(tab) + "; " + placeOf(bar);
        const bool isOut = rect.right() >= bar.width() && !bar.usesScrollButtons();
        if (isOut) return "tab out of reach: " + bar.tabText(tab) + "; " + placeOf(bar);
    }
    return {};
}

QString lackOf(const QHeaderView& header) {
    if (!header.model()) return {};
    for (int section = 0; section < header.count(); ++section) {
        if (header.isSectionHidden(section)) continue;
        const QString text = header.model()->headerData(section, header.orientation()).toString();
        const int room = header.orientation() == Qt::Horizontal ? header.sectionSize(section) : header.width();
        const int high = header.orientation() == Qt::Horizontal ? header.height() : header.sectionSize(section);
        if (room < header.fontMetrics().horizontalAdvance(text) || high < header.fontMetrics().height())
            return QStringLiteral("heading %1 has %2x%3; ").arg(text).arg(room).arg(high) + placeOf(header);
    }
    return {};
}

QString lackOf(const QWidget& widget) {
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) return lackOf(*label);
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) return lackOf(*button);
    if (const auto* bar = qobject_cast<const QTabBar*>(&widget)) return lackOf(*bar);
    if (const auto* header = qobject_cast<const QHeaderView*>(&widget)) return lackOf(*header);
    const bool isLine = qobject_cast<const QLineEdit*>(&widget) || qobject_cast<const QComboBox*>(&widget);
    if (isLine && widget.height() < widget.fontMetrics().height()) return "line too low; " + placeOf(widget);
    return {};
}

bool isScrolled(const QWidget& widget) {
    const auto* area = qobject_cast<const QAbstractScrollArea*>(
        widget.parentWidget() ? widget.parentWidget()->parentWidget() : nullptr);
    return area && area->viewport() == widget.parentWidget();
}

bool hasText(const QWidget& widget) {
    const auto* label = qobject_cast<const QLabel*>(&widget);
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return (label && !label->text().isEmpty()) || (button && !button->text().isEmpty()) ||
           qobject_cast<const QLineEdit*>(&widget) || qobject_cast<const QComboBox*>(&widget);
}

}  // namespace

QStringList lackOfRoom(const QWidget& window) {
    QStringList lacks;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        if (const QString what = lackOf(*widget); !what.isEmpty()) lacks << what;
        const QWidget* parent = widget->parentWidget();
        // Handles accept the pointer slightly outside their line.
        if (!widget->isWindow() && !isScrolled(*widget) && !parent->rect().contains(widget->geometry()) &&
            !qobject_cast<const QSplitterHandle*>(widget))
            lacks << "sticks out of " + QStringLiteral("%1x%2: ").arg(parent->width()).arg(parent->height()) +
                         placeOf(*widget);
        if (!hasText(*widget)) continue;
        for (const QObject* each : parent->children()) {
            const auto* other = qobject_cast<const QWidget*>(each);
            if (!other || other == widget || !other->isVisible() || !hasText(*other)) continue;
            if (other < widget && other->geometry().intersects(widget->geometry()))
                lacks << "over each other: " + placeOf(*widget) + " and " + placeOf(*other);
        }
    }
    return lacks;
}

}  // namespace lanescope
