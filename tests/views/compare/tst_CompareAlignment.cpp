// SPDX-License-Identifier: GPL-3.0-or-later
//
// Tests of aligning both runs at a step, and of stepping through them.
#include <QtWidgets>

#include "tests/support/runTest.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/HeadlinePanel.h"
#include "views/compare/StepChart.h"

using namespace lanescope;
using namespace lanescope::views;

class TestCompareAlignment : public QObject {
    Q_OBJECT
  private slots:
    void runsOpenAtTheFirstComparedStepZoomedToTheComparedRange() {
        ShownComparison compared(numberedSteps({5'000'000, 150'000, 150'000, 150'000, 150'000}),
                                 numberedSteps({200'000, 200'000, 200'000, 200'000, 200'000}, 70'000));
        QVERIFY(compared.wait());
        QCOMPARE(compared.baseline().state().range().origin(),
                 5'000'000);  // the warm-up is skipped
        QCOMPARE(compared.candidate().state().range().origin(), 70'000);
        const TimeRange visible = compared.view.visibleRange().range();
        QVERIFY(visible.contains(0) && visible.endNs >= 4 * 150'000);
        QVERIFY(visible.durationNs() < 1'300'000);
    }

    void alignsAtTheChosenStepByKeyboard() {
        ShownComparison compared(numberedSteps(evenSteps, 50'000), numberedSteps(longerSteps, 700'000));
        QVERIFY(compared.wait());
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
        QVERIFY(compared.wait());
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

    void missingStepsOfOneRunAreReported() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        auto* numbers = compared.view.alignment().findChild<QLineEdit*>("numbers");
        QTest::keyClicks(numbers, "40-50");
        QTest::keyClick(numbers, Qt::Key_Return);
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.headline().headline().isEmpty());
        QVERIFY(!compared.view.headline().headline().contains("longer"));
    }

    void unknownRangeCannotBeAligned() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.alignment().setAlignment("no such range", 0));
        QVERIFY(compared.view.alignment().setAlignment("step #", 0));
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.runs()->baseline.selection.rangeName, std::string("step #"));
    }

    void clickOnAChartStepShowsItInBothRuns() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        StepChart& chart = compared.view.steps();
        QSignalSpy spy(&chart, &StepChart::stepChosen);
        QTest::mouseClick(chart.childAt(chart.rect().center()), Qt::LeftButton, {}, chart.rect().center());
        QCOMPARE(spy.size(), 1);
        const int step = spy.first().first().toInt();
        QVERIFY(step >= 2 && step <= 4);
        QCOMPARE(chart.chosen(), step);
        QCOMPARE(compared.baseline().state().range().origin(), step * 1'000'000);
        QCOMPARE(compared.candidate().state().range().origin(), step * 1'200'000);
        QVERIFY(compared.view.visibleRange().range().durationNs() < 1'400'000);
    }

    void keysWalkTheSteps() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
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

    void enterOnAStepRowShowsIt() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
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
        QVERIFY(compared.wait());
        compared.baseline().state().selection().setRange(TimeRange{0, 500'000});
        QCOMPARE(compared.candidate().state().selection().range(), std::optional(TimeRange{0, 500'000}));
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 1);
        QCOMPARE(compared.view.runs()->baseline.selection.stretch, std::optional(TimeRange{0, 500'000}));
        compared.baseline().state().selection().setRange(std::nullopt);
        QVERIFY(!compared.candidate().state().selection().range());
        QVERIFY(compared.wait());
        QCOMPARE(compared.view.steps().stepCount(), 6);
    }
};

LANESCOPE_TEST(TestCompareAlignment, QApplication)
#include "tst_CompareAlignment.moc"
