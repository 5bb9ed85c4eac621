#include "app/viewer/ShortcutSheet.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <span>
#include <vector>

namespace lanescope {
namespace {

struct Shortcut {
    const char* keys;
    const char* does;
};

constexpr Shortcut timelineKeys[] = {
    {"Wheel, W / S", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom in and out around the pointer")},
    {"Drag, A / D, Shift + wheel", QT_TRANSLATE_NOOP("ShortcutSheet", "move along the time")},
    {"Wheel on the names, Page Up / Down",
     QT_TRANSLATE_NOOP("ShortcutSheet", "scroll through the tracks")},
    {"Home, End", QT_TRANSLATE_NOOP("ShortcutSheet", "first track, last track")},
    {"Click on a name", QT_TRANSLATE_NOOP("ShortcutSheet", "fold or unfold a track")},
    {"Click", QT_TRANSLATE_NOOP("ShortcutSheet", "select a slice and show its flow")},
    {"← →", QT_TRANSLATE_NOOP("ShortcutSheet", "select the slice before or after")},
    {"↑ ↓", QT_TRANSLATE_NOOP("ShortcutSheet", "select in the lane above or below")},
    {"Double click", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom to the slice")},
    {"Shift + drag, drag on the ruler",
     QT_TRANSLATE_NOOP("ShortcutSheet", "select a range of time")},
    {"F", QT_TRANSLATE_NOOP("ShortcutSheet", "show the whole trace")},
    {"Z", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom to the selection")},
    {"Esc", QT_TRANSLATE_NOOP("ShortcutSheet", "clear the selection")},
};

constexpr Shortcut compareKeys[] = {
    {"[ ]", QT_TRANSLATE_NOOP("ShortcutSheet", "the step before or after, in both runs")},
    {"B", QT_TRANSLATE_NOOP("ShortcutSheet", "select the same place in the other run")},
    {"G", QT_TRANSLATE_NOOP("ShortcutSheet", "outline the baseline in the candidate's lanes")},
    {"← → in a chart", QT_TRANSLATE_NOOP("ShortcutSheet", "choose a part, go to a step")},
    {"Click or Enter in a table",
     QT_TRANSLATE_NOOP("ShortcutSheet", "go to the worst place in both runs")},
};

constexpr Shortcut windowKeys[] = {
    {"Ctrl+O", QT_TRANSLATE_NOOP("ShortcutSheet", "open a trace")},
    {"Ctrl+Shift+O", QT_TRANSLATE_NOOP("ShortcutSheet", "compare with another trace")},
    {"Ctrl+F", QT_TRANSLATE_NOOP("ShortcutSheet", "search")},
    {"Enter, F3", QT_TRANSLATE_NOOP("ShortcutSheet", "next hit")},
    {"Shift+Enter, Shift+F3", QT_TRANSLATE_NOOP("ShortcutSheet", "previous hit")},
    {"Ctrl+0, Ctrl++, Ctrl+-",
     QT_TRANSLATE_NOOP("ShortcutSheet", "whole trace, zoom in, zoom out")},
    {"Ctrl+Enter", QT_TRANSLATE_NOOP("ShortcutSheet", "zoom to the selection")},
    {"Ctrl+Shift+F, Ctrl+Shift+E", QT_TRANSLATE_NOOP("ShortcutSheet", "fold or unfold all tracks")},
    {"F9, F10", QT_TRANSLATE_NOOP("ShortcutSheet", "show or hide the details, the tables")},
    {"Ctrl+C", QT_TRANSLATE_NOOP("ShortcutSheet", "copy the rows of a table")},
    {"Ctrl+P, Ctrl+E", QT_TRANSLATE_NOOP("ShortcutSheet", "export the picture, the table")},
    {"Ctrl+W, Ctrl+Q", QT_TRANSLATE_NOOP("ShortcutSheet", "close the tab, the window")},
    {"F1", QT_TRANSLATE_NOOP("ShortcutSheet", "show this sheet")},
};

struct Group {
    QString title;
    std::span<const Shortcut> shortcuts;
};

int addGroup(QGridLayout* grid, int row, const Group& group) {
    auto* heading = new QLabel(group.title);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    heading->setContentsMargins(0, row > 0 ? 14 : 0, 0, 0);
    grid->addWidget(heading, row++, 0, 1, 2);
    for (const Shortcut& shortcut : group.shortcuts) {
        auto* keys = new QLabel(QString::fromUtf8(shortcut.keys));
        keys->setForegroundRole(QPalette::Link);
        grid->addWidget(keys, row, 0);
        grid->addWidget(new QLabel(ShortcutSheet::tr(shortcut.does)), row, 1);
        ++row;
    }
    return row;
}

void addColumn(QHBoxLayout* layout, const std::vector<Group>& groups) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(18);
    grid->setVerticalSpacing(6);
    int row = 0;
    for (const Group& group : groups) row = addGroup(grid, row, group);
    grid->setRowStretch(row, 1);
    layout->addLayout(grid);
}

}  // namespace

ShortcutSheet::ShortcutSheet(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keyboard and mouse"));
    auto* columns = new QHBoxLayout;
    columns->setSpacing(40);
    addColumn(columns, {{tr("Timeline"), timelineKeys}});
    addColumn(columns, {{tr("Window"), windowKeys}, {tr("Two runs"), compareKeys}});
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(24, 20, 24, 16);
    layout->setSpacing(20);
    layout->addLayout(columns);
    layout->addWidget(buttons);
}

}  // namespace lanescope
