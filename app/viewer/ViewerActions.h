// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>
#include <functional>
#include <vector>

#include "app/viewer/AppSettings.h"
#include "views/theme/Theme.h"

class QAction;
class QActionGroup;
class QMenu;
class QMenuBar;
class QToolBar;

namespace lanescope::views {
class TimelineView;
}

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

/// Returns all commands in menu order. Other keys belong to single widgets, as in the manual
/// (`resources/manual/look.md`).
std::vector<TimelineCommand> timelineCommands();

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
    void setPalette(views::Palette palette);
    /// Sets the check marks of commands that are on in `timeline`; null for none.
    void showStateOf(const views::TimelineView* timeline);
    QMenu* recentMenu() const { return recentMenu_; }

    QAction* open;
    QAction* openRemote;
    QAction* compare;
    QAction* exportPicture;
    QAction* exportTable;
    QAction* exportReport;
    QAction* share;
    QAction* copyCommand;
    QAction* closeTab;
    QAction* quit;
    QAction* find;
    QAction* findNext;
    QAction* findPrevious;
    QAction* finder;
    QAction* goTo;
    QAction* showDetails;
    QAction* showTables;
    QAction* manual;
    QAction* shortcuts;
    QAction* about;
    QAction* colorBlindSafe;

    /// Returns the commands of `timelineCommands`, in their order.
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
    void makeFileActions();
    void makeGoActions();
    void makeViewActions();
    void makeTimelineActions();
    void addTimelineActions(QMenu* menu, TimelineCommand::Menu of);
    void makeThemeActions();

    QMenuBar* bar_ = nullptr;
    QMenu* recentMenu_ = nullptr;
    QMenu* analyseMenu_ = nullptr;
    std::vector<TimelineCommand> commands_;
    QList<QAction*> timelineActions_;
    QList<QAction*> documentActions_;
    QActionGroup* themes_;
    QActionGroup* choices_;
};

}  // namespace lanescope::viewer
