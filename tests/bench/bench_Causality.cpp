// SPDX-License-Identifier: Apache-2.0
#include "model/causality/buildGraph.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

#include <ctime>

using namespace lanescope;
using namespace lanescope::causality;

/// Graph and replay of a step of launches and kernels. `LANESCOPE_BENCH_EVENTS` sets the number of both together.
class bench_Causality : public QObject {
    Q_OBJECT

  private slots:
    void graphOfOneStep() {
        const char* asked = std::getenv("LANESCOPE_BENCH_EVENTS");
        const auto events = static_cast<uint32_t>(asked ? std::atoi(asked) : 1'000'000);
        SimulatedTrace made;
        const uint32_t thread = made.defaultThread(), stream = made.defaultStream();
        int64_t nowNs = 0, endNs = 0;
        for (uint32_t launch = 0; launch < events / 2; ++launch, nowNs += 5'000) {
            const int64_t startNs = std::max(nowNs + 6'000, endNs + 1'000);
            endNs = startNs + 2'000 + launch % 7 * 700;
            made.launch(thread, stream, launch % 3 ? "gemm" : "add", nowNs, startNs, endNs);
        }
        const TracePtr trace = made.finish();
        const StatesOfThreads states(*trace);
        // Time on a core: other programs may run.
        const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
        const double start = seconds();
        const CausalGraph graph = buildCausalGraph({*trace, states, {}}, trace->range);
        const double buildSeconds = seconds() - start;
        const std::vector<int64_t> ends = graph.replay();
        const double replaySeconds = seconds() - start - buildSeconds;
        QCOMPARE(ends.size(), graph.size());
        constexpr size_t bytesOfNode = 3 * sizeof(int64_t) + 2 * sizeof(uint32_t) + sizeof(EventRef);
        constexpr size_t bytesOfEdge = sizeof(CausalGraph::Node) + sizeof(int32_t) + sizeof(EdgeKind);
        const size_t bytes = graph.size() * (bytesOfNode + sizeof(int64_t)) + graph.from.size() * bytesOfEdge;
        const double bytesPerEvent = static_cast<double>(bytes) / events;
        qInfo("%u events: graph %.3f s (%.0f ns per event), replay %.3f s, %.1f bytes per event", events, buildSeconds,
              1e9 * buildSeconds / events, replaySeconds, bytesPerEvent);
        if (std::getenv("LANESCOPE_BENCH_ASSERT")) {
            QVERIFY(bytesPerEvent <= 120);
            QVERIFY(1e9 * buildSeconds / events <= 200);
        }
    }
};

QTEST_APPLESS_MAIN(bench_Causality)
#include "bench_Causality.moc"
