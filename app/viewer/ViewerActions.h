#pragma once

#include <QKeySequence>
#include <QObject>

#include "app/viewer/AppSettings.h"
#include "views/theme/Theme.h"

class QAction;
class QActionGroup;
class QMainWindow;
class QMenu;
class QMenuBar;
class QToolBar;

namespace lanescope {

/// Every command of the window with its name, keys and icon, and the menus and the tool bar made of
/// them. What the commands do is connected by the window.
class ViewerActions : public QObject {
    Q_OBJECT
  public:
    explicit ViewerActions(QObject* parent = nullptr);

    void fillMenus(QMenuBar* bar);
    void fillToolBar(QToolBar* bar);
    void setTheme(const Theme& theme);
    /// Enables what needs an open document, a table on the screen, a second document.
    void setAvailable(bool hasDocument, bool hasTable);
    void setThemeChoice(ThemeChoice choice);
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
    QAction* fit;
    QAction* zoomIn;
    QAction* zoomOut;
    QAction* zoomSelection;
    QAction* foldAll;
    QAction* unfoldAll;
    QAction* showDetails;
    QAction* showTables;
    QAction* shortcuts;
    QAction* about;

  signals:
    void themeChosen(lanescope::ThemeChoice choice);

  private:
    QAction* make(const QString& text, const QKeySequence& keys = {}, const QString& icon = {});
    void makeFileActions();
    void makeViewActions();
    void makeThemeActions();

    QMenu* recentMenu_ = nullptr;
    QActionGroup* themes_;
};

}  // namespace lanescope
