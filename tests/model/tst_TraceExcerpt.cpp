// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "model/analysis/StepSelection.h"
#include "model/analysis/storedSummary.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/checksums.h"
#include "model/format/tables/Schema.h"
#include "model/importers/TraceFormat.h"
#include "model/merge/mergeFiles.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
namespace fs = std::filesystem;

namespace {

constexpr int64_t us = 1'000, ms = 1'000'000;

TracePtr excerptOf(const std::vector<TracePtr>& traces, const TraceExcerpt& cut) {
    TraceBuilder builder = test::orFail(mergeTraces(traces, MergeOptions{.cut = cut}));
    return builder.take();
}

std::string errorOf(const std::vector<TracePtr>& traces, const TraceExcerpt& cut) {
    const Result<TraceBuilder> builder = mergeTraces(traces, MergeOptions{.cut = cut});
    return builder ? std::string() : builder.error().sentence;
}

std::set<std::string> rangesOf(const Trace& trace) {
    std::set<std::string> names;
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) names.emplace(trace.strings.at(trace.nvtx.text[row]));
    return names;
}

/// The steps of a process on its GPU, and on its CPU.
TimeRange spanOf(const Trace& trace, int rank, StepRange steps) {
    StepSelection selection;
    selection.keepsWarmUp = true;
    TimeRange span{maxTimestampNs, -maxTimestampNs};
    const RunSteps found = *findSteps(trace, selection);
    for (const WorkerSteps& worker : found.workers)
        if (trace.processes[worker.process].rank == rank)
            for (const StepSpan& step : worker.steps)
                if (step.number >= steps.first && step.number <= steps.last)
                    for (const TimeRange each : {step.range, step.onCpu, step.launches})
                        if (!each.isEmpty()) span = span.united(each);
    return span;
}

/// Values 1, 2, 3 ...: each a mean over that interval.
CounterSeries meansOf(int64_t eachNs, int64_t endNs) {
    CounterSeries series;
    series.key = series.name = "power";
    series.source = "nvml";
    series.unit = CounterUnit::Watts;
    series.gpu = 0;
    series.isMeanOfInterval = true;
    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
    for (int64_t atNs = 0; atNs < endNs; atNs += eachNs) {
        timesNs.push_back(atNs);
        values.push_back(static_cast<double>(values.size() + 1));
    }
    series.set(timesNs, values, endNs);
    return series;
}

/// The known values of the counters that `meansOf` created.
std::multiset<double> meansIn(const Trace& trace) {
    std::multiset<double> means;
    for (const CounterSeries& series : trace.counters)
        for (uint32_t sample = 0; sample < series.size() && series.key == "power"; ++sample)
            if (!std::isnan(series.value(sample))) means.insert(series.value(sample));
    return means;
}

/// A rank that marks steps of 10 ms with counter readings; each step has a kernel, an allocation, a
/// free and an enclosing range.
TracePtr rankOfSteps(int rank, int steps) {
    SimulatedTrace sim;
    sim.processes()[0].rank = rank;
    const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
    sim.addNvtx(thread, "epoch", 0, 10 * ms * steps);
    sim.addAllocation(0, 0, MemoryKind::Device, 0x1000, 1 << 20, ms);  // lives on
    sim.addAllocation(0, 0, MemoryKind::Device, 0x2000, 1 << 20, ms);  // is freed before the cut
    sim.addFree(0, 0, 0x2000, 2 * ms);
    sim.addFree(0, 0, 0x1000, 10 * ms * steps - ms);
    sim.addSteps(thread, steps, 10 * ms, 9 * ms, [&](int64_t atNs, int step) {
        sim.launch(thread, stream, "gemm", atNs + 10 * us, atNs + 20 * us, atNs + 8 * ms);
        Interconnect& links = sim.description().interconnect;
        links.sampledRanges.push_back({"step " + std::to_string(step),
                                       step,
                                       sim.processes()[0].globalPid,
                                       {atNs, atNs + 9 * ms},
                                       {atNs, atNs + us},
                                       {atNs + 9 * ms, atNs + 9 * ms + us}});
        links.gpuProcesses.push_back({atNs + us, 0, 4711, "other", 1 << 30, 12.5});
    });
    sim.counter(meansOf(25 * ms, 10 * ms * steps));
    return sim.finish("rank" + std::to_string(rank) + ".sqlite");
}

}  // namespace

class tst_TraceExcerpt : public QObject {
    Q_OBJECT

  private slots:
    void excerptContainsTheRequestedRanksAndSteps() {
        const std::vector<TracePtr> parts{rankOfSteps(0, 10), rankOfSteps(1, 10), rankOfSteps(2, 10)};
        const TracePtr cut = excerptOf(parts, {{0, 2}, StepRange{3, 4}});
        QCOMPARE(cut->processes.size(), size_t{2});
        QCOMPARE(cut->processes[0].rank, std::optional<int>(0));
        QCOMPARE(cut->processes[1].rank, std::optional<int>(2));
        // The step after the last ends it.
        QCOMPARE(rangesOf(*cut), (std::set<std::string>{"epoch", "step 3", "step 4", "step 5"}));
        QCOMPARE(test::listed(cut->kernels.size(), cut->apiCalls.size()), "6 | 6");
        for (uint32_t row = 0; row < cut->kernels.size(); ++row)
            QVERIFY(cut->launchingCall({EventKind::Kernel, row}).isValid());
        QVERIFY(cut->range.startNs >= 30 * ms && cut->range.endNs <= 60 * ms);
        const RunSteps steps = *findSteps(*cut);
        QCOMPARE(steps.workers.size(), size_t{2});
        QCOMPARE(test::listed(steps.workers[0].steps.front().name, steps.workers[0].steps.size()), "step 3 | 2");
        QCOMPARE(steps.workers[0].steps.back().range.endNs, spanOf(*parts[0], 0, {5, 5}).startNs);
        QCOMPARE(steps.workers[0].foundCount, int64_t{2});
    }

    void excerptEventsMatchPlainLoop() {
        const TracePtr whole = simulatedTraining({.steps = 9, .gpuCount = 3, .ncclPlugin = true});
        const StepRange asked{4, 5};
        const TracePtr cut = excerptOf({whole}, {{1}, asked});
        const TimeRange window = spanOf(*whole, 1, {asked.first, asked.last + 1});
        std::multiset<std::pair<int64_t, int64_t>> expected, found;
        std::map<std::string, int> expectedCalls, foundCalls;
        const auto isOfRank = [&whole](uint32_t process) { return whole->processes[process].rank == 1; };
        for (uint32_t row = 0; row < whole->kernels.size(); ++row) {
            const TimeRange times{whole->kernels.startNs[row], whole->kernels.endNs[row]};
            if (isOfRank(whole->streams[whole->kernels.stream[row]].process) && times.startNs < window.endNs &&
                times.endNs >= window.startNs)
                expected.emplace(times.startNs, times.endNs);
        }
        for (uint32_t row = 0; row < whole->nccl.size(); ++row) {
            const uint32_t range = whole->nccl.nvtx[row];
            if (isOfRank(whole->threads[whole->nvtx.thread[range]].process) &&
                whole->nvtx.startNs[range] >= window.startNs && whole->nvtx.endNs[range] <= window.endNs)
                ++expectedCalls[std::string(whole->strings.at(whole->nccl.operation[row]))];
        }
        const int64_t shiftNs = whole->range.startNs < 0 ? whole->range.startNs : 0;
        for (uint32_t row = 0; row < cut->kernels.size(); ++row)
            found.emplace(cut->kernels.startNs[row] + shiftNs, cut->kernels.endNs[row] + shiftNs);
        for (uint32_t row = 0; row < cut->nccl.size(); ++row)
            ++foundCalls[std::string(cut->strings.at(cut->nccl.operation[row]))];
        QVERIFY(!expected.empty() && expected.size() < whole->kernels.size() / 3);
        QCOMPARE(found, expected);
        QVERIFY(!expectedCalls.empty());
        QCOMPARE(foundCalls, expectedCalls);
        for (uint32_t row = 0; row < cut->nccl.size(); ++row) QVERIFY(cut->nccl.facts[row].operationCount > 0);
    }

    void fullExcerptEqualsTheMergedTrace() {
        const std::vector<TracePtr> parts{rankOfSteps(0, 5), rankOfSteps(1, 5)};
        const TracePtr whole = excerptOf(parts, {}), all = excerptOf(parts, {{0, 1}, std::nullopt});
        QCOMPARE(all->kernels.size(), whole->kernels.size());
        QCOMPARE(all->nvtx.size(), whole->nvtx.size());
        QCOMPARE(all->allocations.size(), whole->allocations.size());
        QCOMPARE(all->range, whole->range);
        QVERIFY(!all->processes[0].hasWindows);
    }

    void enclosingRangesAreClippedAndLiveAllocationsKept() {
        const TracePtr cut = excerptOf({rankOfSteps(0, 10)}, {{}, StepRange{3, 3}});
        const TimeRange window = cut->processes[0].windows.front();
        for (uint32_t row = 0; row < cut->nvtx.size(); ++row)
            if (cut->strings.at(cut->nvtx.text[row]) == "epoch") {
                QCOMPARE(cut->nvtx.startNs[row], window.startNs);
                QCOMPARE(cut->nvtx.endNs[row], window.endNs);
            }
        QVERIFY(cut->processes[0].hasWindows);
        QCOMPARE(cut->allocations.size(), 1u);
        QCOMPARE(cut->allocations.address[0], uint64_t{0x1000});
        QCOMPARE(cut->allocations.startNs[0], window.startNs);
        QVERIFY(cut->processes[0].range.endNs <= window.endNs);
    }

    void otherRanksOfTheFileAreRemoved() {
        const TracePtr whole = simulatedTraining({.steps = 4, .gpuCount = 3});
        const TracePtr cut = excerptOf({whole}, {{2}, std::nullopt});
        QCOMPARE(test::listed(cut->processes.size(), cut->gpus.size()), "1 | 1");
        QCOMPARE(cut->gpus[0].id, whole->gpus[2].id);
        for (const Thread& thread : cut->threads) QCOMPARE(thread.process, 0u);
    }

    void readingsAtStepsAreKept() {
        const std::vector<TracePtr> parts{rankOfSteps(0, 10), rankOfSteps(1, 10)};
        const TracePtr whole = excerptOf(parts, {});
        const auto stepsOf = [](const Trace& trace, uint32_t process) {
            std::vector<std::string> names;
            for (const SampledRange& each : trace.interconnect.sampledRanges)
                if (each.globalPid == trace.processes[process].globalPid) names.push_back(each.name);
            return names;
        };
        QCOMPARE(whole->interconnect.sampledRanges.size(), size_t{20});
        for (uint32_t process = 0; process < 2; ++process) {
            const std::vector<std::string> names = stepsOf(*whole, process);
            QCOMPARE(names.size(), size_t{10});
            QCOMPARE(names[7], std::string("step 7"));
        }
        QCOMPARE(whole->interconnect.gpuProcesses.size(), size_t{20});
        size_t matched = 0;
        for (uint32_t row = 0; row < whole->nvtx.size(); ++row) {
            const std::string name(whole->strings.at(whole->nvtx.text[row]));
            const int64_t pid = whole->processes[whole->threads[whole->nvtx.thread[row]].process].globalPid;
            for (const SampledRange& each : whole->interconnect.sampledRanges) {
                if (each.name != name || each.globalPid != pid) continue;
                ++matched;
                QCOMPARE(each.range.startNs, whole->nvtx.startNs[row]);
                QCOMPARE(each.startReading.startNs, each.range.startNs);
                QCOMPARE(each.endReading.endNs, each.range.endNs + us);
            }
        }
        QCOMPARE(matched, size_t{20});
        std::set<int64_t> ofWhole, ofUses;
        for (const Gpu& gpu : whole->gpus) ofWhole.insert(gpu.id);
        for (const GpuProcessUse& use : whole->interconnect.gpuProcesses) ofUses.insert(use.gpu);
        QVERIFY(ofUses == ofWhole);
        QVERIFY(std::ranges::is_sorted(whole->interconnect.gpuProcesses, {}, &GpuProcessUse::timeNs));

        const TracePtr cut = excerptOf(parts, {{1}, StepRange{3, 4}});
        std::vector<std::string> names = stepsOf(*cut, 0);
        QCOMPARE(names.size(), cut->interconnect.sampledRanges.size());
        if (!names.empty() && names.back() == "step 5") names.pop_back();  // which ends them
        QCOMPARE(names, (std::vector<std::string>{"step 3", "step 4"}));
        QVERIFY(cut->interconnect.gpuProcesses.size() >= 2);
        for (const GpuProcessUse& use : cut->interconnect.gpuProcesses) QVERIFY(cut->range.contains(use.timeNs));

        for (const TracePtr& trace : {whole, cut}) {
            const fs::path file = folder_ / (trace == whole ? "read.sqlite" : "read-excerpt.sqlite");
            QVERIFY(writeTraceFile(*trace, file));
            const TracePtr again = *loadTrace(file);
            QVERIFY(again->interconnect.sampledRanges == trace->interconnect.sampledRanges);
            QVERIFY(again->interconnect.gpuProcesses == trace->interconnect.gpuProcesses);
        }
    }

    void meansBeyondTheExcerptAreUnknown() {
        QCOMPARE(meansIn(*excerptOf({rankOfSteps(0, 10)}, {})), (std::multiset<double>{1, 2, 3, 4}));
        // From 30 ms on; the mean from 25 ms to 50 ms and the last one are only partly inside.
        QCOMPARE(meansIn(*excerptOf({rankOfSteps(0, 10)}, {{}, StepRange{3, 7}})), (std::multiset<double>{3}));
        QVERIFY(meansIn(*excerptOf({rankOfSteps(0, 10)}, {{}, StepRange{3, 3}})).empty());
    }

    void countersOfConsecutiveRecordingsAreMerged() {
        const TracePtr part = rankOfSteps(0, 5);
        const auto merged = [&part](int64_t laterNs) {
            TraceBuilder whole;
            for (int each = 0; each < 2; ++each) {
                ClockMap clock;
                clock.shift(each * laterNs);
                if (!whole.addTrace(*part, {clock, {globalPid(100u + each)}, {0}})) qFatal("no room");
            }
            if (!whole.finish(1)) qFatal("cancelled");
            return whole.take();
        };
        const auto seriesOf = [](const Trace& trace) {
            std::vector<const CounterSeries*> found;
            for (const CounterSeries& series : trace.counters)
                if (series.key == "power") found.push_back(&series);
            return found;
        };
        const TracePtr distant = merged(1'000 * ms);
        QCOMPARE(seriesOf(*distant).size(), size_t{1});
        const CounterSeries& series = *seriesOf(*distant).front();
        QCOMPARE(series.size(), 5u);
        QVERIFY(std::isnan(series.value(2)));
        QCOMPARE(test::listed(series.timeNs(2), series.timeNs(3)), test::listed(50 * ms, 1'000 * ms));
        QCOMPARE(series.endNs(), 1'050 * ms);
        QCOMPARE(meansIn(*distant), (std::multiset<double>{1, 1, 2, 2}));
        // Two simultaneous samplers stay separate.
        QCOMPARE(seriesOf(*merged(20 * ms)).size(), size_t{2});
    }

    /// If the CPU runs ahead, the GPU still works on earlier steps; that work belongs to them.
    void stepDurationsEqualThoseOfTheWhole() {
        SimulatedTrace sim;
        const uint32_t thread = sim.defaultThread(), stream = sim.defaultStream();
        sim.addSteps(thread, 30, 10 * ms, 9 * ms, [&](int64_t atNs, int step) {
            // A step and a half later, and each longer than the previous.
            for (int each = 0; each < 8; ++each)
                sim.launch(thread, stream, "late", atNs + each * ms, atNs + (15 + each) * ms,
                           atNs + (16 + each) * ms - 500 * us + step * us);
        });
        const TracePtr whole = sim.finish("late.sqlite"), cut = excerptOf({whole}, {{}, StepRange{10, 16}});
        for (uint32_t row = 0; row < cut->kernels.size(); ++row)
            QVERIFY(cut->launchingCall({EventKind::Kernel, row}).isValid());
        StepSelection selection;
        selection.keepsWarmUp = true;
        const auto lengthsOf = [&selection](const Trace& trace, int64_t from) {
            std::vector<int64_t> lengths;
            const RunSteps found = *findSteps(trace, selection);
            for (const StepSpan& step : found.workers.front().steps)
                if (step.number >= from && step.number < from + 7) lengths.push_back(step.range.durationNs());
            return lengths;
        };
        QCOMPARE(lengthsOf(*cut, 10).size(), size_t{7});
        QCOMPARE(lengthsOf(*cut, 10), lengthsOf(*whole, 10));
    }

    void factsOfTwoGpusAreDroppedIfOneIsOmitted() {
        SimulatedTrace sim;
        const uint32_t gpus[] = {sim.addGpu(), sim.addGpu()};
        for (uint32_t rank = 0; rank < 2; ++rank) {
            const uint32_t process = sim.addProcess(100 + rank, "python3", int(rank));
            sim.addKernel(sim.addStream(process, gpus[rank], 7), "gemm", 10, 20);
        }
        LinkPeak pair{.kind = LinkKind::NvLink, .gpu = 0, .peer = 1, .bytesPerSecond = 400}, own = pair;
        own.peer = noGpuId;
        own.bytesPerSecond = 478;
        sim.description().interconnect.peaks = {pair, own};
        const TracePtr whole = sim.finish("two.sqlite");
        QVERIFY(excerptOf({whole}, {})->interconnect.peaks == whole->interconnect.peaks);
        const TracePtr one = excerptOf({whole}, {{0}, std::nullopt});
        QCOMPARE(one->interconnect.peaks.size(), size_t{1});
        QCOMPARE(one->interconnect.peaks.front().bytesPerSecond, int64_t{478});
    }

    void copiesOfARecordingAreRefused() {
        const TracePtr one = rankOfSteps(0, 5), copy = rankOfSteps(0, 5), other = rankOfSteps(1, 5);
        const std::string error = errorOf({one, other, copy}, {});
        HAS(error, "contain the same recording. Name one of them.");
        QCOMPARE(errorOf({one, other}, {}), std::string());
    }

    void missingRanksAndStepsAreReported() {
        const std::vector<TracePtr> parts{rankOfSteps(0, 5), rankOfSteps(1, 5)};
        QCOMPARE(errorOf(parts, {{1, 7}, std::nullopt}),
                 std::string("--ranks: no trace of rank 7. Available ranks: 0-1."));
        QCOMPARE(errorOf(parts, {{1}, StepRange{20, 21}}),
                 std::string("--steps 20-21: no rank has these steps. The longest has 5 steps, counted from 0."));
        SimulatedTrace nameless;
        nameless.addKernel(nameless.defaultStream(), "gemm", 0, 5);
        QCOMPARE(errorOf({nameless.finish("x.sqlite")}, {{1}, std::nullopt}),
                 std::string("--ranks: no trace has a rank, so rank 1 cannot be chosen. Remove --ranks."));
    }

    void rankListsAreParsedAndPrinted() {
        QCOMPARE(*parseRanks("517,0,16-18,17"), (std::vector<int>{0, 16, 17, 18, 517}));
        for (const char* wrong : {"", "a", "1,", "3-1", "-1", "0-99999", "99999999999", "1;2"})
            QVERIFY2(!parseRanks(wrong), wrong);
        QCOMPARE(describe({{0, 16, 17, 18, 517}, StepRange{120, 124}}),
                 std::string("ranks 0, 16-18, 517, steps 120-124"));
        QCOMPARE(test::listed(describe({{3}, std::nullopt}), describe({{}, StepRange{7, 7}})), "rank 3 | step 7");
    }

    void rankMissingInTheSummaryIsFound() {
        // The second rank of the first file has no GPU work, so the summary describes only the first.
        SimulatedTrace sim;
        sim.processes()[0].rank = 0;
        const uint32_t idle = sim.addProcess(4711, "python3", 1), thread = sim.addThread(idle, 4711);
        for (int64_t step = 0; step < 4; ++step) {
            sim.addNvtx(sim.defaultThread(), "step " + std::to_string(step), step * 1000, step * 1000 + 900);
            sim.launch(sim.defaultThread(), sim.defaultStream(), "gemm", step * 1000 + 1, step * 1000 + 10,
                       step * 1000 + 800);
            sim.addNvtx(thread, "waits", step * 1000, step * 1000 + 900);
        }
        const fs::path first = folder_ / "first.sqlite", second = folder_ / "second.sqlite";
        const TracePtr trace = sim.finish("first.sqlite");
        QVERIFY(writeTraceFile(*trace, first));
        {
            const auto summary = analysis::summarizeRun(*trace);
            auto database = openForWriting(first);
            QVERIFY(summary && database && announceSeal(*database) && analysis::writeRunSummary(*database, *summary));
        }
        QVERIFY(sealPages(first));
        const auto stored = analysis::readRunSummary(first);
        QVERIFY(stored && stored->workers.size() == 1 && stored->workers[0].rank == 0);
        SimulatedTrace other;
        other.processes()[0].rank = 2;
        other.addKernel(other.defaultStream(), "gemm", 0, 5);
        QVERIFY(writeTraceFile(*other.finish("second.sqlite"), second));
        MergeOptions options;
        options.cut.ranks = {1};
        const fs::path cut = folder_ / "idle.sqlite";
        const auto notes = test::orFail(mergeFiles(std::vector{first, second}, cut, options));
        const TracePtr whole = test::orFail(loadTrace(cut));
        QCOMPARE(whole->processes.size(), size_t{1});
        QCOMPARE(whole->processes[0].rank, std::optional<int>(1));
    }

    void singleFileExcerptKeepsItsPermissions() {
        const fs::path file = folder_ / "whole.sqlite", cut = folder_ / "excerpt.sqlite";
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 4, .gpuCount = 2}), file));
        MergeOptions options;
        options.cut = {{1}, StepRange{2, 2}};
        const std::vector<fs::path> files{file};
        const auto notes = test::orFail(mergeFiles(files, cut, options));
        struct stat facts {};
        QCOMPARE(::stat(cut.c_str(), &facts), 0);
        QCOMPARE(facts.st_mode & 0777u, 0600u);
        const TracePtr trace = test::orFail(loadTrace(cut));
        QCOMPARE(trace->processes.size(), size_t{1});
        QCOMPARE(trace->processes[0].rank, std::optional<int>(1));
        // Two excerpts of the same files are cached side by side.
        qputenv("XDG_CACHE_HOME", (folder_ / "cache").c_str());
        const auto first = openableMerge(files, options);
        options.cut.steps = StepRange{1, 1};
        const auto second = openableMerge(files, options);
        QVERIFY(first && second && *first != *second);
        QCOMPARE(second->filename().string().substr(second->filename().string().find(',')),
                 std::string(", rank 1, step 1.sqlite"));
    }

  private:
    TemporaryFolder folder_;
};

LANESCOPE_TEST(tst_TraceExcerpt, NoApplication)
#include "tst_TraceExcerpt.moc"
