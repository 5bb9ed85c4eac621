// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QtWidgets>
//
// Tests of aligning both runs at a step, and of stepping through them.
#include <QtWidgets>
//
// Tests of the tables and the waterfall of the comparison page.
#include <QtWidgets>
//
// Tests that the sentence of a comparison leads to its evidence, and that several runs per side are
// one comparison.
#include <qcustomplot.h>

#include "model/pages/ComparisonReport.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/ComparisonJob.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/WaterfallChart.h"
#include "views/details/DetailsPanel.h"
#include "views/details/WarningPanel.h"
#include "views/timeline/TimelineState.h"

using namespace lanescope;
using namespace lanescope::views;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::report;

namespace {

QLabel* sentenceOf(HeadlinePanel& card) {
    for (QLabel* label : card.findChildren<QLabel*>())
        if (label->accessibleName() == "Answer") return label;
    return nullptr;
}

/// Position of the link to this clause, found by moving the pointer over the sentence.
QPoint placeOf(QLabel& label, int clause) {
    QString under;
    QObject context;
    QObject::connect(&label, &QLabel::linkHovered, &context, [&under](const QString& link) { under = link; });
    for (int y = 4; y < label.height(); y += 5) {
        for (int x = 2; x < label.width(); x += 6) {
            QTest::mouseMove(&label, QPoint(x, y));
            if (under == QString::number(clause)) return {x, y};
        }
    }
    return {-1, -1};
}

/// The first clause of the kind and, for a cause, of the part.
int clauseOf(const ShownComparison& compared, compare::ClauseKind kind, std::optional<analysis::StepPart> part = {}) {
    const auto& clauses = compared.view.runs()->comparisons.front().answer.clauses;
    for (size_t index = 0; index < clauses.size(); ++index)
        if (clauses[index].kind == kind && (!part || clauses[index].query->part == *part)) return int(index);
    return -1;
}

std::vector<TracePtr> runsOf(const std::vector<int64_t>& stepNs, const std::string& name) {
    std::vector<TracePtr> runs;
    for (const int64_t each : stepNs)
        runs.push_back(numberedSteps(std::vector<int64_t>(6, each), 0, name + std::to_string(runs.size() + 1)));
    return runs;
}

QComboBox* boxCalled(ShownComparison& compared, const QString& name) {
    for (QComboBox* box : compared.view.alignment().findChildren<QComboBox*>())
        if (box->accessibleName() == name) return box;
    return nullptr;
}

}  // namespace

class tst_CompareView : public QObject {
    Q_OBJECT

  private slots:
    void showsTheWarningsOfItsSide() {
        // Not shared yet, so it may still change.
        auto uncertain = std::const_pointer_cast<Trace>(numberedSteps(evenSteps));
        auto sound = std::const_pointer_cast<Trace>(numberedSteps(evenSteps));
        uncertain->health = {{Severity::Warning, HealthCode::EventsDropped, "Records were dropped."}};
        sound->health.clear();
        ShownComparison compared(uncertain, sound);
        QVERIFY(child<WarningBar>(compared.view.baseline()).isVisible());
        QCOMPARE(child<WarningBar>(compared.view.baseline()).text(), QString("Baseline: Records were dropped."));
        QVERIFY(!child<WarningBar>(compared.view.candidate()).isVisible());
    }

    void showsTheLossesAsText() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY2(compared.view.headline().headline().contains("longer"),
                 qPrintable(compared.view.headline().headline()));
    }

    void bothTimelinesShareOneRangeAndOneColumnOfRows() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QCOMPARE(&compared.candidate().state().range().axis(), &compared.baseline().state().range().axis());
        QVERIFY(compared.baseline().isVisible());
        QVERIFY(!compared.candidate().isVisible());  // its tracks are shown among the baseline's
    }

    void moreCandidatesAreColumnsAndOneIsOnTheTimeline() {
        ShownComparison compared(numberedSteps(evenSteps),
                                 {numberedSteps(longerSteps, 0, "slow.lanescope"),
                                  numberedSteps(std::vector<int64_t>(6, 900'000), 0, "fast.lanescope")});
        const ReportTable& table = compared.table("Parts").model().table();
        QCOMPARE(QString::fromStdString(table.columns.back().name), QStringLiteral("Diff: fast.lanescope"));
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
        QCOMPARE(compared.table("Parts").model().table().columns.back().name, std::string("Diff: slow.lanescope"));
    }

    void sidesCanBeSwapped() {
        ShownComparison compared(numberedSteps(evenSteps, 0, "a.lanescope"),
                                 numberedSteps(longerSteps, 0, "b.lanescope"));
        compared.view.swapSides();
        QVERIFY(compared.wait());
        QCOMPARE(compared.baseline().trace()->title, std::string("b.lanescope"));
        QVERIFY2(compared.view.headline().headline().contains("shorter"),
                 qPrintable(compared.view.headline().headline()));
    }

    void gTogglesTheBaselineOverlay() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        compared.baseline().setFocus();
        QTest::keyClick(&compared.baseline(), Qt::Key_G);
        QTRY_VERIFY(compared.baseline().isBaselineOverlayVisible());
        QTest::keyClick(&compared.baseline(), Qt::Key_G);
        QTRY_VERIFY(!compared.baseline().isBaselineOverlayVisible());
    }

    void userSelectionIsOnOneSideOnly() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        compared.baseline().state().selection().setEvent(EventRef(EventKind::Kernel, 1));
        compared.candidate().state().selection().setEvent(EventRef(EventKind::Kernel, 1));
        QVERIFY(!compared.baseline().state().selection().event().isValid());
        QVERIFY(compared.candidate().state().selection().event().isValid());
    }

    void emptyRunsAreShownAndReported() {
        ShownComparison compared(SimulatedTrace().finish(), numberedSteps(evenSteps));
        QVERIFY(!compared.view.headline().headline().isEmpty() && !compared.view.grab().isNull());
        compared.view.showStep(3);
        QVERIFY(!compared.view.grab().isNull());
    }

    void runsOpenAtTheFirstComparedStepZoomedToTheComparedRange() {
        ShownComparison compared(numberedSteps({5'000'000, 150'000, 150'000, 150'000, 150'000}),
                                 numberedSteps({200'000, 200'000, 200'000, 200'000, 200'000}, 70'000));
        QCOMPARE(compared.baseline().state().range().origin(),
                 5'000'000);  // the warm-up is skipped
        QCOMPARE(compared.candidate().state().range().origin(), 70'000);
        const TimeRange visible = compared.baseline().state().range().axis().range();
        QVERIFY(visible.contains(0) && visible.endNs >= 4 * 150'000 && visible.durationNs() < 1'300'000);
    }

    void alignsAtTheChosenStepByKeyboard() {
        ShownComparison compared(numberedSteps(evenSteps, 50'000), numberedSteps(longerSteps, 700'000));
        auto* step = compared.view.alignment().findChild<QSpinBox*>();
        QVERIFY(step);
        step->setFocus();
        QTest::keyClick(step, Qt::Key_Up);
        QTest::keyClick(step, Qt::Key_Up);
        QCOMPARE(compared.baseline().state().range().origin(), 50'000 + 2 * 1'000'000);
        QCOMPARE(compared.candidate().state().range().origin(), 700'000 + 2 * 1'200'000);
    }

    void alignsAtTheStartOfTheRun() {
        ShownComparison compared(numberedSteps(evenSteps, 50'000), numberedSteps(longerSteps, 700'000));
        for (QComboBox* box : compared.view.alignment().findChildren<QComboBox*>()) {
            if (box->accessibleName() != "Align at") continue;
            box->setFocus();
            QTest::keyClick(box, Qt::Key_Down);
        }
        QCOMPARE(compared.baseline().state().range().origin(), compared.baseline().trace()->range.startNs);
        QCOMPARE(compared.candidate().state().range().origin(), compared.candidate().trace()->range.startNs);
    }

    void onlyTheTypedStepsAreCompared() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
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

    void missingStepsOfOneRunAreReported() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        auto* numbers = compared.view.alignment().findChild<QLineEdit*>("numbers");
        QTest::keyClicks(numbers, "40-50");
        QTest::keyClick(numbers, Qt::Key_Return);
        QVERIFY(compared.wait() && !compared.view.headline().headline().isEmpty());
        QVERIFY(!compared.view.headline().headline().contains("longer"));
    }

    void unknownRangeCannotBeAligned() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(!compared.view.alignment().setAlignment("no such range", 0));
        QVERIFY(compared.view.alignment().setAlignment("step #", 0) && compared.wait());
        QCOMPARE(compared.view.runs()->baseline.selection.rangeName, std::string("step #"));
    }

    void clickOnAChartStepShowsItInBothRuns() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        StepChart& chart = compared.view.steps();
        QSignalSpy spy(&chart, &StepChart::stepChosen);
        QTest::mouseClick(chart.childAt(chart.rect().center()), Qt::LeftButton, {}, chart.rect().center());
        QCOMPARE(spy.size(), 1);
        const int step = spy.first().first().toInt();
        QVERIFY(step >= 2 && step <= 4);
        QCOMPARE(chart.chosen(), step);
        QCOMPARE(compared.baseline().state().range().origin(), step * 1'000'000);
        QCOMPARE(compared.candidate().state().range().origin(), step * 1'200'000);
        QVERIFY(compared.baseline().state().range().axis().range().durationNs() < 1'400'000);
    }

    void keysWalkTheSteps() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        compared.view.steps().setFocus();
        QTest::keyClick(&compared.view.steps(), Qt::Key_End);
        QCOMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 1);
        QTest::keyClick(&compared.view.steps(), Qt::Key_Left);
        QCOMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 2);
        compared.baseline().setFocus();
        QTest::keyClick(&compared.baseline(), Qt::Key_BracketRight);
        QTRY_COMPARE(compared.view.steps().chosen(), compared.view.steps().stepCount() - 1);
    }

    void enterOnAStepRowShowsIt() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        ReportView& table = compared.table("Steps");
        compared.view.tables().setCurrentWidget(table.parentWidget());
        table.table().setFocus();
        table.table().setCurrentIndex(table.filter().index(2, 0));
        QTest::keyClick(&table.table(), Qt::Key_Return);
        QCOMPARE(compared.view.steps().chosen(), 2);
        QCOMPARE(compared.baseline().state().range().origin(), 2'000'000);
    }

    void selectedRangeNarrowsTheComparisonOfBoth() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        compared.baseline().state().selection().setRange(TimeRange{0, 500'000});
        QCOMPARE(compared.candidate().state().selection().range(), std::optional(TimeRange{0, 500'000}));
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 1);
        QCOMPARE(compared.view.runs()->baseline.selection.stretch, std::optional(TimeRange{0, 500'000}));
        compared.baseline().state().selection().setRange(std::nullopt);
        QVERIFY(!compared.candidate().state().selection().range() && compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 6);
    }

    void clausesFormTheSentence() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        const compare::Answer& answer = compared.view.runs()->comparisons.front().answer;
        std::string joined;
        for (const compare::Clause& clause : answer.clauses) joined += clause.text;
        QCOMPARE(joined, answer.sentence);
        QCOMPARE(compared.view.headline().shownHeadline().simplified(), QString::fromStdString(answer.sentence));
    }

    void clickOnACauseSelectsItInBothRuns() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QLabel* label = sentenceOf(compared.view.headline());
        QVERIFY(label);
        const int clause = clauseOf(compared, compare::ClauseKind::Cause, analysis::StepPart::Compute);
        QVERIFY(clause >= 0);
        const QPoint place = placeOf(*label, clause);
        QVERIFY(place.x() >= 0);
        QTest::mouseClick(label, Qt::LeftButton, {}, place);
        QTRY_VERIFY(!compared.view.isBusy());
        const EventRef before = compared.baseline().state().selection().event();
        const EventRef after = compared.candidate().state().selection().event();
        QVERIFY(before.isValid() && after.isValid());
        QCOMPARE(test::listed(before.kind(), after.kind()), test::listed(EventKind::Kernel, EventKind::Kernel));
        const TimeRange shown = compared.view.baseline().toTrace(compared.baseline().state().range().axis().range());
        const TimeRange kernel = compared.baseline().trace()->rangeOf(before);
        QVERIFY(shown.startNs <= kernel.startNs && kernel.endNs <= shown.endNs);
    }

    void idleCauseSelectsTheWorkAfterTheGap() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        const int clause = clauseOf(compared, compare::ClauseKind::Cause, analysis::StepPart::LaunchBound);
        QVERIFY(clause >= 0);
        QLabel* label = sentenceOf(compared.view.headline());
        QTest::mouseClick(label, Qt::LeftButton, {}, placeOf(*label, clause));
        QTRY_VERIFY(!compared.view.isBusy());
        QVERIFY(compared.baseline().state().selection().event().isValid());
        QVERIFY(compared.candidate().state().selection().event().isValid());
    }

    void keysReachEveryClause() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QLabel* label = sentenceOf(compared.view.headline());
        QSignalSpy chosen(&compared.view.headline(), &HeadlinePanel::clauseChosen);
        label->setFocus(Qt::TabFocusReason);
        int links = 0;
        for (const compare::Clause& clause : compared.view.runs()->comparisons.front().answer.clauses)
            links += clause.hasEvidence() ? 1 : 0;
        QVERIFY(links >= 2);
        for (int link = 0; link < links; ++link) {
            QTest::keyClick(label, Qt::Key_Return);
            if (chosen.count() <= link) QTest::keyClick(label, Qt::Key_Tab);
            if (chosen.count() <= link) QTest::keyClick(label, Qt::Key_Return);
            QCOMPARE(chosen.count(), link + 1);
            QTest::keyClick(label, Qt::Key_Tab);
        }
        QVERIFY(chosen.first() != chosen.last());
        QTRY_VERIFY(!compared.view.isBusy());
        QVERIFY(compared.baseline().state().selection().event().isValid());
    }

    void namesInASentenceAreNoMarkup() {
        HeadlinePanel card;
        compare::Answer answer;
        answer.sentence = "in kernel <b>gemm</b> & more";
        answer.clauses = {{"in kernel "}, {"<b>gemm</b> & more", compare::ClauseKind::Step}};
        card.resize(600, 120);
        card.setAnswer(answer);
        card.show();
        QCOMPARE(card.shownHeadline(), QString("in kernel <b>gemm</b> & more"));
        QVERIFY(sentenceOf(card)->text().contains("&lt;b&gt;gemm"));
    }

    void severalRunsPerSideAreJudgedAsPrograms() {
        ShownComparison compared(runsOf({1'000'000, 1'010'000, 990'000}, "a"),
                                 runsOf({1'200'000, 1'190'000, 1'210'000}, "b"));
        const QString sentence = compared.view.headline().headline();
        QVERIFY2(sentence.contains("slower") && sentence.contains("3 against 3 runs"), qPrintable(sentence));
        QVERIFY(!compared.table("Certain").model().table().rows.empty());
        int bands = 0;
        for (int item = 0; item < compared.view.steps().plot().itemCount(); ++item)
            bands += qobject_cast<QCPItemRect*>(compared.view.steps().plot().item(item)) ? 1 : 0;
        QCOMPARE(bands, 2);
    }

    void shownPairOfRunsCanBeChosen() {
        ShownComparison compared(runsOf({1'000'000, 1'010'000, 990'000}, "a"),
                                 runsOf({1'200'000, 1'190'000, 1'210'000}, "b"));
        const QString sentence = compared.view.headline().headline();
        QCOMPARE(compared.baseline().trace()->title, std::string("a1"));
        QComboBox* box = boxCalled(compared, "Run of the candidate");
        QVERIFY(box && box->isVisible());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QTest::keyClick(box, Qt::Key_Down);
        QVERIFY(compared.wait());
        QCOMPARE(test::listed(compared.candidate().trace()->title, compared.baseline().trace()->title), "b3 | a1");
        QCOMPARE(compared.view.headline().headline(), sentence);  // the runs are the same
        compared.view.swapSides();
        QVERIFY(compared.wait() && compared.view.headline().headline().contains("faster"));
    }

    void partOfTheWaterfallFiltersItsContributors() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        WaterfallChart& chart = child<WaterfallChart>(compared.view);
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

    void clickOnAWaterfallColumnSelectsIt() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        WaterfallChart& chart = child<WaterfallChart>(compared.view);
        QWidget* plot = chart.childAt(chart.rect().center());
        for (int x = 0; x < chart.width() && !chart.chosen(); x += 10)
            QTest::mouseClick(plot, Qt::LeftButton, {}, {x, chart.height() / 2});
        QCOMPARE(chart.chosen(), std::optional(chart.parts().front()));
    }

    void tablesAreCreatedWhenShown() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        CompareTables& tables = compared.view.tables();
        QTRY_VERIFY_WITH_TIMEOUT(!tables.currentTab()->isBusy(), patienceMs);
        for (int index = 0; index < tables.count(); ++index)
            QCOMPARE(static_cast<LazyTab*>(tables.widget(index))->content() != nullptr, index == tables.currentIndex());
        // A table shows the selection made before its creation.
        child<WaterfallChart>(compared.view).setFocus();
        QTest::keyClick(&child<WaterfallChart>(compared.view), Qt::Key_Right);
        LazyTab* contributors = tables.currentTab();
        QCOMPARE(tables.tabText(tables.currentIndex()), QString("Contributors"));
        QVERIFY(!contributors->content());
        QTRY_VERIFY_WITH_TIMEOUT(contributors->table(), patienceMs);
        const ReportView& table = *contributors->table();
        QVERIFY(table.filter().rowCount() > 0 && table.filter().rowCount() < table.model().rowCount());
    }

    void invisibleTableIsFilledWhenShownAgain() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        LazyTab& tab = compared.showTab("Steps");
        QTRY_VERIFY_WITH_TIMEOUT(tab.table(), patienceMs);
        const ReportView& steps = *tab.table();
        QVERIFY(steps.model().rowCount() > 1);
        compared.showTab("Parts");
        const TimeRange whole = compared.baseline().trace()->range;
        compared.baseline().state().selection().setRange(
            TimeRange{whole.startNs, whole.startNs + whole.durationNs() / 2});
        QVERIFY(compared.wait());
        compared.showTab("Steps");
        QCOMPARE(steps.model().rowCount(), 1);
    }

    void partsTableSumsToTheStepTimes() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        const ReportTable& table = compared.table("Parts").model().table();
        int64_t baselineNs = 0, candidateNs = 0;
        for (const auto& row : table.rows) {
            baselineNs += std::get<int64_t>(row[1]);
            candidateNs += std::get<int64_t>(row[2]);
        }
        const WorkerComparison& pair = *compared.view.runs()->comparisons.front().criticalPair();
        QCOMPARE(test::listed(baselineNs, candidateNs), test::listed(pair.baseline.meanNs, pair.candidate.meanNs));
    }

    void windowShowsTheNumbersOfTheTextReport() {
        ShownComparison compared(simulatedTraining({.steps = 6}),
                                 simulatedTraining({.steps = 6, .kernelScale = 1.4371}));
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
                const QString lost = QRegularExpression::escape(cell(row, "Diff"));
                const QString sides = cell(row, "Baseline") + "\\s+" + cell(row, "Candidate");
                const QString line = title == "Parts" ? "\n" + cell(row, "Part") + ".*\\s" + sides + "\\s+" + lost
                                                      : "\n\\s*" + lost + "\\s+" + sides;
                QVERIFY2(text.contains(QRegularExpression(line + "\\s")), qPrintable(line + text));
                ++checked;
                if (title != "Parts") continue;
                const QString shown = child<WaterfallChart>(compared.view).accessibleDescription();
                // The chart has three digits.
                const QString sign = cell(row, "Diff").left(1) == "+" ? "+" : "";
                if (shown.contains(cell(row, "Part")))
                    QVERIFY2(shown.contains(cell(row, "Part") + ": " + sign), qPrintable(shown));
            }
        }
        QVERIFY(checked > 10);
        QVERIFY(text.simplified().contains(compared.view.headline().headline()));
    }

    void tablesBeginWithTheLargestLoss() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        ReportView& table = compared.table("Kernels");
        auto& model = static_cast<DifferenceModel&>(table.model());
        int64_t before = INT64_MAX;
        for (int row = 0; row < table.filter().rowCount(); ++row) {
            const int64_t lostNs = model.lostNsAt(table.filter().mapToSource(table.filter().index(row, 0)).row());
            QVERIFY(lostNs <= before);
            before = lostNs;
        }
        QVERIFY(table.filter().rowCount() > 1);
    }

    void clickOnAHeadingSortsSignedTimesByTheirValue() {
        ShownComparison compared(numberedSteps(evenSteps),
                                 numberedSteps({1'200'000, 1'195'000, 900'000, 1'700'000, 1'210'000, 1'100'000}));
        ReportView& table = compared.table("Steps");
        compared.showTab("Steps");
        QTRY_VERIFY(table.table().isVisible() && table.table().horizontalHeader()->height() > 0);
        auto& model = static_cast<DifferenceModel&>(table.model());
        int column = 0;
        while (model.headerData(column, Qt::Horizontal).toString() != "Diff") ++column;
        QHeaderView& header = *table.table().horizontalHeader();
        table.table().scrollTo(table.filter().index(0, column));
        const QPoint heading(header.sectionViewportPosition(column) + header.sectionSize(column) / 2,
                             header.height() / 2);
        QVERIFY(header.viewport()->rect().contains(heading));
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
            for (int click = 0; click < 3; ++click)
                if (header.sortIndicatorSection() != column || header.sortIndicatorOrder() != order)
                    QTest::mouseClick(header.viewport(), Qt::LeftButton, {}, heading);
            QCOMPARE(header.sortIndicatorSection(), column);
            QCOMPARE(header.sortIndicatorOrder(), order);
            std::vector<int64_t> lost;
            QStringList shown;
            for (int row = 0; row < table.filter().rowCount(); ++row) {
                const QModelIndex index = table.filter().index(row, column);
                lost.push_back(index.data(ReportModel::SortRole).toLongLong());
                shown << index.data().toString();
                const QChar sign = shown.back()[0];
                QCOMPARE(sign, lost.back() < 0 ? QChar(0x2212) : lost.back() > 0 ? QChar('+') : QChar('0'));
            }
            if (order == Qt::DescendingOrder) std::ranges::reverse(lost);
            QVERIFY2(std::ranges::is_sorted(lost), qPrintable(shown.join(' ')));
            QVERIFY(lost.front() < 0 && lost.back() > 0);
        }
    }

    void namesInTheAnswerKeepTheirSigns() {
        HeadlinePanel panel;
        panel.resize(1200, 100);
        Answer answer;
        answer.sentence = "+2 ms in kernel shift (-1) by -3.";
        answer.clauses = {{"+2 ms in "}, {"kernel shift (-1) by -3"}, {"."}};
        panel.setAnswer(answer);
        QCOMPARE(panel.headline(), QString("+2 ms in kernel shift (-1) by -3."));
        QCOMPARE(panel.shownHeadline(), QString("+2 ms in kernel shift (-1) by -3."));
    }

    void rowLeadsToItsWorstInstanceInBothRuns() {
        // The kernel of step 3 loses most.
        ShownComparison compared(numberedSteps(evenSteps),
                                 numberedSteps({1'200'000, 1'200'000, 1'200'000, 1'700'000, 1'200'000, 1'200'000}));
        QVERIFY(compared.clickRow("Kernels", "gemm"));
        QCOMPARE(compared.baseline().state().selection().event(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(compared.candidate().state().selection().event(), EventRef(EventKind::Kernel, 3));
        QCOMPARE(child<DetailsPanel>(compared.view).event(), EventRef(EventKind::Kernel, 3));
        const TimeRange kernel = compared.candidate().trace()->rangeOf(EventRef(EventKind::Kernel, 3));
        const TimeRange visible = compared.baseline().state().range().axis().range();
        const TimeRange onAxis = compared.view.candidate().toAxis(kernel);
        QVERIFY(visible.startNs <= onAxis.startNs && visible.endNs >= onAxis.endNs);
    }

    void copiedRowsAreTabSeparated() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        ReportView& table = compared.table("Parts");
        table.table().setFocus();
        table.copySelection();
        const QStringList lines = QApplication::clipboard()->text().split('\n');
        QVERIFY(lines.size() > 2 && lines.first().startsWith("Part\tBaseline (ns)\tCandidate (ns)\tDiff (ns)"));
        QCOMPARE(lines.at(1).count('\t'), lines.first().count('\t'));
    }

    void typedWordsFilterTheTable() {
        ShownComparison compared(simulatedTraining({.steps = 6}), simulatedTraining({.steps = 6, .kernelScale = 1.5}));
        ReportView& table = compared.table("Contributors");
        const int all = table.filter().rowCount();
        compared.view.tables().setCurrentWidget(table.parentWidget());
        QTest::keyClicks(&child<QLineEdit>(table), "AllReduce");
        QVERIFY(table.filter().rowCount() > 0 && table.filter().rowCount() < all);
    }

    void stoppedComparisonPublishesNothing() {
        const ComparisonJob::Run baseline{numberedSteps(evenSteps), {}}, candidate{numberedSteps(longerSteps), {}};
        ComparisonJob job;
        QSignalSpy compared(&job, &ComparisonJob::compared), finished(&job, &ComparisonJob::finished);
        job.start(baseline, {candidate});
        job.cancel();
        QCOMPARE(finished.size(), 1);
        QVERIFY(QTest::qWaitFor([&] { return !job.isRunning(); }, patienceMs));
        QCOMPARE(compared.size(), 0);
        job.start(baseline, {candidate});
        QVERIFY(QTest::qWaitFor([&] { return !job.isRunning(); }, patienceMs));
        QCOMPARE(test::listed(compared.size(), finished.size()), "1 | 2");
    }

    void onlyTheNewestComparisonIsPublished() {
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
};

LANESCOPE_TEST(tst_CompareView, QApplication)
#include "tst_CompareView.moc"
