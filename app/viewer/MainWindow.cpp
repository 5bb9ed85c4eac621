// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/MainWindow.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QStandardPaths>
#include <QStatusBar>
#include <algorithm>

#include "app/viewer/TracePage.h"
#include "app/viewer/exportDocument.h"
#include "app/viewer/helpWindows.h"
#include "app/viewer/viewState.h"
#include "app/viewer/windowStyle.h"
#include "model/format/version.h"
#include "model/importers/TraceFormat.h"
#include "model/merge/mergeFiles.h"
#include "model/remote/RemoteAddress.h"
#include "views/jobs/LazyTab.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::viewer {

using namespace views;

namespace {

QStringList localFiles(const QMimeData& data) {
    QStringList paths;
    for (const QUrl& url : data.urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    return paths;
}

QString traceFilter() { return MainWindow::tr("Traces (%1);;All files (*)").arg(views::toQString(formatPatterns())); }

void showWritten(MainWindow* window, const Result<void>& result, const QString& path) {
    window->showStatus(result ? MainWindow::tr("Written: %1").arg(path) : views::toQString(result.error().sentence));
}

}  // namespace

/// Room at the right end of the menu bar for the tools, which lie over it. A child of the menu bar would get the keys
/// of its commands, such as Escape.
class MenuCorner : public QWidget {
  public:
    static constexpr int gapPx = 8;  ///< After the menus.
    MenuCorner(QWidget* parent, QWidget& tools) : QWidget(parent), tools_(tools) {}
    void setRoom(int widthPx) {
        widthPx_ = widthPx;
        updateGeometry();
    }
    QSize sizeHint() const override { return {widthPx_, widthPx_ > 0 ? tools_.sizeHint().height() : 0}; }

  protected:
    void resizeEvent(QResizeEvent*) override { place(); }
    void moveEvent(QMoveEvent*) override { place(); }

  private:
    void place() {
        if (widthPx_ > 0)
            tools_.setGeometry(QRect(mapTo(tools_.parentWidget(), QPoint(gapPx, 0)), size() - QSize(gapPx, 0)));
    }

    QWidget& tools_;
    int widthPx_ = 0;
};

MainWindow::MainWindow(AppSettings& settings, QWidget* parent)
    : QMainWindow(parent),
      settings_(settings),
      isDesktopDark_(QApplication::palette().color(QPalette::Window).lightness() < 128),
      recentFiles_(new RecentFiles(settings, this)) {
    build();
    connectFileActions();
    connectViewActions();
    connectTabs();
    startPage_->setRecentFiles(*recentFiles_);
    palette_ = settings_.palette();
    setThemeChoice(settings_.theme());
    if (!restoreGeometry(settings_.windowGeometry())) resize(1440, 900);
    updateCurrent();
}

MainWindow::~MainWindow() {
    // Tabs deleted with the window must not send signals to it.
    tabs_->disconnect(this);
}

void MainWindow::build() {
    setWindowIcon(applicationIcon());
    setAcceptDrops(true);
    actions_->fillMenus(menuBar());
    markActions_->fillMenu(menuBar());
    recentFiles_->attach(actions_->recentMenu());

    buildTools();
    auto* documents = new QWidget(this);
    addTo(columnIn(documents), offerBar_, Filling{tabs_});
    pages_->addWidget(new PageArea(startPage_, pages_));
    pages_->addWidget(documents);
    setCentralWidget(pages_);
}

void MainWindow::buildTools() {
    tools_ = addToolBar(tr("Tools"));
    tools_->setObjectName("tools");
    tools_->setMovable(false);
    // Users with larger letters need larger icons, too.
    const int iconSide = std::max(18, fontMetrics().height());
    tools_->setIconSize({iconSide, iconSide});
    tools_->setContextMenuPolicy(Qt::PreventContextMenu);
    actions_->fillToolBar(tools_);
    auto* space = new QWidget(tools_);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tools_->addWidget(space);
    tools_->addWidget(searchBar_);
    corner_ = new MenuCorner(menuBar(), *tools_);
    menuBar()->setCornerWidget(corner_);
}

/// One row instead of two: in a low window each line counts.
void MainWindow::placeTools() {
    const int room = width() - (menuBar()->sizeHint().width() - corner_->sizeHint().width());
    const bool isInCorner = room >= tools_->sizeHint().width() + MenuCorner::gapPx;
    const bool wasInCorner = toolBarArea(tools_) == Qt::NoToolBarArea;
    if (isInCorner != wasInCorner) isInCorner ? removeToolBar(tools_) : addToolBar(tools_);
    corner_->setRoom(isInCorner ? room : 0);
    corner_->setVisible(isInCorner);
    menuBar()->setCornerWidget(corner_);  // lays out again
    tools_->raise();
    tools_->show();
}

void MainWindow::connectTabs() {
    connect(tabs_, &DocumentTabs::documentAdded, this, &MainWindow::adoptDocument);
    connect(tabs_, &DocumentTabs::currentChanged, this, &MainWindow::updateCurrent);
    connect(tabs_, &DocumentTabs::documentClosing, this,
            [this](const DocumentPage* page) { page->storeLayout(settings_); });
    connect(tabs_, &DocumentTabs::traceOpened, recentFiles_, [this](const QString& path) { recentFiles_->add(path); });
    connect(tabs_, &DocumentTabs::loadFailed, this, [this](const QString& path) {
        if (!isRemoteAddress(path.toStdString()) && !QFileInfo::exists(path)) recentFiles_->remove(path);
    });
    connect(recentFiles_, &RecentFiles::changed, this, [this] { startPage_->setRecentFiles(*recentFiles_); });
    connect(tabs_, &DocumentTabs::comparisonOpened, recentFiles_,
            [this](const QStringList& paths) { recentFiles_->add(paths); });
    const auto openEntry = [this](const QString& entry) {
        const QStringList files = RecentFiles::filesOf(entry);
        files.size() > 1 ? openComparison(files) : openFiles(files);
    };
    connect(recentFiles_, &RecentFiles::chosen, this, openEntry);
    connect(startPage_, &StartPage::fileChosen, this, openEntry);
    connect(startPage_, &StartPage::openRequested, this, &MainWindow::askForFiles);
    connect(startPage_, &StartPage::compareRequested, this, &MainWindow::askForComparison);
    connect(startPage_, &StartPage::sampleRequested, this, &MainWindow::openSample);
    connect(startPage_, &StartPage::manualRequested, this, &MainWindow::showManual);
    connect(offerBar_, &OfferBar::otherAccepted, this, [this] { tabs_->openMerged(ranksOffered_); });
    connect(offerBar_, &OfferBar::accepted, this, [this] {
        const std::vector<TracePage*> traces = tabs_->tracePages();
        if (traces.size() >= 2) tabs_->showComparison(traces[traces.size() - 2]->trace(), traces.back()->trace());
    });
}

void MainWindow::open(const ViewerOptions& options) {
    tabs_->setSsh(options.ssh);
    if (options.isComparison && options.files.size() >= 2) {
        tabs_->openComparison(options.files, options.baselineRuns);
        return;
    }
    for (const auto& path : options.files) tabs_->openTrace(path);
}

void MainWindow::openFiles(const QStringList& paths) {
    for (const QString& path : paths) tabs_->openTrace(path.toStdString());
    if (!paths.isEmpty()) settings_.setFolder(QFileInfo(paths.front()).absolutePath());
}

void MainWindow::openComparison(const QStringList& paths) {
    std::vector<std::filesystem::path> files;
    for (const QString& path : paths) files.emplace_back(path.toStdString());
    tabs_->openComparison(files);
}

void MainWindow::adoptDocument(DocumentPage* page) {
    page->setTheme(theme_);
    for (TimelineView* timeline : page->timelines()) {
        timeline->addActions(actions_->timelineActions());
        connect(&timeline->state(), &TimelineState::nameRequested, searchBar_, &SearchBar::searchFor);
    }
    for (const TimelineView* timeline : page->timelines())
        recentFiles_->setTool(views::toQString(timeline->trace()->path.string()),
                              views::toQString(timeline->trace()->producer));
    page->restoreLayout(settings_);
    restoreColors(*page);
    page->setDetailsVisible(actions_->showDetails->isChecked());
    page->setTablesVisible(actions_->showTables->isChecked());
    connect(page, &DocumentPage::tablesRequested, this, [this] { actions_->showTables->setChecked(true); });
    updateCurrent();
    if (qobject_cast<TracePage*>(page))
        offerComparison();
    else if (!page->timelines().empty())
        offerOneTrace(*page);
}

void MainWindow::restoreColors(const DocumentPage& page) const {
    for (TimelineView* timeline : page.timelines()) {
        timeline->commands().setColorMode(settings_.colorMode());
        timeline->commands().setHighlighting(settings_.isHighlighting());
        timeline->state().options().setWheelScrolling(settings_.isWheelScrolling());
        // Tracks of two runs are paired, even if empty.
        if (page.timelines().size() == 1) timeline->emptyTracks().setOn(settings_.isHidingEmpty());
    }
}

void MainWindow::storeColors(const TimelineView& timeline) {
    if (timeline.state().options().colorMode() == settings_.colorMode() &&
        timeline.state().selection().isHighlighting() == settings_.isHighlighting() &&
        timeline.state().options().isWheelScrolling() == settings_.isWheelScrolling() &&
        (timeline.hasCompanion() || timeline.emptyTracks().isOn() == settings_.isHidingEmpty()))
        return;
    settings_.setColorMode(timeline.state().options().colorMode());
    settings_.setHighlighting(timeline.state().selection().isHighlighting());
    settings_.setWheelScrolling(timeline.state().options().isWheelScrolling());
    if (!timeline.hasCompanion()) settings_.setHidingEmpty(timeline.emptyTracks().isOn());
    for (const DocumentPage* page : tabs_->documents()) restoreColors(*page);
}

void MainWindow::offerComparison() {
    const std::vector<TracePage*> traces = tabs_->tracePages();
    if (traces.size() < 2) return;
    std::vector<TracePtr> opened;
    for (const TracePage* page : traces) opened.push_back(page->trace());
    const bool areRanks = noteRanks(opened);
    offerBar_->offer(areRanks
                         ? tr("These look like %1 ranks of one job.").arg(traces.size())
                         : tr("Compare %1 with %2?").arg(traces.back()->title(), traces[traces.size() - 2]->title()),
                     tr("Compare"), areRanks ? tr("Open as one") : QString());
}

/// Two files opened for comparison may be ranks of one job.
void MainWindow::offerOneTrace(const DocumentPage& page) {
    std::vector<TracePtr> opened;
    for (const TimelineView* timeline : page.timelines()) opened.push_back(timeline->trace());
    if (noteRanks(opened))
        offerBar_->offer(tr("These look like %1 ranks of one job.").arg(opened.size()), {}, tr("Open as one"));
    else
        offerBar_->hide();
}

bool MainWindow::noteRanks(const std::vector<TracePtr>& traces) {
    ranksOffered_.clear();
    if (!seemRanksOfOneJob(traces)) return false;
    for (const TracePtr& trace : traces) ranksOffered_.push_back(trace->path);
    return true;
}

void MainWindow::updateCurrent() {
    DocumentPage* page = tabs_->currentDocument();
    pages_->setCurrentIndex(tabs_->count() > 0 ? 1 : 0);
    searchBar_->setNavigator(page ? page->navigator() : nullptr);
    actions_->setAvailable(page && !page->timelines().empty(), page != nullptr);
    actions_->setDocumentActions(page ? page->commands() : QList<QAction*>());
    const auto timelines = page ? page->timelines() : std::vector<TimelineView*>();
    TimelineView* timeline = timelines.empty() ? nullptr : timelines.front();
    actions_->showStateOf(timeline);
    goToBar_->setTimeline(timeline);
    actions_->closeTab->setEnabled(tabs_->count() > 0);
    const QString name = tabs_->count() > 0 ? tabs_->tabText(tabs_->currentIndex()) : QString();
    setWindowTitle(name.isEmpty() ? QStringLiteral("Lanescope") : name + QStringLiteral(" – Lanescope"));
    if (tabs_->tracePages().size() < 2 && (!page || ranksOffered_.empty())) offerBar_->hide();
    markActions_->setPage(tabs_->currentTrace());
    placeTools();
    if (page) page->setFocus();
}

void MainWindow::setThemeChoice(ThemeChoice choice) {
    themeChoice_ = choice;
    applyColors();
}

void MainWindow::setColorPalette(Palette palette) {
    palette_ = palette;
    applyColors();
}

void MainWindow::applyColors() {
    const bool isDark = themeChoice_ == ThemeChoice::Dark || (themeChoice_ == ThemeChoice::System && isDesktopDark_);
    theme_ = isDark ? Theme::dark(palette_) : Theme::light(palette_);
    applyTheme(*qApp, theme_);
    setStyleSheet(windowStyle(theme_));
    actions_->setTheme(theme_);
    actions_->setThemeChoice(themeChoice_);
    actions_->setPalette(palette_);
    searchBar_->setTheme(theme_);
    tabs_->setTheme(theme_);
    placeTools();
}

bool MainWindow::isBusy() const {
    const DocumentPage* page = tabs_->currentDocument();
    return tabs_->isLoading() || (page && page->isBusy());
}

void MainWindow::connectViewActions() {
    // Timelines of one document share range and arrangement; the first is the visible one.
    connect(actions_, &ViewerActions::timelineCommand, this, [this](const std::function<void(TimelineView&)>& run) {
        DocumentPage* page = tabs_->currentDocument();
        if (!page || page->timelines().empty()) return;
        TimelineView& timeline = *page->timelines().front();
        run(timeline);
        storeColors(timeline);
        actions_->showStateOf(&timeline);
    });

    actions_->showDetails->setChecked(settings_.isPanelVisible("details"));
    actions_->showTables->setChecked(settings_.isPanelVisible("tables"));
    connect(actions_->showDetails, &QAction::toggled, this, [this](bool isOn) {
        settings_.setPanelVisible("details", isOn);
        for (DocumentPage* page : tabs_->documents()) page->setDetailsVisible(isOn);
    });
    connect(actions_->showTables, &QAction::toggled, this, [this](bool isOn) {
        settings_.setPanelVisible("tables", isOn);
        for (DocumentPage* page : tabs_->documents()) page->setTablesVisible(isOn);
    });
    connect(actions_, &ViewerActions::themeChosen, this, [this](ThemeChoice choice) {
        settings_.setTheme(choice);
        setThemeChoice(choice);
    });
    connect(actions_, &ViewerActions::paletteChosen, this, [this](Palette palette) {
        settings_.setPalette(palette);
        setColorPalette(palette);
    });
    connect(actions_->find, &QAction::triggered, searchBar_, &SearchBar::activate);
    connect(actions_->findNext, &QAction::triggered, searchBar_, &SearchBar::next);
    connect(actions_->findPrevious, &QAction::triggered, searchBar_, &SearchBar::previous);
    connect(actions_->finder, &QAction::triggered, this, &MainWindow::popUpFinder);
    connect(actions_->goTo, &QAction::triggered, goToBar_, &GoToBar::popUp);
    connect(searchBar_, &SearchBar::dismissed, this, &MainWindow::focusDocument);
    connect(finder_, &PopupPanel::dismissed, this, &MainWindow::focusDocument);
    connect(goToBar_, &PopupPanel::dismissed, this, &MainWindow::focusDocument);
}

void MainWindow::focusDocument() {
    if (DocumentPage* page = tabs_->currentDocument()) page->setFocus();
}

void MainWindow::popUpFinder() {
    DocumentPage* page = tabs_->currentDocument();
    std::vector<FinderEntry> entries = commandEntries(*actions_);
    if (page) {
        for (TimelineView* timeline : page->timelines()) addTrackEntries(entries, *timeline);
        for (FinderEntry& place : page->places()) entries.push_back(std::move(place));
    }
    finder_->model().setEntries(std::move(entries));
    finder_->popUp();
    if (!page || page->timelines().empty()) return;
    names_->request(page->timelines().front()->trace(), [this](const std::shared_ptr<const FinderNames>& names) {
        finder_->model().setNames(names, [this](const QString& name) { searchBar_->searchFor(name); });
    });
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!localFiles(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QStringList paths = localFiles(*event->mimeData());
    event->acceptProposedAction();
    if (paths.size() == 2 && paths[0] != paths[1] && tabs_->count() == 0) {
        openComparison(paths);
    } else {
        openFiles(paths);
    }
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    QMainWindow::resizeEvent(event);
    placeTools();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    settings_.setWindowGeometry(saveGeometry());
    for (const DocumentPage* page : tabs_->documents()) page->storeLayout(settings_);
    QMainWindow::closeEvent(event);
}

void MainWindow::showStatus(const QString& sentence) {
    constexpr int shownMs = 8000;
    statusBar()->showMessage(sentence, shownMs);
}

void MainWindow::askForReport() {
    const DocumentPage* page = tabs_->currentDocument();
    if (!page) return;
    const Result<std::string> report = reportOf(*page);
    if (!report) return showStatus(views::toQString(report.error().sentence));
    const QString path = QFileDialog::getSaveFileName(this, tr("Export report"), settings_.folder() + "/report.html",
                                                      tr("Pages (*.html)"));
    if (!path.isEmpty()) showWritten(this, saveFile(path.toStdString(), QByteArray::fromStdString(*report)), path);
}

void MainWindow::copyCommand() {
    const DocumentPage* page = tabs_->currentDocument();
    if (!page) return;
    const QString command = shellCommand(QStringLiteral("lanescope-viewer"), argumentsOf(*page));
    QApplication::clipboard()->setText(command);
    showStatus(tr("Copied: %1").arg(command));
}

void MainWindow::connectFileActions() {
    connect(actions_->open, &QAction::triggered, this, &MainWindow::askForFiles);
    connect(actions_->openFolder, &QAction::triggered, this, [this] {
        const QString folder =
            QFileDialog::getExistingDirectory(this, tr("Open the folder of a watch, or of ranks"), settings_.folder());
        if (!folder.isEmpty()) openFiles({folder});
    });
    connect(actions_->openRemote, &QAction::triggered, this, &MainWindow::askForAddress);
    connect(actions_->compare, &QAction::triggered, this, &MainWindow::askForComparison);
    connect(actions_->exportPicture, &QAction::triggered, this, &MainWindow::askForPicture);
    connect(actions_->exportTable, &QAction::triggered, this, &MainWindow::askForTable);
    connect(actions_->exportReport, &QAction::triggered, this, &MainWindow::askForReport);
    connect(actions_->share, &QAction::triggered, this, [this] {
        if (TracePage* page = tabs_->currentTrace())
            sharePage(*page, settings_.folder(), [this](const QString& sentence) { showStatus(sentence); });
    });
    connect(actions_->copyCommand, &QAction::triggered, this, &MainWindow::copyCommand);
    connect(actions_->closeTab, &QAction::triggered, this, [this] { tabs_->closeTab(tabs_->currentIndex()); });
    connect(actions_->quit, &QAction::triggered, this, &QWidget::close);
    connect(actions_->shortcuts, &QAction::triggered, this, [this] {
        auto* sheet = new ShortcutSheet(*actions_, this);
        sheet->setAttribute(Qt::WA_DeleteOnClose);
        sheet->open();
    });
    connect(actions_->manual, &QAction::triggered, this, &MainWindow::showManual);
    connect(actions_->about, &QAction::triggered, this, &MainWindow::showAbout);
}

void MainWindow::askForFiles() {
    openFiles(QFileDialog::getOpenFileNames(this, tr("Open traces"), settings_.folder(), traceFilter()));
}

void MainWindow::askForAddress() {
    bool isGiven = false;
    const QString address = QInputDialog::getText(
        this, tr("Open remote"), tr("Trace on a machine that ssh reaches and that has Lanescope:"), QLineEdit::Normal,
        QStringLiteral("ssh://host/path/run.sqlite"), &isGiven);
    if (isGiven && !address.trimmed().isEmpty()) tabs_->openTrace(address.trimmed().toStdString());
}

void MainWindow::openSample() {
    const QString cache = QStandardPaths::writableLocation(QStandardPaths::CacheLocation);
    const Result<QString> path = sampleTrace(cache + QStringLiteral("/samples"));
    if (path)
        tabs_->openTrace(path->toStdString());
    else
        QMessageBox::warning(this, tr("Sample"), views::toQString(path.error().sentence));
}

void MainWindow::askForComparison() {
    QStringList baseline;
    QString folder = settings_.folder();
    if (const TracePage* page = tabs_->currentTrace()) {
        baseline << views::toQString(page->trace()->path.string());
        folder = QFileInfo(baseline.front()).absolutePath();  // runs to compare mostly share a folder
    } else {
        baseline =
            QFileDialog::getOpenFileNames(this, tr("The run to compare against, or several of one program (baseline)"),
                                          settings_.folder(), traceFilter());
    }
    if (baseline.isEmpty()) return;
    const QStringList candidates =
        QFileDialog::getOpenFileNames(this,
                                      baseline.size() > 1 ? tr("The runs of the program in question (candidate)")
                                                          : tr("The runs in question (candidates)"),
                                      folder, traceFilter());
    if (candidates.isEmpty()) return;
    settings_.setFolder(QFileInfo(candidates.front()).absolutePath());
    std::vector<std::filesystem::path> files;
    for (const QStringList& paths : {baseline, candidates})
        for (const QString& path : paths) files.emplace_back(path.toStdString());
    // With one baseline, each candidate may be a separate program.
    tabs_->openComparison(files, baseline.size() > 1 ? size_t(baseline.size()) : 0);
}

void MainWindow::askForPicture() {
    DocumentPage* page = tabs_->currentDocument();
    if (!page) return;
    const QString path = QFileDialog::getSaveFileName(this, tr("Export picture"), settings_.folder() + "/timeline.png",
                                                      tr("Pictures (*.png *.svg)"));
    if (!path.isEmpty()) showWritten(this, exportDocumentPicture(*page, path.toStdString()), path);
}

void MainWindow::askForTable() {
    DocumentPage* page = tabs_->currentDocument();
    views::ReportView* view = page ? page->currentTable() : nullptr;
    if (!view) return showStatus(tr("No table is on the screen; show one with F10."));
    const ReportTable& table = view->model().table();
    const QString path = QFileDialog::getSaveFileName(this, tr("Export table"),
                                                      settings_.folder() + "/" + views::toQString(table.name) + ".csv",
                                                      tr("Tables (*.csv *.json)"));
    if (!path.isEmpty()) showWritten(this, exportTableTo(table, path.toStdString()), path);
}

void MainWindow::showManual() {
    if (!manual_) {
        manual_ = new ManualWindow(this);
        manual_->setAttribute(Qt::WA_DeleteOnClose);
    }
    manual_->show();
    manual_->raise();
    manual_->activateWindow();
}

void MainWindow::showAbout() {
    QMessageBox::about(this, tr("About Lanescope"),
                       tr("<h3>Lanescope %1</h3><p>Shows what a GPU training did, when, and how fast the bytes "
                          "moved.</p><p>Free software under the GNU General Public License, version 3.</p>")
                           .arg(QString::fromLatin1(productVersion())));
}

}  // namespace lanescope::viewer
