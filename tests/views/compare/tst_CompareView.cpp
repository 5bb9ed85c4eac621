// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/runTest.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/HeadlinePanel.h"
#include "views/details/WarningPanel.h"
#include "views/tables/ReportModel.h"

using namespace lanescope;
using namespace lanescope::views;

class TestCompareView : public QObject {
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
        QVERIFY(compared.wait());
        QVERIFY2(compared.view.headline().headline().contains("longer"),
                 qPrintable(compared.view.headline().headline()));
    }

    void bothTimelinesShareOneRangeAndOneColumnOfRows() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
        QCOMPARE(&compared.candidate().state().range().axis(), &compared.baseline().state().range().axis());
        QVERIFY(compared.baseline().isVisible());
        QVERIFY(!compared.candidate().isVisible());  // its tracks are shown among the baseline's
    }

    void moreCandidatesAreColumnsAndOneIsOnTheTimeline() {
        ShownComparison compared(numberedSteps(evenSteps),
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
        QCOMPARE(compared.table("Parts").model().table().columns.back().name, std::string("Lost: slow.lanescope"));
    }

    void sidesCanBeSwapped() {
        ShownComparison compared(numberedSteps(evenSteps, 0, "a.lanescope"),
                                 numberedSteps(longerSteps, 0, "b.lanescope"));
        QVERIFY(compared.wait());
        compared.view.swapSides();
        QVERIFY(compared.wait());
        QCOMPARE(compared.baseline().trace()->title, std::string("b.lanescope"));
        QVERIFY2(compared.view.headline().headline().contains("shorter"),
                 qPrintable(compared.view.headline().headline()));
    }

    void gTogglesTheBaselineOverlay() {
        ShownComparison compared(numberedSteps(evenSteps), numberedSteps(longerSteps));
        QVERIFY(compared.wait());
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
        QVERIFY(compared.wait());
        QVERIFY(!compared.view.headline().headline().isEmpty());
        QVERIFY(!compared.view.grab().isNull());
        compared.view.showStep(3);
        QVERIFY(!compared.view.grab().isNull());
    }
};

LANESCOPE_TEST(TestCompareView, QApplication)
#include "tst_CompareView.moc"
