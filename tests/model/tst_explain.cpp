// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/explain/RuleCondition.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/healthNotes.h"
#include "tests/model/madeSteps.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

class TestExplain : public QObject {
    Q_OBJECT
  private slots:
    void goodRunHasNoFinding() {
        MadeRun made(2);
        for (const size_t rank : {0, 1}) {
            made.add(rank, contributor(StepPart::ExposedCommunication, ContributorKind::Collective, "AllReduce", 0),
                     5 * ms);
            made.add(rank, contributor(StepPart::LaunchBound, ContributorKind::Idle, idleIn("call"), 0), 2 * ms);
        }
        const Explanation explanation = explain::explain(made.run());
        QVERIFY(rulesOf(explanation).empty());
        QVERIFY(explanation.caveats.empty());
        QCOMPARE(explanation.sentence,
                 std::string("GPUs compute 93.5 % of the mean step of 107.000 ms: 5.000 ms exposed "
                             "communication; what takes most is gemm, 93.5 %."));
    }

    void everyPartHasItsRule_data() {
        QTest::addColumn<int>("part");
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("trait");
        QTest::addColumn<const Rule*>("rule");
        const auto row = [](const char* name, StepPart part, ContributorKind kind, const Rule* rule,
                            ContributorTrait trait = ContributorTrait::None) {
            QTest::newRow(name) << int(part) << int(kind) << int(trait) << rule;
        };
        row("data", StepPart::DataLoading, ContributorKind::Idle, &inputDataRule);
        row("sync", StepPart::Synchronization, ContributorKind::Idle, &hostSyncRule);
        row("launch", StepPart::LaunchBound, ContributorKind::Idle, &launchBoundRule);
        row("malloc", StepPart::LaunchBound, ContributorKind::Idle, &allocationsRule, ContributorTrait::Allocation);
        row("free", StepPart::Synchronization, ContributorKind::Idle, &allocationsRule, ContributorTrait::Allocation);
        row("pageable", StepPart::ExposedHtoD, ContributorKind::Copy, &pageableCopiesRule, ContributorTrait::Pageable);
        row("copy", StepPart::ExposedPtoP, ContributorKind::Copy, &exposedCopiesRule);
        row("nccl", StepPart::ExposedCommunication, ContributorKind::Collective, &exposedCommunicationRule);
        row("memset", StepPart::Memset, ContributorKind::Memset, &memsetsRule);
        row("queued", StepPart::OtherIdle, ContributorKind::Idle, &queuedIdleRule);
    }
    void everyPartHasItsRule() {
        QFETCH(int, part);
        QFETCH(int, kind);
        QFETCH(int, trait);
        QFETCH(const Rule*, rule);
        const auto with = [&](int64_t ns) {
            MadeRun made;
            made.add(StepPart(part), ContributorKind(kind), "the cause", ns, ContributorTrait(trait));
            return explain::explain(made.run());
        };
        const Explanation explanation = with(25 * ms);
        QCOMPARE(rulesOf(explanation), std::vector{rule});
        const Finding& finding = explanation.findings.front();
        QCOMPARE(finding.maxGainNs, 25 * ms);
        QCOMPARE(finding.share, 0.2);
        QCOMPARE(finding.path, std::string("forward"));
        QVERIFY2(finding.sentence.find("25.000 ms of a step (20.0 %)") != std::string::npos, finding.sentence.c_str());
        QVERIFY(rulesOf(with(2 * ms)).empty());
        MadeRun made;
        made.add(StepPart(part), ContributorKind(kind), "the cause", 25 * ms, ContributorTrait(trait));
        QVERIFY(rulesOf(explain::explain(made.run(), {rule})) != std::vector{rule});
    }

    void callsWaitingForTheGpuAreReportedOnce() {
        const auto rulesWith = [](StepPart part, const char* call) {
            MadeRun made;
            made.add(part, ContributorKind::Idle, idleIn(call), 25 * ms);
            return rulesOf(made);
        };
        // HIP names its calls as CUDA does.
        for (const char* copy : {"cudaMemcpy", "cuMemcpyHtoD_v2", "hipMemcpy", "hipMemcpyDtoH"}) {
            QCOMPARE(rulesWith(StepPart::Synchronization, copy), std::vector{&syncCopiesRule});
            QCOMPARE(rulesWith(StepPart::LaunchBound, copy), std::vector{&syncCopiesRule});
        }
        for (const char* memset : {"cudaMemset", "hipMemset", "hipMemsetD32"})
            QCOMPARE(rulesWith(StepPart::LaunchBound, memset), std::vector{&syncMemsetsRule});
        // Calls that return at once, and a call that only describes a copy.
        for (const char* other :
             {"cudaMemcpyAsync", "cuMemsetD8Async", "hipMemcpyAsync", "hipMemsetAsync", "cudaGraphAddMemcpyNode"})
            QCOMPARE(rulesWith(StepPart::LaunchBound, other), std::vector{&launchBoundRule});
        // Next to it, the part keeps only the rest.
        MadeRun made;
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaMemcpy"), 25 * ms);
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cudaStreamSynchronize"), 10 * ms);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), (std::vector{&syncCopiesRule, &hostSyncRule}));
        QCOMPARE(explanation.findings[1].maxGainNs, 10 * ms);
        QVERIFY2(explanation.findings[0].sentence.find("in cudaMemcpy") != std::string::npos,
                 explanation.findings[0].sentence.c_str());
        // If that rule is disabled, the wait is reported.
        QCOMPARE(rulesOf(explain::explain(made.run(), {&syncCopiesRule})), std::vector{&hostSyncRule});
    }

    /// Simulated programs: one copies its result and waits for it, the other does not wait.
    void waitsForCopiesAreFoundInATrace() {
        const auto rulesWith = [](bool isWaiting) {
            SimulatedTrace builder;
            const uint32_t thread = builder.defaultThread();
            const uint32_t stream = builder.defaultStream();
            constexpr int64_t us = 1'000;
            for (uint32_t step = 0; step < 10; ++step) {
                const int64_t at = 10 * ms * step;
                builder.addNvtx(thread, "step " + std::to_string(step), at, at + 10 * ms);
                builder.launch(thread, stream, "gemm", at + 10 * us, at + 20 * us, at + 5 * ms);
                builder.addMemcpy(stream, MemcpyKind::DtoH, 4096, at + 5 * ms, at + 5 * ms + 10 * us, step + 1);
                builder.addApi(thread, isWaiting ? "cudaMemcpy" : "cudaMemcpyAsync", at + 30 * us,
                               isWaiting ? at + 9'500 * us : at + 40 * us, step + 1);
                if (!isWaiting)
                    builder.launch(thread, stream, "gemm", at + 50 * us, at + 5 * ms + 10 * us, at + 10 * ms);
            }
            const Result<RunSummary> summary = summarizeRun(*builder.finish());
            return summary ? rulesOf(explain::explain(*summary)) : std::vector<const Rule*>();
        };
        const std::vector<const Rule*> waiting = rulesWith(true);
        QVERIFY(!waiting.empty());
        QCOMPARE(waiting.front(), &syncCopiesRule);
        QVERIFY(!std::ranges::count(rulesWith(false), &syncCopiesRule));
    }

    void idleTimeOfUnknownCauseIsNoFinding() {
        MadeRun made;
        made.add(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::UnrecordedLaunch), 60 * ms,
                 ContributorTrait::Unknown);
        QVERIFY(rulesOf(explain::explain(made.run())).empty());
    }

    void lateRankIsTheOneThatWaitsLeast() {
        MadeRun made(3);
        made.add(2, contributor(StepPart::Compute, ContributorKind::Kernel, "extra", 0), 30 * ms);
        for (const size_t rank : {0, 1})
            made.add(rank, contributor(StepPart::WaitingForRanks, ContributorKind::Collective, "AllReduce", 0),
                     30 * ms);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), std::vector{&lateRankRule});
        const Finding& late = explanation.findings.front();
        QCOMPARE(late.worker, uint32_t{2});
        QCOMPARE(late.maxGainNs, 30 * ms);
        QVERIFY2(late.sentence.find("than rank 2, GPU 2") != std::string::npos, late.sentence.c_str());
        QVERIFY2(explanation.sentence.find("20.000 ms waiting for rank 2") != std::string::npos,
                 explanation.sentence.c_str());
    }

    void unusedNvlinkIsReportedInsteadOfCommunication() {
        MadeRun made(2);
        for (const size_t rank : {0, 1})
            made.add(rank, contributor(StepPart::ExposedCommunication, ContributorKind::Collective, "AllReduce", 0),
                     40 * ms);
        QCOMPARE(rulesOf(made), std::vector{&exposedCommunicationRule});
        made.run().facts.isNvlinkPresent = true;
        made.run().nvlink.use = NvlinkVerdict::Use::NotSeen;
        QCOMPARE(rulesOf(made), std::vector{&nvlinkUnusedRule});
        made.run().nvlink.use = NvlinkVerdict::Use::Used;
        QCOMPARE(rulesOf(made), std::vector{&exposedCommunicationRule});
    }

    void adviceIsHedgedForAThreadThatAlsoWaited() {
        const auto sentence = [](ThreadState state, Observation observation) {
            MadeRun made(1);
            made.add(StepPart::LaunchBound, ContributorKind::Idle,
                     onMain(idle(CauseKind::OutsideCalls, state, observation)), 40 * ms);
            return explain::explain(made.run()).findings.front().sentence;
        };
        QVERIFY(sentence(ThreadState::Sleep, Observation::Alternating)
                    .find("running or waiting kept the GPU idle is unknown") != std::string::npos);
        QVERIFY(sentence(ThreadState::Running, Observation::State).find("kept the GPU idle") == std::string::npos);
        // Another thread may launch in the meantime, for example autograd's.
        QVERIFY(sentence(ThreadState::Lock, Observation::Alternating).find("kept the GPU idle") == std::string::npos);
    }

    void gpusWithOnlyNcclDataHaveNoFindings() {
        MadeRun made(2);
        for (const size_t rank : {0, 1}) {
            made.add(rank, contributor(StepPart::ExposedCommunication, ContributorKind::Collective, "AllReduce", 0),
                     40 * ms);
            made.add(rank,
                     contributor(StepPart::OtherIdle, ContributorKind::Idle, idle(CauseKind::UnrecordedLaunch), 0),
                     90 * ms);
        }
        made.run().workers[1].steps.back().wallNs += 900 * ms;
        made.run().facts.producerKind = ProducerKind::NcclInspector;
        for (const Rule* rule : rulesOf(made))
            QVERIFY(rule != &exposedCommunicationRule && rule != &queuedIdleRule && rule != &gpuIdleRule);
        made.run().facts.producerKind = ProducerKind::Lanescope;
        QVERIFY(std::ranges::count(rulesOf(made), &exposedCommunicationRule) == 1);
    }

    void outlierStepsCountByTheirTotalCost() {
        MadeRun made;
        OutlierStep odd;
        odd.number = 7;
        odd.excessNs = 50 * ms;
        odd.part = StepPart::DataLoading;
        odd.contributor = idle(CauseKind::OutsideCalls);
        made.run().workers[0].outliers.push_back(odd);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), std::vector{&oddStepsRule});
        QCOMPARE(explanation.findings[0].maxGainNs, 5 * ms);
        made.run().workers[0].outliers[0].excessNs = 5 * ms;
        QVERIFY(rulesOf(made).empty());
    }

    void patternIsFoundOnItsRank() {
        MadeRun made(2);
        made.add(1, contributor(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 0),
                 1 * ms);
        const auto lengthened = [&](int64_t every, int64_t excessNs) {
            MadeRun with = made;
            auto& steps = with.run().workers[1].steps;
            const StepSummary like = steps.front();
            steps.clear();
            for (int64_t number = 0; number < 30; ++number) {
                steps.push_back(like);
                steps.back().number = number;
                steps.back().startNs = number * 1'000 * ms;
                const int64_t moreNs = (number % every == 0 ? excessNs : 0) + number * 7'919 % 100'000;
                steps.back().parts[StepPart::DataLoading] += moreNs;
                steps.back().wallNs += moreNs;
            }
            return explain::explain(with.run());
        };
        const Explanation third = lengthened(3, 14 * ms);
        const auto found = std::find_if(third.findings.begin(), third.findings.end(),
                                        [](const Finding& finding) { return finding.rule == &stepPatternRule; });
        QVERIFY(found != third.findings.end());
        QCOMPARE(found->worker, uint32_t{1});
        QCOMPARE(found->pattern->period, int64_t{3});
        QVERIFY(std::abs(found->maxGainNs - 14 * ms / 3) < ms / 5);
        QCOMPARE(*found->atNs, int64_t{0});
        for (const char* part : {"rank 1", "every third step", "data loading", "in host code"})
            QVERIFY2(found->sentence.find(part) != std::string::npos, found->sentence.c_str());
        for (const Finding& finding : lengthened(3, ms / 10).findings) QVERIFY(finding.rule != &stepPatternRule);
    }

    void unevenComputeIsReportedIfNoRankIsLate() {
        MadeRun made(4);
        const std::array<int64_t, 4> moreNs{0, 10 * ms, 29 * ms, 30 * ms};
        for (size_t rank = 0; rank < 4; ++rank) {
            made.add(rank, contributor(StepPart::Compute, ContributorKind::Kernel, "expert", 0), moreNs[rank]);
            made.add(rank, contributor(StepPart::WaitingForRanks, ContributorKind::Collective, "AllReduce", 0),
                     30 * ms - moreNs[rank]);
        }
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), std::vector{&unbalancedRanksRule});
        const Finding& finding = explanation.findings.front();
        QCOMPARE(finding.worker, uint32_t{3});
        QCOMPARE(finding.maxGainNs, 30 * ms - 69 * ms / 4);
        QVERIFY2(finding.sentence.find("rank 3, GPU 3 computes") != std::string::npos, finding.sentence.c_str());
        QVERIFY(rulesOf(explain::explain(made.run(), {&unbalancedRanksRule})).empty());
    }

    void partsSumToTheStepAndFindingsAreSorted() {
        MadeRun made;
        made.add(StepPart::LaunchBound, ContributorKind::Idle, idle(CauseKind::OutsideCalls), 30 * ms + 333);
        made.add(StepPart::DataLoading, ContributorKind::Idle, idle(CauseKind::LoadingRange), 40 * ms + 777);
        const Explanation explanation = explain::explain(made.run());
        for (const WorkerParts& worker : explanation.workers) QCOMPARE(worker.parts.sum(), worker.meanNs);
        QCOMPARE(rulesOf(explanation), (std::vector{&inputDataRule, &launchBoundRule}));
    }

    void conditionsAreParsedAndTested() {
        Finding finding;
        finding.rule = &launchBoundRule;
        finding.maxGainNs = 10 * ms;
        finding.share = 0.1;
        const auto holds = [&](std::string_view text) {
            const Result<RuleCondition> condition = parseRuleCondition(text);
            return condition && condition->isMetBy(finding);
        };
        QVERIFY(holds("launch_bound"));
        QVERIFY(holds("launch_bound > 9ms"));
        QVERIFY(!holds("launch_bound > 10 ms"));
        QVERIFY(holds("any>9.5%"));
        QVERIFY(!holds("any > 10 %"));
        QVERIFY(!holds("late_rank"));
        for (const char* wrong : {"", "launch", "launch_bound >", "any > fast", "any > -1ms", "any > 10", "any > 0.5"})
            QVERIFY2(!parseRuleCondition(wrong), wrong);
        for (const Rule* rule : allRules()) QCOMPARE(ruleCalled(rule->id), rule);
    }

    void allFormatsHaveTheSameSentences() {
        MadeRun made(2);
        made.add(StepPart::DataLoading, ContributorKind::Idle, idleIn("<b>&"), 20 * ms);
        made.run().facts.title = "<script>run";
        report::ExplanationReport report{made.run(), explain::explain(made.run())};
        const auto json = nlohmann::json::parse(explanationAsJson(report));
        QCOMPARE(json["sentence"].get<std::string>(), report.explanation.sentence);
        QCOMPARE(json["findings"][0]["mostGainNs"].get<int64_t>(), 20 * ms);
        QCOMPARE(json["workers"].size(), size_t{2});
        const std::string text = explanationAsText(report);
        QVERIFY2(text.find("1. input_data, up to 20.000 ms per step") != std::string::npos, text.c_str());
        for (size_t from = 0; from < text.size();) {
            const size_t end = text.find('\n', from);
            QVERIFY(end - from <= 100);
            from = end + 1;
        }
        const std::string html = explanationAsHtml(report);
        QVERIFY(html.find("input_data, up to 20.000 ms per step") != std::string::npos);
        QVERIFY(html.find("<script>run") == std::string::npos);
        QVERIFY(html.find("<b>&") == std::string::npos);
    }
};

LANESCOPE_TEST(TestExplain, NoApplication)
#include "tst_explain.moc"
