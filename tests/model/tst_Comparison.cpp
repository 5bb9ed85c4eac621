#include <QtTest>
#include <algorithm>
#include <map>
#include <random>

#include "model/compare/Comparison.h"
#include "model/compare/busyTime.h"
#include "tests/support/TraceBuilder.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

/// Kernel time by full name, the slow and obvious way.
std::map<std::string, SideTotal> kernelTotals(const Trace& trace, TimeRange range) {
    std::map<std::string, SideTotal> totals;
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        if (!range.contains(trace.kernels.startNs[row])) continue;
        const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
        SideTotal& total = totals[std::string(trace.strings.at(config.demangledName))];
        ++total.count;
        total.timeNs += trace.kernels.endNs[row] - trace.kernels.startNs[row];
    }
    return totals;
}

Comparison compareWhole(const Trace& baseline, const Trace& candidate) {
    return compare(Baseline{baseline, baseline.range}, Candidate{candidate, candidate.range});
}

const Difference* find(const Comparison& comparison, DifferenceGroup group, std::string_view name) {
    for (const Difference& difference : comparison.differences)
        if (difference.group == group && difference.name == name) return &difference;
    return nullptr;
}

TracePtr kernelsOf(std::initializer_list<std::pair<const char*, int64_t>> durations) {
    TraceBuilder builder;
    int64_t now = 0;
    for (const auto& [name, duration] : durations) {
        builder.addKernel(builder.defaultStream(), name, now, now + duration);
        now += duration;
    }
    return builder.finish();
}

/// Steps one after another, `stepMs` long each, after a start-up of `startUpMs`.
TracePtr stepsOf(std::initializer_list<int64_t> stepMs, int64_t startUpMs) {
    TraceBuilder builder;
    int64_t nowNs = 0;
    const auto add = [&](const std::string& text, int64_t durationNs) {
        builder.addNvtx(builder.defaultThread(), text, nowNs, nowNs + durationNs);
        nowNs += durationNs;
    };
    if (startUpMs > 0) add("start-up", startUpMs * 1'000'000);
    int number = 0;
    for (const int64_t ms : stepMs) add("step " + std::to_string(number++), ms * 1'000'000);
    return builder.finish();
}

}  // namespace

class TestComparison : public QObject {
    Q_OBJECT

  private slots:
    void matchesThePlainLoop() {
        const TracePtr baseline = simulatedTraining();
        const TracePtr candidate = simulatedTraining({.steps = 4, .kernelScale = 1.3});
        const TimeRange baselineRange{baseline->range.startNs,
                                      baseline->range.startNs + baseline->range.durationNs() / 2};
        const Comparison comparison =
            compare(Baseline{*baseline, baselineRange}, Candidate{*candidate, candidate->range});
        auto before = kernelTotals(*baseline, baselineRange);
        auto after = kernelTotals(*candidate, candidate->range);
        size_t kernels = 0;
        for (const Difference& difference : comparison.differences) {
            if (difference.group != DifferenceGroup::Kernel) continue;
            ++kernels;
            QCOMPARE(difference.baseline.count, before[difference.name].count);
            QCOMPARE(difference.baseline.timeNs, before[difference.name].timeNs);
            QCOMPARE(difference.candidate.count, after[difference.name].count);
            QCOMPARE(difference.candidate.timeNs, after[difference.name].timeNs);
        }
        before.merge(after);
        QCOMPARE(kernels, before.size());
    }

    void sortsByTimeLostWithinEachGroup() {
        const Comparison comparison =
            compareWhole(*simulatedTraining(), *simulatedTraining({.kernelScale = 1.2}));
        const std::vector<Difference>& all = comparison.differences;
        QVERIFY(all.size() > 4);
        for (size_t index = 1; index < all.size(); ++index) {
            QVERIFY(all[index - 1].group <= all[index].group);
            if (all[index - 1].group == all[index].group)
                QVERIFY(all[index - 1].lostNs() >= all[index].lostNs());
        }
    }

    void namesOfOneSideStandAgainstNothing() {
        const Comparison comparison = compareWhole(*kernelsOf({{"old", 100}, {"both", 50}}),
                                                   *kernelsOf({{"new", 80}, {"both", 60}}));
        QCOMPARE(comparison.differences.size(), size_t{3});
        const Difference* gone =
            find(comparison, DifferenceGroup::Kernel, "void old<float>(float*, int)");
        QVERIFY(gone);
        QCOMPARE(gone->candidate.count, int64_t{0});
        QCOMPARE(gone->lostNs(), int64_t{-100});
        QCOMPARE(comparison.differences[0].name, std::string("void new<float>(float*, int)"));
        const ReportTable table = toTable(comparison);
        QCOMPARE(table.rows.size(), size_t{3});
        QVERIFY(std::holds_alternative<std::monostate>(table.rows[0].back()));
        QCOMPARE(std::get<double>(table.rows[1].back()), 20.0);
        QCOMPARE(std::get<double>(table.rows[2].back()), -100.0);
    }

    void memoryAndRangesAreGroupsOfTheirOwn() {
        TraceBuilder builder;
        const uint32_t stream = builder.defaultStream();
        const uint32_t thread = builder.defaultThread();
        builder.addMemcpy(stream, MemcpyKind::HtoD, 1000, 0, 100, 0, MemoryKind::Pageable);
        builder.addMemcpy(stream, MemcpyKind::HtoD, 500, 100, 150, 0, MemoryKind::Pinned);
        builder.addMemset(stream, 32, 200, 210);
        builder.addNvtx(thread, "step", 0, 300);
        builder.addNvtx(thread, "step", 0, 300, NvtxStyle::PushPop, "Lib");
        builder.addNvtx(thread, "mark", 5, 5, NvtxStyle::Mark);
        builder.addApi(thread, "cudaMemcpy", 0, 40);
        const TracePtr trace = builder.finish();
        const Comparison comparison = compareWhole(*trace, *trace);
        QCOMPARE(comparison.differences.size(), size_t{5});
        const Difference* copy = find(comparison, DifferenceGroup::Memcpy, "HtoD");
        QVERIFY(copy);
        QCOMPARE(copy->baseline.count, int64_t{2});
        QCOMPARE(copy->baseline.bytes, int64_t{1500});
        QCOMPARE(copy->lostNs(), int64_t{0});
        QVERIFY(find(comparison, DifferenceGroup::Memset, "memset"));
        QVERIFY(find(comparison, DifferenceGroup::NvtxRange, "step"));
        QVERIFY(find(comparison, DifferenceGroup::NvtxRange, "Lib:step"));
        QVERIFY(find(comparison, DifferenceGroup::ApiCall, "cudaMemcpy"));
    }

    void busyTimeCountsOverlapsOnce() {
        std::mt19937 random(11);
        TraceBuilder builder;
        const uint32_t first = builder.defaultStream();
        const uint32_t second = builder.addStream(0, 0, 8);
        const uint32_t otherGpu = builder.addStream(0, builder.addGpu(), 7);
        for (int count = 0; count < 200; ++count) {
            const int64_t start = random() % 5000;
            const uint32_t stream = std::array{first, second, otherGpu}[random() % 3];
            if (count % 3 == 0)
                builder.addMemset(stream, 1, start, start + random() % 40);
            else
                builder.addKernel(stream, "k", start, start + random() % 40);
        }
        const TracePtr trace = builder.finish();
        const TimeRange range{1000, 4000};
        std::vector<std::vector<bool>> isBusy(2, std::vector<bool>(6000));
        const auto mark = [&](const auto& table) {
            for (uint32_t row = 0; row < table.size(); ++row)
                for (int64_t ns = table.startNs[row]; ns < table.endNs[row]; ++ns)
                    if (range.contains(ns))
                        isBusy[trace->streams[table.stream[row]].gpu][ns] = true;
        };
        mark(trace->kernels);
        mark(trace->memsets);
        const std::vector<int64_t> busy = busyTimePerGpu(*trace, range);
        QCOMPARE(busy.size(), size_t{2});
        for (size_t gpu = 0; gpu < 2; ++gpu)
            QCOMPARE(busy[gpu], std::count(isBusy[gpu].begin(), isBusy[gpu].end(), true));
        const Comparison comparison = compare(Baseline{*trace, range}, Candidate{*trace, range});
        QCOMPARE(comparison.baseline.gpuCount, uint32_t{2});
        QCOMPARE(comparison.baseline.gpuBusyNs, busy[0] + busy[1]);
        QCOMPARE(comparison.baseline.busyShare(), double(busy[0] + busy[1]) / 6000);
    }

    void sentencesNameTheVerdictAndTheWorstKernel() {
        const TracePtr baseline = kernelsOf({{"gemm", 8'000'000}, {"relu", 2'000'000}});
        const TracePtr candidate = kernelsOf({{"gemm", 11'000'000}, {"relu", 1'500'000}});
        const std::vector<std::string> lines = summaryLines(compareWhole(*baseline, *candidate));
        QCOMPARE(lines.size(), size_t{4});
        QCOMPARE(lines[0],
                 std::string("The candidate is 25.0 % slower: 12.50 ms against 10.00 ms."));
        QCOMPARE(lines[1], std::string("Most GPU time was lost in kernel void gemm<float> "
                                       "(+3.000 ms)."));
        QCOMPARE(lines[2], std::string("Most GPU time was saved in kernel void relu<float> "
                                       "(-500.0 us)."));
        QCOMPARE(lines[3], std::string("The GPUs were busy 100.0 % of the time, against 100.0 %."));
        const std::vector<std::string> faster = summaryLines(compareWhole(*candidate, *baseline));
        QVERIFY(QString::fromStdString(faster[0]).contains("20.0 % faster"));
        QVERIFY(QString::fromStdString(faster[1]).contains("saved in kernel void gemm"));
    }

    void aTrainingIsJudgedByItsSteps() {
        // A start-up of ten seconds in the faster run must not make it the slower one.
        const TracePtr baseline = stepsOf({70, 71, 72, 69}, 10'000);
        const TracePtr candidate = stepsOf({78, 77, 79, 300}, 0);
        const Comparison comparison = compareWhole(*baseline, *candidate);
        QVERIFY(comparison.steps.has_value());
        QCOMPARE(comparison.steps->pattern, std::string("step #"));
        QCOMPARE(comparison.steps->baselineMedianNs, 70'500'000.0);
        QCOMPARE(comparison.steps->candidateMedianNs, 78'500'000.0);
        const std::vector<std::string> lines = summaryLines(comparison);
        QCOMPARE(lines[0], std::string("The candidate is 11.3 % slower: \"step #\" takes 78.50 ms "
                                       "against 70.50 ms (medians of 4 and 4)."));
        QVERIFY(QString::fromStdString(lines.back()).startsWith("All that was compared took"));
        // The whole took less, and that must not turn the verdict.
        QVERIFY(comparison.candidate.wallNs < comparison.baseline.wallNs);
        QCOMPARE(verdictOf(comparison), Verdict::Slower);
    }

    void slowFirstStepsAreWarmUp() {
        const TracePtr steady = stepsOf({10, 10, 11, 10, 10}, 0);
        const TracePtr warming = stepsOf({300, 30, 10, 10, 50, 10, 10}, 0);
        QCOMPARE(warmUpCount(*steady, *steady, "step #"), 0);
        QCOMPARE(warmUpCount(*steady, *warming, "step #"), 2);
        QCOMPARE(warmUpCount(*warming, *steady, "step #"), 2);
        QCOMPARE(warmUpCount(*warming, *stepsOf({10, 10}, 0), "step #"), 0);  // none would be left
        QCOMPARE(warmUpCount(*steady, *warming, "epoch"), 0);
    }

    void numberedRangesAlignTogether() {
        const TracePtr baseline = stepsOf({10, 10, 10}, 5);
        const TracePtr candidate = stepsOf({20, 20}, 0);
        QCOMPARE(commonRangeNames(*baseline, *candidate).front(), std::string("step #"));
        const auto aligned = alignedRanges(*baseline, *candidate, "step #");
        QVERIFY(aligned.has_value());
        QCOMPARE(aligned->occurrences, int64_t{2});
        QCOMPARE(aligned->baseline, (TimeRange{5'000'000, 25'000'000}));
        QCOMPARE(aligned->candidate, (TimeRange{0, 40'000'000}));
        const auto later = alignedRanges(*baseline, *candidate, "step #", 1);
        QVERIFY(later.has_value());
        QCOMPARE(later->occurrences, int64_t{1});
        QCOMPARE(later->baseline, (TimeRange{15'000'000, 25'000'000}));
        QCOMPARE(later->candidate, (TimeRange{20'000'000, 40'000'000}));
        QVERIFY(!alignedRanges(*baseline, *candidate, "step #", 2).has_value());
        QVERIFY(!alignedRanges(*baseline, *candidate, "step #", -1).has_value());
    }

    void muchSlowerIsSaidAsAFactor() {
        const TracePtr baseline = kernelsOf({{"gemm", 2'000'000}});
        const TracePtr candidate = kernelsOf({{"gemm", 5'000'000}});
        QCOMPARE(summaryLines(compareWhole(*baseline, *candidate))[0],
                 std::string("The candidate takes 2.5 times as long as the baseline: 5.000 ms "
                             "against 2.000 ms."));
    }

    void equalAndEmptyRunsGetNoVerdict() {
        const TracePtr trace = kernelsOf({{"gemm", 1000}});
        QVERIFY(QString::fromStdString(summaryLines(compareWhole(*trace, *trace))[0])
                    .contains("as long as the baseline"));
        const TracePtr empty = TraceBuilder().finish();
        QVERIFY(QString::fromStdString(summaryLines(compareWhole(*trace, *empty))[0])
                    .contains("nothing to compare"));
        QCOMPARE(verdictOf(compareWhole(*trace, *trace)), Verdict::Same);
        QCOMPARE(verdictOf(compareWhole(*trace, *empty)), Verdict::None);
    }

    void largestDifferencesKeepsBothEndsOfEachGroup() {
        Comparison comparison;
        for (const int64_t lost : {50, 10, 0, -5, -40}) {
            Difference difference;
            difference.name = std::to_string(lost);
            difference.candidate.timeNs = lost;
            comparison.differences.push_back(difference);
        }
        Difference call;
        call.group = DifferenceGroup::ApiCall;
        comparison.differences.push_back(call);
        const std::vector<Difference> kept = largestDifferences(comparison, 3).differences;
        QCOMPARE(kept.size(), size_t{4});
        QCOMPARE(kept[0].name, std::string("50"));
        QCOMPARE(kept[1].name, std::string("10"));
        QCOMPARE(kept[2].name, std::string("-40"));
        QCOMPARE(kept[3].group, DifferenceGroup::ApiCall);
        QCOMPARE(largestDifferences(comparison, 100).differences.size(), size_t{6});
        QVERIFY(largestDifferences(comparison, 0).differences.empty());
    }

    void alignmentFindsTheOccurrence() {
        TraceBuilder builder;
        const uint32_t thread = builder.defaultThread();
        builder.addNvtx(thread, "step", 100, 200);
        builder.addNvtx(thread, "step", 300, 400);
        builder.addNvtx(thread, "step", 350, 350, NvtxStyle::Mark);
        const TracePtr trace = builder.finish();
        QCOMPARE(*alignmentTime(*trace, "step"), int64_t{100});
        QCOMPARE(*alignmentTime(*trace, "step", 1), int64_t{300});
        QVERIFY(!alignmentTime(*trace, "step", 2).has_value());
        QVERIFY(!alignmentTime(*trace, "step", -1).has_value());
        QVERIFY(!alignmentTime(*trace, "epoch").has_value());
    }

    void alignedRangesSpanAsManyAsBothHave() {
        TraceBuilder longer, shorter;
        for (int step = 0; step < 3; ++step)
            longer.addNvtx(longer.defaultThread(), "step", 1000 + step * 100, 1090 + step * 100);
        for (int step = 0; step < 2; ++step)
            shorter.addNvtx(shorter.defaultThread(), "step", 50 + step * 100, 120 + step * 100);
        const TracePtr baseline = longer.finish(), candidate = shorter.finish();
        const Result<AlignedRanges> ranges = alignedRanges(*baseline, *candidate, "step");
        QVERIFY(ranges.has_value());
        QCOMPARE(ranges->occurrences, int64_t{2});
        QCOMPARE(ranges->baseline, (TimeRange{1000, 1190}));
        QCOMPARE(ranges->candidate, (TimeRange{50, 220}));
        QVERIFY(!alignedRanges(*baseline, *candidate, "none").has_value());
    }

    void commonNamesComeMostFrequentFirst() {
        TraceBuilder first, second;
        for (TraceBuilder* builder : {&first, &second}) {
            const uint32_t thread = builder->defaultThread();
            builder->addNvtx(thread, "epoch", 0, 1000);
            for (int step = 0; step < 4; ++step)
                builder->addNvtx(thread, "step", step * 10, step * 10 + 5);
        }
        first.addNvtx(0, "only here", 1, 2);
        QCOMPARE(commonRangeNames(*first.finish(), *second.finish()),
                 (std::vector<std::string>{"step", "epoch"}));
    }

    void offersNamesThatBeginWithTheMissingOne() {
        TraceBuilder builder;
        for (int step = 0; step < 3; ++step)
            builder.addNvtx(builder.defaultThread(), "step " + std::to_string(step), step * 100,
                            step * 100 + 50);
        const TracePtr trace = builder.finish();
        const auto aligned = alignedRanges(*trace, *trace, "step");
        QVERIFY(!aligned);
        const QString sentence = QString::fromStdString(aligned.error().sentence);
        QVERIFY2(sentence.contains("there are \"step #\""), qPrintable(sentence));
        QVERIFY(alignedRanges(*trace, *trace, "step #").has_value());
    }
};

QTEST_APPLESS_MAIN(TestComparison)
#include "tst_Comparison.moc"
