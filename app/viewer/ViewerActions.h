// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAction>
#include <QActionGroup>
#include <QKeySequence>
#include <QList>
#include <QMenu>
#include <QMenuBar>
#include <QObject>
#include <QString>
#include <QToolBar>
#include <filesystem>
#include <functional>
#include <vector>

#include "app/viewer/AppSettings.h"
#include "app/viewer/Finder.h"
#include "model/notes/NotesFile.h"
#include "views/jobs/LatestJob.h"
#include "views/notes/MarkStore.h"
#include "views/theme/Theme.h"

namespace lanescope::views {
class TimelineMarks;
class TimelineView;
}  // namespace lanescope::views

namespace lanescope::viewer {

/// A command of menus, keys and the finder for a timeline.
struct TimelineCommand {
    enum class Menu { Edit, View, Go, Tracks, Colour };
    QString text;  ///< With a mnemonic.
    QList<QKeySequence> keys;
    std::function<void(views::TimelineView&)> run;
    QString icon = {};          ///< Also in the tool bar if it has one.
    bool startsGroup = false;   ///< A separator precedes it in the menu.
    bool isEverywhere = false;  ///< Its keys work in the whole window.
    /// Returns true if it has a check mark; empty for one-time actions.
    std::function<bool(const views::TimelineView&)> isOn = {};
    bool isChoice = false;  ///< One of mutually exclusive commands of its menu.
    Menu menu = Menu::View;
};

/// Every command of the window with its name, keys and icon, and the menus and the tool bar made of
/// them. The window connects the commands to their actions.
class ViewerActions : public QObject {
    Q_OBJECT
  public:
    explicit ViewerActions(QObject* parent = nullptr);

    void fillMenus(QMenuBar* bar);
    void fillToolBar(QToolBar* bar);
    void setTheme(const views::Theme& theme);
    /// Enables commands that need an open document, a visible table, a second document.
    void setAvailable(bool hasDocument, bool hasTable);
    void setThemeChoice(ThemeChoice choice);
    void setPalette(views::Palette palette) { colorBlindSafe->setChecked(palette == views::Palette::ColorBlindSafe); }
    /// Sets the check marks of commands that are on in `timeline`; null for none.
    void showStateOf(const views::TimelineView* timeline);
    QMenu* recentMenu() const { return recentMenu_; }

    QAction* open = make(tr("&Open…"), {Qt::CTRL | Qt::Key_O}, "open");
    QAction* openFolder = make(tr("Open &folder…"));
    QAction* openRemote = make(tr("Open re&mote…"));
    QAction* compare = make(tr("Co&mpare with…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_O}, "compare");
    QAction* exportPicture = make(tr("Export &picture…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_P}, "picture");
    QAction* exportTable = make(tr("Export &table…"), {Qt::CTRL | Qt::Key_E});
    QAction* exportReport = make(tr("Export &report…"), {Qt::CTRL | Qt::Key_R});
    QAction* share = make(tr("&Share page…"));
    QAction* copyCommand = make(tr("Copy command for this &view"), {Qt::CTRL | Qt::SHIFT | Qt::Key_L});
    QAction* closeTab = make(tr("&Close tab"), {Qt::CTRL | Qt::Key_W});
    QAction* quit = make(tr("&Quit"), {Qt::CTRL | Qt::Key_Q});
    QAction* find = make(tr("&Find…"), {Qt::CTRL | Qt::Key_F, Qt::Key_Slash});
    QAction* findNext = make(tr("Find &next"), {Qt::Key_F3});
    QAction* findPrevious = make(tr("Find &previous"), {Qt::SHIFT | Qt::Key_F3});
    QAction* finder = make(tr("&Command or track…"), {Qt::CTRL | Qt::Key_P});
    QAction* goTo = make(tr("Go to a &time…"), {Qt::CTRL | Qt::Key_G});
    QAction* showDetails = make(tr("&Details next to the timeline"), {Qt::Key_F9}, "details");
    QAction* showTables = make(tr("&Tables under the timeline"), {Qt::Key_F10}, "tables");
    QAction* manual = make(tr("&Manual"), {Qt::Key_F1});
    QAction* shortcuts = make(tr("&Keyboard and mouse"), {Qt::Key_Question});
    QAction* about = make(tr("&About Lanescope"));
    QAction* colorBlindSafe = make(tr("For &colour-blind eyes"));

    /// Returns the commands for a timeline in menu order. Other keys belong to single widgets, as in the manual
    /// (`resources/manual/look.md`).
    const QList<QAction*>& timelineActions() const { return timelineActions_; }
    /// Shows the commands of the visible document in the menu Analyse.
    void setDocumentActions(const QList<QAction*>& actions);
    /// Returns the menus from left to right, for the sheet of keys and the finder; includes menus
    /// added later to the menu bar.
    QList<QMenu*> menus() const;

  signals:
    void themeChosen(lanescope::viewer::ThemeChoice choice);
    void paletteChosen(lanescope::views::Palette palette);
    /// Emitted with a function to call for each affected timeline.
    void timelineCommand(const std::function<void(lanescope::views::TimelineView&)>& run);

  private:
    QAction* make(const QString& text, const QList<QKeySequence>& keys = {}, const QString& icon = {});
    void makeTimelineActions();
    void addTimelineActions(QMenu* menu, TimelineCommand::Menu of);
    void makeThemeActions();

    QMenuBar* bar_ = nullptr;
    QMenu* recentMenu_ = nullptr;
    QMenu* analyseMenu_ = nullptr;
    std::vector<TimelineCommand> commands_;
    QList<QAction*> timelineActions_;
    QList<QAction*> documentActions_;
    QActionGroup* themes_ = new QActionGroup(this);
    QActionGroup* choices_ = new QActionGroup(this);
};

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
    views::LatestJob* job_ = new views::LatestJob(this);
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
    const QString& remark() const { return remark_; }
    bool isRemarkTrouble() const { return isRemarkTrouble_; }
    std::vector<FinderEntry> entries() const;

  signals:
    /// Reports a problem with the file, or its end.
    void remarked(const QString& sentence, bool isTrouble);

  private:
    views::MarkStore* store_ = new views::MarkStore(this);
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
