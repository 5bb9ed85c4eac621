// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <QStackedWidget>
#include <QToolBar>
#include <filesystem>
#include <vector>

#include "app/viewer/AppSettings.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/Finder.h"
#include "app/viewer/GoToBar.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/ViewerOptions.h"
#include "model/trace/Trace.h"
#include "views/theme/Theme.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {

class MenuCorner;
class ManualWindow;

/// The window of the viewer: connects menus, tool bar, search box and tabs. Contains no trace itself.
class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    /// `settings` outlives the window.
    explicit MainWindow(AppSettings& settings, QWidget* parent = nullptr);
    ~MainWindow() override;

    void open(const ViewerOptions& options);
    void openFiles(const QStringList& paths);
    void openComparison(const QStringList& paths);
    void openSample();
    void setThemeChoice(ThemeChoice choice);
    void setColorPalette(views::Palette palette);

    DocumentTabs& tabs() const { return *tabs_; }
    SearchBar& searchBar() const { return *searchBar_; }
    ViewerActions& actions() const { return *actions_; }
    /// Returns true while a trace is loaded or a visible part is computed.
    bool isBusy() const;
    /// Shows a sentence at the lower edge for some seconds.
    void showStatus(const QString& sentence);

  protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void build();
    void buildTools();
    /// Places the tools next to the menus if there is room, else below them.
    void placeTools();
    void connectFileActions();
    void connectViewActions();
    void popUpFinder();
    void applyColors();
    void focusDocument();
    void connectTabs();
    void adoptDocument(DocumentPage* page);
    void updateCurrent();
    /// Restores the slice colours of a document.
    void restoreColors(const DocumentPage& page) const;
    /// Applies the changed options of one timeline to all, and stores them.
    void storeColors(const views::TimelineView& timeline);
    void offerComparison();
    void offerOneTrace(const DocumentPage& page);
    /// Returns true if the traces seem to be ranks of one job; then stores them for the offer to open them as one.
    bool noteRanks(const std::vector<TracePtr>& traces);
    void askForFiles();
    void askForAddress();
    void askForComparison();
    void askForPicture();
    void askForTable();
    void askForReport();
    void copyCommand();
    void showManual();
    void showAbout();

    AppSettings& settings_;
    views::Theme theme_;
    ThemeChoice themeChoice_ = ThemeChoice::System;
    views::Palette palette_ = views::Palette::Standard;
    bool isDesktopDark_;
    ViewerActions* actions_ = new ViewerActions(this);
    MarkActions* markActions_ = new MarkActions(this);
    RecentFiles* recentFiles_;
    SearchBar* searchBar_ = new SearchBar(this);
    StartPage* startPage_ = new StartPage(this);
    OfferBar* offerBar_ = new OfferBar(this);
    std::vector<std::filesystem::path> ranksOffered_;  ///< Ranks offered as one trace.
    DocumentTabs* tabs_ = new DocumentTabs(this);
    Finder* finder_ = new Finder(this);
    GoToBar* goToBar_ = new GoToBar(this);
    NameCatalog* names_ = new NameCatalog(this);
    QStackedWidget* pages_ = new QStackedWidget(this);
    QToolBar* tools_ = nullptr;
    MenuCorner* corner_ = nullptr;   ///< Contains the tools in a wide window.
    QPointer<ManualWindow> manual_;  ///< While it is open.
};

}  // namespace lanescope::viewer
