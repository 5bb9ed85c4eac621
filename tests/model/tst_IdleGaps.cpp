// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/IdleCauses.h"
#include "model/analysis/RunSummary.h"
#include "tests/support/PlainStepParts.h"
#include "tests/support/RandomRun.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;

namespace {

constexpr int64_t us = 1000;

IdleGaps gapsOf(const Trace& trace, const StepSelection& selection = {}) {
    Result<IdleGaps> made = IdleGaps::of(trace, selection);
    if (!made) qFatal("%s", made.error().sentence.c_str());
    return std::move(*made);
}

std::vector<StepSpan> stepsOf(const Trace& trace) { return findSteps(trace)->workers.at(0).steps; }

/// Returns true if any work of the trace runs at that time.
bool isBusy(const Trace& trace, int64_t timeNs) {
    const auto runs = [timeNs](const auto& table) {
        for (uint32_t row = 0; row < table.size(); ++row)
            if (table.startNs[row] <= timeNs && timeNs < table.endNs[row]) return true;
        return false;
    };
    return runs(trace.kernels) || runs(trace.memcpys) || runs(trace.memsets);
}

StepParts sumOf(const std::vector<GapCause>& causes) {
    StepParts sum;
    for (const GapCause& cause : causes) sum[cause.part] += cause.ns;
    return sum;
}

}  // namespace

class TestIdleGaps : public QObject {
    Q_OBJECT
  private slots:
    void idleCausesMatchPlainLoop() {
        std::mt19937 random(7);
        std::map<StepPart, int64_t> seen;
        for (uint32_t seed = 200; seed < 240; ++seed) {
            const TracePtr trace = RandomRun(seed).finish();
            const IdleGaps gaps = gapsOf(*trace);
            QCOMPARE(gaps.workerCount(), size_t{1});
            QVERIFY(gaps.gapsOf(0).size() > 3);
            const PlainStepParts loop(*trace, stepsOf(*trace));
            for (const IdleGap& gap : gaps.gapsOf(0)) {
                // The whole, and any interval that overlaps it.
                const auto some = [&] {
                    return gap.range.startNs - 20 * us + static_cast<int64_t>(random() % 60) * us;
                };
                const int64_t one = some(), other = some();
                for (const TimeRange asked : {gap.range, TimeRange{std::min(one, other), std::max(one, other)}}) {
                    StepParts expected;
                    for (const IdleGap& each : gaps.gapsOf(0)) {
                        const TimeRange part = each.range.intersected(asked);
                        for (int64_t ns = part.startNs; ns < part.endNs; ns += us) expected[loop.partAt(ns)] += us;
                    }
                    const StepParts found = sumOf(gaps.whyIdle(0, asked));
                    for (size_t part = 0; part < stepPartCount; ++part) {
                        QVERIFY2(found.ns[part] == expected.ns[part], qPrintable(QString("seed %1 part %2: %3 not %4")
                                                                                     .arg(seed)
                                                                                     .arg(part)
                                                                                     .arg(found.ns[part])
                                                                                     .arg(expected.ns[part])));
                        seen[static_cast<StepPart>(part)] += found.ns[part];
                    }
                }
            }
        }
        for (const StepPart part :
             {StepPart::DataLoading, StepPart::Synchronization, StepPart::LaunchBound, StepPart::OtherIdle})
            QVERIFY(seen[part] > 0);  // otherwise the test proves nothing about that part
    }

    void gpuPartsMatchPlainLoop() {
        std::mt19937 random(11);
        for (uint32_t seed = 400; seed < 420; ++seed) {
            const TracePtr trace = RandomRun(seed).finish();
            const IdleGaps gaps = gapsOf(*trace);
            const PartTimeline& parts = gaps.partsOf(0);
            const PlainStepParts loop(*trace, stepsOf(*trace));
            const auto expectedIn = [&](TimeRange asked) {
                StepParts expected;
                asked = asked.intersected(parts.range());
                for (int64_t ns = asked.startNs; ns < asked.endNs; ns += us) expected[loop.partAt(ns)] += us;
                return expected;
            };
            QCOMPARE(expectedIn(parts.range()).sum(), parts.range().durationNs());
            for (int round = 0; round < 30; ++round) {
                const auto some = [&] { return static_cast<int64_t>(random() % 700) * us - 50 * us; };
                const int64_t one = some(), other = some();
                const TimeRange asked{std::min(one, other), std::max(one, other)};
                StepParts pieces;
                parts.forEachIn(asked, [&](TimeRange piece, uint32_t contributor) {
                    pieces[parts.partOf(contributor)] += piece.durationNs();
                });
                QCOMPARE(pieces, expectedIn(asked));
            }
            // Columns of whole microseconds, some of them outside.
            std::vector<StepParts> columns;
            const TimeRange shown{-20 * us, 680 * us};
            parts.columns(shown, 100, columns);
            QCOMPARE(columns.size(), size_t{100});
            for (int64_t column = 0; column < 100; ++column)
                QCOMPARE(columns[static_cast<size_t>(column)],
                         expectedIn({shown.startNs + column * 7 * us, shown.startNs + (column + 1) * 7 * us}));
        }
        std::vector<StepParts> none;
        PartTimeline().columns({0, 100}, 1, none);
        QCOMPARE(none, std::vector<StepParts>(1));
    }

    void gapsAreWhereNoWorkRuns() {
        for (uint32_t seed = 300; seed < 320; ++seed) {
            const TracePtr trace = RandomRun(seed).finish();
            const IdleGaps gaps = gapsOf(*trace);
            const std::vector<IdleGap>& all = gaps.gapsOf(0);
            for (int64_t ns = 0; ns < RandomRun::lengthUs * us; ns += us) {
                const auto found = gaps.find(0, ns);
                const bool isWithin = ns >= all.front().range.startNs && ns < all.back().range.endNs;
                if (!isWithin) {
                    QVERIFY(!found);
                    continue;
                }
                QCOMPARE(found.has_value(), !isBusy(*trace, ns));
                if (found) QVERIFY(gaps.at(*found).range.contains(ns));
            }
            for (const IdleGap& gap : all) {
                QCOMPARE(trace->rangeOf(gap.before).endNs, gap.range.startNs);
                QCOMPARE(trace->rangeOf(gap.next).startNs, gap.range.endNs);
            }
        }
    }

    void longestGapsOfTheStepsComeFirst() {
        const TracePtr trace = simulatedTraining({.steps = 8});
        const IdleGaps gaps = gapsOf(*trace);
        QCOMPARE(gaps.workerCount(), size_t{2});
        const auto& longest = gaps.longest();
        QVERIFY(longest.size() > 2);
        for (size_t index = 1; index < longest.size(); ++index)
            QVERIFY(gaps.at(longest[index - 1]).range.durationNs() >= gaps.at(longest[index]).range.durationNs());
        const Result<RunSummary> summary = summarizeRun(*trace);
        for (const IdleGaps::Place place : longest) {
            const auto& steps = summary->workers[place.worker].steps;
            const TimeRange range = gaps.at(place).range;
            QVERIFY(std::any_of(steps.begin(), steps.end(), [&](const StepSummary& step) {
                return range.overlaps({step.startNs, step.startNs + step.wallNs});
            }));
        }
    }

    void precedingCallIsOfTheSameThread() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), other = builder.addThread(0, 5000);
        const uint32_t stream = builder.defaultStream();
        builder.launch(thread, stream, "gemm", 0, 10 * us, 20 * us);
        builder.addApi(thread, "cudaMalloc", 30 * us, 40 * us);
        builder.addApi(other, "cudaFree", 45 * us, 46 * us);
        builder.launch(thread, stream, "relu", 50 * us, 60 * us, 70 * us);
        const TracePtr trace = builder.finish();
        const IdleGaps gaps = gapsOf(*trace, StepSelection{.stretch = TimeRange{0, 70 * us}});
        QCOMPARE(gaps.gapsOf(0).size(), size_t{1});
        const IdleGap& gap = gaps.gapsOf(0).front();
        QCOMPARE(gap.range, (TimeRange{20 * us, 60 * us}));
        QCOMPARE(trace->nameOf({EventKind::Api, gaps.callBefore(gap)}), std::string("cudaMalloc"));
        QCOMPARE(trace->nameOf(gap.next), std::string("relu"));
        const auto place = gaps.find(0, 30 * us);
        QVERIFY(place.has_value());
        QCOMPARE(gaps.likesOf(*place).count, int64_t{1});
    }

    void gpuOfTwoProcessesIsIdleOnlyIfBothAre() {
        SimulatedTrace builder;
        const uint32_t second = builder.addProcess(77, "python3");
        const uint32_t threads[]{builder.defaultThread(), builder.addThread(second, 78)};
        const uint32_t streams[]{builder.defaultStream(), builder.addStream(second, 0, 7)};
        for (const int64_t at : {0, 100, 200, 300})
            for (const int process : {0, 1})
                builder.launch(threads[process], streams[process], "gemm", at * us, (at + 10 + 20 * process) * us,
                               (at + 20 + 20 * process) * us);
        const TracePtr trace = builder.finish();
        const IdleGaps gaps = gapsOf(*trace, StepSelection{.stretch = TimeRange{0, 400 * us}});
        QCOMPARE(gaps.workerCount(), size_t{2});
        QVERIFY(!gaps.find(0, 115 * us));  // the first process works
        QVERIFY(!gaps.find(0, 135 * us));  // the second process works
        const auto place = gaps.find(0, 60 * us);
        QVERIFY(place.has_value());
        QCOMPARE(gaps.at(*place).range.endNs, 110 * us);
    }

    void gapSearchCanBeCancelled() {
        const Result<IdleGaps> made = IdleGaps::of(*simulatedTraining(), {}, [](double) { return false; });
        QVERIFY(!made);
    }
};

LANESCOPE_TEST(TestIdleGaps, NoApplication)
#include "tst_IdleGaps.moc"
