// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/MarkActions.h"

#include <QAction>
#include <QMenu>
#include <QMenuBar>
#include <QPointer>
#include <QStandardPaths>
#include <QUndoStack>
#include <memory>

#include "app/viewer/TracePage.h"
#include "model/text/formatValue.h"
#include "views/jobs/LatestJob.h"
#include "views/notes/MarkStore.h"
#include "views/notes/TimelineMarks.h"
#include "views/text/shownText.h"

namespace lanescope::viewer {

using namespace views;

NotesKeeper::NotesKeeper(MarkStore& store, const std::filesystem::path& trace, const std::filesystem::path& userFolder,
                         QObject* parent)
    : QObject(parent), store_(store), file_(NotesFile::forTrace(trace, userFolder)), job_(new LatestJob(this)) {
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        isBusy_ = false;
        // Repeated with the next edit, or on closing.
        isDirty_ = isDirty_ || isSaving_;
        emit remarked(tr("There is not enough memory to read or write the marks."), true);
    });
    connect(&store_, &MarkStore::edited, this, [this] {
        isDirty_ = true;
        if (!isBusy_) save();
    });
    read();
}

NotesKeeper::~NotesKeeper() {
    // A running write comes first, as both wait for the same lock, or is merged. An error here can
    // no longer be shown; earlier errors were shown to the user.
    if (isDirty_) static_cast<void>(file_.store(base_, store_.notes()));
}

void NotesKeeper::read() {
    isBusy_ = true;
    job_->start([this, file = file_]() -> LatestJob::Publish {
        auto found = std::make_shared<Result<FoundNotes>>(file.read());
        return [this, found] { take(*found, {}); };
    });
}

void NotesKeeper::save() {
    isBusy_ = isSaving_ = true;
    isDirty_ = false;
    job_->start([this, file = file_, base = base_, mine = store_.notes()]() -> LatestJob::Publish {
        auto stored = std::make_shared<Result<FoundNotes>>(file.store(base, mine));
        return [this, stored, mine] {
            // Repeated with the next edit, or on closing.
            if (!*stored) isDirty_ = true;
            take(*stored, mine);
        };
    });
}

void NotesKeeper::take(const Result<FoundNotes>& found, const Notes& sent) {
    isBusy_ = isSaving_ = false;
    if (!found) {
        emit remarked(toQString(found.error().sentence), true);
        return;
    }
    base_ = found->notes;
    // The user may have made further edits meanwhile.
    store_.setNotes(mergeNotes(sent, store_.notes(), found->notes));
    if (!found->remark.empty()) {
        emit remarked(toQString(found->remark), true);
    } else if (!file_.isNextToTrace()) {
        emit remarked(tr("Marks are kept in %1: another user owns the trace, or its folder cannot be written.")
                          .arg(toQString(file_.path().string())),
                      false);
    } else {
        emit remarked({}, false);
    }
    if (isDirty_) save();
}

namespace {

std::filesystem::path userNotesFolder() {
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    return std::filesystem::path(data.toStdString()) / "notes";
}

}  // namespace

PageMarks::PageMarks(const std::filesystem::path& trace, TimelineView& timeline, QObject* parent)
    : QObject(parent),
      store_(new MarkStore(this)),
      onTimeline_(new TimelineMarks(*store_, timeline, this)),
      keeper_(new NotesKeeper(*store_, trace, userNotesFolder(), this)) {
    connect(keeper_, &NotesKeeper::remarked, this, [this](const QString& text, bool isTrouble) {
        remark_ = text;
        isRemarkTrouble_ = isTrouble;
        emit remarked(text, isTrouble);
    });
}

PageMarks::~PageMarks() {
    delete keeper_;  // It saves pending marks, so it is deleted before them.
}

std::vector<FinderEntry> PageMarks::entries() const {
    std::vector<FinderEntry> entries;
    for (const Mark& mark : store_->marks()) {
        const QString text = toQString(mark.text).simplified();
        QString detail = tr("mark at %1").arg(toQString(formatTimestamp(mark.range.startNs)));
        if (!mark.range.isEmpty()) detail += QStringLiteral(", ") + toQString(formatDuration(mark.range.durationNs()));
        entries.push_back({text.isEmpty() ? tr("Mark without text") : text,
                           detail,
                           {},
                           [marks = QPointer<TimelineMarks>(onTimeline_), id = mark.id] {
                               if (marks) marks->show(id);
                           }});
    }
    return entries;
}

MarkActions::MarkActions(QObject* parent) : QObject(parent) {
    const auto make = [this](const QString& text, const QList<QKeySequence>& keys, auto act) {
        auto* action = new QAction(text, this);
        action->setShortcuts(keys);
        connect(action, &QAction::triggered, this, act);
        return action;
    };
    const auto marks = [this]() -> TimelineMarks& { return page_->marks().onTimeline(); };
    const auto edits = [this]() -> QUndoStack& { return page_->marks().store().undoStack(); };
    add = make(tr("&Mark the selection"), {Qt::Key_M}, [marks] { marks().addMark(); });
    edit = make(tr("&Edit the mark"), {Qt::CTRL | Qt::Key_M}, [marks] { marks().editMark(); });
    remove = make(tr("&Remove the mark"), {Qt::Key_Delete}, [marks] { marks().removeMark(); });
    next = make(tr("&Next mark"), {Qt::SHIFT | Qt::Key_M}, [marks] { marks().goToNext(); });
    previous = make(tr("&Previous mark"), {Qt::CTRL | Qt::SHIFT | Qt::Key_M}, [marks] { marks().goToPrevious(); });
    // The keys of the manual on every desktop.
    undo = make(tr("&Undo change of marks"), {Qt::CTRL | Qt::Key_Z}, [edits] { edits().undo(); });
    redo = make(tr("Re&do change of marks"), {Qt::CTRL | Qt::SHIFT | Qt::Key_Z, Qt::CTRL | Qt::Key_Y},
                [edits] { edits().redo(); });
    list = make(tr("&List of marks"), {}, [this] { page_->showPanel(QStringLiteral("marks")); });
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
        disconnect(&page_->marks().store(), nullptr, this, nullptr);
    }
    page_ = page;
    if (page_) {
        views::MarkStore& store = page_->marks().store();
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
    const views::MarkStore* store = page_ ? &page_->marks().store() : nullptr;
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
