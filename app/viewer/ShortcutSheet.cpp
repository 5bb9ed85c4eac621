// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ShortcutSheet.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/viewer/ViewerActions.h"
#include "app/viewer/finderEntries.h"

namespace lanescope::viewer {
namespace {

struct Gesture {
    const char* input;
    const char* does;
};

/// What no menu can hold: the mouse, and keys that belong to one widget.
constexpr Gesture gestures[] = {
    {"Wheel, Ctrl+wheel", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom at the pointer")},
    {"Shift+wheel", QT_TRANSLATE_NOOP("ShortcutSheet", "pan")},
    {"Wheel on the names", QT_TRANSLATE_NOOP("ShortcutSheet", "scroll the tracks")},
    {"Drag", QT_TRANSLATE_NOOP("ShortcutSheet", "pan, both ways")},
    {"Shift+drag, drag on the ruler", QT_TRANSLATE_NOOP("ShortcutSheet", "select a range of time")},
    {"Click", QT_TRANSLATE_NOOP("ShortcutSheet", "select a slice and show its flow")},
    {"Double click", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom to the slice")},
    {"Click on a name", QT_TRANSLATE_NOOP("ShortcutSheet", "fold, with Shift all in it")},
    {"Drag a name", QT_TRANSLATE_NOOP("ShortcutSheet", "move the track among its siblings")},
    {"Right click on a name", QT_TRANSLATE_NOOP("ShortcutSheet", "all that a track can do")},
    {"W, S, A, D held", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom and pan smoothly")},
    {"Tab", QT_TRANSLATE_NOOP("ShortcutSheet", "filter, names, timeline, tables in turn")},
    {"Up, Down on the names", QT_TRANSLATE_NOOP("ShortcutSheet", "walk the tracks")},
    {"Left, Right on the names", QT_TRANSLATE_NOOP("ShortcutSheet", "fold, unfold")},
    {"Left, Right in a chart", QT_TRANSLATE_NOOP("ShortcutSheet", "choose a part, go to a step")},
    {"Enter, Shift+Enter in the search", QT_TRANSLATE_NOOP("ShortcutSheet", "next, previous hit")},
    {"Enter in a table", QT_TRANSLATE_NOOP("ShortcutSheet", "go to the place on the timeline")},
    {"Ctrl+C in a table", QT_TRANSLATE_NOOP("ShortcutSheet", "copy the rows")},
};

/// Fills columns of equal height, groups in one piece.
class Columns {
  public:
    Columns(QHBoxLayout* layout, int rowsAtMost) : layout_(layout), rowsAtMost_(rowsAtMost) {}

    void beginGroup(const QString& title, int rows) {
        if (!grid_ || (row_ > 0 && row_ + rows + 1 > rowsAtMost_)) {
            finish();
            grid_ = new QGridLayout;
            grid_->setHorizontalSpacing(16);
            grid_->setVerticalSpacing(4);
            layout_->addLayout(grid_);
            row_ = 0;
        }
        auto* heading = new QLabel(title);
        QFont font = heading->font();
        font.setWeight(QFont::DemiBold);
        heading->setFont(font);
        heading->setContentsMargins(0, row_ > 0 ? 12 : 0, 0, 2);
        grid_->addWidget(heading, row_++, 0, 1, 2);
    }
    void add(const QString& keys, const QString& does) {
        auto* left = new QLabel(keys);
        left->setForegroundRole(QPalette::Link);
        left->setTextFormat(Qt::PlainText);
        auto* right = new QLabel(does);
        right->setTextFormat(Qt::PlainText);
        grid_->addWidget(left, row_, 0);
        grid_->addWidget(right, row_++, 1);
    }
    void finish() {
        if (grid_) grid_->setRowStretch(row_, 1);
    }

  private:
    QHBoxLayout* layout_;
    int rowsAtMost_;
    QGridLayout* grid_ = nullptr;
    int row_ = 0;
};

QList<QAction*> keyedActions(const QMenu& menu) {
    QList<QAction*> actions;
    for (QAction* action : menu.actions())
        if (!action->shortcuts().isEmpty()) actions << action;
    return actions;
}

}  // namespace

QString ShortcutSheet::keysOf(const QAction& action) {
    QStringList keys;
    for (const QKeySequence& sequence : action.shortcuts())
        keys << sequence.toString(QKeySequence::NativeText);
    return keys.join(QStringLiteral(", "));
}

ShortcutSheet::ShortcutSheet(const ViewerActions& actions, QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keyboard and mouse"));
    auto* sheet = new QWidget;
    auto* row = new QHBoxLayout(sheet);
    row->setContentsMargins(24, 16, 24, 8);
    row->setSpacing(36);
    constexpr int rowsAtMost = 34;
    Columns columns(row, rowsAtMost);
    for (const QMenu* menu : actions.menus()) {
        const QList<QAction*> keyed = keyedActions(*menu);
        if (keyed.isEmpty()) continue;
        columns.beginGroup(commandName(menu->title()), static_cast<int>(keyed.size()));
        for (const QAction* action : keyed)
            columns.add(keysOf(*action), commandName(action->text()));
    }
    columns.beginGroup(tr("Mouse, and keys of single parts"),
                       static_cast<int>(std::size(gestures)));
    for (const Gesture& gesture : gestures)
        columns.add(QString::fromUtf8(gesture.input), tr(gesture.does));
    columns.finish();

    auto* scroll = new QScrollArea(this);
    scroll->setWidget(sheet);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    buttons->button(QDialogButtonBox::Close)->setFocus();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 16, 16);
    layout->addWidget(scroll, 1);
    layout->addWidget(buttons);
    // As large as it needs, as far as the screen goes; beyond that it scrolls.
    const QSize wanted = sheet->sizeHint() + QSize(24, 16 + buttons->sizeHint().height() + 24);
    QSize room = screen()->availableSize();
    if (parent) room = room.expandedTo(parent->window()->size());
    resize(wanted.boundedTo(room * 0.9));
}

}  // namespace lanescope::viewer
