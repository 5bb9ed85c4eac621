// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackArrangement.h"
#include "views/timeline/TrackCanvas.h"
#include "views/timeline/TrackLayout.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

Track track(int32_t parent, int laneCount, SliceCategory category = SliceCategory::Kernel) {
    Track result;
    result.parent = parent;
    for (int i = 0; i < laneCount; ++i) {
        Lane& lane = result.lanes.emplace_back();
        lane.startNs = {0};
        lane.busyNs = {0};
        lane.durationNs = {10};
        lane.name = {0};
        lane.event = {EventRef()};
        lane.category = {category};
    }
    return result;
}

/// A GPU (0) with a stream (1), its ranges (2) and another stream (3), and a process (4) with a thread (5).
std::vector<Track> machine() {
    return {track(-1, 1, SliceCategory::Busy),      track(0, 1),
            track(1, 3, SliceCategory::Projection), track(0, 2),
            track(-1, 1, SliceCategory::Busy),      track(4, 1, SliceCategory::ApiLaunch)};
}

/// Ranks whose processes come in the opposite order.
TracePtr ranksOf(int count) {
    SimulatedTrace builder;
    for (int rank = count - 1; rank >= 0; --rank) {
        const uint32_t process = builder.addProcess(100 + static_cast<uint32_t>(rank), "python3", rank);
        const uint32_t thread = builder.addThread(process, 100 + static_cast<uint32_t>(rank));
        const uint32_t stream = builder.addStream(process, builder.addGpu(), 7);
        for (int64_t at = 0; at < 10; ++at)
            builder.launch(thread, stream, "gemm", at * 100'000, at * 100'000 + 10'000, at * 100'000 + 60'000);
        builder.addNvtx(thread, "step", 0, 1'000'000);
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

Track track(int32_t parent, std::string title, std::string subtitle = {}) {
    Track result;
    result.parent = parent;
    result.title = std::move(title);
    result.subtitle = std::move(subtitle);
    result.lanes.resize(1);
    return result;
}

/// 0 GPU 0 { 1 Stream 7, 2 Stream 20 { 3 NVTX } }, 4 GPU 1 { 5 Stream 7 }, 6 python3 { 7 main }
std::vector<Track> titledMachine() {
    return {track(-1, "GPU 0", "NVIDIA H200"),
            track(0, "Stream 7"),
            track(0, "Stream 20", "NCCL"),
            track(2, "NVTX"),
            track(-1, "GPU 1"),
            track(4, "Stream 7"),
            track(-1, "python3", "rank 0"),
            track(6, "main")};
}

/// A layout of tracks of its own.
struct Layout : TrackLayout {
    explicit Layout(std::vector<Track> all) : tracks(std::move(all)) { setTracks(tracks); }
    std::vector<Track> tracks;
};

/// Ranks of `ranksOf`, as they are first shown.
struct ShownRanks : TimelineView {
    ShownRanks(int count, int height) {
        resize(1000, height);
        setTrace(ranksOf(count));
        state().tracks().setDefaultArrangement(firstArrangement(*trace()));
        show();
        QApplication::processEvents();
    }
};

std::vector<uint32_t> shown(const TrackLayout& layout) {
    std::vector<uint32_t> tracks;
    for (const LayoutRow& row : layout.rows()) tracks.push_back(row.track);
    return tracks;
}

using Tracks = std::vector<uint32_t>;

/// The input of the layout, and its result by plain recursion.
struct PlainLayout {
    std::vector<Track> tracks;
    std::vector<Tracks> children;  // the last are the top ones
    std::vector<bool> folded, hidden, pinned, matches;

    int parentOf(uint32_t each) const { return tracks[each].parent; }
    bool isWithin(uint32_t each, uint32_t group) const {
        for (int at = int(each); at >= 0; at = parentOf(at))
            if (uint32_t(at) == group) return true;
        return false;
    }
    bool hasMatchWithin(uint32_t group, bool isItselfCounted) const {
        for (uint32_t each = 0; each < tracks.size(); ++each)
            if (matches[each] && isWithin(each, group) && (isItselfCounted || each != group)) return true;
        return false;
    }
    bool isLetThrough(uint32_t each) const {
        if (matches.empty() || hasMatchWithin(each, true)) return true;
        for (int at = int(each); at >= 0; at = parentOf(at))
            if (matches[at]) return true;
        return false;
    }
    bool isOpen(uint32_t each) const { return !folded[each] || (!matches.empty() && hasMatchWithin(each, false)); }
    void add(uint32_t each, bool isPinnedPart, Tracks& rows) const {
        const bool isTaken = std::count(rows.begin(), rows.end(), each) > 0;
        if (hidden[each] || isTaken || (!isPinnedPart && !isLetThrough(each))) return;
        rows.push_back(each);
        if (!isOpen(each)) return;
        for (const uint32_t child : children[each]) add(child, isPinnedPart, rows);
    }
    void addPinned(uint32_t each, Tracks& rows) const {
        if (each < tracks.size() && pinned[each]) add(each, true, rows);
        for (const uint32_t child : children[each]) addPinned(child, rows);
    }
    Tracks rows(size_t& pinnedCount) const {
        Tracks rows;
        addPinned(static_cast<uint32_t>(tracks.size()), rows);
        pinnedCount = rows.size();
        for (const uint32_t top : children.back()) add(top, false, rows);
        return rows;
    }
};

}  // namespace

class tst_TrackLayout : public QObject {
    Q_OBJECT

  private slots:
    void rowsAreContiguous() {
        Layout layout(machine());
        QCOMPARE(layout.rows().size(), layout.tracks.size());
        int top = 0;
        for (const LayoutRow& row : layout.rows()) {
            QCOMPARE(row.top, top);
            QVERIFY(row.height >= layout.metrics().titleHeight && row.lanesTop >= layout.metrics().padding);
            QVERIFY(TrackLayout::laneTop(row, row.laneCount) <= row.bottom());
            top = row.bottom();
        }
        QCOMPARE(layout.totalHeight(), top + layout.metrics().bottomSpace);
    }

    void foldedGroupShowsNoChildren() {
        Layout layout(machine());
        layout.setFolded(0, true);
        QVERIFY(!layout.rowOf(1) && !layout.rowOf(2) && !layout.rowOf(3));
        QCOMPARE(layout.rows().size(), 3u);
        QCOMPARE(layout.rowOf(0)->laneHeight, layout.metrics().laneHeight);
        QCOMPARE(layout.visibleRowOf(2)->track, 0u);
        layout.setFolded(0, false);
        QCOMPARE(layout.rows().size(), 6u);
    }

    void unfoldedGroupKeepsOnlyItsSummary() {
        std::vector<Track> tracks = machine();
        TrackLayout layout;
        tracks[0].kind = TrackKind::Gpu;
        layout.setTracks(tracks);
        QVERIFY(layout.rowOf(0)->isHeader);
        QCOMPARE(layout.rowOf(0)->laneHeight, layout.metrics().summaryHeight);
        QCOMPARE(layout.rowOf(0)->height, layout.metrics().headerHeight);
        // The calls of a process are in its threads, directly below.
        tracks[0].kind = TrackKind::Process;
        layout.setTracks(tracks);
        QVERIFY(layout.rowOf(0)->isHeader);
        QCOMPARE(layout.rowOf(0)->laneCount, 0);
        QCOMPARE(layout.rowOf(0)->height, layout.metrics().titleHeight);
    }

    void streamWithChildrenKeepsItsKernels() {
        Layout layout(machine());
        QVERIFY(!layout.rowOf(1)->isHeader);
        QCOMPARE(layout.rowOf(1)->laneHeight, layout.metrics().laneHeight);
        layout.setFolded(1, true);
        QCOMPARE(layout.rowOf(1)->laneHeight, layout.metrics().laneHeight);
        QVERIFY(!layout.rowOf(2));
    }

    void severalLanesCanBeSqueezed() {
        Layout layout(machine());
        QVERIFY(layout.canFold(3) && !layout.canFold(5));
        const int before = layout.rowOf(3)->height;
        layout.setFolded(3, true);
        QCOMPARE(layout.rowOf(3)->laneCount, 2);
        QCOMPARE(layout.rowOf(3)->laneHeight, layout.metrics().squeezedLaneHeight);
        QVERIFY(layout.rowOf(3)->height < before);
        layout.setFolded(5, true);
        QVERIFY(!layout.isFolded(5));
    }

    void revealUnfoldsAllAncestors() {
        Layout layout(machine());
        layout.setAllFolded(true);
        QCOMPARE(layout.rows().size(), 2u);
        QVERIFY(layout.reveal(2) && layout.rowOf(2));
        QVERIFY(!layout.isFolded(0) && !layout.isFolded(1) && !layout.isFolded(2) && layout.isFolded(4));
        QVERIFY(!layout.reveal(2));
    }

    void queriesMatchPlainLoop() {
        std::mt19937 random(7);
        for (int round = 0; round < 50; ++round) {
            std::vector<Track> tracks;
            const int count = 1 + static_cast<int>(random() % 40);
            for (int i = 0; i < count; ++i) {
                const int32_t parent = i == 0 || random() % 3 == 0 ? -1 : static_cast<int32_t>(random() % i);
                tracks.push_back(track(parent, static_cast<int>(random() % 4),
                                       random() % 2 ? SliceCategory::Busy : SliceCategory::Kernel));
                tracks.back().isInitiallyFolded = random() % 4 == 0;
            }
            TrackLayout layout;
            layout.setTracks(tracks);
            for (int y = -5; y < layout.totalHeight() + 5; y += 3) {
                const LayoutRow* expected = nullptr;
                for (const LayoutRow& row : layout.rows()) {
                    if (y >= row.top && y < row.bottom()) expected = &row;
                }
                QCOMPARE(layout.rowAt(y), expected);
                std::optional<LanePosition> lane;
                for (int i = 0; expected && i < expected->laneCount; ++i) {
                    const int top = TrackLayout::laneTop(*expected, i);
                    if (y >= top && y < top + expected->laneHeight) {
                        lane = LanePosition{expected->track, static_cast<uint32_t>(i)};
                    }
                }
                QVERIFY(layout.laneAt(y) == lane);
                size_t touching = 0;
                for (const LayoutRow& row : layout.rows()) touching += row.bottom() > y && row.top < y + 70;
                QCOMPARE(layout.rowsBetween(y, y + 70).size(), touching);
            }
        }
    }

    void corruptParentsAreTopTracks() {
        std::vector<Track> tracks{track(0, 1), track(7, 1), track(-9, 1)};
        TrackLayout layout;
        layout.setTracks(tracks);
        QCOMPARE(layout.rows().size(), 3u);
        QVERIFY(!layout.canFold(0) && !layout.reveal(1));
    }

    void noTracksGiveAnEmptyLayout() {
        TrackLayout layout;
        QCOMPARE(layout.totalHeight(), 0);
        QVERIFY(!layout.rowAt(0) && !layout.laneAt(10) && !layout.rowOf(0));
        QVERIFY(!layout.visibleRowOf(3) && layout.rowsBetween(0, 100).empty());
    }

    void fewGpusKeepTheOrderOfTheTrace() {
        QVERIFY(firstArrangement(*ranksOf(3)).isDefault());
        QVERIFY(firstArrangement(*SimulatedTrace().finish()).isDefault());
    }

    /// Threads that mostly wait are of little interest.
    void withoutGpusTheBusiestThreadsComeFirst() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "/usr/bin/python3", {});
        const uint32_t waits = builder.addThread(process, 100), works = builder.addThread(process, 101);
        const uint32_t main = builder.frame("main", "a.py", 1), load = builder.frame("load", "a.py", 9, main);
        kinds::CpuState::Row row{.endNs = 100'000'000, .thread = waits, .state = ThreadState::Lock, .stack = main};
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
        const uint32_t idleBefore = builder.addGpu(), used = builder.addGpu(), idleAfter = builder.addGpu();
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
            HAS(titles[8 + rank], "rank " + std::to_string(rank));
        }
        QVERIFY(arrangement.folded.size() >= 16);
    }

    void eightGpusFitASmallScreen() {
        ShownRanks timeline(8, 330);
        int seen = 0;
        for (uint32_t track = 0; track < timeline.trace()->tracks.size(); ++track)
            if (timeline.trace()->tracks[track].kind == TrackKind::Gpu &&
                timeline.places().trackArea(track).height() > 8)
                ++seen;
        QCOMPARE(seen, 8);
    }

    void eightGpusOfOneProcessHaveLowRowsToo() {
        SimulatedTrace builder;
        const uint32_t process = builder.addProcess(100, "python3"), thread = builder.addThread(process, 100);
        for (int gpu = 0; gpu < 8; ++gpu)
            builder.launch(thread, builder.addStream(process, builder.addGpu(), 7), "gemm", 0, 10'000, 60'000);
        QCOMPARE(firstArrangement(*builder.finish()).height, RowHeight::Fitted);
        QCOMPARE(firstArrangement(*ranksOf(4)).height, RowHeight::Fitted);
    }

    void rowsOfManyGpusUseTheRoom() {
        ShownRanks timeline(4, 160);
        const TrackLayout& layout = timeline.state().tracks().layout();
        int before = 0;
        // Higher windows have higher rows, which fill most of them, and then the names of ranges.
        for (const int height : {160, 260, 420, 620}) {
            timeline.resize(1000, height);
            QApplication::processEvents();
            const int rows = layout.totalHeight() - layout.metrics().bottomSpace;
            QVERIFY(rows >= before);
            if (height > 260) {
                QVERIFY2(rows <= timeline.state().scroll().viewportHeight(), qPrintable(QString::number(height)));
                QVERIFY2(layout.metrics().previews != Previews::None, qPrintable(QString::number(height)));
            }
            before = rows;
        }
        // Changes of the user stay.
        timeline.state().tracks().setFolded(layout.rows().front().track, false);
        const LayoutMetrics metrics = layout.metrics();
        timeline.resize(1000, 300);
        QApplication::processEvents();
        QVERIFY(layout.metrics() == metrics);
    }

    void namesTakePrecedenceOverHighRows() {
        ShownRanks timeline(4, 300);
        for (int height = 300; height <= 620; height += 10) {
            timeline.resize(1000, height);
            QApplication::processEvents();
            QVERIFY2(timeline.state().tracks().layout().metrics().previews != Previews::None,
                     qPrintable(QString::number(height)));
        }
    }

    void arrangementOfTheUserKeepsItsHeight() {
        ShownRanks timeline(4, 620);
        TimelineTracks& tracks = timeline.state().tracks();
        QCOMPARE(tracks.arrangement().height, RowHeight::Fitted);
        tracks.setFolded(tracks.layout().rows().front().track, false);
        const TrackArrangement stored = tracks.arrangement();
        QCOMPARE(stored.height, tracks.rowHeight());
        // Stored by an earlier version: it fits once, and then stays.
        TrackArrangement fitted = stored;
        fitted.height = RowHeight::Fitted;
        tracks.setArrangement(fitted);
        const LayoutMetrics metrics = tracks.layout().metrics();
        timeline.resize(1000, 260);
        QApplication::processEvents();
        QVERIFY(tracks.layout().metrics() == metrics);
    }

    void anotherTraceBeginsWithoutPreviews() {
        ShownRanks timeline(4, 620);
        QVERIFY(timeline.state().tracks().layout().metrics().previews != Previews::None);
        timeline.setTrace(ranksOf(2));
        QCOMPARE(timeline.state().tracks().layout().metrics().previews, Previews::None);
    }

    void windowHeightMovesNoRowUnderThePointer() {
        ShownRanks timeline(4, 620);
        auto* canvas = timeline.findChild<TrackCanvas*>();
        const TrackLayout& layout = timeline.state().tracks().layout();
        const TrackScroll& scroll = timeline.state().scroll();
        const int roomy = layout.totalHeight();
        QCOMPARE(scroll.y(), 0);
        const LayoutRow row = layout.rows()[2];
        const QPoint pointer(300, row.top + row.height / 2);
        QMouseEvent move(QEvent::MouseMove, pointer, canvas->mapToGlobal(pointer), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(canvas, &move);
        const auto placeOfRow = [&] { return scroll.toScreenY(layout.rowOf(row.track)->top); };
        for (const int height : {420, 200, 620, 260}) {
            timeline.resize(1000, height);
            QApplication::processEvents();
            QCOMPARE(placeOfRow(), row.top);
        }
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(canvas, &leave);
        QVERIFY(layout.totalHeight() < roomy);
    }

    void foldedGpuShowsItsRangesWhereTheyCanBeSelected() {
        ShownRanks timeline(4, 700);
        const TrackLayout& layout = timeline.state().tracks().layout();
        const LayoutRow row = layout.rows().front();
        QVERIFY(row.preview != noIndex);
        QCOMPARE(timeline.trace()->tracks[row.preview].kind, TrackKind::StreamProjection);
        const int middle = row.top + row.previewTop + row.previewHeight / 2;
        QVERIFY(layout.laneAt(middle) == (LanePosition{row.preview, 0}));
        const auto area = layout.areaOf({row.preview, 0});
        QVERIFY(area && area->top == row.top + row.previewTop && area->height == row.previewHeight);
        auto* canvas = timeline.findChild<TrackCanvas*>();
        const Lane& lane = timeline.trace()->tracks[row.preview].lanes.front();
        const double x = timeline.state().range().scale(canvas->width()).toX(lane.startNs[0] + lane.durationNs[0] / 2);
        QTest::mouseClick(canvas, Qt::LeftButton, {}, {int(x), middle});
        QCOMPARE(timeline.state().selection().event(), EventRef(lane.event[0]));
        QVERIFY(layout.isFolded(row.track));
    }

    void processOfCountersIsOneRow() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1'000'000);
        const uint32_t helper = builder.addProcess(870, "helper");
        for (const char* name : {"cpu", "memory"}) {
            CounterSeries series = powerOf(noIndex);
            series.key = series.name = name;
            series.source = "host";
            series.process = helper;
            builder.counter(std::move(series));
        }
        const TracePtr trace = builder.finish();
        TrackLayout layout;
        layout.setTracks(trace->tracks);
        layout.setArrangement(firstArrangement(*trace));
        int rows = 0;
        for (const LayoutRow& row : layout.rows()) {
            const Track& track = trace->tracks[row.track];
            if (track.kind != TrackKind::Process || track.subject != helper) continue;
            ++rows;
            QVERIFY(row.isFolded && row.preview != noIndex);
            QCOMPARE(trace->tracks[row.preview].kind, TrackKind::CounterGroup);
        }
        QCOMPARE(rows, 1);
    }

    void resetRestoresTheFirstArrangement() {
        ShownRanks timeline(8, 480);
        const TrackArrangement first = firstArrangement(*timeline.trace());
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

    void everyArrangementMatchesPlainLayout() {
        std::mt19937 random(11);
        for (int round = 0; round < 40; ++round) {
            PlainLayout plain;
            const uint32_t count = 1 + random() % 25;
            plain.children.resize(count + 1);
            for (uint32_t i = 0; i < count; ++i) {
                const int parent = i == 0 || random() % 3 == 0 ? -1 : int(random() % i);
                plain.tracks.push_back(track(parent, "t" + std::to_string(i)));
                plain.children[parent < 0 ? count : parent].push_back(i);
            }
            plain.folded.assign(count, false);
            plain.hidden = plain.pinned = plain.folded;
            TrackLayout layout;
            layout.setTracks(plain.tracks);
            for (int step = 0; step < 60; ++step) {
                const uint32_t each = random() % count;
                const bool isOn = random() % 2;
                switch (random() % 5) {
                    case 0:
                        layout.setFolded(each, isOn);
                        if (!plain.children[each].empty()) plain.folded[each] = isOn;
                        break;
                    case 1:
                        layout.setHidden(each, isOn);
                        plain.hidden[each] = isOn;
                        break;
                    case 2:
                        layout.setPinned(each, isOn);
                        plain.pinned[each] = isOn;
                        break;
                    case 3: {
                        auto& siblings = plain.children[plain.parentOf(each) < 0 ? count : plain.parentOf(each)];
                        const uint32_t other = siblings[random() % siblings.size()];
                        layout.moveTo(each, other);
                        const auto to = std::find(siblings.begin(), siblings.end(), other) - siblings.begin();
                        siblings.erase(std::find(siblings.begin(), siblings.end(), each));
                        siblings.insert(siblings.begin() + to, each);
                        break;
                    }
                    default:
                        plain.matches.clear();
                        if (isOn)
                            for (uint32_t i = 0; i < count; ++i) plain.matches.push_back(random() % 4 == 0);
                        layout.setFilter(plain.matches);
                }
                size_t pinnedCount = 0;
                const Tracks expected = plain.rows(pinnedCount);
                QCOMPARE(shown(layout), expected);
                int top = 0;
                for (size_t i = 0; i < expected.size(); ++i) {
                    const LayoutRow& row = layout.rows()[i];
                    QCOMPARE(test::listed(row.top, row.isPinned), test::listed(top, i < pinnedCount));
                    QCOMPARE(layout.rowOf(expected[i]), &row);
                    top = row.bottom();
                    if (i + 1 == pinnedCount) QCOMPARE(layout.pinnedHeight(), top);
                }
                if (pinnedCount == 0) QCOMPARE(layout.pinnedHeight(), 0);
            }
        }
    }

    void pinnedTrackIsAboveItsGroup() {
        Layout layout(titledMachine());
        layout.setPinned(5, true);
        layout.setPinned(2, true);
        QCOMPARE(shown(layout), Tracks({2, 3, 5, 0, 1, 4, 6, 7}));
        QCOMPARE(test::listed(layout.rowOf(2)->depth, layout.rowOf(3)->depth), "0 | 1");
        layout.setFolded(0, true);
        QVERIFY2(layout.rowOf(2), "a pinned track does not fold away with its group");
        layout.setPinned(2, false);
        QCOMPARE(shown(layout), Tracks({5, 0, 4, 6, 7}));
    }

    void siblingsMoveWithTheirChildren() {
        Layout layout(titledMachine());
        layout.moveTo(1, 2);
        QCOMPARE(shown(layout), Tracks({0, 2, 3, 1, 4, 5, 6, 7}));
        QCOMPARE(test::listed(layout.siblingOf(1, -1), layout.siblingOf(1, +1)), test::listed(2u, noIndex));
        layout.moveTo(6, 0);
        QCOMPARE(shown(layout), Tracks({6, 7, 0, 2, 3, 1, 4, 5}));
        layout.moveTo(1, 5);
        QCOMPARE(shown(layout), Tracks({6, 7, 0, 2, 3, 1, 4, 5}));
        layout.setHidden(0, true);
        QCOMPARE(layout.siblingOf(4, -1), 6u);
    }

    void revealingShowsHiddenOrFilteredTracks() {
        Layout layout(titledMachine());
        layout.setHidden(2, true);
        layout.setFilter(matchTracks(layout.tracks, "python"));
        QCOMPARE(shown(layout), Tracks({6, 7}));
        QVERIFY(layout.reveal(3) && layout.rowOf(3) && layout.filter().empty());
        QVERIFY(layout.hiddenTracks().empty());
    }

    void wordsMatchTitlesAndSubtitles() {
        const std::vector<Track> tracks = titledMachine();
        const auto matching = [&](const char* text) {
            Tracks found;
            const std::vector<bool> matches = matchTracks(tracks, text);
            for (uint32_t i = 0; i < matches.size(); ++i)
                if (matches[i]) found.push_back(i);
            return found;
        };
        QCOMPARE(matching("stream"), Tracks({1, 2, 5}));
        QCOMPARE(matching("nccl STREAM"), Tracks({2}));
        QCOMPARE(matching("rank"), Tracks({6}));
        QCOMPARE(matching("nothing like it"), Tracks());
    }

    void keyWithANumberMatchesThisNumberOnly() {
        const auto matches = [](const char* title, const char* subtitle, const char* text) {
            std::vector<Track> tracks(1);
            tracks[0].title = title;
            tracks[0].subtitle = subtitle;
            return bool(matchTracks(tracks, text)[0]);
        };
        QVERIFY(matches("python3.12", "PID 1307, rank 2", "rank 2"));
        QVERIFY(matches("Compute, stream 20", "PID 1307, rank 2", "Rank 2 compute"));
        QVERIFY(matches("Compute, stream 20", "PID 1307, rank 2", "20"));
        QVERIFY(!matches("Compute, stream 20", "PID 1305, rank 0", "rank 2"));
        QVERIFY(!matches("Compute, stream 7", "PID 1305, rank 20", "rank 2"));
        QVERIFY(!matches("GPU 12", "", "gpu 1") && matches("GPU 1", "", "gpu 1"));
    }

    void keyWithoutAMatchIsTwoWords() {
        std::vector<Track> tracks(2);
        tracks[0].title = "GPU 0";
        tracks[0].subtitle = "NVIDIA H200, 132 SMs";
        tracks[1].title = "GPU 1";
        QCOMPARE(matchTracks(tracks, "h200 132"), std::vector<bool>({true, false}));
        QCOMPARE(matchTracks(tracks, "gpu 132"), std::vector<bool>({false, false}));
        QCOMPARE(matchTracks(tracks, "gpu 1"), std::vector<bool>({false, true}));
    }

    void filterKeepsGroupsAndUnfoldsThem() {
        Layout layout(titledMachine());
        layout.setAllFolded(true);
        layout.setFilter(matchTracks(layout.tracks, "nvtx"));
        QCOMPARE(shown(layout), Tracks({0, 2, 3}));
        layout.setFilter({});
        QCOMPARE(shown(layout), Tracks({0, 4, 6}));
    }

    void severalChangesCauseOneLayout() {
        Layout layout(titledMachine());
        layout.beginChanges();
        layout.setHidden(0, true);
        QVERIFY(layout.rowOf(0));
        layout.setPinned(5, true);
        layout.endChanges();
        QCOMPARE(shown(layout), Tracks({5, 4, 6, 7}));
    }

    void arrangementRoundTripsThroughJson() {
        Layout layout(titledMachine());
        QVERIFY(layout.arrangement().isDefault());
        layout.setHidden(6, true);
        layout.setPinned(5, true);
        layout.setFolded(2, true);
        layout.moveTo(1, 2);
        layout.setMetrics(LayoutMetrics::forText(17, RowHeight::Compact));
        const TrackArrangement arrangement = layout.arrangement();
        QCOMPARE(arrangement.pinned, std::vector<std::string>{"GPU 1/Stream 7"});
        const auto restored = arrangementFromJson(toJson(arrangement));
        QVERIFY(restored && *restored == arrangement);
        TrackLayout other;
        other.setTracks(layout.tracks);
        other.setArrangement(*restored);
        QCOMPARE(shown(other), shown(layout));
        other.setArrangement({});
        QVERIFY(other.arrangement().isDefault());
    }

    void arrangementAppliesToAnotherTraceWherePossible() {
        Layout layout({track(-1, "GPU 1"), track(0, "Stream 7"), track(-1, "GPU 0")});
        TrackArrangement arrangement;
        arrangement.order = {"GPU 0", "GPU 7", "GPU 1"};
        arrangement.pinned = {"GPU 1/Stream 7", "GPU 3"};
        layout.setArrangement(arrangement);
        QCOMPARE(shown(layout), Tracks({1, 2, 0}));
    }

    void tracksOfOneNameAreDistinguished() {
        const std::vector<Track> tracks = {track(-1, "python3"), track(0, "main"), track(0, "main"),
                                           track(-1, "python3")};
        QCOMPARE(trackPaths(tracks),
                 (std::vector<std::string>{"python3", "python3/main", "python3/main#2", "python3#2"}));
    }

    void corruptJsonLosesOnlyItsCorruptPart() {
        for (const char* part : {"no json", "[1, 2]"}) QVERIFY2(!arrangementFromJson(part), part);
        const auto partly =
            arrangementFromJson(R"({"hidden": ["GPU 0", 7, null], "pinned": "GPU 1", "height": "giant"})");
        QVERIFY(partly);
        QCOMPARE(partly->hidden, std::vector<std::string>{"GPU 0"});
        QVERIFY(partly->pinned.empty());
        QCOMPARE(partly->height, RowHeight::Normal);
    }

    void textFitsIntoTheLanesOfEveryHeight() {
        for (const int textHeight : {10, 17, 24, 40}) {
            int last = 0;
            for (const RowHeight height : {RowHeight::Compact, RowHeight::Normal, RowHeight::Tall}) {
                const auto metrics = LayoutMetrics::forText(textHeight, height);
                QVERIFY(metrics.laneHeight > last && metrics.laneHeight >= textHeight - 1);
                QVERIFY(metrics.headerHeight >= metrics.laneHeight + 2 * metrics.padding);
                QVERIFY(metrics.headerHeight >= textHeight + 2 * metrics.padding);
                QVERIFY(metrics.titleHeight >= textHeight && metrics.titleHeight <= metrics.headerHeight);
                last = metrics.laneHeight;
            }
        }
    }
};

LANESCOPE_TEST(tst_TrackLayout, QApplication)
#include "tst_TrackLayout.moc"
