// SPDX-License-Identifier: Apache-2.0
#include "model/compare/RunComparison.h"
#include "model/importers/loadTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

/// Returns true if the time is within 10 % of the known cause.
bool isAbout(int64_t ns, double expectedNs) {
    return std::abs(static_cast<double>(ns) - expectedNs) <= 0.1 * std::abs(expectedNs);
}

const ContributorDifference* named(const RunComparison& comparison, const Cause& cause) {
    for (const ContributorDifference& each : comparison.criticalPair()->contributors)
        if (cause.main && each.part == cause.part && each.name() == cause.main->name() && each.path == cause.main->path)
            return &each;
    return nullptr;
}

/// Returns true if the top sentence gives this reason.
bool tells(const RunComparison& comparison, const std::string& text) {
    return !text.empty() && comparison.answer.sentence.find(text) != std::string::npos;
}

constexpr std::array pairNames{std::pair("resnet152-nvlink", "resnet152-no-p2p"),
                               std::pair("same1", "pageable"),
                               std::pair("same1", "stall"),
                               std::pair("same1", "extra"),
                               std::pair("workers4", "workers0"),
                               std::pair("same1", "bf16"),
                               std::pair("same1", "same2"),
                               std::pair("same2", "same3"),
                               std::pair("same3", "same4"),
                               std::pair("same4", "same5"),
                               std::pair("same5", "same6")};

}  // namespace

/// Tests "Why is run B slower?" on pairs of recordings from a real GPU that differ in one known
/// way. Plain loops over the events of the compared steps give the expected answer.
class TestGoldenComparison : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        const std::filesystem::path source = LANESCOPE_SOURCE_DIR;
        for (const auto& [baseline, candidate] : pairNames) {
            for (const std::string name : {baseline, candidate}) {
                if (runs_.contains(name)) continue;
                const bool isSample = name.starts_with("resnet152");
                const std::filesystem::path folder =
                    source / (isSample ? "resources/samples" : "tests/golden/compare-pairs");
                const Result<TracePtr> trace = loadTrace(folder / (name + ".sqlite.gz"));
                QVERIFY2(trace.has_value(), trace ? "" : trace.error().sentence.c_str());
                const Result<RunSummary> summary = summarizeRun(**trace);
                QVERIFY2(summary.has_value(), name.c_str());
                QVERIFY2(!summary->isEmpty(), name.c_str());
                runs_[name] = {*trace, *summary};
            }
        }
    }

    void everySumIsExact_data() {
        QTest::addColumn<QString>("baseline");
        QTest::addColumn<QString>("candidate");
        for (const auto& [baseline, candidate] : pairNames)
            QTest::addRow("%s against %s", candidate, baseline) << baseline << candidate;
    }
    void everySumIsExact() {
        QFETCH(QString, baseline);
        QFETCH(QString, candidate);
        for (const QString& name : {baseline, candidate}) {
            for (const WorkerSummary& worker : run(name.toStdString()).summary.workers) {
                QVERIFY(worker.steps.size() >= 9);
                for (const StepSummary& step : worker.steps) QCOMPARE(step.parts.sum(), step.wallNs);
                StepParts sums;
                for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
                QCOMPARE(sums, worker.totalParts());
            }
        }
        for (const WorkerComparison& pair : compared(baseline.toStdString(), candidate.toStdString()).workers) {
            int64_t before = 0, after = 0, contributors = 0, ranges = 0;
            for (const PartDifference& part : pair.parts) {
                before += part.baselineNs;
                after += part.candidateNs;
            }
            for (const ContributorDifference& each : pair.contributors) contributors += each.lostNs();
            for (const RangeDifference& range : pair.ranges) ranges += range.lostNs();
            QCOMPARE(before, pair.baseline.meanNs);
            QCOMPARE(after, pair.candidate.meanNs);
            QCOMPARE(contributors, pair.lostNs());
            QCOMPARE(ranges, pair.lostNs());
        }
    }

    void lostNvlinkIsReportedAsExposedAllReduce() {
        const RunComparison comparison = compared("resnet152-nvlink", "resnet152-no-p2p");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.at(0);
        QCOMPARE(cause.part, StepPart::ExposedCommunication);
        QVERIFY(cause.main);
        QCOMPARE(cause.main->name().text(), std::string("AllReduce"));
        QCOMPARE(qRound(cause.main->baseline.gigabytesPerSecond * 10), 2243);
        QCOMPARE(qRound(cause.main->candidate.gigabytesPerSecond * 10), 278);
        const WorkerComparison& pair = *comparison.criticalPair();
        // The ranks waited less for each other, because the exchange took the time.
        int64_t togetherNs = 0;
        for (const PartDifference& part : pair.parts)
            if (groupOf(part.part) == PartGroup::Collectives) togetherNs += part.lostNs();
        QVERIFY(isAbout(togetherNs, static_cast<double>(pair.lostNs())));
        QVERIFY(tells(comparison, cause.text));
    }

    void pageableBatchesAreReportedAsExposedCopies() {
        const RunComparison comparison = compared("same1", "pageable");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.at(0);
        QCOMPARE(cause.part, StepPart::ExposedHtoD);
        QVERIFY(tells(comparison, cause.text));
        const ContributorDifference* copies = named(comparison, cause);
        QVERIFY(copies);
        QCOMPARE(copies->match, MatchKind::SamePosition);
        QCOMPARE(copies->baseline.name.text(), std::string("HtoD from pinned"));
        QCOMPARE(copies->candidate.name.text(), std::string("HtoD from pageable"));
        QVERIFY(copies->baseline.gigabytesPerSecond > 3 * copies->candidate.gigabytesPerSecond);
        const auto isHtoD = [](const Trace& trace, uint32_t row) {
            return trace.memcpys.kind[row] == MemcpyKind::HtoD;
        };
        const double busyNs = perStepNs(run("pageable"), run("pageable").trace->memcpys, isHtoD) -
                              perStepNs(run("same1"), run("same1").trace->memcpys, isHtoD);
        QVERIFY(busyNs > 500e3);
        QVERIFY(isAbout(cause.lostNs, busyNs));
    }

    void stalledStepsAreReportedDespiteEqualMedian() {
        const RunComparison comparison = compared("same1", "stall");
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        QCOMPARE(comparison.outliers.size(), size_t{2});
        std::set<int64_t> numbers;
        for (const RunOutlier& outlier : comparison.outliers) {
            QVERIFY(outlier.isCandidate);
            const OutlierStep& step = outlier.step;
            numbers.insert(step.number);
            QVERIFY(isIdle(step.part));
            QVERIFY(step.part != StepPart::DataLoading);
            QCOMPARE(step.path, std::string("checkpoint"));
            const auto& steps = run("stall").worker().steps;
            const auto found = std::find_if(steps.begin(), steps.end(),
                                            [&step](const auto& each) { return each.number == step.number; });
            QVERIFY(found != steps.end());
            const int64_t checkpointNs = rangeNs(run("stall"), *found, "checkpoint");
            QVERIFY(checkpointNs >= 5'000'000);
            QVERIFY(isAbout(step.excessNs, static_cast<double>(checkpointNs)));
            QVERIFY(isAbout(step.partExcessNs, static_cast<double>(checkpointNs)));
        }
        QCOMPARE(numbers, (std::set<int64_t>{7, 17}));
        QVERIFY(tells(comparison, "checkpoint"));
        QVERIFY(tells(comparison, "step 7") && tells(comparison, "step 17"));
    }

    void extraKernelIsReportedAsNewCompute() {
        const RunComparison comparison = compared("same1", "extra");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.front();
        QCOMPARE(cause.part, StepPart::Compute);
        QVERIFY(cause.isChangeOfKind);
        QVERIFY(tells(comparison, cause.text));
        // Other changes may be named, too, but no longer ones of equal work.
        for (const Cause& each : comparison.answer.causes) QVERIFY(each.isChangeOfKind);

        const std::set<std::string> known = kernelNames(run("same1"));
        const double extraNs =
            perStepNs(run("extra"), run("extra").trace->kernels,
                      [&](const Trace& trace, uint32_t row) { return !known.contains(kernelName(trace, row)); });
        QVERIFY(extraNs > 2e6);
        QVERIFY(isAbout(cause.lostNs, extraNs));

        std::map<std::string, double> launches;  // by range
        int64_t onlyCandidateNs = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors) {
            if (each.part != StepPart::Compute || each.match != MatchKind::OnlyCandidate) continue;
            QVERIFY(!known.contains(each.name().text()));
            launches[each.path] += each.candidate.count;
            onlyCandidateNs += each.candidate.exposedNs;
        }
        QCOMPARE(launches, (std::map<std::string, double>{{"backward", 8}, {"forward", 8}}));
        QVERIFY(isAbout(onlyCandidateNs, extraNs));
        const ContributorDifference* kernel = named(comparison, cause);
        QVERIFY(kernel);
        QCOMPARE(kernel->match, MatchKind::OnlyCandidate);
    }

    void loadingInTheTrainingThreadIsReportedAsDataLoading() {
        const RunComparison comparison = compared("workers4", "workers0");
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(comparison.answer.causes.size(), size_t{1});
        const Cause& cause = comparison.answer.causes.front();
        QCOMPARE(cause.part, StepPart::DataLoading);
        QVERIFY(cause.main);
        QCOMPARE(cause.main->path, std::string("data"));
        QVERIFY(tells(comparison, cause.text));
        const double waitNs = waitForBatchNs(run("workers0")) - waitForBatchNs(run("workers4"));
        QVERIFY(waitNs > 10e6);
        QVERIFY(isAbout(cause.lostNs, waitNs));
    }

    void identicalRunsAreWithinNoise() {
        for (int a = 1; a <= 6; ++a) {
            for (int b = 1; b <= 6; ++b) {
                if (a == b) continue;
                const RunComparison comparison = compared("same" + std::to_string(a), "same" + std::to_string(b));
                QVERIFY2(comparison.answer.outcome == Outcome::Alike, comparison.answer.sentence.c_str());
                QVERIFY(comparison.answer.causes.empty());
                QVERIFY(comparison.answer.cautions.empty());
                QVERIFY(comparison.outliers.empty());
            }
        }
    }

    void otherPrecisionMatchesRenamedKernels() {
        const RunComparison comparison = compared("same1", "bf16");
        QCOMPARE(comparison.answer.outcome, Outcome::Shorter);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::Compute);
        QVERIFY(tells(comparison, comparison.answer.causes[0].text));
        // Names of cuDNN's inner convolutions state their purpose and precision.
        const std::map<std::string, std::string> convolutions{{"sm90_xmma_fprop_implicit_gemm", "forward"},
                                                              {"sm90_xmma_dgrad_implicit_gemm", "backward"},
                                                              {"sm90_xmma_wgrad_indexed_implicit_gemm", "backward"}};
        size_t found = 0;
        for (const ContributorDifference& each : comparison.criticalPair()->contributors) {
            for (const auto& [name, range] : convolutions) {
                if (each.baseline.name.work.find(name + "_f32f32") == std::string::npos || each.path != range) continue;
                ++found;
                QCOMPARE(each.match, MatchKind::SamePosition);
                QVERIFY2(each.candidate.name.work.find(name + "_bf16bf16") != std::string::npos,
                         each.candidate.name.work.c_str());
                QCOMPARE(each.baseline.count, each.candidate.count);
                QVERIFY(each.lostNs() < 0);
            }
        }
        QVERIFY(found >= convolutions.size());
    }

  private:
    struct Run {
        TracePtr trace;
        RunSummary summary;
        const WorkerSummary& worker() const { return summary.workers.at(0); }
    };
    /// Predicate: the row of a table counts.
    using Counts = std::function<bool(const Trace&, uint32_t row)>;

    const Run& run(const std::string& name) { return runs_.at(name); }

    RunComparison compared(const std::string& baseline, const std::string& candidate) {
        return compareRuns(BaselineRun{run(baseline).summary}, CandidateRun{run(candidate).summary});
    }

    /// Summed durations per step of the counted rows that start in the compared steps.
    template <class Table>
    static double perStepNs(const Run& run, const Table& table, const Counts& counts) {
        int64_t sum = 0;
        for (const StepSummary& step : run.worker().steps)
            for (uint32_t row = 0; row < table.size(); ++row)
                if (table.startNs[row] >= step.startNs && table.startNs[row] < step.startNs + step.wallNs &&
                    counts(*run.trace, row))
                    sum += table.endNs[row] - table.startNs[row];
        return static_cast<double>(sum) / static_cast<double>(run.worker().steps.size());
    }

    static std::string kernelName(const Trace& trace, uint32_t row) {
        const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
        return std::string(trace.strings.at(config.demangledName));
    }

    static std::set<std::string> kernelNames(const Run& run) {
        std::set<std::string> names;
        for (uint32_t row = 0; row < run.trace->kernels.size(); ++row) names.insert(kernelName(*run.trace, row));
        return names;
    }

    /// Total duration of the NVTX ranges with that text that start in a step.
    static int64_t rangeNs(const Run& run, const StepSummary& step, std::string_view text) {
        const NvtxTable& nvtx = run.trace->nvtx;
        int64_t sum = 0;
        for (uint32_t row = 0; row < nvtx.size(); ++row)
            if (run.trace->strings.at(nvtx.text[row]) == text && nvtx.startNs[row] >= step.startNs &&
                nvtx.startNs[row] < step.startNs + step.wallNs)
                sum += nvtx.endNs[row] - nvtx.startNs[row];
        return sum;
    }

    /// Mean time over the steps from the end of the GPU work to its next batch copy.
    static double waitForBatchNs(const Run& run) {
        const Trace& trace = *run.trace;
        int64_t sum = 0;
        for (const StepSummary& step : run.worker().steps) {
            int64_t copyNs = INT64_MAX;
            for (uint32_t row = 0; row < trace.memcpys.size(); ++row)
                if (trace.memcpys.kind[row] == MemcpyKind::HtoD && trace.memcpys.bytes[row] > 1'000'000 &&
                    trace.memcpys.startNs[row] >= step.startNs)
                    copyNs = std::min(copyNs, trace.memcpys.startNs[row]);
            int64_t doneNs = 0;
            for (uint32_t row = 0; row < trace.kernels.size(); ++row)
                if (trace.kernels.endNs[row] <= copyNs) doneNs = std::max(doneNs, trace.kernels.endNs[row]);
            sum += copyNs - doneNs;
        }
        return static_cast<double>(sum) / static_cast<double>(run.worker().steps.size());
    }

    std::map<std::string, Run> runs_;
};

LANESCOPE_TEST(TestGoldenComparison, NoApplication)
#include "tst_GoldenComparison.moc"
