// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerLaunches.h"
#include "model/analysis/stepRanges.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Inserter.h"
#include "model/format/tables/Cuda.h"
#include "model/format/tables/Hardware.h"
#include "model/importers/TraceFormat.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/openForWriting.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

struct PlainLaunch {
    uint32_t process, correlation;
    uint32_t call;
    EventRef work;
    auto key() const { return std::tie(process, correlation, work); }
    bool operator==(const PlainLaunch&) const = default;
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
void plainLaunches(const Trace& trace, const Table& table, EventKind kind, std::vector<PlainLaunch>& launches) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const uint32_t process = trace.streams[table.stream[row]].process, correlation = table.correlation[row];
        for (uint32_t call = 0; correlation != 0 && call < trace.apiCalls.size(); ++call)
            if (trace.apiCalls.correlation[call] == correlation &&
                trace.threads[trace.apiCalls.thread[call]].process == process) {
                launches.push_back({process, correlation, call, EventRef(kind, row)});
                break;
            }
    }
}

std::vector<PlainLaunch> plainLaunches(const Trace& trace) {
    std::vector<PlainLaunch> launches;
    plainLaunches(trace, trace.kernels, EventKind::Kernel, launches);
    plainLaunches(trace, trace.memcpys, EventKind::Memcpy, launches);
    plainLaunches(trace, trace.memsets, EventKind::Memset, launches);
    plainLaunches(trace, trace.graphs, EventKind::Graph, launches);
    std::sort(launches.begin(), launches.end(),
              [](const PlainLaunch& a, const PlainLaunch& b) { return a.key() < b.key(); });
    return launches;
}

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

/// Correlations ascend with every call, including launches.
struct Calls {
    SimulatedTrace builder;
    uint32_t thread = builder.defaultThread(), gpu = builder.addGpu(), compute = builder.addStream(0, gpu, 7);
    uint32_t copy = builder.addStream(0, gpu, 20);
    int64_t nowNs = 1'000;
    uint32_t correlation = 0;
    struct Work {
        uint32_t stream, correlation;
        EventRef event;
    };
    struct EventCall {
        bool isRecord;
        uint32_t stream, event, correlation;
    };
    std::vector<Work> work;
    std::vector<EventCall> eventCalls;

    EventRef launch(uint32_t stream, const char* name = "kernel") {
        ++correlation;
        builder.addApi(thread, "cudaLaunchKernel", nowNs, nowNs + 10, correlation);
        const EventRef event = builder.addKernel(stream, name, nowNs + 100, nowNs + 150, correlation);
        work.push_back({stream, correlation, event});
        nowNs += 200;
        return event;
    }
    void record(uint32_t stream, uint32_t event, uint32_t eventSync = noIndex) {
        builder.eventRecord({stream, event, eventSync, ++correlation});
        eventCalls.push_back({true, stream, event, correlation});
    }
    void wait(uint32_t stream, uint32_t event, uint32_t eventSync = noIndex) {
        builder.eventWait({stream, event, eventSync, ++correlation});
        eventCalls.push_back({false, stream, event, correlation});
    }
    /// Every (before, after), by testing everything.
    std::vector<std::pair<EventRef, EventRef>> plainLoop() const {
        std::vector<std::pair<EventRef, EventRef>> pairs;
        for (const EventCall& wait : eventCalls) {
            if (wait.isRecord) continue;
            const EventCall* record = nullptr;
            for (const EventCall& each : eventCalls)
                if (each.isRecord && each.event == wait.event && each.correlation < wait.correlation) record = &each;
            if (!record || record->stream == wait.stream) continue;
            EventRef before, after;
            for (const Work& each : work)
                if (each.stream == record->stream && each.correlation < record->correlation) before = each.event;
            for (auto each = work.rbegin(); each != work.rend(); ++each)
                if (each->stream == wait.stream && each->correlation > wait.correlation) after = each->event;
            if (before.isValid() && after.isValid()) pairs.emplace_back(before, after);
        }
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        return pairs;
    }
};

using Events = std::vector<EventRef>;

}  // namespace

class tst_Launches : public QObject {
    Q_OBJECT

    static void add(TraceBuilder& builder, uint32_t pid, uint32_t parent, std::optional<int> rank, uint32_t host = 0) {
        const uint32_t index = builder.process(globalPid(pid, host));
        Process& process = builder.processes()[index];
        process.pid = pid;
        process.rank = rank;
        if (parent != 0) process.facts.edit().parentPid = parent;
    }

  private slots:
    void launchesMatchPlainLoop() {
        for (uint32_t seed = 0; seed < 20; ++seed) {
            const TracePtr made = randomTrace(seed, seed * 30);
            const Trace& trace = *made;
            std::vector<PlainLaunch> walked;
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
        const std::vector<PlainLaunch> launches = plainLaunches(trace);
        QVERIFY(launches.size() > 100);
        for (const PlainLaunch& launch : launches) {
            QCOMPARE(callOf(trace, launch.process, launch.correlation), EventRef(EventKind::Api, launch.call));
            std::vector<EventRef> expected;
            for (const PlainLaunch& each : launches)
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
            QVERIFY(links.calls == trace.links.calls && links.kernels == trace.links.kernels);
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
                QCOMPARE(test::listed(made.count(some), made.gpuNs(some)), test::listed(pieces, gpuNs));
            }
        }
    }

    void waitingGpuIsAtTheCpuPosition() {
        const WorkerLaunches made = launchesFrom({{10, 12, 20, 0, true}, {50, 52, 60, 0, true}}, {0});
        QCOMPARE(test::listed(made.onGpu(30), made.onGpu(5)), "30 | 5");
        QCOMPARE(made.onGpu(51), int64_t{60});  // after all earlier launches
        QCOMPARE(made.onGpu(90), int64_t{90});
    }

    void runAheadCpuIsAtTheEndOfItsWork() {
        const WorkerLaunches made = launchesFrom({{10, 100, 200, 0, true}, {20, 201, 300, 0, true}}, {0});
        QCOMPARE(test::listed(made.onGpu(15), made.onGpu(30)), "200 | 300");
    }

    void onlyMainStreamsGiveTheGpuPosition() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread(), compute = builder.defaultStream();
        const uint32_t copies = builder.addStream(0, 0, 20), exchange = builder.addStream(0, 0, 30);
        builder.launch(thread, compute, "gemm", 0, 100 * us, 200 * us);
        builder.launch(thread, exchange, "ncclDevKernel_AllReduce", 10 * us, 200 * us, 900 * us);
        builder.addApi(thread, "cudaMemcpyAsync", 20 * us, 22 * us, 5);
        builder.addMemcpy(copies, MemcpyKind::HtoD, 100, 25 * us, 30 * us, 5);
        builder.launch(thread, compute, "gemm", 30 * us, 210 * us, 300 * us);
        const std::vector<WorkerLaunches> made = launchesOf(*builder.finish());
        QCOMPARE(made.size(), size_t{1});
        QCOMPARE(made[0].count({0, 100 * us}), size_t{4});
        QCOMPARE(test::listed(made[0].onGpu(21 * us), made[0].onGpu(40 * us)), test::listed(200 * us, 300 * us));
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

    void workersHaveTheRankOfTheirParent() {
        TraceBuilder builder;
        add(builder, 10, 1, 0);
        add(builder, 11, 1, 1);
        add(builder, 20, 11, {});     // a worker of rank 1
        add(builder, 30, 20, {});     // and a worker started by it
        add(builder, 40, 99, {});     // of an unrecorded process
        add(builder, 50, 11, {}, 3);  // of another machine
        add(builder, 60, 61, {});     // any file content is possible
        add(builder, 61, 60, {});
        const Trace& trace = builder.trace();
        const auto ranks = ranksServed(trace);
        QCOMPARE(test::listed(ranks[0], ranks[2]), test::listed(std::optional(0), std::optional(1)));
        QCOMPARE(ranks[3], std::optional(1));
        for (const size_t none : {4, 5, 6, 7}) QVERIFY(!ranks[none]);
        QCOMPARE(test::listed(parentProcesses(trace)[2], parentProcesses(trace)[0]), test::listed(1u, noIndex));
    }

    void launchesOfOtherThreadsForARangeAreReported() {
        SimulatedTrace builder;
        const uint32_t main = builder.defaultThread(), autograd = builder.addThread(0, 526, "pt_autograd_0");
        const uint32_t stream = builder.defaultStream(), other = builder.addStream(0, 0, 20);
        const uint32_t stranger = builder.addThread(builder.addProcess(77, "other"), 77);
        for (int64_t index = 0; index < 3; ++index)
            builder.launch(main, stream, "gemm", index * 10 * us, 100 * us + index * us, 100 * us + (index + 1) * us);
        for (int64_t index = 0; index < 5; ++index)
            builder.launch(autograd, index < 4 ? stream : other, "gemm", (40 + index * 10) * us, 200 * us + index * us,
                           200 * us + (index + 1) * us);
        builder.launch(main, stream, "gemm", 150 * us, 300 * us, 310 * us);  // later
        builder.addApi(stranger, "cudaLaunchKernel", 20 * us, 25 * us, 1);
        const TracePtr trace = builder.finish();
        const TimeRange range{0, 100 * us};
        QCOMPARE(launchesDuring(*trace, main, range), (std::vector<ThreadLaunches>{{main, 3}, {autograd, 5}}));
        QCOMPARE(launchesDuring(*trace, main, range, other), (std::vector<ThreadLaunches>{{autograd, 1}}));
        QCOMPARE(launchesText(*trace, main, launchesDuring(*trace, main, range)),
                 std::string("3 by this thread, 5 by thread 526 (pt_autograd_0) meanwhile"));
        QCOMPARE(launchesText(*trace, main, launchesDuring(*trace, main, range, other)),
                 std::string("0 by this thread, 1 by thread 526 (pt_autograd_0) meanwhile"));
        QVERIFY(launchesText(*trace, main, launchesDuring(*trace, main, {500, 600})).empty());
    }

    void requestsThatDifferInNumbersAreGroupedWithNestedRanges() {
        SimulatedTrace trace;
        const uint32_t thread = trace.defaultThread();
        const int64_t lengths[] = {300, 100, 200};
        for (int64_t each = 0; each < 3; ++each) {
            const int64_t start = 1'000 + each * 1'000;
            trace.addNvtx(thread, "request " + std::to_string(each), start, start + lengths[each]);
            trace.addNvtx(thread, "decode", start + 10, start + lengths[each] - 10);
        }
        const auto found = mainRanges(*trace.finish());
        QVERIFY(found);
        QCOMPARE(test::listed(found->name, found->count), test::listed("request #", int64_t(3)));
        QCOMPARE(test::listed(found->medianNs, found->longestNs), test::listed(int64_t(200), int64_t(300)));
        QCOMPARE(test::listed(found->paceNs, found->span.startNs), test::listed(int64_t(1'000), int64_t(1'000)));
        QCOMPARE(found->span.endNs, int64_t(3'200));
    }

    void intervalIsThatOfEachProcess() {
        SimulatedTrace trace;
        const uint32_t first = trace.defaultThread();
        const uint32_t second = trace.addThread(trace.addProcess(77, "python3", 1), 77);
        for (int64_t each = 0; each < 12; ++each) {
            trace.addNvtx(first, "forward", each * 20'000, each * 20'000 + 4'000);
            trace.addNvtx(second, "forward", each * 20'000 + 1'500, each * 20'000 + 6'500);
        }
        QCOMPARE(mainRanges(*trace.finish())->paceNs, int64_t{20'000});
    }

    void commonNameOfRangesIsTheirGroupName() {
        SimulatedTrace trace;
        for (int64_t each = 0; each < 4; ++each)
            trace.addNvtx(trace.defaultThread(), "layer 3", each * 100, each * 100 + 10);
        QCOMPARE(mainRanges(*trace.finish())->name, std::string("layer 3"));
    }

    void enclosingOpenAndMarkRangesDoNotCount() {
        SimulatedTrace trace;
        const uint32_t thread = trace.defaultThread(), other = trace.addThread(0, 99);
        trace.addNvtx(thread, "main", 0, 100'000);
        trace.addNvtx(thread, "worker 1", 10, 90'000, NvtxStyle::StartEnd);
        trace.addNvtx(other, "worker 2", 20, 90'000, NvtxStyle::StartEnd);
        trace.addNvtx(thread, "mark", 50, 50, NvtxStyle::Mark);
        for (int64_t each = 1; each < 3; ++each) trace.addNvtx(other, "load", each * 1'000, each * 1'000 + 100);
        trace.addOpenNvtx(other, "load", 5'000);
        const auto found = mainRanges(*trace.finish());
        QVERIFY(found);
        QCOMPARE(test::listed(found->name, found->count), test::listed("load", int64_t(2)));
        SimulatedTrace once;
        once.addNvtx(once.defaultThread(), "main", 0, 100);
        QVERIFY(!mainRanges(*once.finish()));
    }

    void rangesOfOnePatternAreSummed() {
        SimulatedTrace trace;
        for (int64_t each = 0; each < 3; ++each)
            trace.addNvtx(trace.defaultThread(), "request " + std::to_string(each), each * 1'000,
                          each * 1'000 + 100 * (each + 1));
        const TracePtr finished = trace.finish();
        const auto found = rangesOf(*finished, "request #");
        QVERIFY(found && found->count == 3 && found->medianNs == 200 && found->longestNs == 300);
        QVERIFY(!rangesOf(*finished, "step #"));
    }

    void gpuWorkSpansKernelsCopiesAndMemsets() {
        SimulatedTrace trace;
        const uint32_t stream = trace.defaultStream();
        trace.addMemcpy(stream, MemcpyKind::HtoD, 1'000, 100, 200);
        trace.addKernel(stream, "gemm", 300, 400);
        trace.addMemset(stream, 1'000, 500, 600);
        const auto span = gpuWorkSpan(*trace.finish());
        QVERIFY(span);
        QCOMPARE(test::listed(span->startNs, span->endNs), test::listed(int64_t(100), int64_t(600)));
        SimulatedTrace idle;
        idle.addNvtx(idle.defaultThread(), "main", 0, 100);
        QVERIFY(!gpuWorkSpan(*idle.finish()));
    }

    void nextWorkWaitsForTheLastBeforeTheRecord() {
        Calls calls;
        calls.launch(calls.compute);
        const EventRef before = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef unrelated = calls.launch(calls.compute), early = calls.launch(calls.copy);
        calls.wait(calls.copy, 3);
        const EventRef after = calls.launch(calls.copy), later = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(awaitedWork(*trace, after), Events{before});
        QCOMPARE(waitingWork(*trace, before), Events{after});
        for (const EventRef none : {unrelated, early, later}) {
            QVERIFY(awaitedWork(*trace, none).empty());
            QVERIFY(waitingWork(*trace, none).empty());
        }
        QCOMPARE(trace->eventRecords.size(), 0u);
    }

    void lastRecordBeforeTheWaitCounts() {
        Calls calls;
        calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef second = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        calls.wait(calls.copy, 3);
        calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        const EventRef after = calls.launch(calls.copy);
        QCOMPARE(awaitedWork(*calls.builder.finish(), after), Events{second});
    }

    void eventIdsJoinWaitAndRecord() {
        Calls calls;
        const EventRef first = calls.launch(calls.compute);
        calls.record(calls.compute, 3, 71);
        calls.launch(calls.compute);
        calls.record(calls.compute, 3, 72);
        calls.wait(calls.copy, 3, 71);
        const EventRef after = calls.launch(calls.copy);
        QCOMPARE(awaitedWork(*calls.builder.finish(), after), Events{first});
    }

    void waitsWithoutEffectAreSkipped() {
        Calls calls;
        calls.launch(calls.compute);
        calls.wait(calls.copy, 3);  // nothing was recorded yet
        calls.record(calls.compute, 3);
        calls.wait(calls.compute, 3);  // a stream runs its own work in order anyway
        calls.wait(calls.copy, 4);     // that event was never recorded
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        QCOMPARE(trace->streamWaits.size(), 0u);
        QVERIFY(awaitedWork(*trace, after).empty());
        QVERIFY(awaitedWork(*trace, EventRef(EventKind::Kernel, 500)).empty());
        QVERIFY(waitingWork(*trace, EventRef()).empty());
    }

    void flowsRunInBothDirections() {
        Calls calls;
        const EventRef before = calls.launch(calls.compute);
        calls.record(calls.compute, 3);
        calls.wait(calls.copy, 3);
        const EventRef after = calls.launch(calls.copy);
        const TracePtr trace = calls.builder.finish();
        const EventRef call = trace->launchingCall(after);
        QCOMPARE(causesOf(*trace, after), (Events{call, before}));
        QCOMPARE(causedBy(*trace, before), Events{after});
        QCOMPARE(causedBy(*trace, call), Events{after});
        QVERIFY(causesOf(*trace, call).empty());
    }

    void waitsMatchPlainLoop() {
        std::mt19937 random(20);
        for (int round = 0; round < 40; ++round) {
            Calls calls;
            const uint32_t streams[] = {calls.compute, calls.copy, calls.builder.addStream(0, calls.gpu, 21)};
            for (int i = 0; i < 120; ++i) {
                const uint32_t stream = streams[random() % 3], event = random() % 4;
                switch (random() % 4) {
                    case 0: calls.record(stream, event); break;
                    case 1: calls.wait(stream, event); break;
                    default: calls.launch(stream);
                }
            }
            const auto expected = calls.plainLoop();
            const auto work = calls.work;
            const TracePtr trace = calls.builder.finish();
            std::vector<std::pair<EventRef, EventRef>> forwards, backwards;
            for (const auto& each : work) {
                for (const EventRef after : waitingWork(*trace, each.event)) forwards.emplace_back(each.event, after);
                for (const EventRef before : awaitedWork(*trace, each.event))
                    backwards.emplace_back(before, each.event);
            }
            std::sort(forwards.begin(), forwards.end());
            std::sort(backwards.begin(), backwards.end());
            QVERIFY(!expected.empty());
            QVERIFY(forwards == expected);
            QVERIFY(backwards == expected);
        }
    }

    void waitsAreReadFromAFile() {
        const TemporaryFolder folder;
        Calls calls;
        const EventRef before = calls.launch(calls.compute);
        calls.correlation = 10;
        const EventRef after = calls.launch(calls.copy);
        const TracePtr written = calls.builder.finish();
        const auto path = folder / "waits.sqlite";
        QVERIFY(writeTraceFile(*written, path));
        {
            auto database = openForWriting(path);
            QVERIFY(database);
            // Events without a row, which were skipped.
            QVERIFY(database->execute(
                (createSql(tables::cudaEvents) + createSql(tables::syncs) + createSql(tables::contexts)).c_str()));
            // The recorder may not know the GPU of a wait, but of its context.
            QVERIFY(
                database->execute("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO (processId, contextId, deviceId)"
                                  " SELECT (globalPid >> 24) & 0xffffff, contextId, deviceId"
                                  " FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 11"));
            QVERIFY(
                database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, contextId, streamId,"
                                  " correlationId, globalPid, eventId) SELECT deviceId, contextId, streamId, 5,"
                                  " globalPid, 9 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 1"));
            QVERIFY(
                database->execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, \"end\", deviceId,"
                                  " contextId, streamId, correlationId, globalPid, syncType, eventId)"
                                  " SELECT start, start + 1, -1, contextId, streamId, 6, globalPid, 2, 9"
                                  " FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 11"));
        }
        const auto read = loadTrace(path);
        QVERIFY(read);
        QCOMPARE((*read)->streamWaits.size(), 1u);
        QCOMPARE(awaitedWork(**read, after), Events{before});
    }
};

LANESCOPE_TEST(tst_Launches, NoApplication)
#include "tst_Launches.moc"
