// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "tests/support/idleCauses.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

constexpr int64_t us = 1000;

/// A contributor of every step.
Contributor piece(StepPart part, ContributorKind kind, const ContributorName& name, double ownUs, int64_t count = 1) {
    Contributor contributor;
    contributor.part = part;
    contributor.kind = kind;
    contributor.name = name;
    contributor.count = count;
    contributor.exposedNs = contributor.totalNs = static_cast<int64_t>(ownUs * us);
    return contributor;
}

Contributor kernel(const std::string& name, double ownUs, int64_t count = 1) {
    return piece(StepPart::Compute, ContributorKind::Kernel, name, ownUs, count);
}

Contributor idle(StepPart part, const IdleCause& cause, double ownUs) {
    return piece(part, ContributorKind::Idle, cause, ownUs);
}

/// A run of identical steps.
RunSummary runOf(const std::vector<Contributor>& ofStep, int64_t steps = 20) {
    StepSummary step;
    for (const Contributor& each : ofStep) {
        step.parts[each.part] += each.exposedNs;
        step.wallNs += each.exposedNs;
    }
    WorkerSummary worker;
    worker.pid = 4242;
    for (step.number = 0; step.number < steps; ++step.number) worker.steps.push_back(step);
    for (Contributor each : ofStep) {
        each.count *= steps;
        each.exposedNs *= steps;
        each.totalNs *= steps;
        each.bytes *= steps;
        each.order = static_cast<int64_t>(worker.contributors.size());
        worker.contributors.push_back(each);
    }
    RunSummary run;
    run.source = StepSource::NvtxRange;
    run.pattern = "step #";
    run.facts.kernelCount = 1;
    run.workers.push_back(std::move(worker));
    return run;
}

RunComparison compared(const std::vector<Contributor>& before, const std::vector<Contributor>& after,
                       int64_t steps = 20) {
    const RunSummary baseline = runOf(before, steps), candidate = runOf(after, steps);
    return compareRuns(BaselineRun{baseline}, CandidateRun{candidate});
}

QString sentenceOf(const RunComparison& comparison) { return QString::fromStdString(comparison.answer.sentence); }

#define SAYS(sentence, text) QVERIFY2((sentence).contains(text), qPrintable(sentence))
#define SAYS_NO(sentence, text) QVERIFY2(!(sentence).contains(text), qPrintable(sentence))

}  // namespace

class TestCauses : public QObject {
    Q_OBJECT

  private slots:
    /// Savings elsewhere offset almost all of the kernels' loss: the change is the rest.
    void offsettingSavingsAreReported() {
        const auto stepOf = [](double computeUs, double loadingUs) {
            return std::vector{kernel("spin", computeUs),
                               idle(StepPart::DataLoading, idle(CauseKind::OutsideCalls), loadingUs)};
        };
        const QString sentence = sentenceOf(compared(stepOf(1031, 4584), stepOf(6061, 296)));
        SAYS(sentence, "longer: +5.030 ms compute");
        SAYS(sentence, "; offset by -4.288 ms data loading in the mean step");
        const QString back = sentenceOf(compared(stepOf(6061, 296), stepOf(1031, 4584)));
        SAYS(back, "shorter: -5.030 ms compute");
        SAYS(back, "; offset by +4.288 ms data loading in the mean step");
        SAYS_NO(sentenceOf(compared(stepOf(1000, 4584), stepOf(3000, 4500))), "offset by");
    }

    void causesThatDifferInThreadStateAreMerged() {
        const IdleCause place = onMain(idle(CauseKind::OutsideCalls));
        const IdleCause runs = onMain(idle(CauseKind::OutsideCalls, ThreadState::Running));
        const IdleCause sleeps = onMain(idle(CauseKind::OutsideCalls, ThreadState::Sleep, Observation::Alternating));
        const RunComparison comparison = compared(
            {kernel("gemm", 2000), idle(StepPart::LaunchBound, runs, 100), idle(StepPart::LaunchBound, sleeps, 710)},
            {kernel("gemm", 1700), idle(StepPart::LaunchBound, runs, 697)});
        const QString sentence = sentenceOf(comparison);
        SAYS(sentence, "-0.113 ms CPU-bound idle in the mean step, -0.113 ms in host code (no CUDA call)");
        SAYS_NO(sentence, "-0.710");
        int64_t idleCauses = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors)
            if (each.kind == ContributorKind::Idle) {
                ++idleCauses;
                QVERIFY(each.name() == place);
                QCOMPARE(each.match, MatchKind::SameName);
                QCOMPARE(each.lostNs(), -113 * us);
            }
        QCOMPARE(idleCauses, 1);
    }

    /// If both runs have them, their states show the change.
    void causesWithEqualStatesStaySeparate() {
        const auto stepOf = [](double waitsUs) {
            return std::vector{kernel("gemm", 2000),
                               idle(StepPart::DataLoading, idle(CauseKind::OutsideCalls, ThreadState::Running), 100),
                               idle(StepPart::DataLoading, idle(CauseKind::OutsideCalls, ThreadState::Poll), waitsUs)};
        };
        SAYS(sentenceOf(compared(stepOf(300), stepOf(900))),
             "+0.600 ms in host code (no CUDA call), which waits for input");
    }

    void contributorLargerThanItsPartIsReportedWithItsOffset() {
        const auto stepOf = [](double outsideUs, double launchUs) {
            return std::vector{kernel("gemm", 1000),
                               idle(StepPart::LaunchBound, idle(CauseKind::OutsideCalls), outsideUs),
                               idle(StepPart::LaunchBound, idleIn("cudaLaunchKernel"), launchUs)};
        };
        SAYS(sentenceOf(compared(stepOf(900, 100), stepOf(200, 700))),
             "-0.100 ms CPU-bound idle in the mean step, -0.700 ms in host code (no CUDA call), offset by "
             "+0.600 ms in cudaLaunchKernel");
    }

    /// A saving never explains a longer step, whatever kind of change it is.
    void savingIsNoReasonOfALongerStep() {
        const RunComparison comparison =
            compared({kernel("gemm_fusion_dot_7", 65.26), kernel("gemm_fusion_dot_12", 44), kernel("loop_add", 112),
                      idle(StepPart::LaunchBound, idleIn("cuGraphLaunch"), 88)},
                     {kernel("wrapped_tanh", 10.4), kernel("cutlass", 30.3), kernel("gemm_fusion_dot_12", 35),
                      kernel("loop_add", 112), idle(StepPart::LaunchBound, idleIn("cuGraphLaunch"), 178)});
        const QString sentence = sentenceOf(comparison);
        QVERIFY2(comparison.answer.causes.at(0).lostNs > 0, qPrintable(sentence));
        SAYS(sentence, "longer: +30.3");
        SAYS(sentence, "+90.0");
        SAYS(sentence, "; offset by -");
        SAYS_NO(sentence, "in the place of");
        // A change of kind with the sign of the change stays first.
        QVERIFY(comparison.answer.causes.at(0).isChangeOfKind);
    }

    void replacedKernelIsMatchedBySimilarity() {
        const auto matchOf = [](const RunComparison& comparison, const std::string& name) {
            for (const ContributorDifference& each : comparison.criticalPair()->contributors)
                if (each.name() == name) return each.match;
            return MatchKind::SameName;
        };
        // The only candidate, with equal count and similar duration.
        QCOMPARE(matchOf(compared({kernel("softmax", 100)}, {kernel("flash", 130)}), "flash"), MatchKind::SamePosition);
        // Far shorter.
        QCOMPARE(matchOf(compared({kernel("softmax", 100)}, {kernel("flash", 10)}), "flash"), MatchKind::OnlyCandidate);
        // One of two candidates has a similar name.
        QCOMPARE(matchOf(compared({kernel("sm90_gemm_f32f32_nhwc", 100), kernel("norm", 90)},
                                  {kernel("sm90_gemm_bf16bf16_nhwc", 30)}),
                         "sm90_gemm_bf16bf16_nhwc"),
                 MatchKind::SamePosition);
        // Two candidates.
        QCOMPARE(matchOf(compared({kernel("softmax", 100), kernel("norm", 90)}, {kernel("flash", 95)}), "flash"),
                 MatchKind::OnlyCandidate);
    }

    /// A run without steps has time around its work, which does not measure its activity.
    void copiesFromOtherMemoryAreReportedForAWholeRun() {
        const auto runWith = [](const char* name, double copyUs, int64_t count, double aroundUs) {
            Contributor copy = piece(StepPart::ExposedHtoD, ContributorKind::Copy, name, copyUs, count);
            copy.bytes = count * 2'376'000;
            return std::vector{copy, idle(StepPart::OtherIdle, idle(CauseKind::NoWorkAround), aroundUs)};
        };
        const QString sentence = sentenceOf(compared(runWith("HtoD from pinned", 2640, 60, 599'896),
                                                     runWith("HtoD from pageable", 2182, 9, 562'142), 1));
        SAYS(sentence, "HtoD from pageable, in the place of HtoD from pinned, ");
        SAYS(sentence, QString::fromUtf8("bandwidth 54.0 \u2192 9.8 GB/s"));
        QVERIFY(sentence.indexOf("pageable") < sentence.indexOf("other idle"));
    }

    /// A small change beyond the spread between runs is not called spread.
    void smallSignificantChangesAreNotCalledSpread() {
        std::vector<RunSummary> before, after;
        for (const double spreadUs : {0, 30, -20, 10, -10}) {
            const auto stepOf = [&](double gemmUs, double waitUs) {
                return runOf({kernel("gemm", gemmUs + spreadUs / 100),
                              idle(StepPart::Synchronization, idleIn("cudaStreamSynchronize"), waitUs + spreadUs)});
            };
            before.push_back(stepOf(40'000, 10'000));
            after.push_back(stepOf(40'300, 11'200));
        }
        const auto programs = comparePrograms(before, after);
        QVERIFY(programs);
        const QString sentence = sentenceOf(programs->comparison);
        SAYS(sentence, "+0.300 ms compute");
        SAYS(sentence,
             "(beyond the spread between runs, but +0.300 ms in the median step, less than 1 % of "
             "it)");
        SAYS_NO(sentence, "within the spread between runs");
    }
};

LANESCOPE_TEST(TestCauses, NoApplication)
#include "tst_causes.moc"
