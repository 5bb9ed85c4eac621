// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <filesystem>
#include <vector>

#include "app/viewer/Finder.h"
#include "model/notes/NotesFile.h"

class QAction;
class QMenuBar;

namespace lanescope::views {
class LatestJob;
class MarkStore;
class TimelineMarks;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// Loads the marks of a trace and saves changes in the file next to it, off the GUI thread and one
/// write after the other. Each write also merges changes by other viewers.
class NotesKeeper : public QObject {
    Q_OBJECT

  public:
    /// `store` outlives the keeper. `userFolder` is for traces in read-only folders.
    NotesKeeper(views::MarkStore& store, const std::filesystem::path& trace, const std::filesystem::path& userFolder,
                QObject* parent = nullptr);
    /// Saves pending changes.
    ~NotesKeeper() override;

    const NotesFile& file() const { return file_; }
    bool isBusy() const { return isBusy_; }

  signals:
    /// Reports a problem with the file, or its end.
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
    bool isSaving_ = false;  ///< True if the running job writes, false if it reads.
    bool isDirty_ = false;
};

/// The marks of one timeline.
class PageMarks : public QObject {
    Q_OBJECT

  public:
    /// `timeline` outlives this; `trace` is its file.
    PageMarks(const std::filesystem::path& trace, views::TimelineView& timeline, QObject* parent);
    ~PageMarks() override;

    views::MarkStore& store() const { return *store_; }
    views::TimelineMarks& onTimeline() const { return *onTimeline_; }
    NotesKeeper& keeper() const { return *keeper_; }
    /// Returns the last remark of the keeper.
    const QString& remark() const { return remark_; }
    bool isRemarkTrouble() const { return isRemarkTrouble_; }
    std::vector<FinderEntry> entries() const;

  signals:
    /// Reports a problem with the file, or its end.
    void remarked(const QString& sentence, bool isTrouble);

  private:
    views::MarkStore* store_;
    views::TimelineMarks* onTimeline_;
    NotesKeeper* keeper_;
    QString remark_;
    bool isRemarkTrouble_ = false;
};

class TracePage;

/// The menu of marks, with commands for the front page.
class MarkActions : public QObject {
    Q_OBJECT

  public:
    explicit MarkActions(QObject* parent = nullptr);

    /// Inserts the menu before the last one, which is Help.
    void fillMenu(QMenuBar* bar);
    /// Null if the front page has no marks.
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
