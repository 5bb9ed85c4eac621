// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QHBoxLayout>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>
#include <initializer_list>

namespace lanescope::views {

/// A drop-down list whose rows are drawn like those of other lists, so that the style sheet colours the current one.
/// The default draws it like a menu, without the colours of the sheet.
class DropDown : public QComboBox {
  public:
    explicit DropDown(QWidget* parent = nullptr) : QComboBox(parent) { setItemDelegate(new QStyledItemDelegate(this)); }
};

/// Returns a new layout from left to right for a widget or, with null, for another layout. The
/// style chooses a spacing of -1.
inline QHBoxLayout* rowIn(QWidget* widget, const QMargins& margins = {}, int spacing = 0) {
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(margins);
    row->setSpacing(spacing);
    return row;
}

/// Like `rowIn`, from top to bottom.
inline QVBoxLayout* columnIn(QWidget* widget, const QMargins& margins = {}, int spacing = 0) {
    auto* column = new QVBoxLayout(widget);
    column->setContentsMargins(margins);
    column->setSpacing(spacing);
    return column;
}

/// A widget or layout that takes the room that the others of its layout leave. Several share this room.
template <class Item>
struct Filling {
    explicit Filling(Item* filling) : item(filling) {}
    Item* item;
};

inline void addItem(QBoxLayout* layout, QWidget* widget, int stretch = 0) { layout->addWidget(widget, stretch); }
inline void addItem(QBoxLayout* layout, QLayout* inner, int stretch = 0) { layout->addLayout(inner, stretch); }
template <class Item>
void addItem(QBoxLayout* layout, Filling<Item> filling) {
    addItem(layout, filling.item, 1);
}

/// Adds these widgets and layouts to a layout in their order.
template <class... Items>
void addTo(QBoxLayout* layout, Items... items) {
    (addItem(layout, items), ...);
}

/// Returns a new button with a text, which the Tab key reaches.
inline QToolButton* textButton(QWidget* parent, const QString& text, const QString& toolTip) {
    auto* button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(toolTip);
    button->setFocusPolicy(Qt::StrongFocus);
    return button;
}

struct SplitPart {
    QWidget* widget;
    int size;         ///< At first, in pixels, relative to the others.
    int stretch = 0;  ///< Share of the room in a larger window.
};

/// Adds parts that cannot be collapsed to an empty splitter.
inline void split(QSplitter* splitter, std::initializer_list<SplitPart> parts) {
    QList<int> sizes;
    for (const SplitPart& part : parts) {
        splitter->addWidget(part.widget);
        if (part.stretch > 0) splitter->setStretchFactor(splitter->count() - 1, part.stretch);
        sizes << part.size;
    }
    splitter->setSizes(sizes);
    splitter->setChildrenCollapsible(false);
}

}  // namespace lanescope::views
