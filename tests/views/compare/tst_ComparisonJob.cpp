// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "tests/support/runTest.h"
#include "tests/views/compare/ShownComparison.h"
#include "views/compare/ComparisonJob.h"

using namespace lanescope;
using namespace lanescope::views;

class TestComparisonJob : public QObject {
    Q_OBJECT
  private slots:
    void stoppedComparisonPublishesNothing() {
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

LANESCOPE_TEST(TestComparisonJob, QApplication)
#include "tst_ComparisonJob.moc"
