// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <map>
#include <random>
#include <set>

#include "model/compare/RunSummary.h"
#include "model/compare/WorkerTimeline.h"
#include "tests/support/PlainStepParts.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::compare;

namespace {

constexpr int64_t us = 1000;

/// A simulated run in which everything begins and ends at whole microseconds.
class RandomRun {
  public:
    explicit RandomRun(uint32_t seed) : random_(seed) {
        main_ = builder_.addThread(0, 4242, "python3");
        autograd_ = builder_.addThread(0, 5000, "pt_autograd_0");
        loader_ = builder_.addThread(0, 5001, "DataLoader");
        compute_ = builder_.defaultStream();
        other_ = builder_.addStream(0, 0, 20);
        for (int64_t at = 0; at < lengthUs; ++at) starts_.push_back(at * us);
        std::shuffle(starts_.begin(), starts_.end(), random_);
        addRanges();
        addCalls(main_, 40);
        addCalls(autograd_, 15);
        if (random_() % 2 == 0) addCalls(loader_, 5);
    }
    TracePtr finish() {
        const TracePtr trace = builder_.finish();
        addWaits(forged(trace));
        return trace;
    }

    static constexpr int64_t lengthUs = 600;

  private:
    int64_t upTo(int64_t most) { return static_cast<int64_t>(random_() % (most + 1)); }

    /// As if the other ranks of each collective were there, and came as late as that.
    void addWaits(Trace& trace) {
        for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
            if (!trace.nameOf({EventKind::Kernel, row}).starts_with("ncclDevKernel")) continue;
            NcclFacts facts;
            facts.gpu = trace.rangeOf({EventKind::Kernel, row});
            facts.operationCount = 1;
            facts.waitedNs = upTo(facts.gpu.durationNs() / us) * us;
            trace.nccl.nvtx.push_back(0);
            trace.nccl.operation.push_back(0);
            trace.nccl.bytes.push_back(-1);
            trace.nccl.communicator.push_back(0);
            trace.nccl.facts.push_back(facts);
        }
    }

    void addRanges() {
        int64_t at = upTo(20);
        for (int step = 0; step < 5; ++step) {
            const int64_t end = at + 60 + upTo(60);
            builder_.addNvtx(main_, "step " + std::to_string(step), at * us, end * us);
            const int64_t middle = at + upTo(end - at);
            builder_.addNvtx(main_, random_() % 2 ? "data" : "forward", at * us, middle * us);
            builder_.addNvtx(main_, "backward", middle * us, end * us);
            at = end + (random_() % 3 == 0 ? upTo(20) : 0);
        }
    }

    void addCalls(uint32_t thread, int count) {
        static constexpr std::array<const char*, 4> names{
            "cudaLaunchKernel", "cudaMalloc", "cudaStreamSynchronize", "cudaMemcpyAsync"};
        int64_t at = upTo(10);
        for (int index = 0; index < count && at < lengthUs; ++index) {
            const int64_t end = at + upTo(12);
            const uint32_t correlation = random_() % 4 == 0 ? 0 : ++correlation_;
            builder_.addApi(thread, names[random_() % names.size()], at * us, end * us,
                            correlation);
            addWork(correlation, at * us);
            at = end + upTo(15);
        }
    }

    /// Of that call, at some time after it began; none for some calls.
    void addWork(uint32_t correlation, int64_t callNs) {
        if (random_() % 5 == 0) return;
        const auto found = std::find_if(starts_.begin(), starts_.end(), [&](int64_t startNs) {
            return startNs > callNs && startNs < callNs + 40 * us;
        });
        if (found == starts_.end()) return;
        const int64_t startNs = *found;
        starts_.erase(found);  // no two begin at once, or which is first would be open
        const int64_t endNs = startNs + upTo(14) * us;
        const uint32_t stream = random_() % 3 == 0 ? other_ : compute_;
        static constexpr std::array kinds{MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD,
                                          MemcpyKind::PtoP, MemcpyKind::HtoH};
        switch (random_() % 5) {
            case 0:
                builder_.addMemcpy(stream, kinds[random_() % kinds.size()], upTo(5000), startNs,
                                   endNs, correlation);
                break;
            case 1:
                builder_.addMemset(stream, 8, startNs, endNs, correlation);
                break;
            case 2:
                builder_.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", startNs,
                                   endNs, correlation);
                break;
            default:
                builder_.addKernel(stream, "gemm", startNs, endNs, correlation);
        }
    }

    std::mt19937 random_;
    SimulatedTrace builder_;
    uint32_t main_, autograd_, loader_, compute_, other_;
    uint32_t correlation_ = 0;
    std::vector<int64_t> starts_;
};

RunSummary summaryOf(const TracePtr& trace, const StepSelection& selection = {}) {
    const Result<RunSummary> summary = summarizeRun(*trace, selection);
    return summary ? *summary : RunSummary{};
}

/// One step from 0 to `lengthUs`, in which a kernel runs at its beginning.
struct OneStep {
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread();
    uint32_t stream = builder.defaultStream();
    uint32_t correlation = 0;

    /// A call and what it launches; times in microseconds.
    void launch(int64_t callUs, int64_t callEndUs, int64_t startUs, int64_t endUs) {
        builder.addApi(thread, "cudaLaunchKernel", callUs * us, callEndUs * us, ++correlation);
        builder.addKernel(stream, "gemm", startUs * us, endUs * us, correlation);
    }
    WorkerSummary summarize(int64_t lengthUs) {
        const TracePtr trace = builder.finish();
        StepSelection selection;
        selection.stretch = TimeRange{0, lengthUs * us};
        return summaryOf(trace, selection).workers.at(0);
    }
};

int64_t partUs(const WorkerSummary& worker, StepPart part) {
    return worker.totalParts()[part] / us;
}

const Contributor* heaviest(const WorkerSummary& worker, StepPart part) {
    for (const Contributor& each : worker.contributors)
        if (each.part == part) return &each;
    return nullptr;
}

}  // namespace

class TestStepParts : public QObject {
    Q_OBJECT

  private slots:
    void partsAreThoseOfThePlainLoop() {
        size_t seenParts = 0;
        std::map<StepPart, int64_t> seen;
        for (uint32_t seed = 0; seed < 60; ++seed) {
            const TracePtr trace = RandomRun(seed).finish();
            const WorkerSummary worker = summaryOf(trace).workers.at(0);
            std::vector<TimeRange> steps;
            for (const StepSummary& step : worker.steps)
                steps.push_back({step.startNs, step.startNs + step.wallNs});
            QVERIFY(steps.size() >= 3);
            const PlainStepParts loop(*trace, findSteps(*trace)->workers.at(0).steps);
            for (size_t index = 0; index < steps.size(); ++index) {
                StepParts expected;
                for (int64_t ns = steps[index].startNs; ns < steps[index].endNs; ns += us)
                    expected[loop.partAt(ns)] += us;
                for (size_t part = 0; part < stepPartCount; ++part) {
                    const QByteArray where =
                        QByteArray::number(seed) + " step " + QByteArray::number(int(index)) +
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
        QCOMPARE(seenParts, stepPartCount);  // or the test would prove nothing about the others
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

    void aStepOfACpuThatRunsAheadIsWhatItsWorkTakes() {
        const auto summaryWith = [](int64_t copyUs) {
            SimulatedTrace builder;
            const uint32_t thread = builder.defaultThread();
            const uint32_t stream = builder.defaultStream();
            int64_t cpuNs = 0, gpuNs = 0;
            for (uint32_t step = 1; step <= 30; ++step) {
                const int64_t startNs = cpuNs;
                if (copyUs > 0) {
                    builder.addApi(thread, "cudaMemcpyAsync", cpuNs, cpuNs + 5 * us, step);
                    builder.addMemcpy(stream, MemcpyKind::HtoD, 1 << 26,
                                      std::max(gpuNs, cpuNs + 6 * us),
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
        const WorkerSummary without = summaryWith(0).workers.at(0);
        const WorkerSummary with = summaryWith(1'100).workers.at(0);
        const StepSummary &before = without.steps.at(10), &after = with.steps.at(10);
        QCOMPARE(before.onCpuNs, std::optional<int64_t>(4'000 * us));
        QCOMPARE(after.onCpuNs, before.onCpuNs);
        QCOMPARE(before.wallNs, 13'000 * us);
        QCOMPARE(after.wallNs, 14'100 * us);
        QCOMPARE(after.parts[StepPart::ExposedHtoD], 1'100 * us);
        QCOMPARE(after.parts[StepPart::Compute], 13'000 * us);
        QVERIFY(QString::fromStdString(with.aheadText()).contains("runs ahead, 4.0"));
        for (const Contributor& each : with.contributors)
            if (each.kind == ContributorKind::Kernel)
                QCOMPARE(each.count, static_cast<int64_t>(13 * with.steps.size()));
    }

    void whatComputeHidesIsNotExposed() {
        OneStep step;
        step.launch(0, 1, 10, 50);
        step.builder.addKernel(step.builder.addStream(0, 0, 20), "ncclDevKernel_AllReduce_Sum",
                               30 * us, 70 * us);
        step.builder.addMemcpy(step.stream, MemcpyKind::HtoD, 100, 60 * us, 90 * us);
        const WorkerSummary worker = step.summarize(90);
        QCOMPARE(partUs(worker, StepPart::Compute), int64_t{40});
        QCOMPARE(partUs(worker, StepPart::ExposedCommunication), int64_t{20});
        QCOMPARE(partUs(worker, StepPart::ExposedHtoD), int64_t{20});
        const Contributor* reduce = heaviest(worker, StepPart::ExposedCommunication);
        QVERIFY(reduce);
        QCOMPARE(reduce->name, std::string("AllReduce"));
        QCOMPARE(reduce->totalNs, 40 * us);
        QCOMPARE(heaviest(worker, StepPart::ExposedHtoD)->name, std::string("HtoD from pinned"));
    }

    void aLateLaunchNamesWhatTheThreadDid() {
        OneStep step;
        step.builder.addNvtx(step.thread, "optimizer", 40 * us, 200 * us);
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaMalloc", 60 * us, 90 * us);
        step.launch(140, 145, 150, 200);
        const WorkerSummary worker = step.summarize(200);
        QCOMPARE(partUs(worker, StepPart::Compute), int64_t{100});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{100});
        std::map<std::string, int64_t> ns;
        for (const Contributor& each : worker.contributors)
            if (each.part == StepPart::LaunchBound) {
                QCOMPARE(each.path, std::string("optimizer"));
                ns[each.name] = each.exposedNs;
            }
        QCOMPARE(ns["in cudaMalloc on the main thread"], 30 * us);
        QCOMPARE(ns["in cudaLaunchKernel on the main thread"], 5 * us);
        QCOMPARE(ns["outside CUDA calls on the main thread"], 65 * us);
    }

    void queuedWorkIsNotTheFaultOfTheCpu() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.launch(2, 3, 60, 100);  // launched long before the first kernel ended
        step.builder.addApi(step.thread, "cudaStreamSynchronize", 10 * us, 100 * us);
        const WorkerSummary worker = step.summarize(100);
        QCOMPARE(partUs(worker, StepPart::OtherIdle), int64_t{10});
        QCOMPARE(heaviest(worker, StepPart::OtherIdle)->name,
                 std::string("between pieces of queued work"));
    }

    void waitingForAnIdleGpuIsSynchronization() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaDeviceSynchronize", 20 * us, 80 * us);
        step.launch(90, 95, 100, 110);
        const WorkerSummary worker = step.summarize(110);
        QCOMPARE(partUs(worker, StepPart::Synchronization), int64_t{30});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{20});
        QCOMPARE(heaviest(worker, StepPart::Synchronization)->name,
                 std::string("in cudaDeviceSynchronize"));
    }

    void waitingForTheBatchIsDataLoading() {
        OneStep step;
        step.launch(0, 1, 0, 50);
        step.builder.addApi(step.thread, "cudaMemcpyAsync", 150 * us, 155 * us, 77);
        step.builder.addMemcpy(step.stream, MemcpyKind::HtoD, 1 << 20, 160 * us, 180 * us, 77);
        step.launch(156, 158, 180, 200);
        const WorkerSummary worker = step.summarize(200);
        QCOMPARE(partUs(worker, StepPart::DataLoading), int64_t{103});
        QCOMPARE(partUs(worker, StepPart::LaunchBound), int64_t{7});  // in the calls themselves
    }

    void whatHoldsUpTheBatchIsNamed() {
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
        QCOMPARE(checkpoint->path, std::string("checkpoint"));
        QCOMPARE(checkpoint->exposedNs, 70 * us);
    }

    void withoutCallsIdleTimeHasNoKnownCause() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 50 * us);
        builder.addKernel(builder.defaultStream(), "gemm", 80 * us, 100 * us);
        const WorkerSummary worker = summaryOf(builder.finish()).workers.at(0);
        QCOMPARE(partUs(worker, StepPart::OtherIdle), int64_t{30});
        QCOMPARE(heaviest(worker, StepPart::OtherIdle)->name,
                 std::string("launching call not recorded"));
    }

    void busBandwidthUsesTheRanksOfTheCommunicator() {
        SimulatedTrace builder;
        builder.processes()[0].rank = 0;
        const uint32_t first = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
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

    void aStalledStepIsNamed() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t stream = builder.defaultStream();
        int64_t at = 0;
        for (int step = 0; step < 10; ++step) {
            const int64_t begin = at;
            for (int layer = 0; layer < 5; ++layer) {
                const int64_t stall = step == 6 && layer == 3 ? 5'000 * us : 0;
                builder.launch(thread, stream, "gemm", at + stall, at + stall + 10 * us,
                               at + stall + 1'000 * us);
                at += stall + 1'000 * us;
            }
            builder.addNvtx(thread, "optimizer", begin + 2'500 * us, at);
            builder.addNvtx(thread, "step " + std::to_string(step), begin, at);
        }
        const WorkerSummary worker = summaryOf(builder.finish()).workers.at(0);
        QCOMPARE(worker.steps.size(), size_t{10});
        QCOMPARE(worker.outliers.size(), size_t{1});
        const OutlierStep& outlier = worker.outliers.front();
        QCOMPARE(outlier.name, std::string("step 6"));
        QCOMPARE(outlier.excessNs, 5'000 * us);
        QCOMPARE(outlier.part, StepPart::LaunchBound);
        QCOMPARE(outlier.contributor, std::string("outside CUDA calls on the main thread"));
        QCOMPARE(outlier.path, std::string("optimizer"));
    }

    void aCancelledSummarySaysSo() {
        const TracePtr trace = simulatedTraining();
        const Result<RunSummary> summary =
            summarizeRun(*trace, {}, [](double fraction) { return fraction < 0.2; });
        QVERIFY(!summary);
        QVERIFY(QString::fromStdString(summary.error().sentence).contains("cancelled"));
    }
};

LANESCOPE_TEST(TestStepParts, NoApplication)
#include "tst_StepParts.moc"
