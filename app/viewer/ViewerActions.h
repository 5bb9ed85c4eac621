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

namespace lanescope::views {
class TimelineView;
}

namespace lanescope::viewer {

/// Something that menus, keys and the finder do to a timeline.
struct TimelineCommand {
    enum class Menu { Edit, View, Go, Tracks, Colour };
    Menu menu = Menu::View;
    QString text;  ///< With a mnemonic.
    QList<QKeySequence> keys;
    std::function<void(views::TimelineView&)> run;
    QString icon = {};          ///< Also in the tool bar if it has one.
    bool startsGroup = false;   ///< A line stands before it in the menu.
    bool isEverywhere = false;  ///< Its keys work wherever the keyboard is in the window.
    /// Whether a check mark stands before it; empty for what is done and over.
    std::function<bool(const views::TimelineView&)> isOn = {};
    bool isChoice = false;  ///< One of those of its menu that exclude each other.
};

/// All of them in the order of the menus. Keys that are no part of this list do nothing but what
/// the manual (`resources/manual/look.md`) says of single widgets.
std::vector<TimelineCommand> timelineCommands();

}  // namespace lanescope::viewer

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
