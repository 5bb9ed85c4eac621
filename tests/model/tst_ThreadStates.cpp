// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/IdleCauses.h"
#include "model/analysis/ThreadActivities.h"
#include "model/export/traceFile.h"
#include "model/format/GlobalId.h"
#include "model/format/Sqlite.h"
#include "model/importers/TraceFormat.h"
#include "model/importers/sqlite/readers.h"
#include "model/reports/reports.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/cpuStates.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000;

/// Activity of threads of one process, in milliseconds, at lines of one file.
class Simulated : public SimulatedTrace {
  public:
    uint32_t line(std::string_view function, uint32_t number, uint32_t parent = noIndex) {
        return stack(parent, intern(function), intern("/home/me/run/data.py"), number);
    }
    EventRef state(uint32_t thread, ThreadState what, int64_t fromMs, int64_t untilMs, uint32_t at = noIndex,
                   int64_t cpuMs = 0, int64_t delayMs = 0) {
        return test::addState(*this, thread, what, {fromMs * ms, untilMs * ms}, cpuMs * ms, delayMs * ms, at);
    }
};

const Track* trackOf(const Trace& trace, TrackKind kind) {
    for (const Track& track : trace.tracks)
        if (track.kind == kind) return &track;
    return nullptr;
}

using Texts = std::vector<std::string>;

Texts slicesOf(const Trace& trace, const Lane& lane) {
    Texts slices;
    for (uint32_t i = 0; i < lane.size(); ++i)
        slices.push_back(
            fmt::format("{} {}-{}", trace.strings.at(lane.name[i]), lane.startNs[i] / ms, lane.endNs(i) / ms));
    return slices;
}

/// Texts on a thread in a time range, with milliseconds if `areTimed`.
Texts statesOf(const Trace& trace, uint32_t thread, int64_t fromMs, int64_t untilMs, bool areTimed = false) {
    const StatesOfThreads states(trace);
    Texts said;
    analysis::ThreadActivities activities(trace, states);
    activities.forEachIn(thread, {fromMs * ms, untilMs * ms}, [&](TimeRange piece, auto id) {
        said.push_back((areTimed ? std::to_string(piece.durationNs() / ms) : "") + activityText(activities.at(id)));
    });
    return said;
}

using Row = kinds::CpuState::Row;

Row sampleOf(ThreadState state, int64_t startNs, int64_t endNs, uint32_t stack = noIndex, int64_t delayNs = 0) {
    Row row{.startNs = startNs, .endNs = endNs, .thread = 3, .state = state, .delayNs = delayNs, .stack = stack};
    return row;
}

std::vector<std::string> words(const std::vector<Row>& rows) {
    std::vector<std::string> all;
    for (const Row& row : rows) {
        std::string text(nameOf(row.state).identifier);
        text += " " + std::to_string(row.startNs) + "-" + std::to_string(row.endNs);
        if (row.stack != noIndex) text += " at " + std::to_string(row.stack);
        if (row.source == StateSource::StateSamples) text += " sampled";
        if (row.delayNs > 0) text += " wanted " + std::to_string(row.delayNs);
        all.push_back(std::move(text));
    }
    return all;
}

}  // namespace

class tst_ThreadStates : public QObject {
    Q_OBJECT

  private slots:
    void statesAndStacksHaveLanes() {
        Simulated simulated;
        const uint32_t thread = simulated.defaultThread(), main = simulated.line("main", 3);
        const uint32_t load = simulated.line("load", 88, main), step = simulated.line("step", 41, main);
        simulated.state(thread, ThreadState::Running, 0, 10, step, 9);
        simulated.state(thread, ThreadState::Poll, 10, 30, load);
        simulated.state(thread, ThreadState::Running, 30, 40, simulated.line("load", 90, main), 10);
        simulated.state(thread, ThreadState::Gil, 400, 410, step);
        const TracePtr trace = simulated.finish();
        const Track* const states = trackOf(*trace, TrackKind::ThreadStates);
        QVERIFY(states);
        QCOMPARE(states->lanes.size(), size_t{1});
        QCOMPARE(slicesOf(*trace, states->lanes[0]),
                 (Texts{"Running 0-10", "Input 10-30", "Running 30-40", "GIL 400-410"}));
        const Track* const stacks = trackOf(*trace, TrackKind::ThreadStacks);
        QVERIFY(stacks);
        QCOMPARE(stacks->lanes.size(), size_t{2});
        // A function continues while its line changes; a long gap ends it.
        QCOMPARE(slicesOf(*trace, stacks->lanes[0]), (Texts{"main 0-40", "main 400-410"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[1]), (Texts{"step 0-10", "load 10-40", "step 400-410"}));
        // An event is found where it is drawn, with its description.
        const SliceLocation place = trace->locate(EventRef(EventKind::CpuState, 1));
        QVERIFY(place.isValid());
        QCOMPARE(trace->tracks[place.track].kind, TrackKind::ThreadStates);
        QCOMPARE(test::listed(trace->nameOf(EventRef(EventKind::CpuState, 1)), trace->range.startNs), "Input | 0");
        QCOMPARE(trace->range.endNs, 410 * ms);
    }

    void unsampledTimeIsNotClaimed() {
        Simulated simulated;
        const uint32_t thread = simulated.defaultThread(), line = simulated.line("backward", 77);
        simulated.state(thread, ThreadState::Lock, 0, 60, line, 30);
        simulated.state(thread, ThreadState::Lock, 60, 120, line, 2);
        simulated.state(thread, ThreadState::Running, 120, 180, line, 36);
        simulated.state(thread, ThreadState::Running, 180, 240, line, 52);
        simulated.state(thread, ThreadState::Running, 240, 300, line);
        const TracePtr trace = simulated.finish();
        const Track* const states = trackOf(*trace, TrackKind::ThreadStates);
        QVERIFY(states);
        // One scheduler tick is not yet a wait; without kernel counts, nothing contradicts.
        QCOMPARE(slicesOf(*trace, states->lanes[0]),
                 (Texts{"Lock, running 0-60", "Lock 60-120", "Running, waiting 120-180", "Running 180-240",
                        "Running 240-300"}));
        QCOMPARE(states->lanes[0].category[0], SliceCategory::CpuMixed);
        QCOMPARE(states->lanes[0].category[1], SliceCategory::CpuLock);
        QCOMPARE(statesOf(*trace, thread, 0, 180),
                 (Texts{", which alternately runs and waits for a lock or another thread",
                        " at data.py:77 in backward, which waits for a lock or another thread",
                        ", which alternately runs and waits"}));
        const std::string_view named = trace->strings.at(states->lanes[0].name[0]);
        QCOMPARE(trace->nameOf(EventRef(EventKind::CpuState, 0)), std::string(named));
    }

    void deepStacksAreDrawn() {
        Simulated simulated;
        uint32_t at = noIndex;
        for (uint32_t frame = 0; frame < 200; ++frame) at = simulated.line("frame " + std::to_string(frame), frame, at);
        simulated.state(simulated.defaultThread(), ThreadState::Running, 0, 10, at, 10);
        const TracePtr trace = simulated.finish();
        QCOMPARE(trackOf(*trace, TrackKind::ThreadStacks)->lanes.size(), size_t{200});
        QVERIFY(std::ranges::none_of(trace->health,
                                     [](const HealthNote& note) { return note.code == HealthCode::EventsNotDrawn; }));
    }

    void timedSamplesAreNoLonger() {
        Simulated simulated;
        simulated.launch(simulated.defaultThread(), simulated.defaultStream(), "kernel", 100 * ms, 101 * ms, 102 * ms);
        simulated.state(simulated.defaultThread(), ThreadState::Sleep, 0, 500);
        const TracePtr trace = simulated.finish();
        QCOMPARE(test::listed(trace->range.startNs, trace->range.endNs), test::listed(100 * ms, 102 * ms));
    }

    void idleThreadsHaveNoTrack() {
        Simulated simulated;
        const uint32_t busy = simulated.defaultThread(), idle = simulated.addThread(0, 77, "pool");
        simulated.state(busy, ThreadState::Running, 0, 10, noIndex, 10);
        simulated.state(idle, ThreadState::Lock, 0, 10);
        const TracePtr trace = simulated.finish();
        int tracks = 0;
        for (const Track& track : trace->tracks) tracks += track.kind == TrackKind::ThreadStates;
        QCOMPARE(tracks, 1);
    }

    void stateSharesSumToTheTime() {
        std::mt19937 random(5);
        Simulated simulated;
        const uint32_t thread = simulated.defaultThread();
        int64_t nowMs = 0;
        for (int i = 0; i < 500; ++i) {
            const int64_t lengthMs = 1 + static_cast<int64_t>(random() % 20);
            const int64_t cpuMs = static_cast<int64_t>(random() % 25);
            simulated.state(thread, static_cast<ThreadState>(random() % threadStateCount), nowMs, nowMs + lengthMs,
                            noIndex, cpuMs, static_cast<int64_t>(random() % 5));
            nowMs += lengthMs + static_cast<int64_t>(random() % 3);
        }
        const TracePtr trace = simulated.finish();
        const StatesOfThreads states(*trace);
        const CpuStateTable& table = trace->cpuStates;
        for (int round = 0; round < 200; ++round) {
            const int64_t fromNs = static_cast<int64_t>(random() % 4'000) * ms;
            const TimeRange range{fromNs, fromNs + static_cast<int64_t>(random() % 900) * ms};
            int64_t plainNs = 0;
            for (uint32_t row = 0; row < table.size(); ++row)
                plainNs += std::max<int64_t>(
                    0, std::min(range.endNs, table.endNs[row]) - std::max(range.startNs, table.startNs[row]));
            QCOMPARE(states.during(thread, range).knownNs(), plainNs);
        }
    }

    /// A program that only sleeps before it copies the next batch loads no data.
    void sleepingBeforeTheBatchIsNotDataLoading() {
        Simulated simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main"), stream = simulated.defaultStream();
        const uint32_t pause = simulated.line("pause", 88);
        simulated.launch(thread, stream, "first", 0, 1 * ms, 10 * ms);
        simulated.addApi(thread, "cudaMemcpyAsync", 60 * ms, 61 * ms, 77);
        simulated.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, 61 * ms, 70 * ms, 77);
        simulated.state(thread, ThreadState::Running, 0, 20, simulated.line("read", 12), 20);
        simulated.state(thread, ThreadState::Sleep, 20, 60, pause);
        simulated.state(thread, ThreadState::Running, 60, 70, simulated.line("step", 13), 10);
        const TracePtr trace = simulated.finish();
        const auto gaps = test::orFail(analysis::IdleGaps::of(*trace));
        const auto causes = gaps.whyIdle(0, gaps.gapsOf(0).front().range);
        const auto nsOf = [&](analysis::StepPart part) {
            int64_t sum = 0;
            for (const auto& cause : causes) sum += cause.part == part ? cause.ns : 0;
            return sum;
        };
        // While it ran, no sample shows a wait for data either.
        QCOMPARE(nsOf(analysis::StepPart::DataLoading), 0);
        QCOMPARE(nsOf(analysis::StepPart::LaunchBound), 51 * ms);
        QCOMPARE(causes.front().name.text(),
                 std::string("in host code (no CUDA call) on the main thread at data.py:88 in pause, which sleeps"));
    }

    /// Data loading requires a sampled wait for a possible data source; without samples, it is a guess.
    void onlyAWaitForDataIsDataLoading_data() {
        const test::Rows<int, bool> row;
        row("nothing known", int(ThreadState::Unknown), true);
        for (size_t number = 1; number < threadStateCount; ++number) {
            const auto state = static_cast<ThreadState>(number);
            const bool bringsData = state == ThreadState::Poll || state == ThreadState::Disk ||
                                    state == ThreadState::Lock || state == ThreadState::Child;
            row(nameOf(state).meaning.data(), int(number), bringsData);
        }
    }
    void onlyAWaitForDataIsDataLoading() {
        const auto [state, isLoading] = test::row<int, bool>();
        for (const int64_t ranMs : {0, 20}) {  // also of a thread that runs alternately
            Simulated simulated;
            const uint32_t thread = simulated.addThread(0, 4242, "main"), stream = simulated.defaultStream();
            simulated.launch(thread, stream, "first", 0, 1 * ms, 10 * ms);
            simulated.addApi(thread, "cudaMemcpyAsync", 60 * ms, 61 * ms, 77);
            simulated.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, 61 * ms, 70 * ms, 77);
            if (state != int(ThreadState::Unknown))
                simulated.state(thread, static_cast<ThreadState>(state), 0, 80, noIndex, ranMs);
            const TracePtr trace = simulated.finish();
            const auto gaps = test::orFail(analysis::IdleGaps::of(*trace));
            int64_t loadingNs = 0;
            for (const auto& cause : gaps.whyIdle(0, gaps.gapsOf(0).front().range))
                if (cause.part == analysis::StepPart::DataLoading) loadingNs += cause.ns;
            QCOMPARE(loadingNs, isLoading ? 50 * ms : 0);
        }
    }

    /// `backward` waits for autograd's thread, which launches: autograd's thread keeps the GPU
    /// waiting, and no wait can be subtracted.
    void waitForALaunchingThreadIsNotTheCause() {
        for (const bool isLaunching : {true, false}) {
            Simulated simulated;
            const uint32_t thread = simulated.addThread(0, 4242, "main");
            const uint32_t autograd = simulated.addThread(0, 4243, "pt_autograd_0");
            const uint32_t stream = simulated.defaultStream();
            simulated.launch(autograd, stream, "back", isLaunching ? 31'500'000 : 1 * ms, 31'600'000, 32 * ms);
            simulated.launch(thread, stream, "adam", 33'500'000, 34 * ms, 35 * ms);
            simulated.state(thread, ThreadState::Lock, 0, 33, simulated.line("backward", 63));
            simulated.state(thread, ThreadState::Running, 33, 40, noIndex, 7);
            const TracePtr trace = simulated.finish();
            const auto gaps = test::orFail(analysis::IdleGaps::of(*trace));
            const analysis::IdleGap& gap = gaps.gapsOf(0).back();
            int64_t waitNs = 0, autogradNs = 0;
            for (const auto& cause : gaps.whyIdle(0, gap.range)) {
                if (cause.name.idle.state() == ThreadState::Lock) waitNs += cause.ns;
                if (cause.name.text() == "in host code (no CUDA call) on the thread pt_autograd_#")
                    autogradNs += cause.ns;
                QCOMPARE(cause.part, analysis::StepPart::LaunchBound);
            }
            // The GPU runs out of work 1 ms before the main thread wakes up.
            QCOMPARE(waitNs, isLaunching ? 0 : 1 * ms);
            QCOMPARE(autogradNs, isLaunching ? 1 * ms : 0);
        }
    }

    /// A sample every 100 ms shows little about 3 ms, unless the kernel counted no switches in between.
    void rareSamplesShowLittleAboutAShortGap() {
        Simulated simulated;
        const uint32_t thread = simulated.defaultThread(), line = simulated.line("load", 88);
        simulated.state(thread, ThreadState::Poll, 0, 300, line, 20);         // may have run in the gap
        simulated.state(thread, ThreadState::Poll, 300, 600, line);           // did not run
        simulated.state(thread, ThreadState::Running, 900, 1200, line, 275);  // waited in the gap
        simulated.state(thread, ThreadState::Running, 1200, 1500, line, 299);
        const uint32_t uncounted = simulated.addThread(0, 77, "main");
        simulated.state(uncounted, ThreadState::Poll, 0, 300, line);
        const TracePtr trace = simulated.finish();
        const auto said = [&](uint32_t of, int64_t fromMs, int64_t untilMs) {
            std::string all;
            for (const std::string& each : statesOf(*trace, of, fromMs, untilMs)) all += each;
            return all;
        };
        const std::string waits = " at data.py:88 in load, which waits for input";
        QCOMPARE(said(thread, 100, 103), std::string(", which alternately runs and waits for input"));
        QCOMPARE(test::listed(said(thread, 0, 300), said(thread, 20, 290)), test::listed(waits, waits));
        QCOMPARE(said(thread, 400, 403), waits);
        QCOMPARE(said(thread, 1000, 1003), std::string(", which alternately runs and waits"));
        QCOMPARE(said(thread, 1300, 1303), std::string(" at data.py:88 in load, running"));
        QCOMPARE(said(uncounted, 100, 103), std::string());
        QCOMPARE(said(uncounted, 50, 290), waits);
        // Unknown time is not attributed to a state either.
        const StatesOfThreads states(*trace);
        QCOMPARE(states.during(thread, {100 * ms, 103 * ms}).of(ThreadState::Unknown), 3 * ms);
        QCOMPARE(states.during(thread, {400 * ms, 403 * ms}).of(ThreadState::Poll), 3 * ms);
    }

    /// They do not turn the wait before a batch copy into data loading either.
    void coarseSamplesShowNoDataLoading() {
        for (const int64_t ranMs : {0, 20}) {
            Simulated simulated;
            const uint32_t thread = simulated.addThread(0, 4242, "main"), stream = simulated.defaultStream();
            simulated.launch(thread, stream, "first", 90 * ms, 91 * ms, 100 * ms);
            simulated.addApi(thread, "cudaMemcpyAsync", 103 * ms, 104 * ms, 77);
            simulated.addMemcpy(stream, MemcpyKind::HtoD, 1 << 20, 104 * ms, 110 * ms, 77);
            simulated.state(thread, ThreadState::Poll, 0, 300, simulated.line("read", 12), ranMs);
            simulated.state(thread, ThreadState::Running, 300, 310, noIndex, 10);
            const TracePtr trace = simulated.finish();
            const auto gaps = test::orFail(analysis::IdleGaps::of(*trace));
            const auto causes = gaps.whyIdle(0, gaps.gapsOf(0).front().range);
            bool isSeen = false;
            for (const auto& cause : causes) isSeen |= cause.name.idle.state() == ThreadState::Poll;
            QCOMPARE(isSeen, ranMs == 0);
            // A thread with so short an unknown time has no entry.
            QCOMPARE(gaps.threadsDuring(gaps.gapsOf(0).front()).size(), size_t(ranMs == 0));
        }
    }

    void gapsReportThreadActivity() {
        Simulated simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main"), stream = simulated.defaultStream();
        const uint32_t loader = simulated.addThread(simulated.addProcess(5000, "python3"), 5000, "pt_data_worker");
        const uint32_t next = simulated.line("next_batch", 88);
        simulated.launch(thread, stream, "first", 0, 1 * ms, 10 * ms);
        simulated.launch(thread, stream, "second", 60 * ms, 61 * ms, 70 * ms);
        simulated.state(thread, ThreadState::Running, 0, 12, simulated.line("step", 12), 12);
        simulated.state(thread, ThreadState::Poll, 12, 58, next);
        simulated.state(thread, ThreadState::Running, 58, 70, simulated.line("step", 13), 12);
        simulated.state(loader, ThreadState::Running, 0, 70, simulated.line("decode", 7), 70);
        const TracePtr trace = simulated.finish();
        const auto gaps = test::orFail(analysis::IdleGaps::of(*trace));
        QCOMPARE(gaps.gapsOf(0).size(), size_t{1});
        const analysis::IdleGap& gap = gaps.gapsOf(0).front();
        const auto causes = gaps.whyIdle(0, gap.range);
        QVERIFY(!causes.empty());
        QCOMPARE(causes.front().name.text(),
                 std::string("in host code (no CUDA call) on the main thread at data.py:88 in next_batch, "
                             "which waits for input"));
        QCOMPARE(causes.front().ns, 46 * ms);
        int64_t sumNs = 0;
        for (const analysis::GapCause& cause : causes) sumNs += cause.ns;
        QCOMPARE(sumNs, gap.range.durationNs());
        const auto threads = gaps.threadsDuring(gap);
        QCOMPARE(threads.size(), size_t{2});
        QVERIFY(threads[0].isAwaited && !threads[1].isAwaited);
        QCOMPARE(threads[0].times.longest(), ThreadState::Poll);
        QCOMPARE(analysis::timesText(*trace, threads[1].times, gap.range.durationNs()),
                 std::string("100 % runs; at data.py:7 in decode"));
    }

    void gilHolderIsReported() {
        Simulated simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        const uint32_t other = simulated.addThread(0, 4243, "logger");
        kinds::CpuState::Row row;
        row.startNs = 0;
        row.endNs = 10 * ms;
        row.thread = thread;
        row.state = ThreadState::Gil;
        row.stack = simulated.line("step", 3);
        row.holder = other;
        row.holderStack = simulated.line("write", 9);
        const EventRef event = simulated.add<kinds::CpuState>(row);
        const TracePtr trace = simulated.finish();
        QCOMPARE(statesOf(*trace, thread, -5, 20, true),
                 (Texts{"5",
                        "10 at data.py:3 in step, which waits for the GIL, held by the thread "
                        "logger at data.py:9 in write",
                        "10"}));
        bool isNamed = false;
        for (const Property& line : describe(*trace, event))
            isNamed |= line.name == "GIL held by" && line.value == "logger (TID 4243)";
        QVERIFY(isNamed);
    }

    void threadReportListsEachThread() {
        Simulated simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        simulated.state(thread, ThreadState::Running, 0, 50, noIndex, 40, 10);
        simulated.state(thread, ThreadState::Sleep, 50, 100, simulated.line("nap", 5));
        const TracePtr trace = simulated.finish();
        const auto table = test::orFail(makeReport(*trace, "thread_states"));
        QCOMPARE(table.rows.size(), size_t{1});
        const auto value = [&](std::string_view title) {
            for (size_t column = 0; column < table.columns.size(); ++column)
                if (table.columns[column].name == title) return std::get<double>(table.rows[0][column]);
            return -1.0;
        };
        QCOMPARE(test::listed(value("Running"), value("Runnable"), value("Sleep"), value("GIL")), "40 | 10 | 50 | 0");
    }

    void nsightThreadDataIsRead() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("export.sqlite").toStdString();
        {
            auto database = test::orFail(Database::create(path));
            const std::string id = std::to_string(globalTid(100, 100, 0));
            for (const std::string& sql :
                 {std::string("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)"),
                  std::string("CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)"),
                  std::string("INSERT INTO StringIds VALUES (1,'pthread_cond_wait'),(2,'poll'),"
                              "(3,'main'),(4,'work'),(5,'/usr/bin/app'),(6,'read_input')"),
                  std::string("CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn "
                              "INTEGER, globalTid INTEGER)"),
                  "INSERT INTO SCHED_EVENTS VALUES (0,1,1," + id + "),(10000000,1,0," + id + "),(30000000,2,1," + id +
                      "),(40000000,2,0," + id + ")",
                  std::string("CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass "
                              "INTEGER, globalTid INTEGER, nameId INTEGER, callchainId INTEGER)"),
                  "INSERT INTO OSRT_API VALUES (10000000,30000000,27," + id + ",1,NULL)",
                  std::string("CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu "
                              "INTEGER, threadState INTEGER, globalTid INTEGER)"),
                  "INSERT INTO COMPOSITE_EVENTS VALUES (1,2000000,1,1," + id + "),(2,4000000,1,1," + id +
                      "),(3,6000000,1,1," + id + ")",
                  std::string("CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, "
                              "module INTEGER, stackDepth INTEGER)"),
                  std::string("INSERT INTO SAMPLING_CALLCHAINS VALUES (1,4,5,0),(1,3,5,1),"
                              "(2,4,5,0),(2,3,5,1),(3,3,5,0)")})
                QVERIFY2(database.execute(sql.c_str()), sql.c_str());
        }
        const TracePtr loaded = test::orFail(loadTrace(path));
        const Trace& trace = *loaded;
        const Track* const states = trackOf(trace, TrackKind::ThreadStates);
        QVERIFY(states);
        QCOMPARE(states->lanes.size(), size_t{2});
        QCOMPARE(slicesOf(trace, states->lanes[0]), (Texts{"Running 0-10", "Blocked 10-30", "Running 30-40"}));
        QCOMPARE(slicesOf(trace, states->lanes[1]), (Texts{"pthread_cond_wait 10-30"}));
        const Track* const stacks = trackOf(trace, TrackKind::ThreadStacks);
        QVERIFY(stacks);
        QCOMPARE(slicesOf(trace, stacks->lanes[0]), (Texts{"main 2-10"}));
        QCOMPARE(slicesOf(trace, stacks->lanes[1]), (Texts{"work 2-6"}));
        for (const HealthNote& note : trace.health) QVERIFY(note.code != HealthCode::NoEvents);
        const StatesOfThreads of(trace);
        const ThreadTimes times = of.during(0, {0, 40 * ms});
        QCOMPARE(times.of(ThreadState::Running), 20 * ms);
        QCOMPARE(times.of(ThreadState::Blocked), 20 * ms);
    }

    void schedulerGivesTimesAndSamplesGiveReasons() {
        std::vector<ThreadSwitch> switches{{100, true},  {140, false, true}, {160, true},
                                           {170, false}, {220, true},        {230, false}};
        const auto rows = exactStates(
            3, {sampleOf(ThreadState::Running, 90, 165, 7), sampleOf(ThreadState::Gil, 165, 260, 8)}, switches);
        QCOMPARE(words(rows), (Texts{"running 90-100 at 7 sampled", "running 100-140 at 7",
                                     "runnable 140-160 at 7 wanted 20", "running 160-170 at 7", "gil 170-220 at 8",
                                     "running 220-230 at 8", "gil 230-260 at 8 sampled"}));
        QCOMPARE(test::listed(rows[1].cpuNs, rows[4].cpuNs), "40 | 0");
        QCOMPARE(rows[4].source, StateSource::Scheduler);
    }

    void sleepWithoutSamplesHasUnknownReason() {
        std::vector<ThreadSwitch> switches{{30, false}, {10, true}, {50, true}, {60, false, true}};
        QCOMPARE(words(exactStates(3, {}, switches)), (Texts{"running 10-30", "blocked 30-50", "running 50-60"}));
    }

    void samplesCountWithoutSwitches() {
        std::vector<ThreadSwitch> switches;
        QCOMPARE(words(exactStates(3, {sampleOf(ThreadState::Poll, 5, 9, 1)}, switches)),
                 (Texts{"poll 5-9 at 1 sampled"}));
    }

    void repeatedSwitchMeansALostOne() {
        std::vector<ThreadSwitch> switches{{10, true}, {20, true}, {30, false}, {40, true}};
        QCOMPARE(words(exactStates(3, {sampleOf(ThreadState::Lock, 0, 50)}, switches)),
                 (Texts{"lock 0-20 sampled", "running 20-30", "lock 30-40", "lock 40-50 sampled"}));
    }

    void coreWaitsAfterASleepAreShared() {
        // 20 of the 26 waits counted by the kernel followed a preemption.
        std::vector<ThreadSwitch> switches{{0, true},  {10, false, true}, {30, true}, {40, false},
                                           {60, true}, {70, false},       {90, true}, {95, false}};
        const auto rows = exactStates(3, {sampleOf(ThreadState::Poll, 0, 100, noIndex, 26)}, switches);
        QCOMPARE(test::listed(words(rows)[1], words(rows)[3]), "runnable 10-30 wanted 20 | poll 40-60 wanted 3");
        QCOMPARE(words(rows)[5], std::string("poll 70-90 wanted 3"));
    }

    /// As many nested samples as a file can have; a naive reader would compare each with all others.
    void duplicateSamplesCountOnce() {
        constexpr int64_t count = 100'000;
        std::vector<Row> samples{sampleOf(ThreadState::Poll, 0, 10 * count, 1, INT64_MIN)};
        std::vector<ThreadSwitch> switches;
        for (int64_t each = 0; each < count; ++each) {
            samples.push_back(sampleOf(ThreadState::Lock, 1 + each, 10 * count, 2, INT64_MAX));
            switches.push_back({10 * each, each % 2 == 0});
        }
        test::CpuTimer timer;
        const auto rows = exactStates(3, samples, switches);
        QCOMPARE(rows.size(), size_t{count});
        QVERIFY(std::ranges::all_of(rows, [](const Row& row) { return row.stack == 1; }));
        QVERIFY2(timer.elapsed() < 5'000, qPrintable(QString::number(timer.elapsed())));
        // Any count that the file attributes to the kernel.
        std::vector<ThreadSwitch> one{{0, true}, {5, false}};
        Row odd = sampleOf(ThreadState::Poll, 0, 10, 1, INT64_MAX);
        odd.cpuNs = INT64_MAX;
        QCOMPARE(exactStates(3, {odd}, one).size(), size_t{2});
        odd.delayNs = odd.cpuNs = INT64_MIN;
        one = {};
        QCOMPARE(exactStates(3, {odd}, one).front().delayNs, int64_t{0});
    }

    void cpuSamplesGiveRunningAndStateSamplesGiveWaiting() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.defaultThread();
        const auto line = [&](std::string_view function, uint32_t number, uint32_t parent) {
            return simulated.frame(function, "/data.py", number, parent);
        };
        const uint32_t main = line("main", 3, noIndex), load = line("load", 88, main);
        const auto native = [&](std::string_view function, uint32_t parent) {
            return simulated.frame(function, "/lib/libc.so.6", 0, parent);
        };
        const uint32_t within = line("load", 90, line("main", 3, native("_start", noIndex)));
        const auto exact = [&](ThreadState what, int64_t fromMs, int64_t untilMs, uint32_t at, StateSource source) {
            kinds::CpuState::Row row;
            row.startNs = fromMs * ms;
            row.endNs = untilMs * ms;
            row.thread = thread;
            row.state = what;
            row.source = source;
            row.stack = at;
            row.cpuNs = what == ThreadState::Running ? row.endNs - row.startNs : 0;
            simulated.add<kinds::CpuState>(row);
        };
        exact(ThreadState::Running, 0, 20, main, StateSource::Scheduler);
        exact(ThreadState::Poll, 20, 40, load, StateSource::Scheduler);
        exact(ThreadState::Running, 40, 60, main, StateSource::Scheduler);
        exact(ThreadState::Running, 5, 20, native("memcpy", within), StateSource::Samples);
        exact(ThreadState::Running, 45, 60, within, StateSource::Samples);
        const TracePtr trace = simulated.finish();
        const Track* const states = trackOf(*trace, TrackKind::ThreadStates);
        QVERIFY(states);
        QCOMPARE(states->lanes.size(), size_t{1});
        QCOMPARE(slicesOf(*trace, states->lanes[0]), (Texts{"Running 0-20", "Input 20-40", "Running 40-60"}));
        const Track* const stacks = trackOf(*trace, TrackKind::ThreadStacks);
        QVERIFY(stacks);
        QCOMPARE(stacks->lanes.size(), size_t{4});
        QCOMPARE(slicesOf(*trace, stacks->lanes[0]), (Texts{"_start 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[1]), (Texts{"main 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[2]), (Texts{"load 5-60"}));
        QCOMPARE(slicesOf(*trace, stacks->lanes[3]), (Texts{"memcpy 5-20"}));
        // The rewritten file contains everything.
        const QTemporaryDir folder;
        const std::string file = folder.filePath("again.sqlite").toStdString();
        QVERIFY(writeTraceFile(*trace, file));
        const auto again = test::orFail(loadTrace(file, {}));
        const Track* const statesAgain = trackOf(*again, TrackKind::ThreadStates);
        const Track* const stacksAgain = trackOf(*again, TrackKind::ThreadStacks);
        QVERIFY(statesAgain && stacksAgain);
        QCOMPARE(slicesOf(*again, statesAgain->lanes[0]), slicesOf(*trace, states->lanes[0]));
        // Without switches, a sample represents at most 10 ms.
        QCOMPARE(slicesOf(*again, stacksAgain->lanes[0]), (Texts{"_start 5-55"}));
        QCOMPARE(slicesOf(*again, stacksAgain->lanes[3]), (Texts{"memcpy 5-15"}));
    }

    void rowsNeverOverlap() {
        std::mt19937 random(4);
        for (int round = 0; round < 3'000; ++round) {
            std::vector<ThreadSwitch> switches(random() % 12);
            for (ThreadSwitch& each : switches)
                each = {static_cast<int64_t>(random() % 200), random() % 2 == 0, random() % 2 == 0};
            std::vector<Row> samples;
            int64_t atNs = 0;
            for (size_t each = random() % 8; each > 0; --each) {
                const int64_t startNs = atNs + static_cast<int64_t>(random() % 10);
                atNs = startNs + static_cast<int64_t>(random() % 40);
                samples.push_back(sampleOf(static_cast<ThreadState>(random() % threadStateCount), startNs, atNs,
                                           noIndex, static_cast<int64_t>(random() % 20)));
            }
            int64_t untilNs = INT64_MIN, sampledNs = 0, coveredNs = 0;
            for (const Row& each : samples) sampledNs += each.endNs - each.startNs;
            for (const Row& row : exactStates(3, samples, switches)) {
                QVERIFY(row.startNs >= untilNs && row.endNs >= row.startNs);
                QVERIFY(row.delayNs >= 0 && row.delayNs <= row.endNs - row.startNs + 20);
                untilNs = row.endNs;
                coveredNs += row.endNs - row.startNs;
            }
            QVERIFY(coveredNs >= sampledNs);
        }
    }

    /// Samples 10 ms apart show a thread running that waits for the GIL half of the time.
    void unseenWaitsResembleSampledOnes() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        test::addState(simulated, thread, ThreadState::Running, {0 * ms, 40 * ms}, 30 * ms, 2 * ms);
        test::addState(simulated, thread, ThreadState::Gil, {40 * ms, 70 * ms}, 0 * ms, 0 * ms);
        test::addState(simulated, thread, ThreadState::Poll, {70 * ms, 80 * ms}, 0 * ms, 0 * ms);
        const TracePtr trace = simulated.finish();
        const TimeRange all{0, 80 * ms};
        const ThreadTimes times = StatesOfThreads(*trace).during(thread, all);
        QCOMPARE(test::listed(times.of(ThreadState::Unknown), times.unseenWaitNs), test::listed(8 * ms, 8 * ms));
        const ThreadTimes shared = times.withUnseenWaits();
        QCOMPARE(shared.of(ThreadState::Gil), 36 * ms);
        QCOMPARE(shared.of(ThreadState::Poll), 12 * ms);
        QCOMPARE(shared.of(ThreadState::Unknown), int64_t{0});
        QCOMPARE(shared.of(ThreadState::Running), 30 * ms);
        QCOMPARE(shared.knownNs(), times.knownNs());
    }
    void fewWaitsDoNotExplainManyUnseenOnes() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main");
        test::addState(simulated, thread, ThreadState::Running, {0 * ms, 40 * ms}, 20 * ms, 0 * ms);
        test::addState(simulated, thread, ThreadState::Gil, {40 * ms, 50 * ms}, 0 * ms, 0 * ms);
        const TracePtr trace = simulated.finish();
        const ThreadTimes times = StatesOfThreads(*trace).during(thread, {0, 50 * ms}).withUnseenWaits();
        QCOMPARE(times.of(ThreadState::Unknown), 20 * ms);
        QCOMPARE(times.of(ThreadState::Gil), 10 * ms);
    }

    /// The samples show the GIL holder, but not its place between them.
    void gilHolderIsNamedForAThreadThatAlsoRan() {
        SimulatedTrace simulated;
        const uint32_t thread = simulated.addThread(0, 4242, "main"), tally = simulated.addThread(0, 4250, "tally");
        const uint32_t nameless = simulated.addThread(0, 4260, "");
        int64_t atNs = 0;
        for (const uint32_t holder : {tally, nameless}) {
            kinds::CpuState::Row row;
            row.startNs = atNs;
            row.endNs = atNs += 60 * ms;
            row.thread = thread;
            row.state = ThreadState::Gil;
            row.cpuNs = 30 * ms;
            row.holder = holder;
            simulated.add<kinds::CpuState>(row);
        }
        const TracePtr trace = simulated.finish();
        std::vector<analysis::IdleCause> causes;
        std::vector<std::string> said;
        const StatesOfThreads statesOf(*trace);
        analysis::ThreadActivities activities(*trace, statesOf);
        activities.forEachIn(thread, {0, 120 * ms}, [&](TimeRange, auto id) {
            causes.emplace_back().activity = activities.at(id);
            said.push_back(activityText(activities.at(id)));
        });
        QCOMPARE(said.size(), size_t{2});
        QCOMPARE(said[0], std::string(", which alternately runs and waits for the GIL, held by the thread tally"));
        QCOMPARE(said[1], std::string(", which alternately runs and waits for the GIL, held by another thread"));
        QVERIFY(causes[0].runsAndWaits() && !causes[0].isSeenRunning() && !causes[0].isMostlyWithoutCore());
        QVERIFY(!causes[0].state());
    }
};

LANESCOPE_TEST(tst_ThreadStates, NoApplication)
#include "tst_ThreadStates.moc"
