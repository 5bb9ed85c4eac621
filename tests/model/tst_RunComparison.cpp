// SPDX-License-Identifier: Apache-2.0
#include "model/compare/ComparisonTable.h"
#include "model/compare/RunComparison.h"
#include "model/compare/matchContributors.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

constexpr int64_t us = 1000;

/// A simulated training of one or more ranks whose steps are: copy, some kernels, a collective.
struct Training {
    int steps = 20, ranks = 1;
    uint32_t seed = 1;
    std::vector<std::string> kernels{"gemm", "norm", "gelu"};
    int64_t kernelUs = 500, reduceUs = 200;
    int64_t slowRankUs = 0;   ///< Longer kernels on the last rank; the others wait in the reduce.
    int64_t batchWaitUs = 0;  ///< In the range "data".
    bool isPageable = false, hasRanges = true;
    std::string gpu = "Simulated H200";
    int64_t stallUs = 0;  ///< CPU stall in step 7.
};

class Maker {
  public:
    explicit Maker(const Training& training) : training_(training), random_(training.seed) {}

    RunSummary summary(const StepSelection& selection = {}) {
        const TracePtr trace = make();
        const Result<RunSummary> made = summarizeRun(*trace, selection);
        return made ? *made : RunSummary{};
    }

    TracePtr make() {
        for (int rank = 0; rank < training_.ranks; ++rank) addRank(rank);
        builder_.description().interconnect.connections.push_back({0, 1, 18, "NVLink", "NV18"});
        return builder_.finish("simulated-" + std::to_string(training_.seed));
    }

  private:
    void addRank(int rank) {
        uint32_t process = 0;
        if (rank > 0)
            process = builder_.addProcess(static_cast<uint32_t>(4242 + rank), "python3", rank);
        else
            builder_.processes()[0].rank = 0;
        thread_ = builder_.addThread(process, builder_.processes()[process].pid, "python3");
        stream_ = builder_.addStream(process, builder_.addGpu(training_.gpu), 7, true);
        nowNs_ = 0;
        for (int step = 0; step < training_.steps; ++step) addStep(step, rank);
    }

    void addStep(int step, int rank) {
        const int64_t startNs = nowNs_;
        nowNs_ += training_.batchWaitUs * us + 20 * us;
        builder_.addApi(thread_, "cudaMemcpyAsync", nowNs_ - 10 * us, nowNs_ - us, ++correlation_);
        builder_.addMemcpy(stream_, MemcpyKind::HtoD, 1 << 20, nowNs_, nowNs_ + (training_.isPageable ? 100 : 20) * us,
                           correlation_, training_.isPageable ? MemoryKind::Pageable : MemoryKind::Pinned);
        nowNs_ += (training_.isPageable ? 100 : 20) * us;
        addRange("data", startNs);
        const int64_t forwardNs = nowNs_;
        if (step == 7) nowNs_ += training_.stallUs * us;
        const bool isSlow = rank + 1 == training_.ranks;
        for (const std::string& kernel : training_.kernels)
            addKernel(kernel, (training_.kernelUs + (isSlow ? training_.slowRankUs : 0)) * us);
        addRange("forward", forwardNs);
        const int64_t waitNs = isSlow ? 0 : training_.slowRankUs * us * static_cast<int64_t>(training_.kernels.size());
        builder_.addNccl(thread_, "AllReduce", 20'000'000, nowNs_ - 20 * us, nowNs_ - us);
        addKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", training_.reduceUs * us + waitNs);
        if (training_.hasRanges) builder_.addNvtx(thread_, "step " + std::to_string(step), startNs, nowNs_);
    }

    void addRange(const char* name, int64_t startNs) {
        if (training_.hasRanges) builder_.addNvtx(thread_, name, startNs, nowNs_);
    }

    void addKernel(const std::string& name, int64_t lengthNs) {
        const auto jitterNs = static_cast<int64_t>(random_() % (2 * us));
        builder_.addApi(thread_, "cudaLaunchKernel", nowNs_ - 10 * us, nowNs_ - 5 * us, ++correlation_);
        builder_.addKernel(stream_, name, nowNs_, nowNs_ + lengthNs + jitterNs, correlation_);
        nowNs_ += lengthNs + jitterNs;
    }

    Training training_;
    std::mt19937 random_;
    SimulatedTrace builder_;
    uint32_t thread_ = 0, stream_ = 0, correlation_ = 0;
    int64_t nowNs_ = 0;
};

RunComparison comparisonOf(const Training& baseline, const Training& candidate) {
    const RunSummary before = Maker(baseline).summary(), after = Maker(candidate).summary();
    return compareRuns(BaselineRun{before}, CandidateRun{after});
}

bool hasCaution(const RunComparison& comparison, const char* text) {
    for (const std::string& caution : comparison.answer.cautions)
        if (caution.find(text) != std::string::npos) return true;
    return false;
}

bool says(const RunComparison& comparison, const char* text) {
    return comparison.answer.sentence.find(text) != std::string::npos;
}

Contributor kernel(const std::string& name, const std::string& path, int64_t count, int64_t order) {
    Contributor contributor{.name = name, .path = path, .count = count, .exposedNs = 1000, .order = order};
    return contributor;
}

/// One GPU with a stream for each id, each with a kernel.
TracePtr withStreams(std::initializer_list<int64_t> streamIds) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu();
    int64_t nowNs = 0;
    for (const int64_t id : streamIds) {
        builder.addKernel(builder.addStream(0, gpu, id), "gemm", nowNs, nowNs + 100);
        nowNs += 200;
    }
    return builder.finish();
}

std::string titleOf(const Trace& trace, uint32_t track) { return track == noIndex ? "-" : trace.tracks[track].title; }

std::vector<std::string> titles(const Trace& baseline, const Trace& candidate) {
    std::vector<std::string> lines;
    for (const TrackPair& pair : pairTracks(baseline, candidate)) {
        lines.push_back(titleOf(baseline, pair.baseline) + " = " + titleOf(candidate, pair.candidate));
    }
    return lines;
}

bool contains(const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

/// Checks that every track occurs once, in order on both sides.
void checkOrder(const Trace& baseline, const Trace& candidate) {
    uint32_t nextBaseline = 0, nextCandidate = 0;
    for (const TrackPair& pair : pairTracks(baseline, candidate)) {
        if (pair.baseline != noIndex) QCOMPARE(pair.baseline, nextBaseline++);
        if (pair.candidate != noIndex) QCOMPARE(pair.candidate, nextCandidate++);
    }
    QCOMPARE(size_t{nextBaseline}, baseline.tracks.size());
    QCOMPARE(size_t{nextCandidate}, candidate.tracks.size());
}

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

CounterSeries counter(std::string name, uint32_t gpu, const LargeVector<int64_t>& timesNs,
                      const LargeVector<double>& values, int64_t endNs) {
    CounterSeries series;
    series.name = std::move(name);
    series.gpu = gpu;
    series.set(timesNs, values, endNs);
    return series;
}

TracePtr traceWith(std::vector<CounterSeries> counters) {
    SimulatedTrace builder;
    builder.addGpu();
    builder.addGpu();
    for (CounterSeries& counter : counters) builder.counter(std::move(counter));
    return builder.finish();
}

/// A run with steps of that time, all in one kernel.
RunSummary runOf(int64_t stepNs) {
    SimulatedTrace builder;
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    builder.addSteps(thread, 20, stepNs, stepNs - 1'000, [&](int64_t at, int step) {
        builder.launch(thread, stream, "gemm", at + 1'000, at + 10'000, at + stepNs - 20'000 - step % 5 * 1'000);
    });
    return test::orFail(summarizeRun(*builder.finish()));
}

QString sentenceOf(const RunSummary& before, const RunSummary& after) {
    return QString::fromStdString(compareRuns({before}, {after}).answer.sentence);
}

}  // namespace

class tst_RunComparison : public QObject {
    Q_OBJECT

  private slots:
    void criticalPathsAreComparedByPartAndLine() {
        RunSummary before = Maker({}).summary(), after = before;
        before.workers[0].path = {{PathPart::Kernel, 0, 1, "attention", "a.py:8", 5000 * us, 2},
                                  {PathPart::Call, 0, 1, "cuLaunchKernel", "a.py:9", 40 * us, 2},
                                  {PathPart::Host, 0, 1, "", "a.py:9", 30 * us, 2}};
        after.workers[0].path = {{PathPart::Copy, 0, 7, "HtoD", "a.py:2", 900 * us, 1},
                                 {PathPart::Kernel, 0, 7, "attention", "a.py:8", 4000 * us, 2},
                                 {PathPart::Call, 0, 7, "cuLaunchKernel", "a.py:9", 40 * us, 2}};
        const RunComparison comparison = compareRuns(BaselineRun{before}, CandidateRun{after});
        const std::vector<PathDifference>& path = comparison.workers.at(0).path;
        QCOMPARE(path.size(), size_t{4});
        QCOMPARE(test::listed(path[0].lostNs(), path[1].lostNs()), test::listed(-1000 * us, 900 * us));
        QVERIFY(!path[1].baselineNs && path[1].part.name == "HtoD");
        QCOMPARE(test::listed(path[2].lostNs(), path[3].lostNs()), test::listed(-30 * us, 0));
        // The step takes some 2 ms, and less than a hundredth of it is no change.
        const ComparisonTable changes = pathChangeTable(comparison.workers.at(0), 0);
        QCOMPARE(test::listed(changes.rows.size(), changes.text(1, 0)), "3 | +0.900 ms");
        QCOMPARE(pathChangeTable(comparison.workers.at(0), 1).rows.size(), size_t{1});
        after.workers[0].path.clear();
        QVERIFY(compareRuns(BaselineRun{before}, CandidateRun{after}).workers.at(0).path.empty());
    }

    void fivePairsOfIdenticalRunsAreWithinNoise() {
        for (uint32_t seed = 1; seed <= 5; ++seed) {
            const RunComparison comparison = comparisonOf({.seed = seed}, {.seed = seed + 100});
            QCOMPARE(comparison.answer.outcome, Outcome::Alike);
            QVERIFY(says(comparison, "steps are alike"));
            QVERIFY(comparison.answer.causes.empty() && comparison.answer.cautions.empty());
        }
    }

    void slowerKernelsAreTheCause() {
        const RunComparison comparison = comparisonOf({}, {.seed = 2, .kernels = {"gemm", "norm", "gelu", "dropout"}});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::Compute);
        QVERIFY(says(comparison, "kernel dropout<float>, which the baseline does not have"));
        QVERIFY(hasCaution(comparison, "Kernels per step"));
    }

    void slowerCommunicationIsTheCauseWithItsBandwidth() {
        const RunComparison comparison = comparisonOf({.ranks = 2}, {.ranks = 2, .seed = 2, .reduceUs = 1000});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const Cause& cause = comparison.answer.causes.at(0);
        QCOMPARE(cause.part, StepPart::ExposedCommunication);
        QVERIFY(cause.main);
        QCOMPARE(cause.main->name().text(), std::string("AllReduce"));
        const double before = cause.main->baseline.gigabytesPerSecond;
        const double after = cause.main->candidate.gigabytesPerSecond;
        QVERIFY(before > 95 && before < 101);
        QVERIFY(after > 19 && after < 21);
        for (const char* part : {"bus bandwidth", "NVLink"}) QVERIFY2(says(comparison, part), part);
        QVERIFY(comparison.answer.cautions.empty());
    }

    void criticalRankIsExplained() {
        const RunComparison comparison = comparisonOf({.ranks = 3}, {.ranks = 3, .seed = 2, .slowRankUs = 200});
        QCOMPARE(test::listed(comparison.workers.size(), comparison.critical), "3 | 2");
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::Compute);
        const WorkerComparison& waiting = comparison.workers[0];
        const auto waits = std::find_if(waiting.parts.begin(), waiting.parts.end(),
                                        [](const auto& each) { return each.part == StepPart::WaitingForRanks; });
        QVERIFY(waits != waiting.parts.end() && waits->lostNs() > waiting.lostNs() * 9 / 10);
    }

    void dataWaitIsTheCause() {
        const RunComparison comparison = comparisonOf({}, {.seed = 2, .batchWaitUs = 900});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::DataLoading);
        QVERIFY(comparison.answer.causes.at(0).main);
        QCOMPARE(comparison.answer.causes[0].main->path, std::string("data"));
    }

    void copiesFromOtherMemoryAreMatched() {
        const RunComparison comparison = comparisonOf({}, {.seed = 2, .isPageable = true});
        const auto copy =
            std::find_if(comparison.criticalPair()->contributors.begin(), comparison.criticalPair()->contributors.end(),
                         [](const auto& each) { return each.kind == ContributorKind::Copy; });
        QVERIFY(copy != comparison.criticalPair()->contributors.end());
        QCOMPARE(copy->match, MatchKind::SamePosition);
        QCOMPARE(copy->baseline.name.text(), std::string("HtoD from pinned"));
        QCOMPARE(copy->name().text(), std::string("HtoD from pageable"));
        QVERIFY(says(comparison, "in the place of HtoD from pinned"));
    }

    void oneStalledStepIsReportedDespiteEqualMedian() {
        const RunComparison comparison = comparisonOf({.steps = 10}, {.steps = 10, .seed = 2, .stallUs = 5000});
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        for (const char* part : {"but step 7 of the candidate", "waiting for launches", "in the range \"forward\""})
            QVERIFY2(says(comparison, part), part);
        QCOMPARE(comparison.outliers.size(), size_t{1});
        QCOMPARE(outlierTable(comparison, Wording::Wide).rows.size(), size_t{1});
    }

    void renamedKernelsAreMatchedByPlace() {
        const std::vector<Contributor> before{kernel("void gemm<float, 128>(int)", "forward", 40, 1),
                                              kernel("softmax_v1", "forward", 20, 5), kernel("gone", "forward", 7, 6),
                                              kernel("void adam<float>()", "optimizer", 10, 9)};
        const std::vector<Contributor> after{kernel("void gemm<half, 64>(int)", "forward", 60, 1),
                                             kernel("flash_softmax", "forward", 20, 5), kernel("new", "forward", 33, 8),
                                             kernel("void adam<float>()", "optimizer", 10, 9)};
        std::map<uint32_t, ContributorMatch> ofBaseline;
        size_t onlyCandidate = 0;
        for (const ContributorMatch& match : matchContributors(before, after, 10, 10)) {
            if (match.kind == MatchKind::OnlyCandidate)
                ++onlyCandidate;
            else
                ofBaseline[match.baseline] = match;
        }
        QCOMPARE(ofBaseline[0].candidate, uint32_t{0});  // same family
        QCOMPARE(ofBaseline[0].kind, MatchKind::SamePosition);
        QCOMPARE(ofBaseline[1].candidate, uint32_t{1});  // same count in the same range
        QCOMPARE(ofBaseline[2].kind, MatchKind::OnlyBaseline);
        QCOMPARE(ofBaseline[3].kind, MatchKind::SameName);
        QCOMPARE(onlyCandidate, size_t{1});
    }

    void kernelFamiliesAreMatched() {
        QCOMPARE(kernelFamily("void gemm<float, 128>(int, float*)"), std::string("gemm"));
        QCOMPARE(kernelFamily("void at::native::(anonymous namespace)::add<half>(int)"),
                 std::string("at::native::add"));
        QCOMPARE(kernelFamily("sm90_gemm_128x64_nn"), std::string("sm#_gemm_#x#_nn"));
        QCOMPARE(kernelFamily(""), std::string());
    }

    void everyContributorIsInOneMatch() {
        std::mt19937 random(5);
        for (int round = 0; round < 100; ++round) {
            std::vector<Contributor> sides[2];
            for (auto& side : sides)
                for (uint32_t index = random() % 30; index > 0; --index)
                    side.push_back(kernel("k" + std::to_string(random() % 40) + "x",
                                          random() % 2 ? "forward" : "backward", random() % 5,
                                          static_cast<int64_t>(random() % 50)));
            std::vector<int> seen[2] = {std::vector<int>(sides[0].size()), std::vector<int>(sides[1].size())};
            for (const ContributorMatch& match : matchContributors(sides[0], sides[1], 3, 4)) {
                if (match.baseline != noIndex) ++seen[0][match.baseline];
                if (match.candidate != noIndex) ++seen[1][match.candidate];
                if (match.baseline != noIndex && match.candidate != noIndex)
                    QCOMPARE(sides[0][match.baseline].part, sides[1][match.candidate].part);
            }
            for (const auto& counts : seen)
                for (const int count : counts) QCOMPARE(count, 1);
        }
    }

    void runsWithoutRangesAreComparedByTheirKernels() {
        const RunComparison comparison =
            comparisonOf({.hasRanges = false}, {.seed = 2, .kernelUs = 700, .hasRanges = false});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QCOMPARE(comparison.baselineSource, StepSource::KernelPattern);
        QVERIFY(hasCaution(comparison, "Neither run marks its steps"));
    }

    void rangesOnOneSideOnlyAreReported() {
        const RunComparison comparison = comparisonOf({}, {.seed = 2, .kernelUs = 700, .hasRanges = false});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        QVERIFY(hasCaution(comparison, "Steps come from"));
    }

    void differentRangeCountsPerStepAreReported() {
        const RunSummary baseline = Maker(Training{}).summary();
        RunSummary candidate = Maker(Training{.seed = 2}).summary();
        const auto compared = [&] { return compareRuns(BaselineRun{baseline}, CandidateRun{candidate}); };
        QVERIFY(!hasCaution(compared(), "Steps hold"));
        candidate.rangesPerStep = 4;
        candidate.kind = StepKind::Request;
        QVERIFY(hasCaution(compared(), "Steps hold: one range each in the baseline, 4 ranges each"));
        QVERIFY(hasCaution(compared(), "What repeats is a: step in the baseline, request"));
    }

    void otherGpusAndWorldSizesAreCautions() {
        const RunComparison comparison = comparisonOf({.ranks = 1}, {.ranks = 8, .seed = 2, .gpu = "Simulated B200"});
        QVERIFY(hasCaution(comparison, "GPUs: 1 x Simulated H200 in the baseline, 8 x Simulated"));
        QVERIFY(hasCaution(comparison, "World size: 1") && hasCaution(comparison, "only pairs are compared"));
        QCOMPARE(comparison.workers.size(), size_t{1});
        QVERIFY(comparison.answer.outcome != Outcome::Nothing);
    }

    void differentNumbersOfStepsAreCompared() {
        const RunComparison comparison = comparisonOf({.steps = 7}, {.steps = 50, .seed = 2, .kernelUs = 600});
        QCOMPARE(comparison.answer.outcome, Outcome::Longer);
        const WorkerComparison& pair = *comparison.criticalPair();
        QCOMPARE(test::listed(pair.baseline.count, pair.candidate.count), "7 | 50");
        int64_t lost = 0;
        for (const PartDifference& part : pair.parts) lost += part.lostNs();
        QCOMPARE(lost, pair.lostNs());
        const ComparisonView view{{{"Candidate", &pair}}};
        QCOMPARE(partRows(view, true).size(), stepPartCount);
        QCOMPARE(*stepRow(view).candidates[0].lostNs, pair.lostNs());
    }

    void fewStepsGiveFiguresWithoutClaim() {
        const RunComparison comparison = comparisonOf({.steps = 3}, {.steps = 3, .seed = 2, .kernelUs = 900});
        QCOMPARE(comparison.answer.outcome, Outcome::TooFewSteps);
        QVERIFY(says(comparison, "Too few steps"));
        QCOMPARE(comparison.answer.causes.at(0).part, StepPart::Compute);
    }

    void chosenStepsAreCompared() {
        const Training training{.steps = 30, .stallUs = 9000};
        const RunSummary before = Maker(training).summary(StepSelection{.numbers = StepRange{10, 19}});
        QCOMPARE(before.workers.at(0).steps.size(), size_t{10});
        QVERIFY(before.workers[0].outliers.empty());  // the stall is in step 7
        QCOMPARE(compareRuns(BaselineRun{before}, CandidateRun{before}).answer.outcome, Outcome::Alike);
    }

    void noDifferenceIsReportedPlainly() {
        const RunSummary empty = *summarizeRun(*SimulatedTrace().finish("empty.sqlite"));
        const RunSummary run = Maker(Training{}).summary();
        for (const auto& [before, after] :
             {std::pair(&empty, &run), std::pair(&run, &empty), std::pair(&empty, &empty)}) {
            const RunComparison comparison = compareRuns(BaselineRun{*before}, CandidateRun{*after});
            QCOMPARE(comparison.answer.outcome, Outcome::Nothing);
            QVERIFY(says(comparison, "nothing to compare"));
            QVERIFY(!comparison.criticalPair());
            QVERIFY(workerTable(comparison).rows.empty());
        }
    }

    void killedRunIsComparedWithACaution() {
        RunSummary after = Maker(Training{.seed = 2}).summary();
        after.facts.isTruncated = true;
        after.facts.healthWarnings.assign(6,
                                          {Severity::Warning, HealthCode::EventsDropped, "1,234 events were dropped."});
        const RunSummary before = Maker(Training{}).summary();
        const RunComparison comparison = compareRuns(BaselineRun{before}, CandidateRun{after});
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        QVERIFY(hasCaution(comparison, "The candidate: a process left no exit record"));
        QVERIFY(hasCaution(comparison, "1,234 events were dropped"));
        QVERIFY(hasCaution(comparison, "The candidate: 3 more warnings"));
    }

    void tablesHaveACellForEachColumn() {
        const RunSummary before = Maker(Training{.ranks = 2}).summary();
        const RunSummary after = Maker(Training{.ranks = 2, .seed = 3, .stallUs = 4000}).summary();
        const RunComparison comparison = compareRuns(BaselineRun{before}, CandidateRun{after});
        const ComparisonView view{{{"Candidate", comparison.criticalPair()}}};
        const Layout layout{{Field::Part},          {Field::Kind},           {Field::Match},
                            {Field::Name},          {Field::Range},          {Field::Baseline},
                            {Field::Candidate},     {Field::Lost},           {Field::OtherLost},
                            {Field::Change},        {Field::BaselineShare},  {Field::CandidateShare},
                            {Field::BaselineTotal}, {Field::CandidateTotal}, {Field::BaselineRate},
                            {Field::OnlyCount},     {Field::OnlyTotal}};
        for (const ComparisonTable& table :
             {tableOf(view, partRows(view), layout, Wording::Wide),
              tableOf(view, contributorRows(view), layout, Wording::Programs),
              tableOf(view, rangeRows(view, true), layout, Wording::Narrow), outlierTable(comparison, Wording::Wide),
              workerTable(comparison), stepTable(before.workers[0], after.workers[0])}) {
            QVERIFY(!table.rows.empty());
            QCOMPARE(table.leads.size(), table.rows.size());
            for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
        }
    }

    void roundedTimesAddUp() {
        std::mt19937 random(9);
        for (int round = 0; round < 40; ++round) {
            const auto trainingOf = [&](uint32_t seed) {
                Training training;
                training.ranks = 1 + static_cast<int>(random() % 2);
                training.seed = seed;
                training.kernelUs = 300 + random() % 400;
                return training;
            };
            const RunComparison comparison = comparisonOf(trainingOf(1), trainingOf(2));
            for (size_t index = 0; index < comparison.workers.size(); ++index) {
                const WorkerComparison &shown = comparison.workers[index], &exact = comparison.exact[index];
                const int64_t quantumNs = shown.scale.quantumNs();
                const auto isRounding = [quantumNs](int64_t rounded, int64_t ns) {
                    return rounded % quantumNs == 0 && std::abs(rounded - ns) < quantumNs;
                };
                QVERIFY(isRounding(shown.baseline.meanNs, exact.baseline.meanNs));
                QVERIFY(isRounding(shown.candidate.meanNs, exact.candidate.meanNs));
                StepParts baseline, candidate;
                int64_t lost = 0;
                for (const ContributorDifference& each : shown.contributors) {
                    baseline[each.part] += each.baseline.exposedNs;
                    candidate[each.part] += each.candidate.exposedNs;
                    QCOMPARE(each.baseline.exposedNs % quantumNs, 0);
                }
                for (const RangeDifference& range : shown.ranges) lost += range.lostNs();
                QCOMPARE(lost, shown.lostNs());
                for (size_t part = 0; part < stepPartCount; ++part) {
                    QVERIFY(isRounding(shown.parts[part].baselineNs, exact.parts[part].baselineNs));
                    QCOMPARE(shown.parts[part].baselineNs, baseline.ns[part]);
                    QCOMPARE(shown.parts[part].candidateNs, candidate.ns[part]);
                }
                QCOMPARE(baseline.sum(), shown.baseline.meanNs);
                QCOMPARE(candidate.sum(), shown.candidate.meanNs);
            }
        }
    }

    void onlyEqualDurationsAreTheSameRecording() {
        const auto summaryWith = [](int64_t kernelUs) {
            SimulatedTrace builder;
            for (int64_t index = 0; index < 8; ++index)
                builder.addKernel(builder.defaultStream(), "gemm", index * 100 * us, (index * 100 + kernelUs) * us);
            const Result<RunSummary> made = summarizeRun(*builder.finish());
            return made ? *made : RunSummary{};
        };
        const RunSummary before = summaryWith(50), again = summaryWith(50), other = summaryWith(60);
        const char* const same = "Both sides are the same recording.";
        QVERIFY(hasCaution(compareRuns(BaselineRun{before}, CandidateRun{again}), same));
        QVERIFY(!hasCaution(compareRuns(BaselineRun{before}, CandidateRun{other}), same));
    }

    void severalStalledStepsAreReportedTogether() {
        const RunSummary before = Maker(Training{}).summary();
        RunSummary after = Maker(Training{.seed = 2, .stallUs = 4000}).summary();
        OutlierStep other = after.workers.at(0).outliers.at(0);
        other.number = 11;
        other.name = "step 11";
        other.excessNs -= 1;
        after.workers[0].outliers.push_back(other);
        const auto sentence = [&] {
            return QString::fromStdString(compareRuns(BaselineRun{before}, CandidateRun{after}).answer.sentence);
        };
        QVERIFY2(sentence().endsWith(", and likewise step 11."), qPrintable(sentence()));
        other.path = "elsewhere";
        after.workers[0].outliers[1] = other;
        QVERIFY2(!sentence().contains("likewise"), qPrintable(sentence()));
        other.path = after.workers[0].outliers[0].path;
        after.workers[0].outliers[1] = other;
        after.workers[0].outliers.push_back(other);
        QVERIFY2(sentence().endsWith(", and likewise 2 other steps."), qPrintable(sentence()));
    }

    void equalInputGivesEqualAnswers() {
        const Training before{.ranks = 2}, after{.ranks = 2, .seed = 2, .kernelUs = 520};
        const RunComparison first = comparisonOf(before, after), second = comparisonOf(before, after);
        QCOMPARE(first.answer.sentence, second.answer.sentence);
        QCOMPARE(first.answer.details, second.answer.details);
    }

    void traceIsPairedWithItself() {
        const TracePtr trace = simulatedTraining({.steps = 2});
        for (const TrackPair& pair : pairTracks(*trace, *trace)) QCOMPARE(pair.baseline, pair.candidate);
        checkOrder(*trace, *trace);
    }

    void extraGpusAreUnpaired() {
        const TracePtr one = simulatedTraining({.steps = 2, .gpuCount = 1});
        const TracePtr two = simulatedTraining({.steps = 2, .gpuCount = 2});
        checkOrder(*one, *two);
        checkOrder(*two, *one);
        for (const char* part : {"GPU 0 = GPU 0", "- = GPU 1"}) QVERIFY2(contains(titles(*one, *two), part), part);
    }

    void streamsArePairedByNumberAndThenByPlace() {
        const TracePtr a = withStreams({7, 13, 20}), b = withStreams({7, 14, 20});
        checkOrder(*a, *b);
        const auto lines = titles(*a, *b);
        QVERIFY(contains(lines, "Compute, stream 7 = Compute, stream 7"));
        QVERIFY(contains(lines, "Compute, stream 20 = Compute, stream 20"));
        QVERIFY(contains(lines, "Compute, stream 13 = Compute, stream 14"));
    }

    void streamOfOneRunIsUnpaired() {
        const auto lines = titles(*withStreams({7, 20}), *withStreams({7, 13, 20}));
        QVERIFY(contains(lines, "- = Compute, stream 13"));
        QVERIFY(contains(lines, "Compute, stream 20 = Compute, stream 20"));
    }

    void emptyTraceHasNoPairs() {
        const TracePtr empty = SimulatedTrace().finish(), some = withStreams({7});
        checkOrder(*empty, *some);
        checkOrder(*some, *empty);
    }

    void meansAreWeightedByDuration() {
        const TracePtr a = traceWith({counter("memory", 0, {0, 100, 200}, {10, 20, 90}, 1'000)});
        const TracePtr b = traceWith({counter("memory", 0, {0, 150}, {30, 50}, 1'000)});
        const auto all = counterDifferences(*a, {50, 200}, *b, {100, 200});
        QCOMPARE(all.size(), size_t{1});
        QCOMPARE(all[0].baseline.mean, (10.0 * 50 + 20.0 * 100) / 150);
        QCOMPARE(test::listed(all[0].baseline.maximum, all[0].baseline.minimum, all[0].candidate.mean), "20 | 10 | 40");
        QCOMPARE(all[0].owner, std::string("GPU 0"));
        QVERIFY(all[0].changePercent() > 100);
    }

    void unknownTimesDoNotCount() {
        const TracePtr a = traceWith({counter("memory", 0, {0, 100, 200}, {10, unknown, 30}, 300)});
        const auto all = counterDifferences(*a, {0, 300}, *a, {0, 300});
        QCOMPARE(test::listed(all[0].baseline.mean, all[0].changePercent()), "20 | 0");
    }

    void countersArePairedByGpuAndNameLargestChangeFirst() {
        const TracePtr a = traceWith({counter("memory", 0, {0}, {10}, 100), counter("memory", 1, {0}, {10}, 100),
                                      counter("only here", 0, {0}, {10}, 100)});
        const TracePtr b = traceWith({counter("memory", 1, {0}, {30}, 100), counter("memory", 0, {0}, {11}, 100)});
        const auto all = counterDifferences(*a, {0, 100}, *b, {0, 100});
        QCOMPARE(all.size(), size_t{2});
        QCOMPARE(test::listed(all[0].owner, all[0].changePercent(), all[1].owner), "GPU 1 | 200 | GPU 0");
    }

    void rangesOutsideTheTraceHaveNoValue() {
        const TracePtr a = traceWith({counter("memory", 0, {0}, {10}, 100)});
        QVERIFY(counterDifferences(*a, {500, 600}, *a, {0, 100}).empty());
        QVERIFY(counterDifferences(*a, {}, *a, {}).empty());
    }

    void runAgainstItselfHasNoChange() {
        const TracePtr trace = simulatedMemory();
        const auto all = counterDifferences(*trace, trace->range, *trace, trace->range);
        QVERIFY(!all.empty());
        for (const CounterDifference& each : all) {
            QCOMPARE(each.changePercent(), 0.0);
            QVERIFY(trace->rangeOf(each.baseline.highest).overlaps(trace->range));
        }
    }

    void clocksAndOtherProcessesAreReadFromATrace() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        builder.launch(thread, stream, "gemm", 0, 1'000'000, 2'000'000);
        builder.launch(thread, stream, "gemm", 10'000, 2'000'000, 5'000'000);
        CounterSeries clock;
        clock.key = "clock.sm";
        clock.gpu = 0;
        LargeVector<int64_t> times;
        LargeVector<double> values;
        // Half of the time each; time before the first kernel and after the last does not count.
        for (const auto& [ns, hertz] :
             {std::pair(0, 345e6), std::pair(1'000'000, 2e9), std::pair(3'000'000, 1e9), std::pair(5'000'000, 345e6)}) {
            times.push_back(ns);
            values.push_back(hertz);
        }
        clock.set(times, values, 9'000'000);
        builder.counter(std::move(clock));
        std::vector<GpuProcessUse>& uses = builder.description().interconnect.gpuProcesses;
        const auto use = [&](int64_t gpu, int64_t pid, const char* name) {
            uses.push_back({1'000'000, gpu, pid, name, 1 << 20, -1});
        };
        use(0, 4242, "the run's own");
        use(0, 77, "inference");
        use(0, 77, "inference");
        use(0, 78, "");  // Invisible process: possibly the run's own under another number.
        use(5, 79, "on another GPU");
        const TracePtr trace = builder.finish();
        QCOMPARE(trace->processes.front().pid, 4242u);
        const RunSummary summary = test::orFail(summarizeRun(*trace));
        QCOMPARE(summary.facts.smClockHz, 1'500'000'000);
        QCOMPARE(summary.facts.otherGpuProcesses, std::vector<std::string>{"inference"});
    }

    void machineDifferencesPrecedeTheVerdict() {
        RunSummary before = runOf(50'000'000), after = runOf(60'000'000);
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        before.facts.driver = "550.1";
        after.facts.driver = "560.2";
        before.facts.smClockHz = 1'980'000'000;
        after.facts.smClockHz = 1'410'000'000;
        after.facts.otherGpuProcesses = {"inference"};
        const QString sentence = sentenceOf(before, after);
        QVERIFY2(sentence.startsWith("The machines differ (driver, SM clock, other processes on "
                                     "the GPUs). In these two runs"),
                 qPrintable(sentence));
        const RunComparison comparison = compareRuns({before}, {after});
        QVERIFY(hasCaution(comparison,
                           "Mean SM clock of the GPUs: 1,980 MHz in the baseline, 1,410 MHz in the candidate."));
        QVERIFY(hasCaution(comparison, "Other processes held memory of the candidate's GPUs while it ran: inference."));
    }

    void equalOrUnknownFactsAreNotReported() {
        RunSummary before = runOf(50'000'000), after = runOf(60'000'000);
        before.facts.smClockHz = 1'980'000'000;
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        after.facts.smClockHz = 1'970'000'000;
        before.facts.host = "gpu1";
        QVERIFY(sentenceOf(before, after).startsWith("In these two runs"));
        after.facts.host = "gpu2";
        QVERIFY(sentenceOf(before, after).startsWith("The machines differ (host). "));
    }

    /// The clock of an idle GPU rises with its first kernel, and the next reading comes later.
    void clockUsesReadingsAmongTheKernels() {
        SimulatedTrace builder;
        constexpr int64_t ms = 1'000'000;
        builder.launch(builder.defaultThread(), builder.defaultStream(), "gemm", 1'300 * ms, 1'310 * ms, 1'900 * ms);
        CounterSeries clock;
        clock.key = "clock.sm";
        clock.gpu = 0;
        clock.intervalNs = 500 * ms;
        LargeVector<int64_t> times;
        LargeVector<double> values;
        // Read every 500 ms; unchanged readings were not stored.
        for (const auto& [atMs, hertz] : {std::pair(0, 345e6), std::pair(1'500, 2e9)}) {
            times.push_back(atMs * ms);
            values.push_back(hertz);
        }
        clock.set(times, values, 2'000 * ms);
        builder.counter(std::move(clock));
        QCOMPARE(test::orFail(summarizeRun(*builder.finish())).facts.smClockHz, 2'000'000'000);
    }

    void clockOfSeveralRunsIsTheirMean() {
        std::vector<RunSummary> before{runOf(50'000'000), runOf(50'100'000)};
        std::vector<RunSummary> after{runOf(50'200'000), runOf(50'300'000)};
        uint64_t hash = 0;
        for (std::vector<RunSummary>* runs : {&before, &after})
            for (RunSummary& run : *runs) run.facts.contentHash = ++hash;
        before[0].facts.smClockHz = 1'000'000'000;
        before[1].facts.smClockHz = 2'000'000'000;
        const auto compared = test::orFail(comparePrograms(before, after));
        QCOMPARE(test::listed(compared.baseline.facts.smClockHz, compared.candidate.facts.smClockHz), "1500000000 | 0");
    }

    void ratiosReferToTheStepTime_data() {
        const test::Rows<int, int, QString> row;
        row("longer", 50, 60, "20.0 % longer");
        row("shorter", 50, 40, "20.0 % shorter");
        row("twice", 40, 110, "2.75 times as long");
        row("half", 110, 40, "2.75 times as fast");
    }
    void ratiosReferToTheStepTime() {
        const auto [before, after, said] = test::row<int, int, QString>();
        const QString sentence = sentenceOf(runOf(before * 1'000'000LL), runOf(after * 1'000'000LL));
        QVERIFY2(sentence.contains(said), qPrintable(sentence));
    }
};

LANESCOPE_TEST(tst_RunComparison, NoApplication)
#include "tst_RunComparison.moc"
