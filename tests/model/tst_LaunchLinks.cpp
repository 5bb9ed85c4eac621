// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/tasks.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct Launch {
    uint32_t process, correlation;
    uint32_t call;
    EventRef work;
    auto key() const { return std::tie(process, correlation, work); }
    bool operator==(const Launch&) const = default;
};

/// Tables with correlations that repeat, are missing and come in any order.
TracePtr randomTrace(uint32_t seed, uint32_t rows) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    std::vector<uint32_t> threads, streams;
    for (uint32_t i = 0; i < 5; ++i) threads.push_back(builder.thread(globalTid(1 + i % 3, 10 + i)));
    for (uint32_t i = 0; i < 4; ++i) streams.push_back(builder.stream(i % 3, builder.gpu(0), 1, i));
    const uint32_t config = builder.launchConfig({});
    const auto correlation = [&] { return static_cast<uint32_t>(random() % (rows + 1)); };
    const auto stream = [&] { return streams[random() % 4]; };
    for (uint32_t row = 0; row < rows; ++row)
        builder.add<kinds::Api>(
            {.startNs = row, .endNs = row, .thread = threads[random() % 5], .correlation = correlation()});
    for (uint32_t row = 0; row < rows; ++row)
        builder.add<kinds::Kernel>(
            {.startNs = row, .endNs = row, .stream = stream(), .correlation = correlation(), .config = config});
    for (uint32_t row = 0; row < rows / 3; ++row)
        builder.add<kinds::Memcpy>({.startNs = row, .endNs = row, .stream = stream(), .correlation = correlation()});
    for (uint32_t row = 0; row < rows / 4; ++row)
        builder.add<kinds::Memset>({.startNs = row, .endNs = row, .stream = stream(), .correlation = correlation()});
    for (uint32_t row = 0; row < rows / 5; ++row)
        builder.add<kinds::Graph>({.startNs = row, .endNs = row, .stream = stream(), .correlation = correlation()});
    builder.finish(2);
    return builder.take();
}

/// Every piece of work with the first call of its correlation, by testing all calls.
template <class Table>
void plainLaunches(const Trace& trace, const Table& table, EventKind kind, std::vector<Launch>& launches) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = trace.streams[table.stream[row]].process;
        const uint32_t correlation = table.correlation[row];
        for (uint32_t call = 0; correlation != 0 && call < trace.apiCalls.size(); ++call)
            if (trace.apiCalls.correlation[call] == correlation &&
                trace.threads[trace.apiCalls.thread[call]].process == process) {
                launches.push_back({process, correlation, call, EventRef(kind, row)});
                break;
            }
    }
}

std::vector<Launch> plainLaunches(const Trace& trace) {
    std::vector<Launch> launches;
    plainLaunches(trace, trace.kernels, EventKind::Kernel, launches);
    plainLaunches(trace, trace.memcpys, EventKind::Memcpy, launches);
    plainLaunches(trace, trace.memsets, EventKind::Memset, launches);
    plainLaunches(trace, trace.graphs, EventKind::Graph, launches);
    std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) { return a.key() < b.key(); });
    return launches;
}

}  // namespace

class tst_LaunchLinks : public QObject {
    Q_OBJECT

  private slots:
    void launchesMatchPlainLoop() {
        for (uint32_t seed = 0; seed < 20; ++seed) {
            const TracePtr made = randomTrace(seed, seed * 30);
            const Trace& trace = *made;
            std::vector<Launch> walked;
            forEachLaunch(trace, [&](uint32_t call, EventRef work) {
                const uint32_t process = trace.threads[trace.apiCalls.thread[call]].process;
                walked.push_back({process, trace.apiCalls.correlation[call], call, work});
            });
            QVERIFY(walked == plainLaunches(trace));
        }
    }

    void linksLeadFromWorkToCallAndBack() {
        const TracePtr made = randomTrace(7, 500);
        const Trace& trace = *made;
        const std::vector<Launch> launches = plainLaunches(trace);
        QVERIFY(launches.size() > 100);
        for (const Launch& launch : launches) {
            QCOMPARE(callOf(trace, launch.process, launch.correlation), EventRef(EventKind::Api, launch.call));
            std::vector<EventRef> expected;
            for (const Launch& each : launches)
                if (each.process == launch.process && each.correlation == launch.correlation)
                    expected.push_back(each.work);
            QVERIFY(workOf(trace, launch.process, launch.correlation) == expected);
        }
        QVERIFY(!callOf(trace, 2, 100'000).isValid());
        QVERIFY(workOf(trace, 2, 100'000).empty());
    }

    void linksAreIndependentOfThreadCount() {
        const TracePtr made = randomTrace(3, 5000);
        const Trace& trace = *made;
        for (const unsigned threads : {1u, 3u, 8u}) {
            const LaunchLinks links = buildLaunchLinks(trace, threads);
            QVERIFY(links.calls == trace.links.calls);
            QVERIFY(links.kernels == trace.links.kernels);
            QVERIFY(links.memcpys == trace.links.memcpys);
        }
    }

    void parallelTasksAllRunAndRethrowExceptions() {
        for (const unsigned threads : {0u, 1u, 2u, 9u}) {
            std::vector<int> done(50);
            Tasks tasks;
            for (int& each : done) tasks.emplace_back([&each] { ++each; });
            runTasks(threads, tasks);
            QCOMPARE(std::count(done.begin(), done.end(), 1), std::ptrdiff_t{50});
            tasks[20] = [] { throw std::runtime_error("no memory"); };
            QVERIFY_THROWS_EXCEPTION(std::runtime_error, runTasks(threads, tasks));
        }
        runTasks(2, {});
    }
};

LANESCOPE_TEST(tst_LaunchLinks, NoApplication)
#include "tst_LaunchLinks.moc"
