// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <filesystem>

#include "model/notes/NotesFile.h"

namespace lanescope::views {
class LatestJob;
class MarkStore;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Reads the marks of a trace and keeps what becomes of them in the file beside it, off the GUI
/// thread and one write after the other. What other viewers wrote meanwhile comes in with each
/// write.
class NotesKeeper : public QObject {
    Q_OBJECT

  public:
    /// `store` outlives the keeper. `userFolder` is for traces in folders that cannot be written.
    NotesKeeper(views::MarkStore& store, const std::filesystem::path& trace,
                const std::filesystem::path& userFolder, QObject* parent = nullptr);
    /// Writes what is not written yet.
    ~NotesKeeper() override;

    const NotesFile& file() const { return file_; }
    bool isBusy() const { return isBusy_; }

  signals:
    /// Something about the file that the user should know, or that it is well again.
    void remarked(const QString& sentence, bool isTrouble);

  private:
    void read();
    void save();
    void take(const Result<FoundNotes>& found, const Notes& sent);

    views::MarkStore& store_;
    NotesFile file_;
    Notes base_;
    views::LatestJob* job_;
    bool isBusy_ = false;
    bool isSaving_ = false;  ///< What is busy writes; else it reads.
    bool isDirty_ = false;
};

}  // namespace lanescope::viewer

class QAction;
class QMenuBar;

namespace lanescope::viewer {

class TracePage;

/// The menu of marks, and what its commands do to the page that is in front.
class MarkActions : public QObject {
    Q_OBJECT

  public:
    explicit MarkActions(QObject* parent = nullptr);

    /// Puts the menu before the last one, which is for help.
    void fillMenu(QMenuBar* bar);
    /// Null if what is in front has no marks.
    void setPage(TracePage* page);

    QAction* add;
    QAction* edit;
    QAction* remove;
    QAction* next;
    QAction* previous;
    QAction* undo;
    QAction* redo;
    QAction* list;

  private:
    void updateEnabled();

    TracePage* page_ = nullptr;
};

}  // namespace lanescope::viewer
