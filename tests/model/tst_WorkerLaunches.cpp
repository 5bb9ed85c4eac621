// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerLaunches.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

using Launch = WorkerLaunches::Launch;

constexpr int64_t us = 1000;

WorkerLaunches launchesFrom(const std::vector<Launch>& launches, const std::vector<uint32_t>& mainStreams) {
    return {0, 0, LargeVector<Launch>(launches.begin(), launches.end()), mainStreams};
}

/// The rule as specified, applied to every launch.
int64_t plainTime(const std::vector<Launch>& launches, const std::vector<uint32_t>& mainStreams, int64_t cpuNs) {
    int64_t endedNs = INT64_MIN, nextNs = INT64_MAX;
    for (const Launch& each : launches) {
        if (!each.isCallKnown || std::find(mainStreams.begin(), mainStreams.end(), each.stream) == mainStreams.end())
            continue;
        if (each.launchNs < cpuNs)
            endedNs = std::max(endedNs, each.endNs);
        else
            nextNs = std::min(nextNs, each.startNs);
    }
    return std::max(endedNs, std::min(cpuNs, nextNs));
}

}  // namespace

class TestWorkerLaunches : public QObject {
    Q_OBJECT

  private slots:
    void timesAndSumsMatchPlainLoop() {
        std::mt19937 random(7);
        const auto upTo = [&random](int64_t most) {
            return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
        };
        for (int round = 0; round < 60; ++round) {
            std::vector<Launch> launches;
            const int64_t count = upTo(60);
            for (int64_t index = 0; index < count; ++index) {
                const int64_t launchNs = upTo(1000), startNs = launchNs + upTo(400) - 20;
                launches.push_back(
                    {launchNs, startNs, startNs + upTo(50), static_cast<uint32_t>(upTo(2)), upTo(9) > 0});
            }
            const std::vector<uint32_t> mainStreams =
                round % 2 ? std::vector<uint32_t>{1} : std::vector<uint32_t>{0, 2};
            const WorkerLaunches made = launchesFrom(launches, mainStreams);
            int64_t before = INT64_MIN;
            for (int64_t cpuNs = -10; cpuNs < 1100; cpuNs += 3) {
                const int64_t moment = made.onGpu(cpuNs);
                QCOMPARE(moment, plainTime(launches, mainStreams, cpuNs));
                QVERIFY(moment >= before);  // otherwise steps would overlap
                before = moment;
                const TimeRange some{cpuNs, cpuNs + upTo(300)};
                size_t pieces = 0;
                int64_t gpuNs = 0;
                for (const Launch& each : launches) {
                    if (!some.contains(each.launchNs)) continue;
                    ++pieces;
                    gpuNs += each.endNs - each.startNs;
                }
                QCOMPARE(made.count(some), pieces);
                QCOMPARE(made.gpuNs(some), gpuNs);
            }
        }
    }

    void waitingGpuIsAtTheCpuPosition() {
        const WorkerLaunches made = launchesFrom({{10, 12, 20, 0, true}, {50, 52, 60, 0, true}}, {0});
        QCOMPARE(made.onGpu(30), int64_t{30});
        QCOMPARE(made.onGpu(5), int64_t{5});
        QCOMPARE(made.onGpu(51), int64_t{60});  // after all earlier launches
        QCOMPARE(made.onGpu(90), int64_t{90});
    }

    void runAheadCpuIsAtTheEndOfItsWork() {
        const WorkerLaunches made = launchesFrom({{10, 100, 200, 0, true}, {20, 201, 300, 0, true}}, {0});
        QCOMPARE(made.onGpu(15), int64_t{200});
        QCOMPARE(made.onGpu(30), int64_t{300});
    }

    void onlyMainStreamsGiveTheGpuPosition() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const uint32_t compute = builder.defaultStream();
        const uint32_t copies = builder.addStream(0, 0, 20);
        const uint32_t exchange = builder.addStream(0, 0, 30);
        builder.launch(thread, compute, "gemm", 0, 100 * us, 200 * us);
        builder.launch(thread, exchange, "ncclDevKernel_AllReduce", 10 * us, 200 * us, 900 * us);
        builder.addApi(thread, "cudaMemcpyAsync", 20 * us, 22 * us, 5);
        builder.addMemcpy(copies, MemcpyKind::HtoD, 100, 25 * us, 30 * us, 5);
        builder.launch(thread, compute, "gemm", 30 * us, 210 * us, 300 * us);
        const std::vector<WorkerLaunches> made = launchesOf(*builder.finish());
        QCOMPARE(made.size(), size_t{1});
        QCOMPARE(made[0].count({0, 100 * us}), size_t{4});
        QCOMPARE(made[0].onGpu(21 * us), 200 * us);
        QCOMPARE(made[0].onGpu(40 * us), 300 * us);
    }

    void alternatingStreamsCountTogether() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        const std::vector<uint32_t> streams{builder.defaultStream(), builder.addStream(0, 0, 20)};
        for (int64_t index = 0; index < 6; ++index)
            builder.launch(thread, streams[static_cast<size_t>(index % 2)], "gemm", 10 * index * us, 100 * index * us,
                           100 * (index + 1) * us);
        const std::vector<WorkerLaunches> made = launchesOf(*builder.finish());
        QCOMPARE(made.at(0).onGpu(15 * us), 200 * us);
        QCOMPARE(made.at(0).onGpu(25 * us), 300 * us);
    }
};

LANESCOPE_TEST(TestWorkerLaunches, NoApplication)
#include "tst_WorkerLaunches.moc"
