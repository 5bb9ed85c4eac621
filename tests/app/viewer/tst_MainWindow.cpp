// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "app/viewer/ComparePage.h"
#include "app/viewer/HitNavigator.h"
#include "app/viewer/LoadPage.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/StartPage.h"
#include "app/viewer/ViewerActions.h"
#include "app/viewer/exportDocument.h"
#include "app/viewer/tracePanels.h"
#include "app/viewer/viewState.h"
#include "app/viewer/windowStyle.h"
#include "model/explain/Explanation.h"
#include "model/export/traceFile.h"
#include "model/pages/ExplanationReport.h"
#include "tests/app/viewer/ShownWindow.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/fileBytes.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/settle.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareView.h"
#include "views/compare/HeadlinePanel.h"
#include "views/details/DetailsPanel.h"
#include "views/details/WarningPanel.h"
#include "views/explain/StepStrip.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineNavigator.h"

using namespace lanescope;
using namespace lanescope::viewer;
using namespace lanescope::views;

namespace {

/// Recent files with settings of their own.
struct OwnRecentFiles {
    QTemporaryDir folder;
    AppSettings settings{folder.filePath("settings.ini")};
    RecentFiles files{settings};
};

ViewerOptions optionsOf(const std::vector<std::string>& words) {
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return test::orFail(parseViewerOptions(static_cast<int>(arguments.size()), arguments.data()));
}

}  // namespace

class tst_MainWindow : public QObject {
    Q_OBJECT

    static void showDetails(MainWindow& window) {
        window.tabs().currentTrace()->timeline().state().selection().setEvent({EventKind::Kernel, 0});
        QApplication::processEvents();
    }
    static OverlayPanel& detailsOf(MainWindow& window) { return child<OverlayPanel>(*window.tabs().currentTrace()); }
    /// The splitter between timeline and tables.
    static QSplitter& tablesSplitter(MainWindow& window) {
        return *qobject_cast<QSplitter*>(detailsOf(window).parentWidget()->parentWidget());
    }
    static void dragHandle(QSplitter& splitter, int dy) {
        QWidget* handle = splitter.handle(1);
        const QPoint grip = handle->rect().center(), end = grip + QPoint(0, dy);
        QTest::mousePress(handle, Qt::LeftButton, {}, grip);
        QTest::mouseMove(handle, end);
        QTest::mouseRelease(handle, Qt::LeftButton, {}, end);
    }
    /// Answers the next file dialog with `path`; empty cancels it.
    static void chooseInNextDialog(const QString& path) {
        QTimer::singleShot(0, qApp, [path] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (!dialog) return chooseInNextDialog(path);
            if (path.isEmpty()) return dialog->reject();
            auto* edit = dialog->findChild<QLineEdit*>("fileNameEdit");
            // Until the dialog is in front, Enter belongs to the timeline behind it.
            if (QApplication::focusWidget() != edit) return chooseInNextDialog(path);
            edit->setText(path);
            QTest::keyClick(edit, Qt::Key_Return);
        });
    }
    /// Omits names, accepts the dialog of a shared page, and chooses the file.
    static void answerShareDialog(const QString& path) {
        QTimer::singleShot(0, qApp, [path] {
            QWidget* dialog = QApplication::activeModalWidget();
            auto* anonymous = dialog ? dialog->findChild<QCheckBox*>() : nullptr;
            if (anonymous) anonymous->setFocus();
            if (!anonymous || QApplication::focusWidget() != anonymous) return answerShareDialog(path);
            QTest::keyClick(anonymous, Qt::Key_Space);
            if (!anonymous->isChecked() || !dialog->findChild<QComboBox*>()->currentText().startsWith("Visible range"))
                return static_cast<QDialog*>(dialog)->reject();
            chooseInNextDialog(path);
            QTest::keyClick(anonymous, Qt::Key_Return);
        });
    }
    QString pathOf(const char* name) { return QString::fromStdString((folder_ / name).string()); }

    TemporaryFolder folder_;
    QString first_, second_, bad_;

  private slots:
    void initTestCase() {
        registerIcons();
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        first_ = pathOf("first.lanescope");
        second_ = pathOf("second.lanescope");
        bad_ = pathOf("bad.lanescope");
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 2}), first_.toStdString()).has_value());
        QVERIFY(
            writeTraceFile(*simulatedTraining({.steps = 2, .kernelScale = 1.5}), second_.toStdString()).has_value());
        std::ofstream(bad_.toStdString()) << "no database";
    }

    void beginsWithTheStartPage() {
        ShownWindow shown;
        QVERIFY(child<StartPage>(shown.window).isVisible());
        QVERIFY(!shown.window.searchBar().isEnabled() && !shown.window.actions().goTo->isEnabled());
        QVERIFY(shown.window.actions().open->isEnabled());
    }

    void droppedFileOpensAndIsRemembered() {
        ShownWindow shown;
        QVERIFY(shown.drop({first_}) && shown.wait() && shown.window.tabs().currentTrace());
        QVERIFY(!child<StartPage>(shown.window).isVisible());
        QCOMPARE(child<RecentFiles>(shown.window).paths(), QStringList({first_}));
        QVERIFY(shown.window.windowTitle().contains("first.lanescope"));
    }

    void twoDroppedFilesAreCompared() {
        ShownWindow shown;
        shown.drop({first_, second_});
        QVERIFY(shown.wait());
        QCOMPARE(shown.window.tabs().count(), 1);
        QVERIFY(qobject_cast<ComparePage*>(shown.window.tabs().currentDocument()));
    }

    void moreFilesAreCandidatesOfOneComparison() {
        ShownWindow shown;
        ViewerOptions options;
        options.isComparison = true;
        for (const QString& path : {first_, second_, first_}) options.files.emplace_back(path.toStdString());
        shown.window.open(options);
        QVERIFY(shown.wait());
        QCOMPARE(shown.window.tabs().count(), 1);
        auto* page = qobject_cast<ComparePage*>(shown.window.tabs().currentDocument());
        QVERIFY(page && page->view().runs());
        QCOMPARE(page->view().runs()->comparisons.size(), size_t{2});
        QVERIFY(!page->view().headline().headline().isEmpty());
        QCOMPARE(page->currentTable()->isVisible(), true);
    }

    void swappingSidesSwapsTheTitleOfTheTab() {
        ShownWindow shown;
        shown.drop({first_, second_});
        QVERIFY(shown.wait());
        const auto title = [&] { return shown.window.tabs().tabText(0); };
        QCOMPARE(title(), QString("second.lanescope against first.lanescope"));
        auto* page = qobject_cast<ComparePage*>(shown.window.tabs().currentDocument());
        for (QPushButton* button : page->findChildren<QPushButton*>())
            if (button->accessibleName() == "Swap sides") QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(shown.wait());
        QCOMPARE(title(), QString("first.lanescope against second.lanescope"));
    }

    void droppedTextIsRefused() {
        ShownWindow shown;
        QMimeData data;
        data.setText("hello");
        QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        enter.setAccepted(false);
        QApplication::sendEvent(&shown.window, &enter);
        QVERIFY(!enter.isAccepted());
    }

    void badFileGivesTheReasonAndTheWindowStaysUsable() {
        ShownWindow shown({bad_});
        auto* page = qobject_cast<LoadPage*>(shown.window.tabs().currentWidget());
        QVERIFY(page && page->errorText().contains("bad.lanescope"));
        QVERIFY(child<RecentFiles>(shown.window).paths().isEmpty());
        QVERIFY(shown.opened({first_}) && shown.window.tabs().currentTrace());
        QCOMPARE(shown.window.tabs().count(), 2);
    }

    void sameFileOpensOnce() {
        ShownWindow shown({first_});
        QVERIFY(shown.opened({first_}));
        QCOMPARE(shown.window.tabs().count(), 1);
    }

    void secondTraceOffersAComparison() {
        ShownWindow shown({first_});
        QVERIFY(!child<OfferBar>(shown.window).isVisible());
        QVERIFY(shown.opened({second_}));
        QVERIFY(child<OfferBar>(shown.window).isVisible());
        emit child<OfferBar>(shown.window).accepted();
        auto* page = qobject_cast<ComparePage*>(shown.window.tabs().currentDocument());
        QVERIFY(page);
        QCOMPARE(page->title(), QString("second.lanescope against first.lanescope"));
        QVERIFY(!child<OfferBar>(shown.window).isVisible());
    }

    void closingTheLastTabShowsTheStartPage() {
        ShownWindow shown({first_});
        shown.window.actions().closeTab->trigger();
        QVERIFY(child<StartPage>(shown.window).isVisible());
        QVERIFY(!shown.window.searchBar().isEnabled());
    }

    void closingALoadingTabIsSafe() {
        ShownWindow shown;
        shown.window.openFiles({first_});
        shown.window.tabs().closeTab(0);
        test::settle();
        QCOMPARE(shown.window.tabs().count(), 0);
        QVERIFY(child<StartPage>(shown.window).isVisible());
        QVERIFY(!shown.window.isBusy());
    }

    void controlFSearchesAndEnterSelects() {
        ShownWindow shown({first_});
        QVERIFY(QTest::qWaitForWindowActive(&shown.window));
        QTest::keyClick(&shown.window, Qt::Key_F, Qt::ControlModifier);
        QTRY_VERIFY(shown.window.searchBar().edit().hasFocus());
        QTest::keyClick(&shown.window.searchBar().edit(), Qt::Key_Escape);
        QTRY_VERIFY(shown.timeline().hasFocus());
        QTest::keyClick(&shown.timeline(), Qt::Key_Slash);
        QTRY_VERIFY(shown.window.searchBar().edit().hasFocus());
        QTest::keyClicks(&shown.window.searchBar().edit(), "nccl");
        QTest::keyClick(&shown.window.searchBar().edit(), Qt::Key_Return);
        TracePage* page = shown.window.tabs().currentTrace();
        QTRY_VERIFY(page->timeline().state().selection().event().isValid());
        QVERIFY(page->hits().count() > 1);
        QCOMPARE(child<DetailsPanel>(*page).event(), page->timeline().state().selection().event());
        // The first hit is selected while the search still runs; its place is known when all hits are.
        QTRY_VERIFY(shown.window.searchBar().countText().contains(" of "));
    }

    void tableRowLeadsToTheTimeline() {
        ShownWindow shown({first_});
        TracePage* page = shown.window.tabs().currentTrace();
        page->showName("memcpy HtoD");
        QTRY_VERIFY(page->timeline().state().selection().event().isValid());
        QCOMPARE(page->timeline().state().selection().event().kind(), EventKind::Memcpy);
        QCOMPARE(shown.window.searchBar().edit().text(), QString("memcpy HtoD"));
    }

    void everyTableTabCanBeShown() {
        ShownWindow shown({first_});
        TracePage* page = shown.window.tabs().currentTrace();
        for (int index = 0; index < page->tables().count(); ++index) {
            if (!page->tables().isTabVisible(index)) continue;
            page->tables().setCurrentIndex(index);
            QVERIFY(shown.wait());
            if (ReportView* view = page->currentTable(); view && index < 7)
                QVERIFY2(view->model().rowCount() > 0, qPrintable(page->tables().tabText(index)));
        }
    }

    void loadingFileIsNotOpenedTwice() {
        ShownWindow shown;
        shown.window.openFiles({first_, first_});
        QCOMPARE(shown.window.tabs().count(), 1);
    }

    void panelsCloseAndStayClosed() {
        ShownWindow shown({first_});
        showDetails(shown.window);
        shown.window.actions().showDetails->trigger();
        QVERIFY(!child<DetailsPanel>(*shown.window.tabs().currentTrace()).isVisible());
        QVERIFY(shown.opened({second_}));
        QVERIFY(!child<DetailsPanel>(*shown.window.tabs().currentTrace()).isVisible());
    }

    void memoryIsReleasedWhenWorkHasEnded() {
        ShownWindow shown;
        QSignalSpy released(&shown.window.tabs().memory(), &MemoryKeeper::released);
        QVERIFY(shown.opened({first_}));
        QTRY_VERIFY(!released.isEmpty());
        const auto before = released.size();
        shown.window.tabs().closeTab(0);
        QTRY_VERIFY(released.size() > before);
    }

    void currentRowOfADropDownIsLegible_data() { test::rows<bool>("isDark", {{"light", false}, {"dark", true}}); }
    void currentRowOfADropDownIsLegible() {
        QFETCH(bool, isDark);
        ShownWindow shown(simulatedTraining({.steps = 4}));
        shown.window.setThemeChoice(isDark ? ThemeChoice::Dark : ThemeChoice::Light);
        QVERIFY(shown.wait());
        shown.page().showPanel("steps");
        QVERIFY(shown.wait());
        auto& choice = child<QComboBox>(*shown.page().tables().currentWidget(), "choice");
        QTest::mouseClick(&choice, Qt::LeftButton);
        QTRY_VERIFY(QApplication::activePopupWidget());
        QAbstractItemView& list = *choice.view();
        for (const int row : {0, 1}) {
            const QRect place = list.visualRect(list.model()->index(row, 0));
            QTest::mouseMove(list.viewport(), place.center());
            QTRY_COMPARE(list.currentIndex().row(), row);
            QApplication::processEvents();
            keepPicture(list, QString("drop-down-%1-%2").arg(isDark ? "dark" : "light").arg(row));
            const QImage image = list.viewport()->grab(place).toImage();
            const QColor back = image.pixelColor(2, image.height() / 2);
            double contrast = 1;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x)
                    contrast = std::max(contrast, Theme::contrast(back, image.pixelColor(x, y)));
            QVERIFY2(contrast >= 4.5, qPrintable(QString("row %1: %2").arg(row).arg(contrast)));
        }
        QTest::keyClick(&list, Qt::Key_Escape);
    }

    void themeChangesAtOnce() {
        ShownWindow shown({first_});
        shown.window.setThemeChoice(ThemeChoice::Dark);
        QVERIFY(shown.timeline().state().options().theme().isDark);
        QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 100);
        shown.window.setThemeChoice(ThemeChoice::Light);
        QVERIFY(!shown.timeline().state().options().theme().isDark);
    }

    void writesPicturesAndTables() {
        ShownWindow shown({first_});
        TracePage* page = shown.window.tabs().currentTrace();
        QVERIFY(exportDocumentPicture(*page, pathOf("timeline.png").toStdString()).has_value());
        QVERIFY(!exportDocumentPicture(*page, pathOf("timeline.doc").toStdString()).has_value());
        QVERIFY(exportTableTo(page->currentTable()->model().table(), pathOf("kernels.csv").toStdString()).has_value());
        QFile csv(pathOf("kernels.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), page->currentTable()->model().rowCount() + 1);
        const auto refused = exportTableTo(page->currentTable()->model().table(), "/no/such/folder/kernels.csv");
        QVERIFY(!refused.has_value());
        QVERIFY(QString::fromStdString(refused.error().sentence).contains("/no/such/folder"));
    }

    void abnormalEndsAreShownInABanner() {
        ShownWindow shown;
        SimulatedTrace builder;
        builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 1'000);
        builder.note({Severity::Warning, HealthCode::ProcessEndedAbnormally, "4242 is gone."});
        showTrace(shown.window, builder.finish("excerpt.lanescope"));
        TracePage* page = shown.window.tabs().currentTrace();
        QVERIFY(child<WarningBar>(*page).isVisible() && child<WarningBar>(*page).text().contains("4242"));
        emit child<WarningBar>(*page).detailsRequested();
        QVERIFY(page->tables().tabText(page->tables().currentIndex()).startsWith("Warnings"));
    }

    void sizesAreSaved() {
        QTemporaryDir folder;
        const QString file = folder.filePath("settings.ini");
        QList<int> sizes;
        constexpr int detailsWidth = 260;
        {
            AppSettings settings(file);
            MainWindow window(settings);
            window.resize(777, 666);  // no larger than the screen, which is one of 800 by 800
            window.show();
            window.openFiles({first_});
            QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 20'000));
            showDetails(window);
            dragHandle(tablesSplitter(window), -30);
            sizes = tablesSplitter(window).sizes();
            detailsOf(window).setChosenWidth(detailsWidth);
            window.close();
        }
        AppSettings settings(file);
        MainWindow window(settings);
        QCOMPARE(window.size(), QSize(777, 666));
        window.show();
        window.openFiles({first_});
        QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 20'000));
        showDetails(window);
        QCOMPARE(tablesSplitter(window).sizes(), sizes);
        QCOMPARE(detailsOf(window).chosenWidth(), detailsWidth);
    }

    void trackArrangementIsSaved() {
        QTemporaryDir folder;
        const QString file = folder.filePath("settings.ini");
        TrackArrangement arrangement;
        for (const bool isFirstRun : {true, false}) {
            AppSettings settings(file);
            MainWindow window(settings);
            window.show();
            window.openFiles({first_});
            QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 20'000));
            TimelineView& timeline = window.tabs().currentTrace()->timeline();
            if (isFirstRun) {
                TimelineNavigator(timeline.state()).scrollToTrack(0);
                timeline.commands().hideTrack();
                timeline.state().tracks().setRowHeight(RowHeight::Tall);
                arrangement = timeline.state().tracks().arrangement();
                QVERIFY(!arrangement.isDefault());
                window.tabs().closeTab(0);
            }
            if (!isFirstRun) QVERIFY(timeline.state().tracks().arrangement() == arrangement);
        }
    }

    void trackArrangementOfAComparisonIsSaved() {
        QTemporaryDir folder;
        const QString file = folder.filePath("settings.ini");
        TrackArrangement arrangement;
        for (const bool isFirstRun : {true, false}) {
            AppSettings settings(file);
            MainWindow window(settings);
            window.show();
            window.open({{first_.toStdString(), second_.toStdString()}, true, {}});
            QVERIFY(QTest::qWaitFor([&] { return !window.isBusy(); }, 60'000));
            TimelineView& timeline = *window.tabs().currentDocument()->timelines().front();
            if (isFirstRun) {
                TimelineNavigator(timeline.state()).scrollToTrack(0);
                timeline.commands().togglePinnedTrack();
                timeline.state().tracks().setRowHeight(RowHeight::Compact);
                arrangement = timeline.state().tracks().arrangement();
                QVERIFY(!arrangement.isDefault());
                window.close();
            } else {
                QVERIFY(timeline.state().tracks().arrangement() == arrangement);
            }
        }
    }

    void openDialogOpensTheChosenFile() {
        ShownWindow shown;
        chooseInNextDialog(first_);
        shown.window.actions().open->trigger();
        QVERIFY(shown.wait() && shown.window.tabs().currentTrace());
        QCOMPARE(shown.settings.folder(), QFileInfo(first_).absolutePath());
    }

    void cancelledDialogChangesNothing() {
        ShownWindow shown;
        chooseInNextDialog({});
        shown.window.actions().open->trigger();
        QCOMPARE(shown.window.tabs().count(), 0);
        chooseInNextDialog({});
        shown.window.actions().compare->trigger();
        QCOMPARE(shown.window.tabs().count(), 0);
    }

    void compareDialogUsesTheOpenTraceAsBaseline() {
        ShownWindow shown({first_});
        chooseInNextDialog(second_);
        shown.window.actions().compare->trigger();
        QVERIFY(shown.wait());
        auto* page = qobject_cast<ComparePage*>(shown.window.tabs().currentDocument());
        QVERIFY(page);
        QCOMPARE(page->title(), QString("second.lanescope against first.lanescope"));
    }

    void tableIsWrittenToTheChosenFile() {
        ShownWindow shown({first_});
        const QString path = pathOf("chosen.json");
        chooseInNextDialog(path);
        shown.window.actions().exportTable->trigger();
        QVERIFY(QFile::exists(path));
        QVERIFY(shown.window.statusBar()->currentMessage().contains("chosen.json"));
    }

    void reportIsThePageOfTheCommandLine() {
        ShownWindow shown({first_});
        const QString path = pathOf("report.html");
        chooseInNextDialog(path);
        shown.window.actions().exportReport->trigger();
        QTRY_VERIFY(QFileInfo::exists(path));
        const auto& run = shown.page().guide().run()->summary;
        const std::string expected = explanationAsHtml(report::ExplanationReport{run, explain::explain(run)});
        QCOMPARE(test::fileBytes(path), QByteArray::fromStdString(expected));
    }

    void sharedPageHasTheVisibleRangeInFull() {
        ShownWindow shown({first_});
        const QString path = pathOf("shared.html");
        answerShareDialog(path);
        shown.window.actions().share->trigger();
        QTRY_VERIFY(QFileInfo::exists(path));
        QTRY_VERIFY(shown.window.statusBar()->currentMessage().contains("shared.html"));
        const QByteArray html = test::fileBytes(path);
        for (const char* part : {"class=\"trace\"", "default-src 'none'"}) QVERIFY2(html.contains(part), part);
    }

    void reportOfAComparisonNamesBothRuns() {
        ShownWindow shown;
        shown.window.openComparison({first_, second_});
        QVERIFY(shown.wait());
        const std::string page = test::orFail(reportOf(*shown.window.tabs().currentDocument()));
        for (const char* text : {"<!DOCTYPE html>", "first.lanescope", "second.lanescope"})
            QVERIFY2(page.find(text) != std::string::npos, text);
    }

    void copiedCommandRestoresTheView() {
        ShownWindow shown({first_});
        QVERIFY(shown.page().guide().showStepOf(1));
        TimelineState& state = shown.timeline().state();
        state.range().zoomTo({12'345'678, 23'456'789});
        const TimeRange visible = state.range().visible();
        state.selection().setEvent({EventKind::Kernel, 7});
        state.selection().setRange(TimeRange{13'000'001, 14'000'002});
        state.tracks().setFilterText("it's a stream");
        shown.page().showPanel("events");
        QVERIFY(shown.wait());
        shown.window.actions().copyCommand->trigger();
        const QString command = QGuiApplication::clipboard()->text();
        QVERIFY2(command.startsWith("lanescope-viewer /"), qPrintable(command));

        // A shell splits it into the same words.
        QProcess shell;
        shell.start("sh", {"-c", "printf '%s\\0' " + command});
        QVERIFY(shell.waitForFinished());
        std::vector<std::string> words;
        for (const QByteArray& word : shell.readAllStandardOutput().split('\0'))
            if (!word.isEmpty()) words.push_back(word.toStdString());
        const ViewerOptions options = optionsOf(words);
        ShownWindow again;
        again.window.open(options);
        test::orFail(applyView(again.window, options.view));
        QVERIFY(again.wait());
        TimelineState& restored = again.timeline().state();
        QCOMPARE(restored.range().visible(), visible);
        QCOMPARE(restored.selection().event(), EventRef(EventKind::Kernel, 7));
        QCOMPARE(restored.selection().range(), std::optional(TimeRange{13'000'001, 14'000'002}));
        QCOMPARE(restored.tracks().filterText(), QString("it's a stream"));
        QCOMPARE(again.page().guide().strip().chosen(), shown.page().guide().strip().chosen());
        QCOMPARE(again.page().tables().currentWidget()->objectName(), QString("events"));
        QCOMPARE(argumentsOf(again.page()), argumentsOf(shown.page()));
    }

    void copiedCommandNamesTheRangeOfTheWholeTrace() {
        ShownWindow shown({first_});
        shown.timeline().commands().fit();
        const TimeRange visible = shown.timeline().state().range().visible();
        QVERIFY(argumentsOf(shown.page())
                    .contains(QStringLiteral("--visible=%1ns:%2ns").arg(visible.startNs).arg(visible.endNs)));
    }

    void copiedCommandNamesTheRankOfTheStep() {
        const QString ranks = pathOf("ranks.sqlite");
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 6, .gpuCount = 2}), ranks.toStdString()).has_value());
        ShownWindow shown({ranks});
        for (const uint32_t worker : {0u, 1u}) {
            QVERIFY(shown.page().guide().showStepOf(3, worker));
            const auto chosen = shown.page().guide().strip().chosen();
            QVERIFY(chosen && chosen->worker == worker);
            const QStringList arguments = argumentsOf(shown.page());
            ViewOptions view;
            view.step = 3;
            for (const QString& argument : arguments)
                if (argument.startsWith("--worker=")) view.worker = argument.section('=', 1).toStdString();
            QVERIFY(!view.worker.empty());
            ShownWindow again;
            again.open(ranks.toStdString());
            test::orFail(applyView(again.window, view));
            QCOMPARE(again.page().guide().strip().chosen(), chosen);
        }
        const Result<void> applied = applyView(shown.window, ViewOptions{.step = 3, .worker = "rank 7"});
        QVERIFY(!applied.has_value());
        HAS(applied.error().sentence, "rank 7");
    }

    void copiedCommandOfAComparisonRestoresIt() {
        ShownWindow shown;
        shown.window.openComparison({first_, second_});
        QVERIFY(shown.wait());
        auto& page = *qobject_cast<ComparePage*>(shown.window.tabs().currentDocument());
        QVERIFY(page.view().alignment().setAlignment("forward", 0));
        QVERIFY(shown.wait());
        page.view().showStep(0);
        QVERIFY(QTest::qWaitForWindowActive(&shown.window));
        QTest::keyClick(&shown.window, Qt::Key_F, Qt::ControlModifier);
        QTRY_VERIFY(shown.window.searchBar().edit().hasFocus());
        QTest::keyClicks(&shown.window.searchBar().edit(), "nccl");
        QTest::keyClick(&shown.window.searchBar().edit(), Qt::Key_Return);
        QVERIFY(shown.wait());
        const QStringList arguments = argumentsOf(page);
        QCOMPARE(arguments.mid(0, 3), QStringList({"--compare", first_, second_}));
        for (const char* part : {"--align=forward", "--step=0", "--find=nccl"})
            QVERIFY2(arguments.contains(part), qPrintable(arguments.join(' ')));
        std::vector<std::string> words{"lanescope-viewer"};
        for (const QString& argument : arguments) words.push_back(argument.toStdString());
        const ViewerOptions options = optionsOf(words);
        ShownWindow again;
        again.window.open(options);
        test::orFail(applyView(again.window, options.view));
        QVERIFY(again.wait());
        QCOMPARE(argumentsOf(*again.window.tabs().currentDocument()), arguments);
    }

    void closingTheWindowEndsTheWaitForItsView() {
        ShownWindow shown;
        shown.open(first_.toStdString());
        QTimer::singleShot(0, &shown.window, &QWidget::close);
        const Result<void> applied = applyView(shown.window, ViewOptions{.step = 1});
        QVERIFY(!applied.has_value());
        QCOMPARE(applied.error().sentence, std::string("The window was closed."));
    }

    void wideWindowHasItsToolsNextToTheMenus() {
        ShownWindow shown;
        // The menus keep their room, also in a window that has become narrower.
        for (const QSize size : {QSize(1366, 768), QSize(700, 480), QSize(1600, 1000), QSize(1366, 768)}) {
            shown.window.resize(size);
            QApplication::processEvents();
            const SearchBar& search = shown.window.searchBar();
            QVERIFY(search.isVisible());
            const QRect place(search.mapTo(&shown.window, QPoint()), search.size());
            QCOMPARE(shown.window.menuBar()->geometry().contains(place), size.width() > 700);
        }
        for (QAction* menu : shown.window.menuBar()->actions())
            QVERIFY(!shown.window.menuBar()->actionGeometry(menu).isEmpty());
    }

    void startPageNamesFormatsAndTools() {
        ShownWindow shown;
        const auto& page = child<StartPage>(shown.window);
        const QString formats = child<QLabel>(page, "formats").text();
        for (const char* format : {"Nsight Systems", "Perfetto", "torch.profiler", "nvprof"})
            QVERIFY2(formats.contains(format), qPrintable(formats));
        QVERIFY(shown.opened({first_}));
        const QString tool = QString::fromStdString(shown.page().trace()->producer);
        QVERIFY(!tool.isEmpty());
        shown.window.tabs().closeTab(0);
        QApplication::processEvents();
        const auto buttons = page.findChildren<QPushButton*>();
        QVERIFY(std::ranges::any_of(buttons, [&](const QPushButton* each) {
            return each->isVisible() && each->text().contains("first.lanescope") && each->text().contains(tool);
        }));
    }

    void lastOpenedFileIsFirstAndUnique() {
        OwnRecentFiles own;
        RecentFiles& files = own.files;
        files.add("/traces/a.lanescope");
        files.add("/traces/b.lanescope");
        files.add("/traces/a.lanescope");
        QCOMPARE(files.paths(), QStringList({"/traces/a.lanescope", "/traces/b.lanescope"}));
    }

    void recentFilesAreSaved() {
        QTemporaryDir folder;
        {
            AppSettings settings(folder.filePath("settings.ini"));
            RecentFiles(settings).add("/traces/a.lanescope");
        }
        AppSettings settings(folder.filePath("settings.ini"));
        QCOMPARE(RecentFiles(settings).paths(), QStringList({"/traces/a.lanescope"}));
    }

    void listIsBounded() {
        OwnRecentFiles own;
        RecentFiles& files = own.files;
        for (int i = 0; i < 30; ++i) files.add(QString("/traces/%1").arg(i));
        QCOMPARE(files.paths().size(), RecentFiles::maxFiles);
        QCOMPARE(files.paths().front(), QString("/traces/29"));
    }

    void menuFollowsAndReportsTheChoice() {
        OwnRecentFiles own;
        RecentFiles& files = own.files;
        QMenu menu;
        files.attach(&menu);
        QVERIFY(!menu.isEnabled());
        files.add("/traces/R&D.lanescope");
        QVERIFY(menu.isEnabled());
        QCOMPARE(menu.actions().front()->text(), QString("R&&D.lanescope – /traces"));
        QSignalSpy chosen(&files, &RecentFiles::chosen);
        menu.actions().front()->trigger();
        QCOMPARE(chosen.front().front().toString(), QString("/traces/R&D.lanescope"));
        menu.actions().back()->trigger();
        QVERIFY(files.paths().isEmpty());
        QVERIFY(!menu.isEnabled());
    }

    void comparisonIsOneEntryWithItsFolders() {
        OwnRecentFiles own;
        RecentFiles& files = own.files;
        files.add(QStringList{"/traces/a.sqlite", "/other/b.sqlite"});
        files.add("/traces/a.sqlite");
        QCOMPARE(files.paths().size(), 2);
        const QString entry = files.paths().back();
        QCOMPARE(RecentFiles::filesOf(entry), QStringList({"/traces/a.sqlite", "/other/b.sqlite"}));
        QCOMPARE(RecentFiles::textOf(entry), QString("a.sqlite with b.sqlite – /traces, /other"));
        QCOMPARE(RecentFiles::textOf(QDir::homePath() + "/runs/c.sqlite"), QString("c.sqlite – ~/runs"));
        // A removed file removes its comparisons.
        files.remove("/other/b.sqlite");
        QCOMPARE(files.paths(), QStringList({"/traces/a.sqlite"}));
    }

    void settingsRememberThemeAndPanels() {
        QTemporaryDir folder;
        AppSettings settings(folder.filePath("settings.ini"));
        QCOMPARE(settings.theme(), ThemeChoice::System);
        settings.setTheme(ThemeChoice::Dark);
        settings.setPanelVisible("details", false);
        AppSettings again(folder.filePath("settings.ini"));
        QCOMPARE(again.theme(), ThemeChoice::Dark);
        QVERIFY(!again.isPanelVisible("details") && again.isPanelVisible("tables"));
    }
};

LANESCOPE_TEST(tst_MainWindow, QApplication)
#include "tst_MainWindow.moc"
