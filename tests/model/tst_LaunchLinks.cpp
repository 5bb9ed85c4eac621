#include <QtTest>
#include <algorithm>
#include <random>
#include <tuple>

#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"
#include "model/trace/runTasks.h"
#include "tests/support/TraceBuilder.h"
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
Trace randomTrace(uint32_t seed, uint32_t rows) {
    std::mt19937 random(seed);
    Trace trace;
    trace.processes.resize(3);
    for (uint32_t i = 0; i < 5; ++i) trace.threads.push_back({int64_t{i}, i, i % 3, {}});
    for (uint32_t i = 0; i < 4; ++i) trace.streams.push_back({i % 3, 0, 1, int64_t{i}, false});
    const auto correlation = [&] { return static_cast<uint32_t>(random() % (rows + 1)); };
    for (uint32_t row = 0; row < rows; ++row) {
        trace.apiCalls.thread.push_back(static_cast<uint32_t>(random() % 5));
        trace.apiCalls.correlation.push_back(correlation());
        trace.apiCalls.startNs.push_back(row);
    }
    const auto fill = [&](auto& table, uint32_t count) {
        for (uint32_t row = 0; row < count; ++row) {
            table.startNs.push_back(row);
            table.stream.push_back(static_cast<uint32_t>(random() % 4));
            table.correlation.push_back(correlation());
        }
    };
    fill(trace.kernels, rows);
    fill(trace.memcpys, rows / 3);
    fill(trace.memsets, rows / 4);
    fill(trace.graphs, rows / 5);
    trace.links = buildLaunchLinks(trace, 2);
    return trace;
}

/// Every piece of work with the first call of its correlation, by looking at all calls.
template <class Table>
void plainLaunches(const Trace& trace, const Table& table, EventKind kind,
                   std::vector<Launch>& launches) {
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
    std::sort(launches.begin(), launches.end(),
              [](const Launch& a, const Launch& b) { return a.key() < b.key(); });
    return launches;
}

}  // namespace

class tst_LaunchLinks : public QObject {
    Q_OBJECT

  private slots:
    void walkThroughAllLaunchesLikeThePlainLoop() {
        for (uint32_t seed = 0; seed < 20; ++seed) {
            const Trace trace = randomTrace(seed, seed * 30);
            std::vector<Launch> walked;
            forEachLaunch(trace, [&](uint32_t call, EventRef work) {
                const uint32_t process = trace.threads[trace.apiCalls.thread[call]].process;
                walked.push_back({process, trace.apiCalls.correlation[call], call, work});
            });
            QVERIFY(walked == plainLaunches(trace));
        }
    }

    void findTheCallOfWorkAndTheWorkOfACall() {
        const Trace trace = randomTrace(7, 500);
        const std::vector<Launch> launches = plainLaunches(trace);
        QVERIFY(launches.size() > 100);
        for (const Launch& launch : launches) {
            QCOMPARE(callOf(trace, launch.process, launch.correlation),
                     EventRef(EventKind::Api, launch.call));
            std::vector<EventRef> expected;
            for (const Launch& each : launches)
                if (each.process == launch.process && each.correlation == launch.correlation)
                    expected.push_back(each.work);
            QVERIFY(workOf(trace, launch.process, launch.correlation) == expected);
        }
        QVERIFY(!callOf(trace, 2, 100'000).isValid());
        QVERIFY(workOf(trace, 2, 100'000).empty());
    }

    void areTheSameForAnyThreads() {
        const Trace trace = randomTrace(3, 5000);
        for (const unsigned threads : {1u, 3u, 8u}) {
            const LaunchLinks links = buildLaunchLinks(trace, threads);
            QVERIFY(links.calls == trace.links.calls);
            QVERIFY(links.kernels == trace.links.kernels);
            QVERIFY(links.memcpys == trace.links.memcpys);
        }
    }

    void tasksAllRunAndTellWhatTheyThrow() {
        for (const unsigned threads : {0u, 1u, 2u, 9u}) {
            std::vector<int> done(50);
            Tasks tasks;
            for (int& each : done) tasks.emplace_back([&each] { ++each; });
            runTasks(threads, tasks);
            QCOMPARE(std::count(done.begin(), done.end(), 1), std::ptrdiff_t{50});
            tasks[20] = [] { throw std::runtime_error("no memory"); };
            QVERIFY_EXCEPTION_THROWN(runTasks(threads, tasks), std::runtime_error);
        }
        runTasks(2, {});
    }
};

LANESCOPE_TEST(tst_LaunchLinks, NoApplication)
#include "tst_LaunchLinks.moc"
