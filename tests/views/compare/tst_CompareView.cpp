#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QTest>

#include "tests/support/TraceBuilder.h"
#include "tests/support/simulatedTraining.h"
#include "views/compare/AlignmentBar.h"
#include "views/compare/CompareSide.h"
#include "views/compare/CompareView.h"
#include "views/compare/DifferenceModel.h"
#include "views/compare/HeadlineCard.h"
#include "views/details/HealthBar.h"
#include "views/summary/ReportFilter.h"
#include "views/summary/ReportView.h"
#include "views/timeline/TimelineView.h"

using namespace lanescope;

namespace {

/// Two steps; kernels take `kernelNs`, and everything begins at `offsetNs`.
TracePtr simulatedSteps(int64_t offsetNs, int64_t kernelNs) {
    TraceBuilder builder;
    for (int step = 0; step < 2; ++step) {
        const int64_t start = offsetNs + step * 1'000'000;
        builder.addNvtx(builder.defaultThread(), "step", start, start + 900'000);
        builder.addKernel(builder.defaultStream(), "gemm", start + 10'000,
                          start + 10'000 + kernelNs);
    }
    builder.addKernel(builder.defaultStream(), "warm-up", 0, 1'000);
    return builder.finish();
}

/// "step 0", "step 1", ... as long as `durationsNs`, each half of it a kernel.
TracePtr numberedSteps(std::initializer_list<int64_t> durationsNs) {
    TraceBuilder builder;
    int64_t nowNs = 0;
    int number = 0;
    for (const int64_t durationNs : durationsNs) {
        builder.addNvtx(builder.defaultThread(), "step " + std::to_string(number++), nowNs,
                        nowNs + durationNs);
        builder.addKernel(builder.defaultStream(), "gemm", nowNs, nowNs + durationNs / 2);
        nowNs += durationNs;
    }
    return builder.finish();
}

struct Compared {
    Compared(TracePtr baseline, TracePtr candidate) {
        view.resize(1200, 900);
        view.setTraces(std::move(baseline), std::move(candidate));
        view.show();
    }
    bool wait() {
        return QTest::qWaitFor([this] { return !view.isBusy(); });
    }
    TimelineView& baseline() { return view.baseline().timeline(); }
    TimelineView& candidate() { return view.candidate().timeline(); }
    /// The time in column "Lost" of the row whose name contains `name`; -1 if there is none.
    qlonglong lost(const QString& name) {
        auto& model = static_cast<DifferenceModel&>(view.differences().model());
        for (int row = 0; row < model.rowCount(); ++row) {
            if (model.index(row, 1).data().toString().contains(name)) return model.lostNsAt(row);
        }
        return -1;
    }
    CompareView view;
};

}  // namespace

class TestCompareView : public QObject {
    Q_OBJECT
  private slots:
    void showsTheHealthOfTheSideThatIsDoubtful() {
        // Not shared with anybody yet, so it may still change.
        auto doubtful = std::const_pointer_cast<Trace>(simulatedSteps(0, 100'000));
        auto sound = std::const_pointer_cast<Trace>(simulatedSteps(0, 100'000));
        doubtful->health.clear();
        sound->health.clear();
        HealthNote note;
        note.severity = Severity::Warning;
        note.sentence = "Records were dropped.";
        doubtful->health.push_back(note);
        Compared compared(doubtful, sound);
        QVERIFY(compared.wait());
        QVERIFY(compared.view.baseline().healthBar().isVisible());
        QCOMPARE(compared.view.baseline().healthBar().text(), QString("Records were dropped."));
        QVERIFY(!compared.view.candidate().healthBar().isVisible());
    }

    void theDifferenceModelKeepsTheContractOfItemModels() {
        const TracePtr fast = simulatedSteps(0, 100'000);
        const TracePtr slow = simulatedSteps(0, 300'000);
        DifferenceModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setComparison(compare(Baseline{*fast, fast->range}, Candidate{*slow, slow->range}));
        QVERIFY(model.rowCount() > 0);
        model.setTheme(Theme::dark());
    }

    void lostTimeIsColouredAsSlowerAndWonTimeAsFaster() {
        const TracePtr fast = simulatedSteps(0, 100'000);
        const TracePtr slow = simulatedSteps(0, 300'000);
        const Theme theme = Theme::light();
        DifferenceModel model;
        model.setTheme(theme);
        model.setComparison(compare(Baseline{*fast, fast->range}, Candidate{*slow, slow->range}));
        QCOMPARE(model.index(0, model.lostColumn()).data(Qt::ForegroundRole).value<QColor>(),
                 theme.slower);
        model.setComparison(compare(Baseline{*slow, slow->range}, Candidate{*fast, fast->range}));
        int gained = 0;
        for (int row = 0; row < model.rowCount(); ++row) {
            if (model.lostNsAt(row) >= 0) continue;
            ++gained;
            QCOMPARE(model.index(row, model.lostColumn()).data(Qt::ForegroundRole).value<QColor>(),
                     theme.faster);
        }
        QVERIFY(gained > 0);
    }

    void theGreatestLossOfGpuWorkHasAFullBar() {
        TraceBuilder fast, slow;
        for (TraceBuilder* builder : {&fast, &slow}) {
            const int64_t factor = builder == &slow ? 2 : 1;
            builder->addNvtx(builder->defaultThread(), "step", 0, 1'000'000 * factor);
            builder->addKernel(builder->defaultStream(), "gemm", 0, 1'000 * factor);
        }
        const TracePtr baseline = fast.finish(), candidate = slow.finish();
        DifferenceModel model;
        model.setComparison(compare(Baseline{*baseline, baseline->range},
                                    Candidate{*candidate, candidate->range}));
        QCOMPARE(model.rowCount(), 2);
        for (int row = 0; row < 2; ++row) {
            QCOMPARE(model.index(row, model.lostColumn()).data(ReportModel::ShareRole).toDouble(),
                     1.0);
        }
    }

    void bothSidesZoomTogether() {
        Compared compared(simulatedSteps(0, 100'000), simulatedSteps(0, 300'000));
        compared.view.visibleRange().setRange({100'000, 200'000});
        QCOMPARE(compared.baseline().visibleRange()->range(), (TimeRange{100'000, 200'000}));
        QCOMPARE(compared.candidate().visibleRange(), compared.baseline().visibleRange());
    }

    void alignsAtTheChosenOccurrenceOfARange() {
        Compared compared(simulatedSteps(50'000, 100'000), simulatedSteps(700'000, 100'000));
        compared.view.alignment().setAlignment("step", 1);
        QCOMPARE(compared.baseline().timeOrigin(), 1'050'000);
        QCOMPARE(compared.candidate().timeOrigin(), 1'700'000);
        compared.view.alignment().setAlignment({}, 0);
        QCOMPARE(compared.candidate().timeOrigin(), compared.candidate().trace()->range.startNs);
    }

    void anOccurrenceThatIsNotThereIsSaidAndChangesNothing() {
        Compared compared(simulatedSteps(50'000, 100'000), simulatedSteps(700'000, 100'000));
        compared.view.alignment().setAlignment("step", 0);
        const int64_t origin = compared.candidate().timeOrigin();
        compared.view.alignment().setAlignment("step", 40);
        QVERIFY(!compared.view.alignment().message().isEmpty());
        QCOMPARE(compared.candidate().timeOrigin(), origin);
        compared.view.alignment().setAlignment("step", 0);
        QVERIFY(compared.view.alignment().message().isEmpty());
    }

    void saysInWordsWhatWasLost() {
        Compared compared(simulatedTraining({.steps = 2}),
                          simulatedTraining({.steps = 2, .kernelScale = 1.5}));
        QVERIFY(compared.wait());
        QVERIFY2(compared.view.headline().headline().contains("slower"),
                 qPrintable(compared.view.headline().headline()));
    }

    void theGreatestLossStandsFirst() {
        Compared compared(simulatedSteps(0, 100'000), simulatedSteps(0, 300'000));
        QVERIFY(compared.wait());
        const QModelIndex first = compared.view.differences().filter().index(0, 1);
        QVERIFY2(first.data().toString().contains("gemm"), qPrintable(first.data().toString()));
        QCOMPARE(compared.lost("gemm"), 400'000);
    }

    void aRangeSelectedOnOneSideNarrowsTheComparisonOfBoth() {
        Compared compared(simulatedSteps(50'000, 100'000), simulatedSteps(700'000, 300'000));
        compared.view.alignment().setAlignment("step", 0);
        compared.candidate().setSelectedRange(TimeRange{700'000, 1'200'000});
        QCOMPARE(compared.baseline().selectedRange(), std::optional(TimeRange{50'000, 550'000}));
        QVERIFY(compared.wait());
        QCOMPARE(compared.lost("gemm"), 200'000);  // of one step, not of both
        compared.baseline().setSelectedRange(std::nullopt);
        QVERIFY(!compared.candidate().selectedRange());
        QVERIFY(compared.wait());
        QCOMPARE(compared.lost("gemm"), 400'000);
    }

    void alignedRunsAreComparedWithoutTheirStartUp() {
        Compared compared(simulatedSteps(50'000, 100'000), simulatedSteps(700'000, 100'000));
        QVERIFY(compared.wait());
        QCOMPARE(compared.lost("warm-up"), 0);
        compared.view.alignment().setAlignment("step", 0);
        QVERIFY(compared.wait());
        QCOMPARE(compared.lost("warm-up"), -1);  // outside of the steps
    }

    void runsWithStepsStartAlignedAfterTheWarmUp() {
        Compared compared(numberedSteps({5'000'000, 150'000, 150'000, 150'000}),
                          numberedSteps({200'000, 200'000, 200'000, 200'000}));
        QCOMPARE(compared.view.alignment().rangeName(), QString("step #"));
        QCOMPARE(compared.view.alignment().occurrence(), 1);
        QCOMPARE(compared.baseline().timeOrigin(), 5'000'000);
        QCOMPARE(compared.candidate().timeOrigin(), 200'000);
        // On the screen: the steps that are compared, and little else.
        const TimeRange visible = compared.view.visibleRange().range();
        QVERIFY(visible.contains(0) && visible.endNs > 600'000);
        QVERIFY(visible.durationNs() < 700'000);
        QVERIFY(compared.wait());
        QCOMPARE(compared.lost("gemm"), 3 * 25'000);
        QVERIFY(compared.view.headline().headline().contains("slower"));
    }

    void theNextNumberOfARangeKeepsTheZoom() {
        Compared compared(simulatedSteps(50'000, 100'000), simulatedSteps(700'000, 100'000));
        compared.view.alignment().setAlignment("step", 0);
        compared.view.visibleRange().setRange({-1'000, 99'000});
        compared.view.alignment().setAlignment("step", 1);
        QCOMPARE(compared.view.visibleRange().range(), (TimeRange{-1'000, 99'000}));
        compared.view.alignment().setAlignment({}, 0);
        QVERIFY(compared.view.visibleRange().isFitted());
    }

    void showsGpuWorkFirstAndAllOnRequest() {
        Compared compared(simulatedSteps(0, 100'000), simulatedSteps(0, 300'000));
        QVERIFY(compared.wait());
        const ReportFilter& shown = compared.view.differences().filter();
        for (int row = 0; row < shown.rowCount(); ++row) {
            QCOMPARE(shown.index(row, 0).data().toString(), QString("kernel"));
        }
        auto* kinds = compared.view.differences().findChild<QComboBox*>();
        QVERIFY(kinds);
        kinds->setFocus();
        QTest::keyClick(kinds, Qt::Key_End);
        QCOMPARE(shown.rowCount(), compared.view.differences().model().rowCount());
    }

    void longReasonsAreCutAtTheEdge() {
        HeadlineCard card;
        card.resize(400, 80);
        card.setSentences({"Slower.", std::string(500, 'x')}, Verdict::Slower);
        card.show();
        QVERIFY(card.reasons().endsWith(QChar(0x2026)));
        QVERIFY(card.reasons().size() < 200);
        card.resize(10'000, 80);
        QTRY_COMPARE(card.reasons().size(), 500);
    }

    void onlyOneSideHasASelectedEvent() {
        Compared compared(simulatedSteps(0, 100'000), simulatedSteps(0, 300'000));
        compared.baseline().setSelectedEvent(EventRef(EventKind::Kernel, 1));
        compared.candidate().setSelectedEvent(EventRef(EventKind::Kernel, 1));
        QVERIFY(!compared.baseline().selectedEvent().isValid());
        QVERIFY(compared.candidate().selectedEvent().isValid());
    }
};

QTEST_MAIN(TestCompareView)
#include "tst_CompareView.moc"
