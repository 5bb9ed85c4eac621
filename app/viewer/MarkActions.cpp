// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/MarkActions.h"

#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QUndoStack>

#include "app/viewer/PageTools.h"
#include "app/viewer/TracePage.h"
#include "views/notes/MarkStore.h"
#include "views/notes/MarksPanel.h"
#include "views/notes/TimelineMarks.h"

namespace lanescope::viewer {

MarkActions::MarkActions(QObject* parent)
    : QObject(parent),
      add(new QAction(tr("&Mark the selection"), this)),
      edit(new QAction(tr("&Edit the mark"), this)),
      remove(new QAction(tr("&Remove the mark"), this)),
      next(new QAction(tr("&Next mark"), this)),
      previous(new QAction(tr("&Previous mark"), this)),
      undo(new QAction(tr("&Undo change of marks"), this)),
      redo(new QAction(tr("Re&do change of marks"), this)),
      list(new QAction(tr("&List of marks"), this)) {
    add->setShortcut(QKeySequence(Qt::Key_M));
    edit->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_M));
    remove->setShortcut(QKeySequence(Qt::Key_Delete));
    next->setShortcut(QKeySequence(Qt::SHIFT | Qt::Key_M));
    previous->setShortcut(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_M));
    // On every desktop those that the manual has.
    undo->setShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z));
    redo->setShortcuts(
        {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)});
    connect(add, &QAction::triggered, this, [this] { page_->tools().marks().addMark(); });
    connect(edit, &QAction::triggered, this, [this] { page_->tools().marks().editMark(); });
    connect(remove, &QAction::triggered, this, [this] { page_->tools().marks().removeMark(); });
    connect(next, &QAction::triggered, this, [this] { page_->tools().marks().goToNext(); });
    connect(previous, &QAction::triggered, this, [this] { page_->tools().marks().goToPrevious(); });
    connect(undo, &QAction::triggered, this,
            [this] { page_->tools().markStore().undoStack().undo(); });
    connect(redo, &QAction::triggered, this,
            [this] { page_->tools().markStore().undoStack().redo(); });
    connect(list, &QAction::triggered, this,
            [this] { page_->showTable(&page_->tools().marksTab()); });
    setPage(nullptr);
}

void MarkActions::fillMenu(QMenuBar* bar) {
    auto* menu = new QMenu(tr("&Marks"), bar);
    menu->addActions({add, edit, remove});
    menu->addSeparator();
    menu->addActions({next, previous, list});
    menu->addSeparator();
    menu->addActions({undo, redo});
    bar->insertMenu(bar->actions().isEmpty() ? nullptr : bar->actions().last(), menu);
}

void MarkActions::setPage(TracePage* page) {
    if (page_) {
        disconnect(page_, nullptr, this, nullptr);
        disconnect(&page_->tools().markStore(), nullptr, this, nullptr);
    }
    page_ = page;
    if (page_) {
        views::MarkStore& store = page_->tools().markStore();
        connect(page_, &QObject::destroyed, this, [this] {
            page_ = nullptr;
            updateEnabled();
        });
        connect(&store, &views::MarkStore::changed, this, &MarkActions::updateEnabled);
        connect(&store, &views::MarkStore::selectionChanged, this, &MarkActions::updateEnabled);
    }
    updateEnabled();
}

void MarkActions::updateEnabled() {
    const views::MarkStore* store = page_ ? &page_->tools().markStore() : nullptr;
    const bool hasMarks = store && !store->marks().empty();
    const bool hasSelected = store && !store->selected().empty();
    add->setEnabled(store);
    list->setEnabled(store);
    edit->setEnabled(hasSelected);
    remove->setEnabled(hasSelected);
    next->setEnabled(hasMarks);
    previous->setEnabled(hasMarks);
    undo->setEnabled(store && store->undoStack().canUndo());
    redo->setEnabled(store && store->undoStack().canRedo());
}

}  // namespace lanescope::viewer
