// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/compare/RunComparison.h"
#include "model/format/threadStates.h"
#include "model/pages/ExplanationReport.h"
#include "tests/model/madeSteps.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1000;

/// A contributor of every step.
Contributor piece(StepPart part, ContributorKind kind, const ContributorName& name, double ownUs, int64_t count = 1) {
    Contributor contributor{.part = part, .kind = kind, .name = name, .count = count};
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
    RunSummary run{.source = StepSource::NvtxRange, .pattern = "step #"};
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

/// Lengthens a part of every `every`th step.
void lengthen(WorkerSummary& worker, int64_t steps, int64_t every, StepPart part, int64_t moreNs) {
    lengthenSteps(worker, steps, part, moreNs, [every](int64_t number) { return number % every == 0; });
}

int64_t placeOf(const Explanation& explanation, const Rule* rule) {
    const std::vector<const Rule*> rules = rulesOf(explanation);
    const auto found = std::ranges::find(rules, rule);
    return found == rules.end() ? -1 : found - rules.begin();
}

}  // namespace

class tst_causes : public QObject {
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
        SAYS(sentence, "; offset by \u22124.288 ms waiting for data in the mean step");
        const QString back = sentenceOf(compared(stepOf(6061, 296), stepOf(1031, 4584)));
        SAYS(back, "shorter: \u22125.030 ms compute");
        SAYS(back, "; offset by +4.288 ms waiting for data in the mean step");
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
        SAYS(sentence,
             "\u22120.113 ms waiting for launches in the mean step, \u22120.113 ms in host code (no CUDA call)");
        SAYS_NO(sentence, "0.710");
        int64_t idleCauses = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors)
            if (each.kind == ContributorKind::Idle) {
                ++idleCauses;
                QVERIFY(each.name() == place);
                QCOMPARE(test::listed(each.match, each.lostNs()), test::listed(MatchKind::SameName, -113 * us));
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
             "\u22120.100 ms waiting for launches in the mean step, \u22120.700 ms in host code (no CUDA call), offset "
             "by "
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
        SAYS(sentence, "; offset by \u2212");
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
        SAYS(sentence, "(beyond the spread between runs, but +0.300 ms in the median step, less than 1 % of it)");
        SAYS_NO(sentence, "within the spread between runs");
    }

    /// The only evidence is that the copy of a batch came next.
    void guessIsCalledAGuess() {
        MadeRun made;
        made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy), 20 * ms);
        const Explanation guessed = explain::explain(made.run());
        QCOMPARE(rulesOf(guessed), std::vector{&inputDataRule});
        const std::string& sentence = guessed.findings.front().sentence;
        HAS(sentence, "is a guess");
        HAS(guessed.sentence, "waiting for data (a guess)");
        MadeRun working;
        working.add(StepPart::DataLoading, ContributorKind::Idle,
                    idle(CauseKind::BeforeBatchCopy, ThreadState::Sleep, Observation::Alternating), 20 * ms);
        QVERIFY(explain::explain(working.run()).findings.front().sentence.find("is a guess") != std::string::npos);
        MadeRun seen;
        seen.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy, ThreadState::Poll),
                 20 * ms);
        QVERIFY(explain::explain(seen.run()).findings.front().sentence.find("guess") == std::string::npos);
    }

    /// A wait for the GIL or for another process is no known wait for data.
    void otherWaitsAreNotDataWaits() {
        for (const ThreadState state :
             {ThreadState::Gil, ThreadState::Child, ThreadState::Device, ThreadState::Blocked, ThreadState::Running}) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy, state), 20 * ms);
            const std::string sentence = explain::explain(made.run()).findings.front().sentence;
            HAS(sentence, "is a guess");
        }
        // Knowledge of one half does not apply to the other.
        MadeRun half;
        half.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy), 10 * ms);
        half.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy, ThreadState::Poll),
                 10 * ms);
        const std::string sentence = explain::explain(half.run()).findings.front().sentence;
        QVERIFY2(sentence.find("for the next batch: mostly ") != std::string::npos &&
                     sentence.find("For 50.0 % of the GPU's wait, data loading is a guess") != std::string::npos,
                 sentence.c_str());
    }

    void sleepIsReportedAsSleep() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle,
                 onMain(idle(CauseKind::OutsideCalls, ThreadState::Sleep), {"train.py", 9, "pause"}), 20 * ms);
        const std::string sentence = explain::explain(made.run()).findings.front().sentence;
        HAS(sentence, "sleeps of its own accord");
    }

    /// Fewer launches do not help a thread that does not run.
    void waitingThreadIsNotAdvisedToLaunchLess_data() {
        const test::Rows<IdleCause, QString, bool> row;
        for (size_t number = 1; number < threadStateCount; ++number) {
            const auto state = static_cast<ThreadState>(number);
            const QString does = QString::fromUtf8(nameOf(state).meaning.data());
            row(qPrintable(does), idle(CauseKind::OutsideCalls, state), does, (state != ThreadState::Running));
        }
        IdleCause held = idle(CauseKind::OutsideCalls, ThreadState::Gil);
        held.activity.holder = {ThreadRole::Named, "logger"};
        held.activity.holderFrame = {"log.py", 9, "write"};
        row("GIL", held, "waits for the GIL, held by the thread logger at log.py:9 in write", true);
        row("alternately", idle(CauseKind::OutsideCalls, ThreadState::Sleep, Observation::Alternating),
            "alternately runs and sleeps", false);
    }
    void waitingThreadIsNotAdvisedToLaunchLess() {
        const auto [cause, does, isWait] = test::row<IdleCause, QString, bool>();
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, onMain(cause, {"train.py", 9, "pause"}), 40 * ms);
        // A thread that runs long at a time is not between launches.
        Contributor& longest = made.run().workers[0].contributors.back();
        if (does == "runs") longest.workedNs = longest.exposedNs;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, onMain(idle(CauseKind::OutsideCalls)), 30 * ms);
        const Explanation explanation = explain::explain(made.run());
        const bool isOther = isWait || does == "runs";
        const Rule* other = isWait ? &hostWaitsRule : &hostWorkRule;
        QCOMPARE(rulesOf(explanation),
                 isOther ? (std::vector{other, &launchBoundRule}) : std::vector{&launchBoundRule});
        const Finding& finding = explanation.findings.front();
        QCOMPARE(finding.maxGainNs, isOther ? 40 * ms : 70 * ms);
        const std::string_view advice = finding.advice;
        QCOMPARE(advice.find("CUDA graph") == std::string_view::npos, isOther);
        const std::string said = " Place: train.py:9 in pause. There the main thread " + does.toStdString() + ".";
        HAS(finding.sentence, said);
    }

    void stepsReportTheirShareOfTheRun() {
        MadeRun made(2);
        for (WorkerSummary& worker : made.run().workers) worker.workNs = 1'250 * ms;
        made.run().workers[0].warmUpSteps = 1;
        made.run().workers[0].foundSteps = 11;
        report::ExplanationReport report{made.run(), explain::explain(made.run())};
        QCOMPARE(report.explanation.steps,
                 std::string("Explained: 10 of 11 steps \"step #\", in all 80.0 % of the time from the first to the "
                             "last GPU work. Skipped: 1 as warm-up."));
        QVERIFY(report.explanation.caveats.empty());
        const auto json = nlohmann::json::parse(explanationAsJson(report));
        QCOMPARE(json["steps"]["coverage"].get<double>(), 0.8);
        QCOMPARE(json["steps"]["sentence"].get<std::string>(), report.explanation.steps);
        QCOMPARE(json["workers"][1]["coverage"].get<double>(), 0.8);
        QVERIFY(explanationAsText(report).find("80.0 % of the time from") != std::string::npos);
        QVERIFY(explanationAsHtml(report).find("80.0 % of the time from") != std::string::npos);

        made.run().pattern = "optimizer";
        made.run().workers[0].steps[1].startNs = 100 * ms;
        QVERIFY(explain::explain(made.run())
                    .steps.starts_with("Explained: 10 of 11 steps, each from one \"optimizer\" to the next, "));
        made.run().pattern = "step #";

        for (WorkerSummary& worker : made.run().workers) worker.workNs = 0;
        QCOMPARE(explain::explain(made.run()).steps,
                 std::string("Explained: 10 of 11 steps \"step #\". Skipped: 1 as warm-up."));
    }

    void runWithoutStepsIsReported() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 30 * ms);
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaDeviceSynchronize"), 20 * ms);
        RunSummary run = made.run();
        run.source = StepSource::WholeRun;
        run.pattern.clear();
        run.workers[0].steps.resize(1);
        run.workers[0].foundSteps = 1;
        for (Contributor& each : run.workers[0].contributors) each.exposedNs /= MadeRun::steps;
        const report::ExplanationReport report{run, explain::explain(run)};
        QVERIFY(report.explanation.steps.empty());
        QCOMPARE(report.explanation.findings.size(), size_t{2});
        for (const std::string& said : {explanationAsText(report), explanationAsHtml(report)}) {
            for (const char* part : {"from its first to its last", "20.00 ms of the run", "% of the run of 150.0 ms"})
                HAS(said, part);
            for (const char* untrue : {"start-up", "Mean step", "1 of 1", "20.00 ms per step", "20.000 ms per step"})
                QVERIFY2(said.find(untrue) == std::string::npos, untrue);
        }
    }

    /// The corrupt part may have contained the work.
    void corruptionIsReportedIfNothingCanBeExplained() {
        RunSummary run;
        run.facts.healthWarnings.push_back({});
        run.facts.healthWarnings.back().code = HealthCode::FileCut;
        run.facts.healthWarnings.back().sentence = "The file ends in the middle.";
        const report::ExplanationReport report{run, explain::explain(run)};
        QCOMPARE(report.explanation.caveats, std::vector<std::string>{"The file ends in the middle."});
        for (const std::string& said :
             {explanationAsText(report), explanationAsHtml(report), explanationAsJson(report)}) {
            const size_t damage = said.find("The file ends in the middle.");
            QVERIFY2(damage < said.find("This trace has no GPU work"), said.c_str());
        }
    }

    void queriesUseTheNamesOfTheRun() {
        MadeRun made;
        Contributor loading =
            contributor(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 0);
        loading.path = "train/it's fetch #";
        made.add(0, loading, 20 * ms);
        made.add(StepPart::Memset, ContributorKind::Memset, "memset", 10 * ms);
        made.add(StepPart::Compute, ContributorKind::Kernel, "FillFunctor<8>", 10 * ms);
        // A trace stores a name of 5,050 bytes in this form.
        made.add(StepPart::Compute, ContributorKind::Kernel,
                 "FillFunctor" + std::string(4'040, 'x') + "... (5050 bytes, 37bf3100821600e2)", 10 * ms);
        const Explanation explanation = explain::explain(made.run());
        const Finding data = foundBy(explanation, &inputDataRule);
        HAS(data.sql, "COALESCE(n.text, s.value) LIKE '%it''s fetch %'");
        const Finding sets = foundBy(explanation, &memsetsRule);
        HAS(sets.sql, "s.value = 'FillFunctor<8>'");
        for (const char* part : {"1, 400) = ", "length(CAST(s.value AS BLOB)) = 5050 AND "}) HAS(sets.sql, part);
        // An exported file has the name in this form, too.
        HAS(sets.sql, "CAST('... (5050 bytes, 37bf3100821600e2)' AS BLOB)");
    }

    /// The name of a kernel can be pages long.
    void kernelPatternUsesTheShortName() {
        MadeRun made;
        made.add(StepPart::Compute, ContributorKind::Kernel, "k", 20 * ms);
        RunSummary run = made.run();
        run.source = StepSource::KernelPattern;
        run.pattern = "void at::native::fill<" + std::string(4'000, 'x') + ">(int)";
        const std::string sentence = explain::explain(run).steps;
        QVERIFY2(sentence.find("each from ") != std::string::npos && sentence.size() < 200, sentence.c_str());
    }

    /// With the text of the trace's health notes, however the run ended.
    void lossesUseTheWarningSentences() {
        MadeRun made;
        made.run().facts.isTruncated = true;
        QCOMPARE(explain::explain(made.run()).caveats.size(), size_t{1});
        made.run().facts.healthWarnings = {
            {Severity::Error, HealthCode::PagesDamaged, "The file is corrupt."},
            {Severity::Warning, HealthCode::ProcessEndedAbnormally, "Process 7 ended abnormally."}};
        QCOMPARE(explain::explain(made.run()).caveats,
                 (std::vector<std::string>{"The file is corrupt.", "Process 7 ended abnormally."}));
    }

    void caveatsAreReported() {
        MadeRun made;
        made.run().source = StepSource::KernelPattern;
        made.run().facts.hasApiCalls = false;
        made.run().workers[0].steps.resize(2);
        QCOMPARE(explain::explain(made.run()).caveats.size(), size_t{3});
        const Explanation nothing = explain::explain(RunSummary());
        QVERIFY(nothing.findings.empty());
        QCOMPARE(nothing.sentence, std::string("This trace has no GPU work to explain."));
    }

    void launchesAreReportedBeyondTheProfilerOverhead() {
        const auto with = [](int64_t ns) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), ns);
            return rulesOf(made);
        };
        QCOMPARE(with(20 * ms), std::vector{&launchBoundRule});
        QVERIFY(with(15 * ms).empty());
    }

    void lateLaunchesInFewStepsAreNotLaunchBound() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 30 * ms);
        QCOMPARE(rulesOf(made), std::vector{&launchBoundRule});
        // The same mean, caused by four steps of ten.
        auto& steps = made.run().workers[0].steps;
        for (size_t step = 0; step < steps.size(); ++step) {
            const int64_t ns = step % 5 < 2 ? 75 * ms : 0;
            steps[step].wallNs += ns - steps[step].parts[StepPart::LaunchBound];
            steps[step].parts[StepPart::LaunchBound] = ns;
        }
        const Explanation few = explain::explain(made.run());
        QCOMPARE(placeOf(few, &launchBoundRule), int64_t{-1});
        // The idle GPU is still reported.
        QVERIFY(placeOf(few, &gpuIdleRule) >= 0);
    }

    void guessNeedsAsMuchTimeAsALateLaunch() {
        const auto with = [](const IdleCause& cause, int64_t ns) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, cause, ns);
            return rulesOf(made);
        };
        const IdleCause guess = idle(CauseKind::BeforeBatchCopy);
        QVERIFY(with(guess, 10 * ms).empty());
        QCOMPARE(with(guess, 20 * ms), std::vector{&inputDataRule});
        QCOMPARE(with(idle(CauseKind::BeforeBatchCopy, ThreadState::Poll), 10 * ms), std::vector{&inputDataRule});
        QCOMPARE(with(idle(CauseKind::LoadingRange), 10 * ms), std::vector{&inputDataRule});
    }

    void memoryFillKernelsAreMemsets() {
        const auto with = [](const char* kernel, int64_t ns) {
            MadeRun made;
            made.add(StepPart::Compute, ContributorKind::Kernel, kernel, ns);
            return explain::explain(made.run());
        };
        const char* fill = "at::native::vectorized_elementwise_kernel<16, at::native::FillFunctor<unsigned char>>";
        const Explanation filled = with(fill, 20 * ms);
        QCOMPARE(rulesOf(filled), std::vector{&memsetsRule});
        QCOMPARE(filled.findings[0].maxGainNs, 20 * ms);
        QCOMPARE(filled.findings[0].contributor.text(), std::string(fill));
        QVERIFY(rulesOf(with(fill, 2 * ms)).empty());
        QVERIFY(rulesOf(with("at::native::AddFunctor<float>", 20 * ms)).empty());
    }

    void periodAboveHalfOfItsPartComesFirst() {
        const auto explained = [](int64_t alwaysNs) {
            MadeRun made;
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), alwaysNs);
            WorkerSummary& worker = made.run().workers[0];
            lengthen(worker, 40, 8, StepPart::Synchronization, 160 * ms);
            worker.contributors.back().exposedNs = 0;
            for (const StepSummary& step : worker.steps)
                worker.contributors.back().exposedNs += step.parts[StepPart::Synchronization];
            return explain::explain(made.run());
        };
        // A mean of 20 ms over all steps, from an excess of 160 ms in every eighth.
        const Explanation mostly = explained(15 * ms), hardly = explained(25 * ms);
        QCOMPARE(test::listed(placeOf(mostly, &stepPatternRule), placeOf(mostly, &hostSyncRule)), "0 | 1");
        QCOMPARE(test::listed(placeOf(hardly, &hostSyncRule), placeOf(hardly, &stepPatternRule)), "0 | 1");
    }

    /// Irregular steps, which do not explain the cause.
    void causeOfLongerStepsComesBeforeTheirPattern() {
        const auto explained = [](const IdleCause& cause) {
            MadeRun made;
            made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 1 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("count"), 9 * ms);
            WorkerSummary& worker = made.run().workers[0];
            lengthen(worker, 40, 40, StepPart::DataLoading, 0);
            int64_t dataNs = 0;
            for (StepSummary& step : worker.steps) {
                const int64_t moreNs = step.number * 7 % 10 < 5 ? 80 * ms : 0;
                // Most of it here, and some in another part, so that the pattern is larger.
                step.parts[StepPart::DataLoading] += moreNs * 3 / 4;
                step.parts[StepPart::Synchronization] += moreNs / 4;
                step.wallNs += moreNs;
                dataNs += step.parts[StepPart::DataLoading];
            }
            for (Contributor& each : worker.contributors) {
                if (each.part != StepPart::DataLoading) continue;
                each.exposedNs = dataNs;
                each.name = cause;
            }
            return explain::explain(made.run());
        };
        const Explanation same = explained(idle(CauseKind::LoadingRange));
        QVERIFY(placeOf(same, &stepPatternRule) >= 0);
        const Finding& pattern = same.findings[static_cast<size_t>(placeOf(same, &stepPatternRule))];
        QVERIFY(pattern.pattern->kind != PatternKind::Period);
        const Finding& data = same.findings[static_cast<size_t>(placeOf(same, &inputDataRule))];
        QVERIFY(pattern.maxGainNs > data.maxGainNs);
        QVERIFY(placeOf(same, &inputDataRule) < placeOf(same, &stepPatternRule));
    }

    void waitsComeBeforeLaunchesTheyDelay() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 40 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            made.run().workers[0].drains = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{&hostSyncRule, &launchBoundRule}));
        // A wait for the loss leaves room to launch the rest ahead.
        QCOMPARE(explained(1), (std::vector{&launchBoundRule, &hostSyncRule}));
    }

    /// Late launches too small for a rule make up most of the other idle time.
    void waitsComeBeforeTheIdleTimeTheyCause() {
        const auto explained = [](int64_t waits) {
            MadeRun made;
            made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 18 * ms);
            made.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::QueuedWork), 10 * ms);
            made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 10 * ms);
            made.run().workers[0].contributors.back().count = waits * MadeRun::steps;
            made.run().workers[0].drains = waits * MadeRun::steps;
            return rulesOf(made);
        };
        QCOMPARE(explained(8), (std::vector{&hostSyncRule, &gpuIdleRule}));
        QCOMPARE(explained(1), (std::vector{&gpuIdleRule, &hostSyncRule}));
    }

    void batchesOfSeveralSizesAreNoPattern() {
        const auto hasPattern = [](MadeRun made, StepPart part) {
            lengthen(made.run().workers.back(), 30, 3, part, 30 * ms);
            return placeOf(explain::explain(made.run()), &stepPatternRule) >= 0;
        };
        QVERIFY(!hasPattern(MadeRun(), StepPart::Compute));
        // Parts other than compute, and waits of other ranks, still count.
        QVERIFY(hasPattern(MadeRun(), StepPart::DataLoading) && hasPattern(MadeRun(2), StepPart::Compute));
        // The same applies to outlier steps.
        MadeRun odd;
        odd.run().workers[0].outliers.push_back(OutlierStep{.number = 6, .excessNs = 30 * ms});
        QVERIFY(hasPattern(odd, StepPart::Compute));
    }
};

LANESCOPE_TEST(tst_causes, NoApplication)
#include "tst_causes.moc"
