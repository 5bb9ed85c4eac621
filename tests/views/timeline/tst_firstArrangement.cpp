// SPDX-License-Identifier: GPL-3.0-or-later
#include <QTest>
#include <algorithm>

#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/firstArrangement.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Ranks whose processes came in the opposite order.
TracePtr ranksOf(int count) {
    SimulatedTrace builder;
    for (int rank = count - 1; rank >= 0; --rank) {
        const uint32_t process =
            builder.addProcess(100 + static_cast<uint32_t>(rank), "python3", rank);
        const uint32_t thread = builder.addThread(process, 100 + static_cast<uint32_t>(rank));
        const uint32_t stream = builder.addStream(process, builder.addGpu(), 7);
        for (int64_t at = 0; at < 10; ++at)
            builder.launch(thread, stream, "gemm", at * 100'000, at * 100'000 + 10'000,
                           at * 100'000 + 60'000);
    }
    return builder.finish();
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
    void fewGpusStandAsInTheTrace() {
        QVERIFY(firstArrangement(*ranksOf(3)).isDefault());
        QVERIFY(firstArrangement(*SimulatedTrace().finish()).isDefault());
    }

    /// Of threads that mostly wait nobody wants to see more than that.
    void withoutGpusTheBusiestThreadsStandFirst() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "/usr/bin/python3", {});
        const uint32_t waits = builder.addThread(process, 100);
        const uint32_t works = builder.addThread(process, 101);
        const uint32_t main =
            builder.stack(noIndex, builder.intern("main"), builder.intern("a.py"), 1);
        const uint32_t load =
            builder.stack(main, builder.intern("load"), builder.intern("a.py"), 9);
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
            return std::ranges::find_if(
                       arrangement.order,
                       [&](const std::string& path) { return path.ends_with(title); }) -
                   arrangement.order.begin();
        };
        QCOMPARE(arrangement.order.size(), trace->tracks.size());
        QVERIFY(placeOf("Thread 101") < placeOf("Thread 100"));
        QCOMPARE(arrangement.folded, std::vector<std::string>{"python3/Thread 100"});
        QCOMPARE(arrangement.unfolded, std::vector<std::string>{"python3/Thread 101/Stack"});
    }

    void manyStandByRankAndFolded() {
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
        timeline.setFirstArrangement(firstArrangement(*trace));
        timeline.show();
        int seen = 0;
        for (uint32_t track = 0; track < trace->tracks.size(); ++track)
            if (trace->tracks[track].kind == TrackKind::Gpu &&
                timeline.trackArea(track).height() > 8)
                ++seen;
        QCOMPARE(seen, 8);
    }

    void eightGpusOfOneProcessHaveLowRowsToo() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "python3");
        const uint32_t thread = builder.addThread(process, 100);
        for (int gpu = 0; gpu < 8; ++gpu)
            builder.launch(thread, builder.addStream(process, builder.addGpu(), 7), "gemm", 0,
                           10'000, 60'000);
        QCOMPARE(firstArrangement(*builder.finish()).height, RowHeight::Compact);
        QCOMPARE(firstArrangement(*ranksOf(4)).height, TrackArrangement().height);
    }

    void itIsWhatArrangingAsAtFirstComesBackTo() {
        const TracePtr trace = ranksOf(8);
        TimelineView timeline;
        timeline.resize(1000, 480);
        timeline.setTrace(trace);
        const TrackArrangement first = firstArrangement(*trace);
        timeline.setFirstArrangement(first);
        QVERIFY(timeline.arrangement() == first);
        timeline.unfoldAll();
        timeline.setFirstRange(TimeRange{100'000, 300'000});
        QVERIFY(timeline.arrangement() != first);
        timeline.arrangeAsAtFirst();
        QVERIFY(timeline.arrangement() == first);
        QVERIFY(!timeline.visibleRange()->isFitted());
        timeline.setTrace(ranksOf(1));
        timeline.arrangeAsAtFirst();
        QVERIFY(timeline.arrangement().isDefault());
        QVERIFY(timeline.visibleRange()->isFitted());
    }
};

LANESCOPE_TEST(TestFirstArrangement, QApplication)
#include "tst_firstArrangement.moc"
