// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ShortcutSheet.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QFile>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "app/viewer/ViewerActions.h"
#include "app/viewer/finderEntries.h"

namespace lanescope::viewer {
namespace {

constexpr int betweenColumns = 36;
constexpr int betweenCells = 16;
constexpr int betweenGroups = 12;
constexpr int mostColumns = 4;

/// A heading, and below it what is pressed and what that does.
struct Group {
    QString title;
    std::vector<std::pair<QString, QString>> lines;
};

/// What no menu can hold, the mouse and keys that belong to one part, is told by the manual: its
/// tables whose first column holds no keys as code.
std::vector<Group> groupsOfManual() {
    std::vector<Group> groups;
    QFile page(QStringLiteral(":/resources/manual/look.md"));
    if (!page.open(QIODevice::ReadOnly)) return groups;
    Group group;
    const auto finish = [&] {
        if (!group.lines.empty()) groups.push_back(std::move(group));
        group = {};
    };
    bool isInTable = false;
    for (QString line : QString::fromUtf8(page.readAll()).split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("### "))) {
            finish();
            group.title = line.mid(4);
        }
        const bool isHeading = line.startsWith(QLatin1String("| key |")) ||
                               line.startsWith(QLatin1String("| input |"));
        isInTable = isHeading || (isInTable && line.startsWith(QLatin1Char('|')));
        if (!isInTable || isHeading || line.startsWith(QLatin1String("|-"))) continue;
        const QStringList cells = line.split(QStringLiteral(" | "));
        if (cells.size() != 2 || cells[0].startsWith(QLatin1String("| `"))) continue;
        QString does = cells[1].chopped(2).trimmed();
        group.lines.emplace_back(cells[0].mid(2).trimmed(), does.remove(QLatin1Char('`')));
    }
    finish();
    return groups;
}

Group groupOf(const QMenu& menu) {
    Group group{commandName(menu.title()), {}};
    for (const QAction* action : menu.actions())
        if (!action->shortcuts().isEmpty())
            group.lines.emplace_back(ShortcutSheet::keysOf(*action), commandName(action->text()));
    return group;
}

QLabel* wrapped(const QString& text, int letters) {
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    label->setWordWrap(true);
    const QFontMetrics metrics = label->fontMetrics();
    label->setFixedWidth(
        std::min(metrics.horizontalAdvance(text) + 2, letters * metrics.averageCharWidth()));
    return label;
}

QWidget* widgetOf(const Group& group) {
    constexpr int lettersOfKeys = 30, lettersOfText = 40;
    auto* widget = new QWidget;
    auto* grid = new QGridLayout(widget);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(betweenCells);
    grid->setVerticalSpacing(4);
    auto* heading = new QLabel(group.title);
    QFont font = heading->font();
    font.setWeight(QFont::DemiBold);
    heading->setFont(font);
    grid->addWidget(heading, 0, 0, 1, 2);
    int row = 1;
    for (const auto& [keys, does] : group.lines) {
        QLabel* left = wrapped(keys, lettersOfKeys);
        left->setForegroundRole(QPalette::Link);
        grid->addWidget(left, row, 0, Qt::AlignTop);
        grid->addWidget(wrapped(does, lettersOfText), row++, 1, Qt::AlignTop);
    }
    grid->setColumnStretch(1, 1);
    return widget;
}

using Columns = std::vector<std::vector<QWidget*>>;

/// In their order, each column as high as `height` allows.
Columns filledTo(int height, const std::vector<QWidget*>& groups) {
    Columns columns(1);
    int used = 0;
    for (QWidget* group : groups) {
        const int more = group->sizeHint().height() + betweenGroups;
        if (used + more > height && !columns.back().empty()) {
            columns.emplace_back();
            used = 0;
        }
        columns.back().push_back(group);
        used += more;
    }
    return columns;
}

/// So many columns at most, and as low as they can be.
Columns balanced(const std::vector<QWidget*>& groups, int most) {
    constexpr int stepPx = 10;
    int height = stepPx;
    Columns columns = filledTo(height, groups);
    while (static_cast<int>(columns.size()) > most) columns = filledTo(height += stepPx, groups);
    return columns;
}

QGridLayout& gridOf(const QWidget& group) {
    return *qobject_cast<QGridLayout*>(group.layout());
}

/// Of the keys (0) or of what they do (1), in all groups of a column.
int widestOf(const std::vector<QWidget*>& groups, int cell) {
    int widest = 0;
    for (const QWidget* group : groups)
        for (int row = 1; row < gridOf(*group).rowCount(); ++row)
            widest = std::max(widest, gridOf(*group).itemAtPosition(row, cell)->sizeHint().width());
    return widest;
}

int widthOf(const Columns& columns) {
    int width = static_cast<int>(columns.size() - 1) * betweenColumns;
    for (const std::vector<QWidget*>& column : columns)
        width += widestOf(column, 0) + betweenCells + widestOf(column, 1);
    return width;
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
    std::vector<QWidget*> groups;
    for (const QMenu* menu : actions.menus())
        if (const Group group = groupOf(*menu); !group.lines.empty())
            groups.push_back(widgetOf(group));
    for (const Group& group : groupsOfManual()) groups.push_back(widgetOf(group));

    // As large as it needs, as far as the screen goes; beyond that it scrolls, downwards only.
    QSize room = screen()->availableSize();
    if (parent) room = room.expandedTo(parent->window()->size());
    room *= 0.9;
    auto* sheet = new QWidget;
    auto* row = new QHBoxLayout(sheet);
    row->setContentsMargins(24, 16, 24, 8);
    row->setSpacing(betweenColumns);
    auto* scroll = new QScrollArea(this);
    const int around = 48 + 16 + scroll->verticalScrollBar()->sizeHint().width();
    int count = mostColumns;
    while (count > 1 && widthOf(balanced(groups, count)) + around > room.width()) --count;
    for (const std::vector<QWidget*>& groupsOfColumn : balanced(groups, count)) {
        auto* column = new QVBoxLayout;
        column->setSpacing(betweenGroups);
        const int widestKeys = widestOf(groupsOfColumn, 0);
        for (QWidget* group : groupsOfColumn) {
            gridOf(*group).setColumnMinimumWidth(0, widestKeys);
            column->addWidget(group, 0, Qt::AlignLeft);
        }
        column->addStretch();
        row->addLayout(column);
    }
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
    const QSize wanted =
        sheet->sizeHint() + QSize(around - 48, 16 + buttons->sizeHint().height() + 24);
    resize(wanted.boundedTo(room));
}

}  // namespace lanescope::viewer
