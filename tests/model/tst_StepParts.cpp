// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunSummary.h"
#include "model/analysis/StepParts.h"
#include "model/analysis/replaySteps.h"
#include "model/explain/Explanation.h"
#include "model/explain/StepGrid.h"
#include "model/explain/findingQueries.h"
#include "model/explain/rules.h"
#include "model/trace/WorkRows.h"
#include "model/trace/processes.h"
#include "tests/support/PlainStepParts.h"
#include "tests/support/RandomRun.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::analysis;
using namespace lanescope::explain;

namespace {

constexpr int64_t us = 1000;

RunSummary summaryOf(const TracePtr& trace, const StepSelection& selection = {}) {
    const Result<RunSummary> summary = summarizeRun(*trace, selection);
    return summary ? *summary : RunSummary{};
}

/// One step from 0 to `lengthUs`, with a kernel at its beginning.
struct OneStep {
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread(), stream = builder.defaultStream(), correlation = 0;
    const char* call = "cudaLaunchKernel";

    /// Adds a call and its work; times in microseconds.
    void launch(int64_t callUs, int64_t callEndUs, int64_t startUs, int64_t endUs) {
        builder.addApi(thread, call, callUs * us, callEndUs * us, ++correlation);
        builder.addKernel(stream, "gemm", startUs * us, endUs * us, correlation);
    }
    WorkerSummary summarize(int64_t lengthUs) {
        const TracePtr trace = builder.finish();
        StepSelection selection;
        selection.stretch = TimeRange{0, lengthUs * us};
        return summaryOf(trace, selection).workers.at(0);
    }
};

int64_t partUs(const WorkerSummary& worker, StepPart part) { return worker.totalParts()[part] / us; }

const Contributor* heaviest(const WorkerSummary& worker, StepPart part) {
    for (const Contributor& each : worker.contributors)
        if (each.part == part) return &each;
    return nullptr;
}

constexpr int64_t ms = 1'000'000;

/// A synthetic worker whose steps, numbered from `first` on, have these lengths and only compute.
WorkerSummary workerOfSteps(const std::vector<int64_t>& wallMs, int64_t first = 0) {
    WorkerSummary worker;
    int64_t atNs = 1000 * ms;
    for (const int64_t each : wallMs) {
        StepSummary step{.number = first++, .startNs = atNs, .wallNs = each * ms};
        step.parts[StepPart::Compute] = each * ms;
        worker.steps.push_back(step);
        atNs += each * ms;
    }
    return worker;
}

RunSummary runOf(std::vector<WorkerSummary> workers) {
    RunSummary run{.source = StepSource::NvtxRange, .workers = std::move(workers)};
    for (size_t index = 0; index < run.workers.size(); ++index) {
        run.workers[index].pid = 100 + static_cast<uint32_t>(index);
        run.workers[index].rank = static_cast<int>(index);
        run.workers[index].gpuId = static_cast<int64_t>(index);
    }
    return run;
}

/// One process that runs a kernel with these microseconds on each GPU, without calls.
TracePtr onEachGpu(const std::vector<int64_t>& microseconds) {
    SimulatedTrace builder;
    for (size_t gpu = 0; gpu < microseconds.size(); ++gpu)
        builder.addKernel(builder.addStream(0, builder.addGpu(), 7), "gemm", 0, 1000 * microseconds[gpu]);
    return builder.finish();
}

bool reportsSkippedGpus(const Trace& trace) {
    return std::ranges::any_of(trace.health,
                               [](const HealthNote& note) { return note.code == HealthCode::GpusNotExplained; });
}

/// Several processes on several GPUs, with work of all kinds, unsorted.
TracePtr randomWork(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t end) { return std::uniform_int_distribution<uint32_t>(0, end - 1)(random); };
    SimulatedTrace builder;
    std::vector<uint32_t> streams;
    const uint32_t gpus = 1 + below(4), processes = 1 + below(4);
    for (uint32_t gpu = 0; gpu < gpus; ++gpu) builder.addGpu();
    for (uint32_t process = 1; process < processes; ++process) builder.addProcess(5000 + process, "python3");
    for (uint32_t number = 0, count = 1 + below(12); number < count; ++number)
        streams.push_back(builder.addStream(below(processes), below(gpus), number));
    for (int number = 0; number < 200; ++number) {
        const uint32_t stream = streams[below(static_cast<uint32_t>(streams.size()))];
        const int64_t start = below(100'000), end = start + 1 + below(1000);
        switch (below(4)) {
            case 0: builder.addKernel(stream, "gemm", start, end); break;
            case 1: builder.addMemcpy(stream, MemcpyKind::HtoD, 8, start, end); break;
            case 2: builder.addMemset(stream, 8, start, end); break;
            default: builder.addGraph(stream, 1, start, end);
        }
    }
    return builder.finish();
}

/// The plain way: all rows in order.
template <class Table>
std::vector<uint32_t> rowsOf(const Trace& trace, const Table& table, uint32_t process, uint32_t gpu) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < table.size(); ++row) {
        const Stream& stream = trace.streams[table.stream[row]];
        if (stream.process == process && stream.gpu == gpu) rows.push_back(row);
    }
    return rows;
}

bool areSame(std::span<const uint32_t> rows, const std::vector<uint32_t>& expected) {
    return std::ranges::equal(rows, expected);
}

}  // namespace

class tst_StepParts : public QObject {
    Q_OBJECT

  private slots:
    void slowedIntervalsAreCompared() {
        // Intervals of 100 ms with ten steps each, the latter five of which count.
        SimulatedTrace made;
        WorkerSteps worker;
        uint32_t correlation = 0;
        for (int64_t step = 0; step < 60; ++step) {
            const int64_t startNs = step * 10 * ms;
            const bool isSlowed = step / 10 % 2 == 1, isCounted = step % 10 >= 5;
            const int64_t wallNs = (!isSlowed ? 6 : isCounted ? 8 : 9) * ms;
            const int64_t callNs = !isSlowed ? ms : isCounted ? 5 * ms / 2 : 3 * ms;
            made.addApi(made.defaultThread(), "cuLaunchKernel", startNs, startNs + callNs, ++correlation);
            made.addApi(made.defaultThread(), "cuEventRecord", startNs + 3 * ms, startNs + 3 * ms + callNs,
                        ++correlation);
            const TimeRange range{startNs, startNs + wallNs};
            worker.steps.push_back({.number = step, .range = range, .launches = range});
        }
        const TracePtr trace = made.finish();
        SlowedSteps pairs;
        // Host code of 1 ms in each step as it is, and of 1.5 ms in each slowed one. Other nodes are none of it.
        using causality::NodeKind;
        causality::CausalGraph graph;
        graph.groups = {{.kind = NodeKind::Host},
                        {.kind = NodeKind::Call},
                        {.kind = NodeKind::Host, .process = 1},
                        {.kind = NodeKind::Host, .isLoading = true},
                        {.kind = NodeKind::Host, .isUnknown = true}};
        for (int64_t step = 0; step < 60; ++step) {
            const int64_t startNs = step * 10 * ms;
            graph.addNode(0, startNs, startNs + ms + (step / 10 % 2) * ms / 2);
            for (const uint32_t other : {1, 2, 3, 4}) graph.addNode(other, startNs, startNs + 2 * ms);
        }
        const TimeRange whole{0, 600 * ms};
        addSlowedSteps(*trace, worker, graph, whole, {"cuLaunchKernel"}, 100 * ms, pairs);
        QCOMPARE(pairs.growthsNs, std::vector<int64_t>(3, 2 * ms));
        QCOMPARE(pairs.addedNs, std::vector<int64_t>(3, 3 * ms / 2));
        QCOMPARE(pairs.hostFactor(), std::optional(1.5));
        // Steps outside of the graph have no known host code.
        SlowedSteps later;
        addSlowedSteps(*trace, worker, graph, {0, 285 * ms}, {"cuLaunchKernel"}, 100 * ms, later);
        QCOMPARE(test::listed(later.growthsNs.size(), later.plainHostNs), test::listed(3, ms));
        // An interval of two or fewer counted steps has no pair.
        worker.steps.resize(17);
        SlowedSteps few;
        addSlowedSteps(*trace, worker, graph, whole, {"cuLaunchKernel"}, 100 * ms, few);
        QVERIFY(few.growthsNs.empty());
        QVERIFY(!few.hostFactor());
    }

    void growthThatFollowsTheAddedTimeHasANarrowInterval() {
        // Each pair grows by 0.9 of its added time: with that slope nothing remains.
        const MeasuredGrowth all = measuredGrowth({{900, 1800, 2700, 3600}, {1000, 2000, 3000, 4000}});
        QCOMPARE(all.pairs, 4);
        QCOMPARE(all.growthNs, 2250.);
        QCOMPARE(all.addedNs, 2500.);
        QCOMPARE(all.slopeMarginNs, 0.);
        // 3.1824 (t with 3 degrees of freedom) times 1161.9 (deviation) by the root of 4.
        QVERIFY2(std::abs(all.marginNs - 1848.8) < 1, QByteArray::number(all.marginNs));
        // Growth without regard to the added time: the slope explains nothing, and its interval is no narrower.
        const MeasuredGrowth apart = measuredGrowth({{1000, 1000, 1000, 1000}, {500, 1500, 500, 1500}});
        QCOMPARE(apart.marginNs, 0.);
        QVERIFY2(apart.slopeMarginNs > 800, QByteArray::number(apart.slopeMarginNs));
        QCOMPARE(measuredGrowth({{700}, {500}}).growthNs, 700.);
        QCOMPARE(measuredGrowth({}).pairs, 0);
    }

    void stepPartsMatchPlainLoop() {
        size_t seenParts = 0;
        std::map<StepPart, int64_t> seen;
        for (uint32_t seed = 0; seed < 60; ++seed) {
            const TracePtr trace = RandomRun(seed).finish();
            const WorkerSummary worker = summaryOf(trace).workers.at(0);
            std::vector<TimeRange> steps;
            for (const StepSummary& step : worker.steps) steps.push_back({step.startNs, step.startNs + step.wallNs});
            QVERIFY(steps.size() >= 3);
            const PlainStepParts loop(*trace, findSteps(*trace)->workers.at(0).steps);
            for (size_t index = 0; index < steps.size(); ++index) {
                StepParts expected;
                for (int64_t ns = steps[index].startNs; ns < steps[index].endNs; ns += us)
                    expected[loop.partAt(ns)] += us;
                for (size_t part = 0; part < stepPartCount; ++part) {
                    const QByteArray where = QByteArray::number(seed) + " step " + QByteArray::number(int(index)) +
                                             " part " + QByteArray::number(int(part)) + " is " +
                                             QByteArray::number(qint64(worker.steps[index].parts.ns[part])) + " not " +
                                             QByteArray::number(qint64(expected.ns[part]));
                    QVERIFY2(worker.steps[index].parts.ns[part] == expected.ns[part], where);
                    seen[static_cast<StepPart>(part)] += expected.ns[part];
                }
                QCOMPARE(worker.steps[index].parts.sum(), worker.steps[index].wallNs);
            }
        }
        for (const auto& [part, ns] : seen) seenParts += ns > 0 ? 1 : 0;
        QCOMPARE(seenParts, stepPartCount);  // otherwise the test proves nothing about the others
    }

    void contributorsSumToTheirParts() {
        for (uint32_t seed = 100; seed < 120; ++seed) {
            const WorkerSummary worker = summaryOf(RandomRun(seed).finish()).workers.at(0);
            StepParts sums;
            for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
            QCOMPARE(sums, worker.totalParts());
        }
        const RunSummary training = summaryOf(simulatedTraining({.steps = 8}));
        QCOMPARE(training.workers.size(), size_t{2});
        for (const WorkerSummary& worker : training.workers) {
            StepParts sums;
            for (const Contributor& each : worker.contributors) sums[each.part] += each.exposedNs;
            QCOMPARE(sums, worker.totalParts());
            QCOMPARE(sums.sum(), worker.totalWallNs());
        }
    }

    void stepOfARunAheadCpuSpansItsGpuWork() {
        const auto summaryWith = [](int64_t copyUs) {
            SimulatedTrace builder;
            const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
            int64_t cpuNs = 0, gpuNs = 0;
            for (uint32_t step = 1; step <= 30; ++step) {
                const int64_t startNs = cpuNs;
                if (copyUs > 0) {
                    builder.addApi(thread, "cudaMemcpyAsync", cpuNs, cpuNs + 5 * us, step);
                    builder.addMemcpy(stream, MemcpyKind::HtoD, 1 << 26, std::max(gpuNs, cpuNs + 6 * us),
                                      std::max(gpuNs, cpuNs + 6 * us) + copyUs * us, step);
                    gpuNs = std::max(gpuNs, cpuNs + 6 * us) + copyUs * us;
                }
                for (int kernel = 0; kernel < 13; ++kernel) {
                    cpuNs += 300 * us;
                    const int64_t from = std::max(gpuNs, cpuNs + 6 * us);
                    builder.launch(thread, stream, "gemm", cpuNs, from, from + 1'000 * us);
                    gpuNs = from + 1'000 * us;
                }
                cpuNs += 100 * us;
                builder.addNvtx(thread, "it " + std::to_string(step), startNs, cpuNs);
            }
            return summaryOf(builder.finish());
        };
        const WorkerSummary without = summaryWith(0).workers.at(0), with = summaryWith(1'100).workers.at(0);
        const StepSummary &before = without.steps.at(10), &after = with.steps.at(10);
        QCOMPARE(before.onCpuNs, std::optional<int64_t>(4'000 * us));
        QCOMPARE(test::listed(after.onCpuNs, before.wallNs), test::listed(before.onCpuNs, 13'000 * us));
        QCOMPARE(after.wallNs, 14'100 * us);
        QCOMPARE(after.parts[StepPart::ExposedHtoD], 1'100 * us);
        QCOMPARE(after.parts[StepPart::Compute], 13'000 * us);
        QCOMPARE(with.aheadNs(), std::optional<int64_t>(4'000 * us));
        for (const Contributor& each : with.contributors)
            if (each.kind == ContributorKind::Kernel)
                QCOMPARE(each.count, static_cast<int64_t>(13 * with.steps.size()));
    }

    void overlappedTimeIsNotExposed() {
        OneStep step;
        step.launch(0, 1, 10, 50);
        step.builder.addKernel(step.builder.addStream(0, 0, 20), "ncclDevKernel_AllReduce_Sum", 30 * us, 70 * us);
        step.builder.addMemcpy(step.stream, MemcpyKind::HtoD, 100, 60 * us, 90 * us);
        const WorkerSummary worker = step.summarize(90);
        QCOMPARE(partUs(worker, StepPart::Compute), int64_t{40});
        QCOMPARE(partUs(worker, StepPart::ExposedCommunication), int64_t{20});
        QCOMPARE(partUs(worker, StepPart::ExposedHtoD), int64_t{20});
        const Contributor* reduce = heaviest(worker, StepPart::ExposedCommunication);
        QVERIFY(reduce);
        QCOMPARE(test::listed(reduce->name.text(), reduce->totalNs), test::listed("AllReduce", 40 * us));
        QCOMPARE(heaviest(worker, StepPart::ExposedHtoD)->name.text(), std::string("HtoD from pinned"));
    }

    void lateLaunchNamesTheThreadActivity() {
        OneStep step;
        step.builder.addNvtx(step.thread, "optimizer", 40 * us, 200 * us);
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaMalloc", 60 * us, 90 * us);
        step.launch(140, 145, 150, 200);
        const WorkerSummary worker = step.summarize(200);
        QCOMPARE(test::listed(partUs(worker, StepPart::Compute), partUs(worker, StepPart::LaunchBound)), "100 | 100");
        std::map<std::string, int64_t> ns;
        for (const Contributor& each : worker.contributors)
            if (each.part == StepPart::LaunchBound) {
                QCOMPARE(each.path, std::string("optimizer"));
                ns[each.name.text()] = each.exposedNs;
            }
        QCOMPARE(ns["in cudaMalloc on the main thread"], 30 * us);
        QCOMPARE(ns["in cudaLaunchKernel on the main thread"], 5 * us);
        QCOMPARE(ns["in host code (no CUDA call) on the main thread"], 65 * us);
    }

    void amdStepsNameHipCalls() {
        OneStep step;
        step.call = "hipLaunchKernel";
        step.launch(0, 1, 0, 50);
        step.launch(140, 145, 150, 200);
        const WorkerSummary worker = step.summarize(200);
        const Contributor* idle = heaviest(worker, StepPart::LaunchBound);
        QVERIFY(idle);
        QCOMPARE(idle->name.text(), std::string("in host code (no HIP call) on the main thread"));
        for (const Contributor& each : worker.contributors) HAS_NO(each.name.text(), "CUDA");
    }

    void queuedWorkIsNotLaunchBound() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.launch(2, 3, 60, 100);  // launched long before the first kernel ended
        step.builder.addApi(step.thread, "cudaStreamSynchronize", 10 * us, 100 * us);
        const WorkerSummary worker = step.summarize(100);
        QCOMPARE(partUs(worker, StepPart::OtherIdle), int64_t{10});
        QCOMPARE(heaviest(worker, StepPart::OtherIdle)->name.text(), std::string("between queued GPU operations"));
    }

    void waitingForAnIdleGpuIsSynchronization() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaDeviceSynchronize", 20 * us, 80 * us);
        step.launch(90, 95, 100, 110);
        const WorkerSummary worker = step.summarize(110);
        // Including the time until the next launch reaches the GPU.
        QCOMPARE(partUs(worker, StepPart::Synchronization), int64_t{50});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{0});
        QCOMPARE(heaviest(worker, StepPart::Synchronization)->name.text(), std::string("in cudaDeviceSynchronize"));
    }

    void waitForABusyGpuDoesNotExplainLaterIdleTime() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaStreamSynchronize", 20 * us, 30 * us);
        step.launch(90, 95, 100, 110);
        const WorkerSummary worker = step.summarize(110);
        QCOMPARE(partUs(worker, StepPart::Synchronization), int64_t{0});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{50});
    }

    void batchWaitIsDataLoading() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaMemcpyAsync", 150 * us, 155 * us, 77);
        step.builder.addMemcpy(step.stream, MemcpyKind::HtoD, 1 << 20, 160 * us, 180 * us, 77);
        step.launch(156, 158, 180, 200);
        const WorkerSummary worker = step.summarize(200);
        QCOMPARE(partUs(worker, StepPart::DataLoading), int64_t{103});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{7});  // in the calls themselves
    }

    void delayedBatchIsExplained() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addNvtx(step.thread, "checkpoint", 60 * us, 130 * us);
        step.builder.addNvtx(step.thread, "input", 140 * us, 160 * us);
        step.builder.addApi(step.thread, "cudaMemcpyAsync", 150 * us, 155 * us, 77);
        step.builder.addMemcpy(step.stream, MemcpyKind::HtoD, 1 << 20, 160 * us, 180 * us, 77);
        const WorkerSummary worker = step.summarize(180);
        QCOMPARE(partUs(worker, StepPart::DataLoading), int64_t{35});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{75});  // 5 of them in the call
        const Contributor* checkpoint = heaviest(worker, StepPart::LaunchBound);
        QCOMPARE(test::listed(checkpoint->path, checkpoint->exposedNs), test::listed("checkpoint", 70 * us));
    }

    void idleTimeWithoutCallsHasNoKnownCause() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 50 * us);
        builder.addKernel(builder.defaultStream(), "gemm", 80 * us, 100 * us);
        const WorkerSummary worker = summaryOf(builder.finish()).workers.at(0);
        QCOMPARE(partUs(worker, StepPart::OtherIdle), int64_t{30});
        QCOMPARE(heaviest(worker, StepPart::OtherIdle)->name.text(), std::string("launching call not recorded"));
    }

    void busBandwidthUsesTheCommunicatorSize() {
        SimulatedTrace builder;
        builder.processes()[0].rank = 0;
        const uint32_t first = builder.defaultThread(), stream = builder.defaultStream();
        const uint32_t second = builder.addThread(builder.addProcess(4243, "python3", 1), 4243);
        builder.addNccl(first, "AllReduce", 1'000'000, 0, 20 * us);
        builder.addApi(first, "cudaLaunchKernelExC", 5 * us, 10 * us, 9);
        builder.addNccl(second, "AllReduce", 1'000'000, 21 * us, 22 * us);
        builder.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30 * us, 50 * us, 9);
        const RunSummary summary = summaryOf(builder.finish());
        const Contributor* reduce = heaviest(summary.workers.at(0), StepPart::ExposedCommunication);
        QVERIFY(reduce);
        QCOMPARE(reduce->bytes, int64_t{1'000'000});
        QCOMPARE(reduce->busBytes, int64_t{1'000'000});  // 2 (n - 1) / n is 1 for two ranks
    }

    void stalledStepIsReported() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
        int64_t at = 0;
        for (int step = 0; step < 10; ++step) {
            const int64_t begin = at;
            for (int layer = 0; layer < 5; ++layer) {
                const int64_t stall = step == 6 && layer == 3 ? 5'000 * us : 0;
                builder.launch(thread, stream, "gemm", at + stall, at + stall + 10 * us, at + stall + 1'000 * us);
                at += stall + 1'000 * us;
            }
            builder.addNvtx(thread, "optimizer", begin + 2'500 * us, at);
            builder.addNvtx(thread, "step " + std::to_string(step), begin, at);
        }
        const WorkerSummary worker = summaryOf(builder.finish()).workers.at(0);
        QCOMPARE(test::listed(worker.steps.size(), worker.outliers.size()), "10 | 1");
        const OutlierStep& outlier = worker.outliers.front();
        QCOMPARE(test::listed(outlier.name, outlier.excessNs), test::listed("step 6", 5'000 * us));
        QCOMPARE(outlier.part, StepPart::LaunchBound);
        QCOMPARE(outlier.contributor.text(), std::string("in host code (no CUDA call) on the main thread"));
        QCOMPARE(outlier.path, std::string("optimizer"));
    }

    void cancelledSummaryIsReported() {
        const TracePtr trace = simulatedTraining();
        const Result<RunSummary> summary = summarizeRun(*trace, {}, [](double fraction) { return fraction < 0.2; });
        QVERIFY(!summary);
        QVERIFY(QString::fromStdString(summary.error().sentence).contains("cancelled"));
    }

    void reportsUseTheSameColours() {
        QFile page(LANESCOPE_SOURCE_DIR "/resources/report/report.css");
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QString style = QString::fromUtf8(page.readAll());
        const qsizetype dark = style.indexOf("prefers-color-scheme: dark");
        const auto hex = [](uint32_t color) { return "#" + QString::number(color, 16).rightJustified(6, '0'); };
        for (size_t index = 0; index < stepPartCount; ++index) {
            const auto part = static_cast<StepPart>(index);
            const std::string_view name = identifier(part);
            const QString rule = "svg ." + QString::fromLatin1(name.data(), qsizetype(name.size())) + " { fill: ";
            const qsizetype from = style.indexOf(rule);
            QVERIFY2(from >= 0, qPrintable(rule));
            const QString value = style.mid(from + rule.size(), style.indexOf(';', from) - from - rule.size());
            const PartColor color = colorOf(part);
            if (!value.startsWith("var(")) {
                QCOMPARE(value, hex(color.light));
                QCOMPARE(value, hex(color.dark));
                continue;
            }
            const QString variable = value.mid(4, value.size() - 5) + ": ";
            const auto valueAt = [&](qsizetype place) { return style.mid(place + variable.size(), 7); };
            QCOMPARE(valueAt(style.indexOf(variable)), hex(color.light));
            QCOMPARE(valueAt(style.indexOf(variable, dark)), hex(color.dark));
        }
    }

    void stepsAreAlignedByNumber() {
        WorkerSummary late = workerOfSteps({30, 20}, 2);
        late.outliers.push_back(OutlierStep{.number = 2});
        const StepGrid grid(runOf({workerOfSteps({10, 11, 12}), late, workerOfSteps({})}));
        QCOMPARE(test::listed(grid.rowCount(), grid.columnCount(), grid.numberOf(3)), "2 | 4 | 3");
        QVERIFY(!grid.at(1, 0) && !grid.at(0, 3));
        QCOMPARE(*grid.at(1, 2), (StepPlace{1, 0}));
        QVERIFY(grid.isOdd(1, 2) && !grid.isOdd(0, 2));
        QCOMPARE(grid.longestNs(), 30 * ms);
        QCOMPARE(test::listed(grid.slowestRow(), grid.slowestColumn()), "1 | 2");
        QCOMPARE(test::listed(grid.medianNs(0), grid.rowOf(2)), test::listed(11 * ms, grid.rowCount()));
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
                workers.push_back(workerOfSteps(wallMs, static_cast<int64_t>(random() % 10)));
            }
            const RunSummary run = runOf(workers);
            const StepGrid grid(run);
            for (size_t row = 0; row < grid.rowCount(); ++row) {
                const WorkerSummary& worker = run.workers[grid.workerOf(row)];
                const size_t first = random() % grid.columnCount(), count = 1 + random() % 12;
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
        const RunSummary run = runOf({workerOfSteps({40, 10, 30, 20, 20, 20, 20, 20, 20, 20, 50, 20, 10})});
        const auto range = steadySteps(run);
        QVERIFY(range.has_value());
        const auto& steps = run.workers[0].steps;
        QCOMPARE(test::listed(range->startNs, range->endNs), test::listed(steps[3].startNs, steps[8].startNs));
        QCOMPARE(*steadySteps(runOf({workerOfSteps({10, 20})})), (TimeRange{1000 * ms, 1030 * ms}));
        QVERIFY(!steadySteps(RunSummary()));
        RunSummary whole = runOf({workerOfSteps({10})});
        whole.source = StepSource::WholeRun;
        QVERIFY(!steadySteps(whole));
    }

    void tableShowsTheLongestFirst() {
        WorkerSummary early = workerOfSteps({20, 20}), late = workerOfSteps({20, 30});
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
        QVERIFY(column("Compute") < made.table.columns.size() && column("Memset") == made.table.columns.size());
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("Time")]), 30 * ms);
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("vs. median")]), 5 * ms);
        QCOMPARE(std::get<int64_t>(made.table.rows[0][column("Late")]), 5 * ms);
        for (size_t row = 0; row < made.table.rows.size(); ++row)
            QCOMPARE(made.table.rows[row].size(), made.table.columns.size());
    }

    void excessNamesThePartThatDiffersMost() {
        WorkerSummary worker = workerOfSteps({20, 20, 30, 12, 20});
        worker.steps[2].parts[StepPart::Compute] -= 8 * ms;
        worker.steps[2].parts[StepPart::LaunchBound] += 8 * ms;
        const RunSummary run = runOf({worker});
        const StepExcess longer = excessOf(run, {0, 2});
        QCOMPARE(test::listed(longer.ns, longer.part), test::listed(10 * ms, StepPart::LaunchBound));
        QCOMPARE(longer.partNs, 8 * ms);
        const StepExcess shorter = excessOf(run, {0, 3});
        QCOMPARE(test::listed(shorter.ns, shorter.part), test::listed(-8 * ms, StepPart::Compute));
        QCOMPARE(excessOf(run, {0, 0}).ns, int64_t{0});
        QCOMPARE(partsBySize(run.workers[0].steps[2].parts), (std::vector{StepPart::Compute, StepPart::LaunchBound}));
    }

    void findingsHaveAFewWordsOfTheirOwn() {
        for (const Rule* rule : allRules()) {
            const std::string_view title = rule->title;
            QVERIFY2(!title.empty() && std::ranges::count(title, ' ') < 8, std::string(rule->id).c_str());
        }
        for (const TracePtr& trace :
             {simulatedTraining({.steps = 12, .copiesFromPageableMemory = true}), simulatedTraining({.steps = 8})}) {
            const Result<RunSummary> run = summarizeRun(*trace);
            for (const Finding& finding : explain::explain(*run).findings) {
                const auto words = static_cast<size_t>(std::ranges::count(finding.brief, ' ') + 1);
                QVERIFY2(words <= maxBriefWords && !finding.brief.ends_with("…"), finding.brief.c_str());
            }
        }
    }

    void findingLeadsToItsWorstEvent() {
        const TracePtr trace = simulatedTraining({.steps = 8, .copiesFromPageableMemory = true});
        const Result<RunSummary> run = summarizeRun(*trace);
        const Explanation explanation = explain::explain(*run);
        QVERIFY(!explanation.findings.empty());
        for (const Finding& finding : explanation.findings) {
            const Result<FindingPlace> place = placeOf(*trace, *run, finding);
            QVERIFY(place.has_value() && place->step.overlaps(place->range) && !place->range.isEmpty());
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

    void workRowsMatchPlainLoop() {
        for (unsigned seed = 0; seed < 100; ++seed) {
            const TracePtr trace = randomWork(seed);
            const WorkRows rows(*trace);
            for (uint32_t process = 0; process < trace->processes.size(); ++process) {
                for (uint32_t gpu = 0; gpu < trace->gpus.size(); ++gpu) {
                    const WorkRows::WorkerRows found = rows.of(process, gpu);
                    const auto plain = [&](const auto& table) { return rowsOf(*trace, table, process, gpu); };
                    QVERIFY(areSame(found.kernels, plain(trace->kernels)));
                    QVERIFY(areSame(found.memcpys, plain(trace->memcpys)));
                    QVERIFY(areSame(found.memsets, plain(trace->memsets)));
                    QVERIFY(areSame(found.graphs, plain(trace->graphs)));
                }
            }
            QVERIFY(rows.of(99, 0).kernels.empty());
        }
    }

    /// For any number of GPUs, each of which has less than a hundredth of all work.
    void manyEquallyUsedGpusAreAllExplained() {
        for (const size_t count : {size_t{1}, size_t{100}, size_t{101}, size_t{256}}) {
            const TracePtr trace = onEachGpu(std::vector<int64_t>(count, 10));
            QCOMPARE(GpusOfProcesses(*trace).of(0).size(), count);
            QVERIFY(!reportsSkippedGpus(*trace));
            const auto run = analysis::summarizeRun(*trace);
            QVERIFY(run && run->workers.size() == count);
            QVERIFY(explain::explain(*run).sentence.find("no GPU work") == std::string::npos);
        }
    }

    /// On the others, it has only a context or exchanges a few bytes.
    void barelyUsedGpusAreOmitted() {
        const TracePtr trace = onEachGpu({1000, 9, 10, 1});
        QCOMPARE(GpusOfProcesses(*trace).of(0), (std::vector<uint32_t>{0, 2}));
        QVERIFY(!reportsSkippedGpus(*trace));
    }

    /// A number that no machine has, so that the cost of a file is bounded.
    void busiestGpusAreKeptBeyondTheLimit() {
        std::vector<int64_t> microseconds(300, 10);
        for (size_t gpu = 100; gpu < 150; ++gpu) microseconds[gpu] = 20;
        microseconds[299] = 30;
        const TracePtr trace = onEachGpu(microseconds);
        const GpusOfProcesses gpus(*trace);
        std::vector<uint32_t> expected;
        for (uint32_t gpu = 0; gpu < 300; ++gpu)
            if (gpu < 255 || gpu == 299) expected.push_back(gpu);
        QCOMPARE(test::listed(gpus.of(0), gpus.countOf(0)), test::listed(expected, 300));
        QVERIFY(reportsSkippedGpus(*trace));
        const auto run = analysis::summarizeRun(*trace);
        QVERIFY(run && run->workers.size() == GpusOfProcesses::maxGpus);
        const std::vector<std::string> caveats = explain::explain(*run).caveats;
        QVERIFY(std::ranges::any_of(
            caveats, [](const std::string& doubt) { return doubt.starts_with("Process 4242 uses 300 GPUs: "); }));
    }
};

LANESCOPE_TEST(tst_StepParts, NoApplication)
#include "tst_StepParts.moc"
