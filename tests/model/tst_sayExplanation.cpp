// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/format/threadStates.h"
#include "model/pages/ExplanationReport.h"
#include "tests/model/madeSteps.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

class TestSayExplanation : public QObject {
    Q_OBJECT
  private slots:
    /// The only evidence is that the copy of a batch came next.
    void guessIsCalledAGuess() {
        MadeRun made;
        made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy), 20 * ms);
        const Explanation guessed = explain::explain(made.run());
        QCOMPARE(rulesOf(guessed), std::vector{&inputDataRule});
        const std::string& sentence = guessed.findings.front().sentence;
        QVERIFY2(sentence.find("is a guess") != std::string::npos, sentence.c_str());
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
            QVERIFY2(sentence.find("is a guess") != std::string::npos, sentence.c_str());
        }
        // Knowledge of one half does not apply to the other.
        MadeRun half;
        half.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy), 10 * ms);
        half.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::BeforeBatchCopy, ThreadState::Poll),
                 10 * ms);
        const std::string sentence = explain::explain(half.run()).findings.front().sentence;
        QVERIFY2(sentence.find("for the next batch: mostly ") != std::string::npos &&
                     sentence.find("For 50.0 % of it that is a guess") != std::string::npos,
                 sentence.c_str());
    }

    void sleepIsReportedAsSleep() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle,
                 onMain(idle(CauseKind::OutsideCalls, ThreadState::Sleep), {"train.py", 9, "pause"}), 20 * ms);
        const std::string sentence = explain::explain(made.run()).findings.front().sentence;
        QVERIFY2(sentence.find("sleeps of its own accord") != std::string::npos, sentence.c_str());
    }

    /// Fewer launches do not help a thread that does not run.
    void waitingThreadIsNotAdvisedToLaunchLess_data() {
        QTest::addColumn<IdleCause>("cause");
        QTest::addColumn<QString>("does");
        QTest::addColumn<bool>("isWait");
        for (size_t number = 1; number < threadStateCount; ++number) {
            const auto state = static_cast<ThreadState>(number);
            const QString does = QString::fromUtf8(nameOf(state).meaning.data());
            QTest::newRow(qPrintable(does))
                << idle(CauseKind::OutsideCalls, state) << does << (state != ThreadState::Running);
        }
        IdleCause held = idle(CauseKind::OutsideCalls, ThreadState::Gil);
        held.activity.holder = {ThreadRole::Named, "logger"};
        held.activity.holderFrame = {"log.py", 9, "write"};
        QTest::newRow("GIL") << held << "waits for the GIL that the thread logger has at log.py:9 in write" << true;
        QTest::newRow("alternately") << idle(CauseKind::OutsideCalls, ThreadState::Sleep, Observation::Alternating)
                                     << "alternately runs and sleeps" << false;
    }
    void waitingThreadIsNotAdvisedToLaunchLess() {
        QFETCH(IdleCause, cause);
        QFETCH(QString, does);
        QFETCH(bool, isWait);
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
        const std::string_view advice = finding.rule->advice;
        QCOMPARE(advice.find("CUDA graph") == std::string_view::npos, isOther);
        QVERIFY2(finding.sentence.find("train.py:9 in pause, which " + does.toStdString()) != std::string::npos,
                 finding.sentence.c_str());
    }

    void stepsReportTheirShareOfTheRun() {
        MadeRun made(2);
        for (WorkerSummary& worker : made.run().workers) worker.workNs = 1'250 * ms;
        made.run().workers[0].warmUpSteps = 1;
        made.run().workers[0].foundSteps = 11;
        report::ExplanationReport report{made.run(), explain::explain(made.run())};
        QCOMPARE(report.explanation.steps,
                 std::string("10 of 11 steps \"step #\", 80.0 % of the time from the first to the "
                             "last GPU work, 1 skipped as warm-up."));
        QVERIFY(report.explanation.caveats.empty());
        const auto json = nlohmann::json::parse(explanationAsJson(report));
        QCOMPARE(json["steps"]["coverage"].get<double>(), 0.8);
        QCOMPARE(json["steps"]["sentence"].get<std::string>(), report.explanation.steps);
        QCOMPARE(json["workers"][1]["coverage"].get<double>(), 0.8);
        QVERIFY(explanationAsText(report).find("80.0 % of the time from") != std::string::npos);
        QVERIFY(explanationAsHtml(report).find("80.0 % of the time from") != std::string::npos);

        for (WorkerSummary& worker : made.run().workers) worker.workNs = 0;
        QCOMPARE(explain::explain(made.run()).steps, std::string("10 of 11 steps \"step #\", 1 skipped as warm-up."));
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
            QVERIFY2(said.find("from its first to its last") != std::string::npos, said.c_str());
            QVERIFY2(said.find("20.000 ms of the run") != std::string::npos, said.c_str());
            QVERIFY2(said.find("% of the run of 150.000 ms") != std::string::npos, said.c_str());
            for (const char* untrue : {"start-up", "Mean step", "1 of 1", "20.000 ms per step"})
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
        made.run().pattern = "it's batch #";
        OutlierStep odd;
        odd.number = 3;
        odd.wallNs = 900 * ms;
        odd.excessNs = 800 * ms;
        made.run().workers[0].outliers.push_back(odd);
        made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 20 * ms);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), (std::vector{&oddStepsRule, &inputDataRule}));
        QVERIFY2(explanation.findings[0].sql.find("LIKE 'it''s batch %'") != std::string::npos,
                 explanation.findings[0].sql.c_str());
        QVERIFY2(explanation.findings[1].sql.find("LIKE '%forward'") != std::string::npos,
                 explanation.findings[1].sql.c_str());
        made.run().source = StepSource::KernelPattern;
        made.run().pattern = "fill<8>";
        const std::string sql = explain::explain(made.run()).findings[0].sql;
        QVERIFY2(sql.find("s.value = 'fill<8>'") != std::string::npos, sql.c_str());
        // A trace stores a name of 5,050 bytes in this form.
        made.run().pattern = std::string(4'040, 'x') + "... (5050 bytes, 37bf3100821600e2)";
        const std::string cut = explain::explain(made.run()).findings[0].sql;
        QVERIFY2(cut.find("1, 4040) = ") != std::string::npos, cut.c_str());
        QVERIFY2(cut.find("5050") == std::string::npos, cut.c_str());
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
};

LANESCOPE_TEST(TestSayExplanation, NoApplication)
#include "tst_sayExplanation.moc"
