// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/TableCommands.h"

#include <QAction>
#include <QPointer>
#include <QTabWidget>

namespace lanescope::viewer {

TableCommands::TableCommands(QTabWidget& tables, QObject* parent)
    : QObject(parent), tables_(tables) {
    for (int index = 0; index < tables.count(); ++index) {
        auto* action = new QAction(tables.tabText(index), this);
        const QPointer<QWidget> page(tables.widget(index));
        connect(action, &QAction::triggered, this, [this, page] {
            if (page) show(page);
        });
        actions_ << action;
    }
    auto* line = new QAction(this);
    line->setSeparator(true);
    auto* next = new QAction(tr("Ne&xt table"), this);
    next->setShortcut(Qt::Key_F8);
    connect(next, &QAction::triggered, this, [this] { step(+1); });
    auto* previous = new QAction(tr("&Previous table"), this);
    previous->setShortcut(Qt::SHIFT | Qt::Key_F8);
    connect(previous, &QAction::triggered, this, [this] { step(-1); });
    actions_ << line << next << previous;
}

void TableCommands::show(QWidget* page) {
    emit shown();
    tables_.setTabVisible(tables_.indexOf(page), true);  // it may have nothing to show
    tables_.setCurrentWidget(page);
}

void TableCommands::step(int direction) {
    const int count = tables_.count();
    int index = tables_.currentIndex();
    for (int tries = 0; tries < count; ++tries) {
        index = (index + direction + count) % count;
        if (!tables_.isTabVisible(index)) continue;
        show(tables_.widget(index));
        return;
    }
}

}  // namespace lanescope::viewer
