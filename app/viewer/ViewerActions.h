// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QKeySequence>
#include <QObject>

#include "app/viewer/AppSettings.h"
#include "app/viewer/timelineCommands.h"
#include "views/theme/Theme.h"

class QAction;
class QActionGroup;
class QMainWindow;
class QMenu;
class QMenuBar;
class QToolBar;

namespace lanescope::viewer {

/// Every command of the window with its name, keys and icon, and the menus and the tool bar made of
/// them. What the commands do is connected by the window.
class ViewerActions : public QObject {
    Q_OBJECT
  public:
    explicit ViewerActions(QObject* parent = nullptr);

    void fillMenus(QMenuBar* bar);
    void fillToolBar(QToolBar* bar);
    void setTheme(const views::Theme& theme);
    /// Enables what needs an open document, a table on the screen, a second document.
    void setAvailable(bool hasDocument, bool hasTable);
    void setThemeChoice(ThemeChoice choice);
    void setPalette(views::Palette palette);
    /// Puts check marks before the commands that are on in `timeline`; null for none.
    void showStateOf(const views::TimelineView* timeline);
    QMenu* recentMenu() const { return recentMenu_; }

    QAction* open;
    QAction* compare;
    QAction* exportPicture;
    QAction* exportTable;
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

    /// The commands of `timelineCommands`, in their order.
    const QList<QAction*>& timelineActions() const { return timelineActions_; }
    /// Shows the commands of the document on the screen in the menu Analyse.
    void setDocumentActions(const QList<QAction*>& actions);
    /// The menus from left to right, for the sheet of keys and the finder.
    /// Whoever adds one to the menu bar is in it, too.
    QList<QMenu*> menus() const;

  signals:
    void themeChosen(lanescope::viewer::ThemeChoice choice);
    void paletteChosen(lanescope::views::Palette palette);
    /// To be done to each timeline that is meant.
    void timelineCommand(const std::function<void(lanescope::views::TimelineView&)>& run);

  private:
    QAction* make(const QString& text, const QList<QKeySequence>& keys = {},
                  const QString& icon = {});
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
