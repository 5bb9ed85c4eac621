// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTest>

#include "model/export/comparison/ComparisonReport.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareSide.h"
#include "views/compare/CompareTables.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparisonJob.h"
#include "views/compare/DifferenceLane.h"
#include "views/compare/DifferenceModel.h"
#include "views/compare/HeadlineCard.h"
#include "views/compare/StepChart.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/DetailsPanel.h"
#include "views/details/HealthBar.h"
#include "views/tables/ReportFilter.h"
#include "views/tables/ReportView.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;
using namespace lanescope::compare;
using namespace lanescope::report;
using namespace lanescope::views;

namespace {

constexpr int patienceMs = 60'000;

/// "step 0", "step 1", ... as long as `durationsNs`, each half of it a kernel, from `offsetNs` on.
TracePtr numberedSteps(const std::vector<int64_t>& durationsNs, int64_t offsetNs = 0,
                       std::string title = "steps.lanescope") {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    const uint32_t thread = builder.addThread(0, 4242, "python3");
    const uint32_t stream = builder.addStream(0, gpu, 7, true);
    int64_t nowNs = offsetNs;
    int number = 0;
    uint32_t correlation = 1;
    for (const int64_t durationNs : durationsNs) {
        builder.addNvtx(thread, "step " + std::to_string(number++), nowNs, nowNs + durationNs);
        builder.addApi(thread, "cudaLaunchKernel", nowNs + 1'000, nowNs + 5'000, correlation);
        builder.addKernel(stream, "gemm", nowNs + 10'000, nowNs + 10'000 + durationNs / 2,
                          correlation++);
        nowNs += durationNs;
    }
    return builder.finish(std::move(title));
}

const std::vector<int64_t> evenSteps(6, 1'000'000);
const std::vector<int64_t> longerSteps(6, 1'200'000);

struct Compared {
    Compared(TracePtr baseline, std::vector<TracePtr> candidates) {
        view.resize(1280, 900);
        view.setTheme(Theme::light());
        view.setTraces(std::move(baseline), std::move(candidates));
        view.show();
        QApplication::setActiveWindow(&view);
    }
    Compared(TracePtr baseline, TracePtr candidate)
        : Compared(std::move(baseline), std::vector<TracePtr>{std::move(candidate)}) {}
    bool wait() {
        return QTest::qWaitFor([this] { return !view.isBusy() && view.runs(); }, patienceMs);
    }
    TimelineView& baseline() { return view.baseline().timeline(); }
    TimelineView& candidate() { return view.candidate().timeline(); }
    ReportView& table(const QString& title) { return *view.tables().find(title); }
    /// A click into the row of a table of which a text holds `text`.
    bool clickRow(const QString& title, const QString& text) {
        ReportView& report = table(title);
        view.tables().setCurrentWidget(view.tables().findTab(title));
        QApplication::processEvents();
        for (int row = 0; row < report.filter().rowCount(); ++row) {
            for (int column = 0; column < report.filter().columnCount(); ++column) {
                const QModelIndex cell = report.filter().index(row, column);
                if (!cell.data().toString().contains(text)) continue;
                report.table().scrollTo(cell);
                QTest::mouseClick(report.table().viewport(), Qt::LeftButton, {},
                                  report.table().visualRect(cell).center());
                return QTest::qWaitFor([this] { return !view.isBusy(); }, patienceMs);
            }
        }
        return false;
    }
    CompareView view;
};

}  // namespace

class TestCompareView : public QObject {
    Q_OBJECT
  private slots:
    void showsTheHealthOfTheSideThatIsDoubtful() {
        // Not shared with anybody yet, so it may still change.
        auto doubtful = std::const_pointer_cast<Trace>(numberedSteps(evenSteps));
        auto sound = std::const_pointer_cast<Trace>(numberedSteps(evenSteps));
        doubtful->health = {
            {Severity::Warning, HealthCode::EventsDropped, "Records were dropped."}};
        sound->health.clear();
        Compared compared(doubtful, sound);
        QVERIFY(compared.view.baseline().healthBar().isVisible());
        QCOMPARE(compared.view.baseline().healthBar().text(),
                 QString("Baseline: Records were dropped."));
        QVERIFY(!compared.view.candidate().healthBar().isVisible());
    }

    void saysInWordsWhatWasLost() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QVERIFY2(compared.view.headline().headline().contains("longer"),
                 qPrintable(compared.view.headline().headline()));
    }

    void bothTimelinesShareOneRangeAndOneColumnOfRows() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QCOMPARE(compared.candidate().visibleRange(), compared.baseline().visibleRange());
        QVERIFY(compared.baseline().isVisible());
        QVERIFY(!compared.candidate().isVisible());  // its tracks stand among the baseline's
    }

    void runsOpenAtTheFirstComparedStepZoomedToWhatIsCompared() {
        Compared compared(numberedSteps({5'000'000, 150'000, 150'000, 150'000, 150'000}),
                          numberedSteps({200'000, 200'000, 200'000, 200'000, 200'000}, 70'000));
        QVERIFY(compared.wait());
        QCOMPARE(compared.baseline().timeOrigin(), 5'000'000);  // the warm-up is left out
        QCOMPARE(compared.candidate().timeOrigin(), 70'000);
        const TimeRange visible = compared.view.visibleRange().range();
        QVERIFY(visible.contains(0) && visible.endNs >= 4 * 150'000);
        QVERIFY(visible.durationNs() < 1'300'000);
    }

    void alignsAtTheChosenStepByKeyboard() {
        Compared compared(numberedSteps(evenSteps, 50'000), numberedSteps(longerSteps, 700'000));
        QVERIFY(compared.wait());
        auto* step = compared.view.alignment().findChild<QSpinBox*>();
        QVERIFY(step);
        step->setFocus();
        QTest::keyClick(step, Qt::Key_Up);
        QTest::keyClick(step, Qt::Key_Up);
        QCOMPARE(compared.baseline().timeOrigin(), 50'000 + 2 * 1'000'000);
        QCOMPARE(compared.candidate().timeOrigin(), 700'000 + 2 * 1'200'000);
    }

    void alignsAtTheStartOfTheRun() {
        Compared compared(numberedSteps(evenSteps, 50'000), numberedSteps(longerSteps, 700'000));
        QVERIFY(compared.wait());
        for (QComboBox* box : compared.view.alignment().findChildren<QComboBox*>()) {
            if (box->accessibleName() != "Align at") continue;
            box->setFocus();
            QTest::keyClick(box, Qt::Key_Down);
        }
        QCOMPARE(compared.baseline().timeOrigin(), compared.baseline().trace()->range.startNs);
        QCOMPARE(compared.candidate().timeOrigin(), compared.candidate().trace()->range.startNs);
    }

    void onlyTheTypedStepsAreCompared() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        auto* numbers = compared.view.alignment().findChild<QLineEdit*>("numbers");
        QVERIFY(numbers);
        QTest::keyClicks(numbers, "2-3");
        QTest::keyClick(numbers, Qt::Key_Return);
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 2);
        numbers->clear();
        QTest::keyClicks(numbers, "x");
        QTest::keyClick(numbers, Qt::Key_Return);
        QVERIFY(!compared.view.alignment().message().isEmpty());
        QCOMPARE(compared.view.steps().stepCount(), 2);
    }

    void stepsThatOneRunDoesNotHaveAreSaid() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        auto* numbers = compared.view.alignment().findChild<QLineEdit*>("numbers");
        QTest::keyClicks(numbers, "40-50");
        QTest::keyClick(numbers, Qt::Key_Return);
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.headline().headline().isEmpty());
        QVERIFY(!compared.view.headline().headline().contains("longer"));
    }

    void anUnknownRangeCannotBeAlignedAt() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.alignment().setAlignment("no such range", 0));
        QVERIFY(compared.view.alignment().setAlignment("step #", 0));
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.runs()->baseline.selection.rangeName, std::string("step #"));
    }

    void aClickOnAStepOfTheChartGoesToItInBothRuns() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        StepChart& chart = compared.view.steps();
        QSignalSpy spy(&chart, &StepChart::stepChosen);
        QTest::mouseClick(chart.childAt(chart.rect().center()), Qt::LeftButton, {},
                          chart.rect().center());
        QCOMPARE(spy.size(), 1);
        const int step = spy.first().first().toInt();
        QVERIFY(step >= 2 && step <= 4);
        QCOMPARE(chart.chosen(), step);
        QCOMPARE(compared.baseline().timeOrigin(), step * 1'000'000);
        QCOMPARE(compared.candidate().timeOrigin(), step * 1'200'000);
        QVERIFY(compared.view.visibleRange().range().durationNs() < 1'400'000);
    }

    void keysWalkAlongTheSteps() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        compared.view.steps().setFocus();
        QTest::keyClick(&compared.view.steps(), Qt::Key_End);
        QCOMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 1);
        QTest::keyClick(&compared.view.steps(), Qt::Key_Left);
        QCOMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 2);
        compared.baseline().setFocus();
        QTest::keyClick(&compared.baseline(), Qt::Key_BracketRight);
        QTRY_COMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 1);
    }

    void aPartOfTheWaterfallFiltersItsContributors() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        WaterfallChart& chart = compared.view.waterfall();
        QVERIFY(!chart.parts().empty());
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_Right);
        QVERIFY(chart.chosen());
        const QString part = QString::fromUtf8(name(*chart.chosen()).data());
        ReportView& table = compared.table("Contributors");
        QCOMPARE(compared.view.tables().currentTab()->table(), &table);
        QVERIFY(table.filter().rowCount() > 0);
        for (int row = 0; row < table.filter().rowCount(); ++row)
            QCOMPARE(table.filter().index(row, 0).data().toString(), part);
        QTest::keyClick(&chart, Qt::Key_Escape);
        QVERIFY(!chart.chosen());
        QCOMPARE(table.filter().rowCount(), table.model().rowCount());
    }

    void tablesAreMadeWhenTheyAreLookedAt() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        CompareTables& tables = compared.view.tables();
        QTRY_VERIFY_WITH_TIMEOUT(!tables.currentTab()->isBusy(), patienceMs);
        for (int index = 0; index < tables.count(); ++index)
            QCOMPARE(static_cast<LazyTab*>(tables.widget(index))->content() != nullptr,
                     index == tables.currentIndex());
        // What was chosen before a table is there is shown in it.
        compared.view.waterfall().setFocus();
        QTest::keyClick(&compared.view.waterfall(), Qt::Key_Right);
        LazyTab* contributors = tables.findTab("Contributors");
        QCOMPARE(tables.currentTab(), contributors);
        QVERIFY(!contributors->content());
        QTRY_VERIFY_WITH_TIMEOUT(contributors->table(), patienceMs);
        const ReportView& table = *contributors->table();
        QVERIFY(table.filter().rowCount() > 0);
        QVERIFY(table.filter().rowCount() < table.model().rowCount());
    }

    void aTableOutOfSightIsFilledWhenItIsSeenAgain() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        CompareTables& tables = compared.view.tables();
        tables.setCurrentWidget(tables.findTab("Steps"));
        QTRY_VERIFY_WITH_TIMEOUT(tables.currentTab()->table(), patienceMs);
        const ReportView& steps = *tables.currentTab()->table();
        const int all = steps.model().rowCount();
        QVERIFY(all > 1);
        tables.setCurrentWidget(tables.findTab("Parts"));
        const TimeRange whole = compared.baseline().trace()->range;
        compared.baseline().setSelectedRange(
            TimeRange{whole.startNs, whole.startNs + whole.durationNs() / 2});
        QVERIFY(compared.wait());
        tables.setCurrentWidget(tables.findTab("Steps"));
        QCOMPARE(steps.model().rowCount(), 1);
    }

    void aClickOnAColumnOfTheWaterfallChoosesIt() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        WaterfallChart& chart = compared.view.waterfall();
        QWidget* plot = chart.childAt(chart.rect().center());
        for (int x = 0; x < chart.width() && !chart.chosen(); x += 10)
            QTest::mouseClick(plot, Qt::LeftButton, {}, {x, chart.height() / 2});
        QCOMPARE(chart.chosen(), std::optional(chart.parts().front()));
    }

    void theTableOfPartsSumsToTheStepTimes() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        const ReportTable& table = compared.table("Parts").model().table();
        int64_t baselineNs = 0, candidateNs = 0;
        for (const auto& row : table.rows) {
            baselineNs += std::get<int64_t>(row[1]);
            candidateNs += std::get<int64_t>(row[2]);
        }
        const WorkerComparison& pair = *compared.view.runs()->comparisons.front().criticalPair();
        QCOMPARE(baselineNs, pair.baseline.meanNs);
        QCOMPARE(candidateNs, pair.candidate.meanNs);
    }

    void theWindowGivesTheNumbersOfTheTextReport() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.4371}));
        QVERIFY(compared.wait());
        const ComparedRuns& runs = *compared.view.runs();
        const ComparisonReport report{
            runs.baseline.summary, {{runs.candidates[0].summary, runs.comparisons[0], {}}}, {}, 0};
        const QString text = QString::fromStdString(comparisonAsText(report));
        int checked = 0;
        for (const QString title : {"Parts", "Kernels", "Collectives", "Copies"}) {
            const ReportModel& model = compared.table(title).model();
            const auto cell = [&](int row, const QString& heading) {
                for (int column = 0; column < model.columnCount(); ++column) {
                    if (model.headerData(column, Qt::Horizontal).toString() != heading) continue;
                    const QString shown = model.index(row, column).data().toString();
                    if (heading == "Part") return shown;
                    return shown.isEmpty() ? QString("-") : shown.section(' ', 0, 0);
                }
                return QString();
            };
            for (int row = 0; row < model.rowCount(); ++row) {
                const QString lost = QRegularExpression::escape(cell(row, "Lost"));
                const QString sides = cell(row, "Baseline") + "\\s+" + cell(row, "Candidate");
                const QString line =
                    title == "Parts" ? "\n" + cell(row, "Part") + ".*\\s" + sides + "\\s+" + lost
                                     : "\n\\s*" + lost + "\\s+" + sides;
                QVERIFY2(text.contains(QRegularExpression(line + "\\s")), qPrintable(line + text));
                ++checked;
                if (title != "Parts") continue;
                const QString shown = compared.view.waterfall().accessibleDescription();
                if (shown.contains(cell(row, "Part")))
                    QVERIFY2(shown.contains(cell(row, "Lost")), qPrintable(shown));
            }
        }
        QVERIFY(checked > 10);
        QVERIFY(text.simplified().contains(compared.view.headline().headline()));
    }

    void tablesBeginWithTheGreatestLoss() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Kernels");
        auto& model = static_cast<DifferenceModel&>(table.model());
        int64_t before = INT64_MAX;
        for (int row = 0; row < table.filter().rowCount(); ++row) {
            const int64_t lostNs =
                model.lostNsAt(table.filter().mapToSource(table.filter().index(row, 0)).row());
            QVERIFY(lostNs <= before);
            before = lostNs;
        }
        QVERIFY(table.filter().rowCount() > 1);
    }

    void aRowLeadsToItsWorstInstanceInBothRuns() {
        // The kernel of step 3 loses most.
        Compared compared(
            numberedSteps(evenSteps),
            numberedSteps({1'200'000, 1'200'000, 1'200'000, 1'700'000, 1'200'000, 1'200'000}));
        QVERIFY(compared.wait());
        QVERIFY(compared.clickRow("Kernels", "gemm"));
        QCOMPARE(compared.baseline().selectedEvent(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(compared.candidate().selectedEvent(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(compared.view.details().event(), EventRef(EventKind::Kernel, 3));
        const TimeRange kernel =
            compared.candidate().trace()->rangeOf(EventRef(EventKind::Kernel, 3));
        const TimeRange visible = compared.view.visibleRange().range();
        const TimeRange onAxis = compared.view.candidate().toAxis(kernel);
        QVERIFY(visible.startNs <= onAxis.startNs && visible.endNs >= onAxis.endNs);
    }

    void enterOnARowOfStepsGoesThere() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Steps");
        compared.view.tables().setCurrentWidget(table.parentWidget());
        table.table().setFocus();
        table.table().setCurrentIndex(table.filter().index(2, 0));
        QTest::keyClick(&table.table(), Qt::Key_Return);
        QCOMPARE(compared.view.steps().chosen(), 2);
        QCOMPARE(compared.baseline().timeOrigin(), 2'000'000);
    }

    void aSelectedRangeNarrowsTheComparisonOfBoth() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        compared.baseline().setSelectedRange(TimeRange{0, 500'000});
        QCOMPARE(compared.candidate().selectedRange(), std::optional(TimeRange{0, 500'000}));
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 1);
        QCOMPARE(compared.view.runs()->baseline.selection.stretch,
                 std::optional(TimeRange{0, 500'000}));
        compared.baseline().setSelectedRange(std::nullopt);
        QVERIFY(!compared.candidate().selectedRange());
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 6);
    }

    void moreCandidatesAreColumnsAndOneIsOnTheTimeline() {
        Compared compared(numberedSteps(evenSteps),
                          {numberedSteps(longerSteps, 0, "slow.lanescope"),
                           numberedSteps(std::vector<int64_t>(6, 900'000), 0, "fast.lanescope")});
        QVERIFY(compared.wait());
        const ReportTable& table = compared.table("Parts").model().table();
        QCOMPARE(table.columns.back().name, std::string("Lost: fast.lanescope"));
        for (QComboBox* box : compared.view.alignment().findChildren<QComboBox*>()) {
            if (box->accessibleName() != "Candidate") continue;
            QVERIFY(box->isVisible());
            box->setFocus();
            QTest::keyClick(box, Qt::Key_Down);
        }
        QCOMPARE(compared.view.shownCandidate(), size_t{1});
        QCOMPARE(compared.candidate().trace()->title, std::string("fast.lanescope"));
        QVERIFY2(compared.view.headline().headline().contains("shorter"),
                 qPrintable(compared.view.headline().headline()));
        QCOMPARE(compared.table("Parts").model().table().columns.back().name,
                 std::string("Lost: slow.lanescope"));
    }

    void theSidesCanBeSwapped() {
        Compared compared(numberedSteps(evenSteps, 0, "a.lanescope"),
                          numberedSteps(longerSteps, 0, "b.lanescope"));
        QVERIFY(compared.wait());
        compared.view.swapSides();
        QVERIFY(compared.wait());
        QCOMPARE(compared.baseline().trace()->title, std::string("b.lanescope"));
        QVERIFY2(compared.view.headline().headline().contains("shorter"),
                 qPrintable(compared.view.headline().headline()));
    }

    void gTurnsTheGhostOnAndOff() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        compared.baseline().setFocus();
        QTest::keyClick(&compared.baseline(), Qt::Key_G);
        QTRY_VERIFY(compared.baseline().isGhostVisible());
        QTest::keyClick(&compared.baseline(), Qt::Key_G);
        QTRY_VERIFY(!compared.baseline().isGhostVisible());
    }

    void onlyOneSideHasAnEventSelectedByHand() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        compared.baseline().setSelectedEvent(EventRef(EventKind::Kernel, 1));
        compared.candidate().setSelectedEvent(EventRef(EventKind::Kernel, 1));
        QVERIFY(!compared.baseline().selectedEvent().isValid());
        QVERIFY(compared.candidate().selectedEvent().isValid());
    }

    void aStoppedComparisonPublishesNothing() {
        const ComparisonJob::Run baseline{numberedSteps(evenSteps), {}};
        const ComparisonJob::Run candidate{numberedSteps(longerSteps), {}};
        ComparisonJob job;
        QSignalSpy compared(&job, &ComparisonJob::compared);
        QSignalSpy finished(&job, &ComparisonJob::finished);
        job.start(baseline, {candidate});
        job.cancel();
        QCOMPARE(finished.size(), 1);
        QVERIFY(QTest::qWaitFor([&] { return !job.isRunning(); }, patienceMs));
        QCOMPARE(compared.size(), 0);
        job.start(baseline, {candidate});
        QVERIFY(QTest::qWaitFor([&] { return !job.isRunning(); }, patienceMs));
        QCOMPARE(compared.size(), 1);
        QCOMPARE(finished.size(), 2);
    }

    void onlyTheNewestOfSeveralComparisonsIsPublished() {
        const ComparisonJob::Run baseline{numberedSteps(evenSteps), {}};
        ComparisonJob job;
        QSignalSpy compared(&job, &ComparisonJob::compared);
        for (int64_t last = 1; last <= 4; ++last) {
            StepSelection selection;
            selection.numbers = StepRange{0, last};
            job.start({baseline.trace, selection}, {{baseline.trace, selection}});
        }
        QVERIFY(QTest::qWaitFor([&] { return !job.isRunning(); }, patienceMs));
        QCOMPARE(compared.size(), 1);
        const auto runs = compared.first().first().value<ComparedRunsPtr>();
        QCOMPARE(runs->baseline.summary.workers.front().steps.size(), size_t{5});
    }

    void copiedRowsAreTabSeparated() {
        Compared compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Parts");
        table.table().setFocus();
        table.copySelection();
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QVERIFY(lines.size() > 2);
        QVERIFY(lines.first().startsWith("Part\tBaseline\tCandidate\tLost"));
        QCOMPARE(lines.at(1).count('\t'), lines.first().count('\t'));
    }

    void theTableIsFilteredByTypedWords() {
        Compared compared(simulatedTraining({.steps = 6}),
                          simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        ReportView& table = compared.table("Contributors");
        const int all = table.filter().rowCount();
        compared.view.tables().setCurrentWidget(table.parentWidget());
        QTest::keyClicks(&table.filterEdit(), "AllReduce");
        QVERIFY(table.filter().rowCount() > 0 && table.filter().rowCount() < all);
    }

    void runsWithNothingInThemAreShownAndSaid() {
        Compared compared(SimulatedTrace().finish(), numberedSteps(evenSteps));
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.headline().headline().isEmpty());
        QVERIFY(!compared.view.grab().isNull());
        compared.view.showStep(3);
        QVERIFY(!compared.view.grab().isNull());
    }
};

LANESCOPE_TEST(TestCompareView, QApplication)
#include "tst_CompareView.moc"
