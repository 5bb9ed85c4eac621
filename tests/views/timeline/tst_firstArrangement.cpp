// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackArrangement.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Ranks whose processes come in the opposite order.
TracePtr ranksOf(int count) {
    SimulatedTrace builder;
    for (int rank = count - 1; rank >= 0; --rank) {
        const uint32_t process = builder.addProcess(100 + static_cast<uint32_t>(rank), "python3", rank);
        const uint32_t thread = builder.addThread(process, 100 + static_cast<uint32_t>(rank));
        const uint32_t stream = builder.addStream(process, builder.addGpu(), 7);
        for (int64_t at = 0; at < 10; ++at)
            builder.launch(thread, stream, "gemm", at * 100'000, at * 100'000 + 10'000, at * 100'000 + 60'000);
    }
    return builder.finish();
}

CounterSeries powerOf(uint32_t gpu) {
    CounterSeries series;
    series.name = "power";
    series.key = "power";
    series.source = "NVML";
    series.unit = CounterUnit::Watts;
    series.gpu = gpu;
    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
    timesNs.push_back(0);
    values.push_back(80);
    series.set(timesNs, values, 100'000);
    return series;
}

std::vector<std::string> topTitles(const Trace& trace, const TrackArrangement& arrangement) {
    const std::vector<std::string> paths = trackPaths(trace.tracks);
    std::vector<std::string> titles;
    for (const std::string& path : arrangement.order)
        for (uint32_t track = 0; track < paths.size(); ++track)
            if (paths[track] == path && trace.tracks[track].parent < 0)
                titles.push_back(trace.tracks[track].title + " " + trace.tracks[track].subtitle);
    return titles;
}

}  // namespace

class TestFirstArrangement : public QObject {
    Q_OBJECT
  private slots:
    void fewGpusKeepTheOrderOfTheTrace() {
        QVERIFY(firstArrangement(*ranksOf(3)).isDefault());
        QVERIFY(firstArrangement(*SimulatedTrace().finish()).isDefault());
    }

    /// Threads that mostly wait are of little interest.
    void withoutGpusTheBusiestThreadsComeFirst() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "/usr/bin/python3", {});
        const uint32_t waits = builder.addThread(process, 100);
        const uint32_t works = builder.addThread(process, 101);
        const uint32_t main = builder.stack(noIndex, builder.intern("main"), builder.intern("a.py"), 1);
        const uint32_t load = builder.stack(main, builder.intern("load"), builder.intern("a.py"), 9);
        kinds::CpuState::Row row;
        row.endNs = 100'000'000;
        row.stack = main;
        row.thread = waits;
        row.state = ThreadState::Lock;
        builder.add<kinds::CpuState>(row);
        row.stack = load;
        row.thread = works;
        row.state = ThreadState::Running;
        row.cpuNs = 90'000'000;
        builder.add<kinds::CpuState>(row);
        const TracePtr trace = builder.finish();
        const TrackArrangement arrangement = firstArrangement(*trace);
        const auto placeOf = [&](std::string_view title) {
            return std::ranges::find_if(arrangement.order,
                                        [&](const std::string& path) { return path.ends_with(title); }) -
                   arrangement.order.begin();
        };
        QCOMPARE(arrangement.order.size(), trace->tracks.size());
        QVERIFY(placeOf("Thread 101") < placeOf("Thread 100"));
        QCOMPARE(arrangement.folded, std::vector<std::string>{"python3/Thread 100"});
        QCOMPARE(arrangement.unfolded, std::vector<std::string>{"python3/Thread 101/Stack"});
    }

    /// A program that uses one GPU of a machine with four.
    void idleGpusComeLastAndFolded() {
        SimulatedTrace builder;
        const uint32_t idleBefore = builder.addGpu();
        const uint32_t used = builder.addGpu();
        const uint32_t idleAfter = builder.addGpu();
        const uint32_t alsoIdle = builder.addGpu();
        for (const uint32_t gpu : {idleBefore, used, idleAfter, alsoIdle}) builder.counter(powerOf(gpu));
        const uint32_t process = builder.addProcess(100, "python3");
        builder.launch(builder.addThread(process, 100), builder.addStream(process, used, 7), "gemm", 0, 10'000, 60'000);
        // Tracks without a GPU keep their place.
        const uint32_t loader = builder.addProcess(101, "loader");
        builder.addNvtx(builder.addThread(loader, 101), "load", 0, 50'000);
        CounterSeries host = powerOf(noIndex);
        host.key = host.name = "cpu";
        host.source = "/proc";
        builder.counter(std::move(host));
        const TracePtr trace = builder.finish();
        const TrackArrangement arrangement = firstArrangement(*trace);
        const std::vector<std::string> titles = topTitles(*trace, arrangement);
        std::vector<std::string> inTrace;
        for (const Track& track : trace->tracks)
            if (track.parent < 0) inTrace.push_back(track.title + " " + track.subtitle);
        std::ranges::stable_partition(
            inTrace, [](const std::string& title) { return !title.starts_with("GPU ") || title.starts_with("GPU 1"); });
        QCOMPARE(titles, inTrace);
        QVERIFY(titles.size() >= 7);
        QVERIFY2(titles[0].starts_with("GPU 1"), titles[0].c_str());
        QVERIFY2(titles.back().starts_with("GPU 3"), titles.back().c_str());
        QCOMPARE(arrangement.folded.size(), size_t(3));
        QCOMPARE(arrangement.height, TrackArrangement().height);
    }

    void manyGpusAreSortedByRankAndFolded() {
        const TracePtr trace = ranksOf(8);
        const TrackArrangement arrangement = firstArrangement(*trace);
        QCOMPARE(arrangement.order.size(), trace->tracks.size());
        const std::vector<std::string> titles = topTitles(*trace, arrangement);
        for (size_t rank = 0; rank < 8; ++rank) {
            QVERIFY(titles[rank].starts_with("GPU " + std::to_string(7 - rank)));
            QVERIFY2(titles[8 + rank].find("rank " + std::to_string(rank)) != std::string::npos,
                     titles[8 + rank].c_str());
        }
        QVERIFY(arrangement.folded.size() >= 16);
    }

    void eightGpusFitASmallScreen() {
        const TracePtr trace = ranksOf(8);
        TimelineView timeline;
        timeline.resize(1000, 330);
        timeline.setTrace(trace);
        timeline.state().tracks().setDefaultArrangement(firstArrangement(*trace));
        timeline.show();
        int seen = 0;
        for (uint32_t track = 0; track < trace->tracks.size(); ++track)
            if (trace->tracks[track].kind == TrackKind::Gpu && timeline.places().trackArea(track).height() > 8) ++seen;
        QCOMPARE(seen, 8);
    }

    void eightGpusOfOneProcessHaveLowRowsToo() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "python3");
        const uint32_t thread = builder.addThread(process, 100);
        for (int gpu = 0; gpu < 8; ++gpu)
            builder.launch(thread, builder.addStream(process, builder.addGpu(), 7), "gemm", 0, 10'000, 60'000);
        QCOMPARE(firstArrangement(*builder.finish()).height, RowHeight::Compact);
        QCOMPARE(firstArrangement(*ranksOf(4)).height, TrackArrangement().height);
    }

    void resetRestoresTheFirstArrangement() {
        const TracePtr trace = ranksOf(8);
        TimelineView timeline;
        timeline.resize(1000, 480);
        timeline.setTrace(trace);
        const TrackArrangement first = firstArrangement(*trace);
        timeline.state().tracks().setDefaultArrangement(first);
        QVERIFY(timeline.state().tracks().arrangement() == first);
        timeline.state().tracks().setAllFolded(false);
        timeline.state().range().setDefaultRange(TimeRange{100'000, 300'000});
        QVERIFY(timeline.state().tracks().arrangement() != first);
        timeline.commands().restoreDefaults();
        QVERIFY(timeline.state().tracks().arrangement() == first);
        QVERIFY(!timeline.state().range().axis().isFitted());
        timeline.setTrace(ranksOf(1));
        timeline.commands().restoreDefaults();
        QVERIFY(timeline.state().tracks().arrangement().isDefault());
        QVERIFY(timeline.state().range().axis().isFitted());
    }
};

LANESCOPE_TEST(TestFirstArrangement, QApplication)
#include "tst_firstArrangement.moc"
