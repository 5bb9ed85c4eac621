// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "model/analysis/runConditions.h"
#include "model/analysis/storedSummary.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/export/traceFile.h"
#include "model/pages/ExplanationReport.h"
#include "model/trace/gpuNames.h"
#include "model/trace/healthNotes.h"
#include "tests/model/madeSteps.h"
#include "tests/support/cpuStates.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1'000;
constexpr int64_t mhz = 1'000'000;
constexpr uint64_t powerCap = 0x4, hardwareThermal = 0x40, userClocks = 0x2;

/// A simulated program: twenty steps of 10 ms with constant GPU compute, plus events added by a test.
class Program : public SimulatedTrace {
  public:
    void addSteps(int64_t idleNs = 0) {
        for (int64_t step = 0; step < steps; ++step) {
            const int64_t at = step * stepNs;
            addNvtx(defaultThread(), "step " + std::to_string(step), at, at + stepNs);
            launch(defaultThread(), defaultStream(), "gemm", at + idleNs, at + idleNs + 5 * us, at + stepNs);
        }
    }
    void addCounter(std::string key, CounterUnit unit, uint32_t gpu, std::vector<double> values,
                    int64_t everyNs = stepNs) {
        CounterSeries series;
        series.name = series.key = std::move(key);
        series.source = gpu == noIndex ? "host" : "nvml";
        series.unit = unit;
        series.gpu = gpu;
        series.intervalNs = everyNs;
        LargeVector<int64_t> timesNs;
        LargeVector<double> held;
        for (size_t index = 0; index < values.size(); ++index) {
            timesNs.push_back(static_cast<int64_t>(index) * everyNs);
            held.push_back(values[index]);
        }
        series.set(timesNs, held, static_cast<int64_t>(values.size()) * everyNs);
        counter(std::move(series));
    }
    /// Adds the throttle reasons and the clock in MHz, constant after the first step.
    void addClocks(uint64_t reasons, double clockMhz, double highestMhz) {
        const uint32_t gpu = 0;
        std::vector<double> clocks(steps, clockMhz * mhz);
        clocks.front() = highestMhz * mhz;
        std::vector<double> held(steps, static_cast<double>(reasons));
        held.front() = 0;
        addCounter("clock.sm", CounterUnit::Hertz, gpu, clocks);
        addCounter("throttle.reasons", CounterUnit::Flags, gpu, held);
    }
    static constexpr int64_t steps = 20, stepNs = 10 * ms;
};

RunSummary summaryOf(Program& program) {
    const Result<RunSummary> summary = summarizeRun(*program.finish());
    return summary ? *summary : RunSummary();
}

Explanation explainedClocks(uint64_t reasons, double clockMhz, double highestMhz) {
    Program program;
    program.addSteps();
    program.addClocks(reasons, clockMhz, highestMhz);
    return explain::explain(summaryOf(program));
}

}  // namespace

class tst_explain : public QObject {
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
                 std::string("GPUs compute 93.5 % of the mean step of 107.0 ms. Largest other part: 5.000 ms "
                             "exposed communication; the largest part is gemm, 93.5 % of the step."));
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
        QCOMPARE(test::listed(finding.share, finding.path), "0.2 | forward");
        HAS(finding.sentence, "25.00 ms of a step (20.0 %)");
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
        HAS(explanation.findings[0].sentence, "in cudaMemcpy");
        // If that rule is disabled, the wait is reported.
        QCOMPARE(rulesOf(explain::explain(made.run(), {&syncCopiesRule})), std::vector{&hostSyncRule});
    }

    /// Simulated programs: one copies its result and waits for it, the other does not wait.
    void waitsForCopiesAreFoundInATrace() {
        const auto rulesWith = [](bool isWaiting) {
            SimulatedTrace builder;
            const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
            constexpr int64_t us = 1'000;
            builder.addSteps(thread, 10, 10 * ms, 10 * ms, [&](int64_t at, uint32_t step) {
                builder.launch(thread, stream, "gemm", at + 10 * us, at + 20 * us, at + 5 * ms);
                builder.addMemcpy(stream, MemcpyKind::DtoH, 4096, at + 5 * ms, at + 5 * ms + 10 * us, step + 1);
                builder.addApi(thread, isWaiting ? "cudaMemcpy" : "cudaMemcpyAsync", at + 30 * us,
                               isWaiting ? at + 9'500 * us : at + 40 * us, step + 1);
                if (!isWaiting)
                    builder.launch(thread, stream, "gemm", at + 50 * us, at + 5 * ms + 10 * us, at + 10 * ms);
            });
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

    void forecastsOrderFindings() {
        MadeRun made;
        made.add(StepPart::Synchronization, ContributorKind::Idle, idleIn("cuStreamSynchronize"), 40 * ms);
        made.add(StepPart::Memset, ContributorKind::Memset, "memset", 30 * ms);
        WorkerSummary& worker = made.run().workers.front();
        worker.forecasts = {{causality::Subject::Sync, 5 * ms, ms}, {causality::Subject::Memset, 70 * ms, 2 * ms}};
        Explanation explanation = explain::explain(made.run());
        QCOMPARE(explanation.findings.front().rule, &memsetsRule);
        // At most the time of the finding.
        QCOMPARE(explanation.findings.front().saving, (Saving{30 * ms, 2 * ms}));
        QCOMPARE(findingOf(explanation, &hostSyncRule)->saving, (Saving{5 * ms, ms}));
        // A wide interval says nothing.
        worker.forecasts[1].marginNs = 60 * ms;
        explanation = explain::explain(made.run());
        QCOMPARE(explanation.findings.front().rule, &memsetsRule);
        QVERIFY(!explanation.findings.front().saving);
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
        QCOMPARE(test::listed(late.worker, late.maxGainNs), test::listed(2, 30 * ms));
        HAS(late.sentence, "than rank 2, GPU 2");
        HAS(explanation.sentence, "20.00 ms waiting for rank 2");
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
        HAS(sentence(ThreadState::Sleep, Observation::Alternating), "running or waiting kept the GPU idle is unknown");
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
        OutlierStep odd{.number = 7,
                        .excessNs = 50 * ms,
                        .part = StepPart::DataLoading,
                        .contributor = idle(CauseKind::OutsideCalls)};
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
            lengthenSteps(with.run().workers[1], 30, StepPart::DataLoading, excessNs,
                          [every](int64_t number) { return number % every == 0; });
            return explain::explain(with.run());
        };
        // Causes of one rank only, or of the steps of its pattern only.
        made.run().workers[1].distinctions = {
            {DistinctionOf::Pattern, DistinctionKind::Range, "tokenizer hiccup", 10, 8 * ms}};
        const Explanation third = lengthened(3, 14 * ms);
        const Finding* found = findingOf(third, &stepPatternRule);
        QVERIFY(found != nullptr);
        QCOMPARE(test::listed(found->worker, found->pattern->period), "1 | 3");
        QVERIFY(std::abs(found->maxGainNs - 14 * ms / 3) < ms / 5);
        QCOMPARE(*found->atNs, int64_t{0});
        for (const char* part : {"rank 1", "every third step", "waiting for data", "in host code",
                                 "Only these steps have the range \"tokenizer hiccup\", 8.000 ms in each of 10 steps."})
            HAS(found->sentence, part);
        QVERIFY2(found->brief.ends_with(": tokenizer hiccup") ||
                     found->brief.find(": tokenizer hiccup, ") != std::string::npos,
                 found->brief.c_str());
        // The range takes less than the steps are longer.
        QVERIFY2(found->advice.starts_with("Look at \"tokenizer hiccup\" first, ") &&
                     found->advice.find(" ms of this: ") != std::string::npos,
                 found->advice.c_str());
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
        QCOMPARE(test::listed(finding.worker, finding.maxGainNs), test::listed(3, 30 * ms - 69 * ms / 4));
        HAS(finding.sentence, "rank 3, GPU 3 computes");
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
        Finding finding{.rule = &launchBoundRule, .maxGainNs = 10 * ms, .share = 0.1};
        const auto holds = [&](std::string_view text) {
            const Result<RuleCondition> condition = parseRuleCondition(text);
            return condition && condition->isMetBy(finding);
        };
        for (const char* part : {"launch_bound", "launch_bound > 9ms"}) QVERIFY2(holds(part), part);
        QVERIFY(!holds("launch_bound > 10 ms") && holds("any>9.5%"));
        for (const char* part : {"any > 10 %", "late_rank"}) QVERIFY2(!holds(part), part);
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
        HAS(text, "1. input_data, costs 20.000 ms per step");
        for (size_t from = 0; from < text.size();) {
            const size_t end = text.find('\n', from);
            QVERIFY(end - from <= 100);
            from = end + 1;
        }
        const std::string html = explanationAsHtml(report);
        QVERIFY(html.find("input_data, costs 20.000 ms per step") != std::string::npos);
        for (const char* part : {"<script>run", "<b>&"}) QVERIFY2(html.find(part) == std::string::npos, part);
    }

    void hotGpuIsReportedBelowItsClocks() {
        const Explanation hot = explainedClocks(hardwareThermal, 990, 1980);
        const Finding found = foundBy(hot, &gpuThrottledRule);
        // Nineteen of twenty steps at half of the clock.
        QVERIFY2(std::abs(found.share - 0.475) < 0.01, qPrintable(QString::number(found.share)));
        for (const char* part : {"hardware thermal: it is too hot", "at 990 MHz then", "1.98 GHz at most",
                                 "95.0 % of the time", "Estimated cost"})
            HAS(found.sentence, part);
        HAS_NO(found.sentence, "power cap");
        QVERIFY(rulesOf(explain::explain(RunSummary())).empty());
    }

    void harmlessThrottleReasonsAreNoFinding_data() {
        const test::Rows<quint64, double> row;
        row("nothing", quint64(0), 990.0);
        row("clocks of the user", quint64(userClocks), 990.0);
        row("a power cap at full speed", quint64(powerCap), 1'965.0);
        row("heat that slows nothing yet", quint64(hardwareThermal), 1'980.0);
        row("unread clocks", quint64(hardwareThermal), 0.0);
    }
    void harmlessThrottleReasonsAreNoFinding() {
        const auto [reasons, clock] = test::row<quint64, double>();
        QVERIFY(findingOf(explainedClocks(reasons, clock, 1'980), &gpuThrottledRule) == nullptr);
    }

    /// The longest step runs at full speed.
    void hotGpuIsShownWhereItIsHot() {
        Program program;
        program.addSteps();
        std::vector<double> clocks(Program::steps, 1980.0 * mhz), reasons(Program::steps, 0);
        for (const size_t step : {3, 8, 9, 10, 11, 15}) {
            clocks[step] = 990.0 * mhz;
            reasons[step] = hardwareThermal;
        }
        // Throttled, but at full speed.
        reasons[12] = hardwareThermal;
        program.addCounter("clock.sm", CounterUnit::Hertz, 0, clocks);
        program.addCounter("throttle.reasons", CounterUnit::Flags, 0, reasons);
        const TracePtr trace = program.finish();
        const RunSummary summary = test::orFail(summarizeRun(*trace));
        const Finding found = foundBy(explain::explain(summary), &gpuThrottledRule);
        QVERIFY(found.atNs);
        QCOMPARE(found.atNs, 80 * ms);
        QCOMPARE(test::orFail(placeOf(*trace, summary, found)).range, (TimeRange{80 * ms, 120 * ms}));
    }

    void slowingPowerCapIsReportedButNoFinding() {
        const Explanation capped = explainedClocks(powerCap, 1'584, 1'980);
        QVERIFY(findingOf(capped, &gpuThrottledRule) == nullptr);
        const auto said = std::ranges::count_if(capped.caveats, [](const std::string& each) {
            return test::has(each,
                             "is at its power cap for 95.0 % of the time of the steps, with its SM clock "
                             "at 1.58 GHz where 1.98 GHz is the highest seen");
        });
        QVERIFY2(said == 1, capped.caveats.empty() ? "nothing" : capped.caveats.front().c_str());
        // Heat in addition to it is not normal.
        const Finding found = foundBy(explainedClocks(powerCap | hardwareThermal, 1'584, 1'980), &gpuThrottledRule);
        QVERIFY2(std::abs(found.share - 0.19) < 0.01, qPrintable(QString::number(found.share)));
        for (const std::string& each : explainedClocks(powerCap, 1'965, 1'980).caveats) HAS_NO(each, "power cap");
    }

    void otherGpusGiveTheReachableClock() {
        MadeRun made(2);
        for (WorkerSummary& worker : made.run().workers) {
            worker.gpuName = "H200";
            worker.highestSmClockHz = 1'200 * mhz;
            worker.clocks = {{hardwareThermal, worker.totalWallNs(), 1'200 * mhz}};
        }
        QVERIFY(findingOf(explain::explain(made.run()), &gpuThrottledRule) == nullptr);
        made.run().workers[1].clocks = {{0, made.run().workers[1].totalWallNs(), 1'800 * mhz}};
        QCOMPARE(made.run().criticalWorker(), uint32_t(0));
        const Finding found = foundBy(explain::explain(made.run()), &gpuThrottledRule);
        QVERIFY(std::abs(found.share - 1.0 / 3) < 0.01);
        HAS(found.sentence, "SMs of the other GPUs run at 1.8 GHz");
        made.run().workers[1].gpuName = "L4";
        QVERIFY(findingOf(explain::explain(made.run()), &gpuThrottledRule) == nullptr);
    }

    void clockReadBeforeTheStepsIsIgnored() {
        Program program;
        program.addSteps();
        program.addCounter("clock.sm", CounterUnit::Hertz, 0, {345e6, 1980e6}, 1'000 * ms);
        program.addCounter("throttle.reasons", CounterUnit::Flags, 0, std::vector<double>(20, double(powerCap)));
        const RunSummary run = summaryOf(program);
        QCOMPARE(run.workers.size(), size_t{1});
        QVERIFY(!run.workers[0].clocks.empty());
        // The one reading at the start is in the first step, and no other step has a reading.
        for (const ClockState& state : run.workers[0].clocks)
            QVERIFY(state.smClockHz == 345 * mhz || state.smClockHz == 0);
    }

    void storedSummaryGivesTheSameExplanation() {
        const TemporaryFolder folder;
        Program program;
        program.addSteps(2 * ms);
        program.addClocks(hardwareThermal, 990, 1'980);
        program.addCounter("cgroup.cpu.throttled", CounterUnit::Count, noIndex,
                           std::vector<double>(Program::steps, 0.5));
        program.addCounter("cgroup.cpu.limit", CounterUnit::Percent, noIndex, std::vector<double>(Program::steps, 250));
        const TracePtr trace = program.finish();
        const RunSummary made = test::orFail(summarizeRun(*trace));
        const auto path = folder / "run.sqlite";
        QVERIFY(writeTraceFile(*trace, path).has_value());
        Result<Database> database = openForWriting(path);
        QVERIFY(database && writeRunSummary(*database, made));
        const std::optional<RunSummary> stored = readRunSummary(*database);
        QVERIFY(stored.has_value());
        const WorkerSummary &before = made.workers[0], &after = stored->workers[0];
        QVERIFY(after.clocks == before.clocks && !after.clocks.empty() && after.pauses == before.pauses);
        QCOMPARE(after.highestSmClockHz, before.highestSmClockHz);
        QVERIFY(before.heldBackNs.has_value());
        QCOMPARE(*after.heldBackNs, *before.heldBackNs);
        QCOMPARE(stored->facts.cpuLimitPercent, int64_t{250});
        QVERIFY(stored->workers == made.workers);
        QVERIFY(explain::explain(*stored) == explain::explain(made));
        QVERIFY(findingOf(explain::explain(*stored), &gpuThrottledRule) != nullptr);
        // Values that no program writes are rejected.
        for (const char* wrong : {"UPDATE LANESCOPE_STORED_GPU_CLOCKS SET ns = 1000000000000",
                                  "UPDATE LANESCOPE_STORED_GPU_CLOCKS SET smClockHz = -1",
                                  "UPDATE LANESCOPE_STORED_GPU_CLOCKS SET longestNs = -1",
                                  "UPDATE LANESCOPE_STORED_GPU_CLOCKS SET longestNs = ns + 1",
                                  "UPDATE LANESCOPE_STORED_GPU_CLOCKS SET longestStartNs = -9223372036854775807",
                                  "UPDATE LANESCOPE_STORED_GPU_CLOCKS SET reasons = 2",
                                  "UPDATE LANESCOPE_STORED_WORKERS SET longestPauseNs = -1"}) {
            QVERIFY(database->execute("BEGIN") && database->execute(wrong));
            QVERIFY2(!readRunSummary(*database), wrong);
            QVERIFY(database->execute("ROLLBACK").has_value());
        }
    }

    void cpuLimitIsReportedNextToItsDelay() {
        const auto sentenceWith = [](double heldBack) {
            Program program;
            program.addSteps(4 * ms);
            program.addCounter("cgroup.cpu.throttled", CounterUnit::Count, noIndex,
                               std::vector<double>(Program::steps, heldBack));
            program.addCounter("cgroup.cpu.limit", CounterUnit::Percent, noIndex,
                               std::vector<double>(Program::steps, 200));
            const Explanation explanation = explain::explain(summaryOf(program));
            const Finding* found = findingOf(explanation, &launchBoundRule);
            return found == nullptr ? std::string() : found->sentence;
        };
        const std::string held = sentenceWith(0.4);
        HAS(held, "the limit of the cgroup, 2 cores, held processors back for 0.40 s in each second");
        const std::string free = sentenceWith(0.001);
        QVERIFY2(!free.empty() && !test::has(free, "limit"), free.c_str());
    }

    /// Samples show it running, but it had no core for most of the time between them.
    void threadWithoutCoreIsNotAdvisedToLaunchLess() {
        const auto rulesWith = [](int64_t cpuNs, int64_t delayNs) {
            Program program;
            program.addSteps(4 * ms);
            test::addState(program, program.defaultThread(), ThreadState::Running,
                           {0, Program::steps * Program::stepNs}, cpuNs, delayNs);
            return explain::explain(summaryOf(program));
        };
        const Explanation starved = rulesWith(50 * ms, 140 * ms);
        const Finding* found = findingOf(starved, &hostWaitsRule);
        QVERIFY(found != nullptr && findingOf(starved, &launchBoundRule) == nullptr);
        HAS(found->sentence, "waits for a core for most of that time");
        const Explanation running = rulesWith(180 * ms, 10 * ms);
        QVERIFY(findingOf(running, &hostWaitsRule) == nullptr && findingOf(running, &hostWorkRule) != nullptr);
    }

    /// A long launch is long for lack of a core; no other call would be faster.
    void threadWithoutCoreInACallIsNotAdvisedToLaunchLess() {
        const auto explained = [](ThreadState state) {
            Program program;
            const uint32_t thread = program.defaultThread();
            program.SimulatedTrace::addSteps(
                thread, Program::steps, Program::stepNs, Program::stepNs, [&](int64_t at, int64_t step) {
                    program.addApi(thread, "cudaLaunchKernel", at + 10 * us, at + 4 * ms,
                                   static_cast<uint32_t>(step) + 1);
                    program.addKernel(program.defaultStream(), "gemm", at + 4 * ms, at + Program::stepNs,
                                      static_cast<uint32_t>(step) + 1);
                    test::addState(program, thread, state, {at, at + 4 * ms},
                                   state == ThreadState::Running ? 4 * ms : 0,
                                   state == ThreadState::Runnable ? 4 * ms : 0);
                });
            return explain::explain(summaryOf(program));
        };
        const Explanation starved = explained(ThreadState::Runnable);
        const Finding* found = findingOf(starved, &hostWaitsRule);
        QVERIFY(found != nullptr && findingOf(starved, &launchBoundRule) == nullptr);
        HAS(found->sentence, "waits for a core: in cudaLaunchKernel");
        QVERIFY2(found->share > 0.35, qPrintable(QString::number(found->share)));
        const Explanation running = explained(ThreadState::Running);
        QVERIFY(findingOf(running, &hostWaitsRule) == nullptr);
        QVERIFY(findingOf(running, &launchBoundRule) != nullptr);
    }

    /// The call should return at once, and the GPU waits for the work after it.
    void pageableCopyBlocksTheCpu() {
        const auto explained = [](MemoryKind source) {
            Program program;
            const uint32_t thread = program.defaultThread(), stream = program.defaultStream();
            program.SimulatedTrace::addSteps(thread, 20, 10 * ms, 10 * ms, [&](int64_t at, uint32_t step) {
                program.addApi(thread, "cudaMemcpyAsync", at, at + 3 * ms, step + 1);
                program.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, at + 2 * ms, at + 2'100 * us, step + 1, source);
                program.launch(thread, stream, "gemm", at + 3'010 * us, at + 3'020 * us, at + 10 * ms);
            });
            return explain::explain(summaryOf(program));
        };
        const Explanation pageable = explained(MemoryKind::Pageable);
        const Finding found = foundBy(pageable, &pageableCopiesRule);
        QVERIFY2(found.share > 0.2, qPrintable(QString::number(found.share)));
        HAS(found.sentence, "in cudaMemcpyAsync of pageable memory");
        QVERIFY(findingOf(explained(MemoryKind::Pinned), &pageableCopiesRule) == nullptr);
        QVERIFY(findingOf(explained(MemoryKind::Pinned), &launchBoundRule) != nullptr);
    }

    void pausesBetweenStepsCountByTheirIdleTime() {
        const std::vector<TimeRange> steps{{0, 100}, {100, 200}, {300, 400}, {500, 600}};
        const auto work = [](std::vector<TimeRange> ranges) {
            WorkList made;
            for (const TimeRange& each : ranges) {
                made.push_back(GpuWork{.startNs = each.startNs, .endNs = each.endNs});
            }
            return made;
        };
        QCOMPARE(pausesBetween({}, work({})), StepPauses());
        // One thread until inside the first pause, one within it, one throughout the second and longer.
        const StepPauses pauses = pausesBetween(steps, work({{50, 210}, {220, 280}, {390, 550}}));
        QCOMPARE(test::listed(pauses.count, pauses.idleNs, pauses.longestStartNs), "2 | 30 | 200");
        QCOMPARE(test::listed(pauses.longestNs, pausesBetween(steps, work({})).idleNs), "100 | 200");

        MadeRun made;
        made.run().workers[0].pauses = {2, 100 * ms, 5'000 * ms, 80 * ms};
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), std::vector{&idleBetweenStepsRule});
        const Finding& finding = explanation.findings.front();
        QCOMPARE(finding.maxGainNs, 10 * ms);
        HAS(finding.sentence,
            "100.0 ms in 2 pauses between steps, one every 5 steps, 10.0 % of the time of "
            "steps and pauses. The longest pause takes 80.00 ms");
        HAS(finding.sql, "step = 0 AND busy = 0");
        const Result<FindingPlace> place = placeOf(*Program().finish(), made.run(), finding);
        QVERIFY(place && place->range == (TimeRange{5'000 * ms, 5'080 * ms}));
        made.run().workers[0].pauses.count = 1;
        const std::string one = explain::explain(made.run()).findings.front().sentence;
        HAS(one, "in one pause between steps, 10.0 % of the time of steps and pause.");
        made.run().workers[0].pauses.idleNs = 10 * ms;
        QVERIFY(rulesOf(made).empty());
    }

    void explainReportsManySmallGapsOnce() {
        MadeRun made;
        const auto add = [&](StepPart part, const IdleCause& cause, int64_t ns) {
            made.add(part, ContributorKind::Idle, cause, ns);
        };
        add(StepPart::OtherIdle, idle(CauseKind::QueuedWork), 9 * ms);
        add(StepPart::LaunchBound, idle(CauseKind::OutsideCalls), 12 * ms);
        const Explanation explanation = explain::explain(made.run());
        QCOMPARE(rulesOf(explanation), std::vector{&gpuIdleRule});
        QCOMPARE(explanation.findings[0].maxGainNs, 21 * ms);
        HAS(explanation.findings[0].sentence, "mostly in host code (no CUDA call)");
        QVERIFY(!explanation.findings[0].sql.empty());
        QVERIFY(rulesOf(explain::explain(made.run(), {&gpuIdleRule})).empty());
        // A cause with its own rule is not reported again, even if that rule is disabled.
        add(StepPart::LaunchBound, idleIn("cudaLaunchKernel"), 20 * ms);
        QCOMPARE(rulesOf(made), std::vector{&launchBoundRule});
        QVERIFY(rulesOf(explain::explain(made.run(), {&launchBoundRule})).empty());
    }

    void everyThrottleReasonHasASentence() {
        uint64_t slowing = 0;
        for (const ThrottleReason& reason : throttleReasons()) {
            QVERIFY(!reason.meaning.empty());
            if (reason.isSlowdown) slowing |= reason.bit;
        }
        QCOMPARE(slowingReasons(), slowing);
    }

    void unfinishedRunIsReportedAsTheRunSoFar() {
        MadeRun made;
        made.run().facts.isStillRecorded = true;
        const Explanation explanation = explain::explain(made.run());
        QVERIFY2(explanation.sentence.starts_with("Of the run so far: The GPU computes"), explanation.sentence.c_str());
        QCOMPARE(explanation.caveats.size(), size_t{1});
        HAS(explanation.caveats[0], "still being recorded");
    }
};

LANESCOPE_TEST(tst_explain, NoApplication)
#include "tst_explain.moc"
