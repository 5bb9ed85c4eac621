// SPDX-License-Identifier: Apache-2.0
#include "model/explain/StepGrid.h"
#include "model/explain/findingPlace.h"
#include "model/explain/rules.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;

using namespace lanescope::explain;

namespace {

constexpr int64_t ms = 1'000'000;

/// A synthetic worker whose steps, numbered from `first` on, have these lengths and only compute.
WorkerSummary workerOf(const std::vector<int64_t>& wallMs, int64_t first = 0) {
    WorkerSummary worker;
    int64_t atNs = 1000 * ms;
    for (const int64_t each : wallMs) {
        StepSummary step;
        step.number = first++;
        step.startNs = atNs;
        step.wallNs = each * ms;
        step.parts[StepPart::Compute] = each * ms;
        worker.steps.push_back(step);
        atNs += each * ms;
    }
    return worker;
}

RunSummary runOf(std::vector<WorkerSummary> workers) {
    RunSummary run;
    run.source = StepSource::NvtxRange;
    run.workers = std::move(workers);
    for (size_t index = 0; index < run.workers.size(); ++index) {
        run.workers[index].pid = 100 + static_cast<uint32_t>(index);
        run.workers[index].rank = static_cast<int>(index);
        run.workers[index].gpuId = static_cast<int64_t>(index);
    }
    return run;
}

}  // namespace

class TestStepGrid : public QObject {
    Q_OBJECT
  private slots:
    void stepsAreAlignedByNumber() {
        WorkerSummary late = workerOf({30, 20}, 2);
        OutlierStep odd;
        odd.number = 2;
        late.outliers.push_back(odd);
        const StepGrid grid(runOf({workerOf({10, 11, 12}), late, workerOf({})}));
        QCOMPARE(grid.rowCount(), size_t{2});
        QCOMPARE(grid.columnCount(), size_t{4});
        QCOMPARE(grid.numberOf(3), int64_t{3});
        QVERIFY(!grid.at(1, 0) && !grid.at(0, 3));
        QCOMPARE(*grid.at(1, 2), (StepPlace{1, 0}));
        QVERIFY(grid.isOdd(1, 2) && !grid.isOdd(0, 2));
        QCOMPARE(grid.longestNs(), 30 * ms);
        QCOMPARE(grid.slowestRow(), size_t{1});
        QCOMPARE(grid.slowestColumn(), size_t{2});
        QCOMPARE(grid.medianNs(0), 11 * ms);
        QCOMPARE(grid.rowOf(2), grid.rowCount());
        QCOMPARE(grid.columnOf(9), grid.columnCount());
        QVERIFY(StepGrid(RunSummary()).isEmpty());
    }

    void reducedStepsMatchPlainLoop() {
        std::mt19937 random(3);
        for (int round = 0; round < 200; ++round) {
            std::vector<WorkerSummary> workers;
            for (int worker = 0; worker < 3; ++worker) {
                std::vector<int64_t> wallMs(random() % 40);
                for (int64_t& each : wallMs) each = 1 + static_cast<int64_t>(random() % 50);
                workers.push_back(workerOf(wallMs, static_cast<int64_t>(random() % 10)));
            }
            const RunSummary run = runOf(workers);
            const StepGrid grid(run);
            for (size_t row = 0; row < grid.rowCount(); ++row) {
                const WorkerSummary& worker = run.workers[grid.workerOf(row)];
                const size_t first = random() % grid.columnCount();
                const size_t count = 1 + random() % 12;
                const StepSummary* longest = nullptr;
                for (const StepSummary& step : worker.steps)
                    if (step.number >= grid.numberOf(first) && grid.columnOf(step.number) < first + count &&
                        (longest == nullptr || step.wallNs > longest->wallNs))
                        longest = &step;
                const auto column = grid.longestIn(row, first, count);
                QCOMPARE(column.has_value(), longest != nullptr);
                if (column) QCOMPARE(grid.numberOf(*column), longest->number);

                const int64_t from = 990 * ms + static_cast<int64_t>(random() % 900) * ms;
                const TimeRange asked{from, from + 1 + static_cast<int64_t>(random() % 90) * ms};
                size_t seen = 0;
                const auto [begin, end] = grid.columnsIn(row, asked);
                for (size_t each = 0; each < grid.columnCount(); ++each) {
                    const auto place = grid.at(row, each);
                    if (!place) continue;
                    const StepSummary& step = worker.steps[place->step];
                    const bool isSeen = asked.overlaps({step.startNs, step.startNs + step.wallNs});
                    QCOMPARE(each >= begin && each < end, isSeen);
                    seen += isSeen ? 1 : 0;
                }
                QVERIFY(end - begin >= seen);
            }
        }
    }

    void steadyStepsAreNearestToTheMedian() {
        const RunSummary run = runOf({workerOf({40, 10, 30, 20, 20, 20, 20, 20, 20, 20, 50, 20, 10})});
        const auto range = steadySteps(run);
        QVERIFY(range.has_value());
        const auto& steps = run.workers[0].steps;
        QCOMPARE(range->startNs, steps[3].startNs);
        QCOMPARE(range->endNs, steps[8].startNs);
        QCOMPARE(*steadySteps(runOf({workerOf({10, 20})})), (TimeRange{1000 * ms, 1030 * ms}));
        QVERIFY(!steadySteps(RunSummary()));
        RunSummary whole = runOf({workerOf({10})});
        whole.source = StepSource::WholeRun;
        QVERIFY(!steadySteps(whole));
    }

    void tableShowsTheLongestFirst() {
        WorkerSummary early = workerOf({20, 20}), late = workerOf({20, 30});
        for (StepSummary& step : early.steps) {
            step.parts[StepPart::Compute] -= 5 * ms;
            step.parts[StepPart::WaitingForRanks] += 5 * ms;
        }
        const StepsTable made = stepsTable(runOf({early, late}));
        QCOMPARE(made.table.rows.size(), size_t{4});
        QCOMPARE(made.places.front(), (StepPlace{1, 1}));
        const auto column = [&](std::string_view name) {
            for (size_t index = 0; index < made.table.columns.size(); ++index)
                if (made.table.columns[index].name == name) return index;
            return made.table.columns.size();
        };
        QVERIFY(column("Compute") < made.table.columns.size());
        QVERIFY(column("Memset") == made.table.columns.size());
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("Time")]), 30 * ms);
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("Over Median")]), 5 * ms);
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("Late")]), 5 * ms);
        for (size_t row = 0; row < made.table.rows.size(); ++row)
            QCOMPARE(made.table.rows[row].size(), made.table.columns.size());
    }

    void findingLeadsToItsWorstEvent() {
        const TracePtr trace = simulatedTraining({.steps = 8, .copiesFromPageableMemory = true});
        const Result<RunSummary> run = summarizeRun(*trace);
        const Explanation explanation = explain::explain(*run);
        QVERIFY(!explanation.findings.empty());
        for (const Finding& finding : explanation.findings) {
            const Result<FindingPlace> place = placeOf(*trace, *run, finding);
            QVERIFY(place.has_value());
            QVERIFY(place->step.overlaps(place->range));
            QVERIFY(!place->range.isEmpty());
            QVERIFY(place->event.isValid());
            // No event of the finding is longer.
            const WorkerSummary& worker = run->workers[finding.worker];
            QVERIFY(std::any_of(worker.steps.begin(), worker.steps.end(),
                                [&](const auto& step) { return step.startNs == place->step.startNs; }));
            if (finding.rule == &pageableCopiesRule) {
                QCOMPARE(place->event.kind(), EventKind::Memcpy);
                QVERIFY(trace->rangeOf(place->event).overlaps(place->range));
            }
        }
        Finding other = explanation.findings.front();
        RunSummary changed = *run;
        changed.workers[other.worker].pid = 1;
        QVERIFY(!placeOf(*trace, changed, other));
    }
};

LANESCOPE_TEST(TestStepGrid, NoApplication)
#include "tst_StepGrid.moc"
