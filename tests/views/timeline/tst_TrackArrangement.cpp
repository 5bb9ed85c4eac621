// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/timeline/TrackLayout.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

Track track(int32_t parent, std::string title, std::string subtitle = {}) {
    Track result;
    result.parent = parent;
    result.title = std::move(title);
    result.subtitle = std::move(subtitle);
    result.lanes.resize(1);
    return result;
}

/// 0 GPU 0 { 1 Stream 7, 2 Stream 20 { 3 NVTX } }, 4 GPU 1 { 5 Stream 7 }, 6 python3 { 7 main }
std::vector<Track> machine() {
    return {track(-1, "GPU 0", "NVIDIA H200"),
            track(0, "Stream 7"),
            track(0, "Stream 20", "NCCL"),
            track(2, "NVTX"),
            track(-1, "GPU 1"),
            track(4, "Stream 7"),
            track(-1, "python3", "rank 0"),
            track(6, "main")};
}

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

class TestTrackArrangement : public QObject {
    Q_OBJECT
  private slots:
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
                    QCOMPARE(row.top, top);
                    QCOMPARE(row.isPinned, i < pinnedCount);
                    QCOMPARE(layout.rowOf(expected[i]), &row);
                    top = row.bottom();
                    if (i + 1 == pinnedCount) QCOMPARE(layout.pinnedHeight(), top);
                }
                if (pinnedCount == 0) QCOMPARE(layout.pinnedHeight(), 0);
            }
        }
    }

    void pinnedTrackIsAboveItsGroup() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.setPinned(5, true);
        layout.setPinned(2, true);
        QCOMPARE(shown(layout), Tracks({2, 3, 5, 0, 1, 4, 6, 7}));
        QCOMPARE(layout.rowOf(2)->depth, 0);
        QCOMPARE(layout.rowOf(3)->depth, 1);
        layout.setFolded(0, true);
        QVERIFY2(layout.rowOf(2), "a pinned track does not fold away with its group");
        layout.setPinned(2, false);
        QCOMPARE(shown(layout), Tracks({5, 0, 4, 6, 7}));
    }

    void siblingsMoveWithTheirChildren() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.moveTo(1, 2);
        QCOMPARE(shown(layout), Tracks({0, 2, 3, 1, 4, 5, 6, 7}));
        QCOMPARE(layout.siblingOf(1, -1), 2u);
        QCOMPARE(layout.siblingOf(1, +1), noIndex);
        layout.moveTo(6, 0);
        QCOMPARE(shown(layout), Tracks({6, 7, 0, 2, 3, 1, 4, 5}));
        layout.moveTo(1, 5);
        QCOMPARE(shown(layout), Tracks({6, 7, 0, 2, 3, 1, 4, 5}));
        layout.setHidden(0, true);
        QCOMPARE(layout.siblingOf(4, -1), 6u);
    }

    void revealingShowsHiddenOrFilteredTracks() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.setHidden(2, true);
        layout.setFilter(matchTracks(tracks, "python"));
        QCOMPARE(shown(layout), Tracks({6, 7}));
        QVERIFY(layout.reveal(3));
        QVERIFY(layout.rowOf(3));
        QVERIFY(layout.filter().empty());
        QVERIFY(layout.hiddenTracks().empty());
    }

    void wordsMatchTitlesAndSubtitles() {
        const std::vector<Track> tracks = machine();
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

    void filterKeepsGroupsAndUnfoldsThem() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.setAllFolded(true);
        layout.setFilter(matchTracks(tracks, "nvtx"));
        QCOMPARE(shown(layout), Tracks({0, 2, 3}));
        layout.setFilter({});
        QCOMPARE(shown(layout), Tracks({0, 4, 6}));
    }

    void severalChangesCauseOneLayout() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
        layout.beginChanges();
        layout.setHidden(0, true);
        QVERIFY(layout.rowOf(0));
        layout.setPinned(5, true);
        layout.endChanges();
        QCOMPARE(shown(layout), Tracks({5, 4, 6, 7}));
    }

    void arrangementRoundTripsThroughJson() {
        const std::vector<Track> tracks = machine();
        TrackLayout layout;
        layout.setTracks(tracks);
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
        other.setTracks(tracks);
        other.setArrangement(*restored);
        QCOMPARE(shown(other), shown(layout));
        other.setArrangement({});
        QVERIFY(other.arrangement().isDefault());
    }

    void arrangementAppliesToAnotherTraceWherePossible() {
        const std::vector<Track> tracks = {track(-1, "GPU 1"), track(0, "Stream 7"), track(-1, "GPU 0")};
        TrackLayout layout;
        layout.setTracks(tracks);
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
        QVERIFY(!arrangementFromJson("no json"));
        QVERIFY(!arrangementFromJson("[1, 2]"));
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
                QVERIFY(metrics.laneHeight > last);
                QVERIFY(metrics.laneHeight >= textHeight - 1);
                QVERIFY(metrics.headerHeight >= textHeight);
                last = metrics.laneHeight;
            }
        }
    }
};

LANESCOPE_TEST(TestTrackArrangement, NoApplication)
#include "tst_TrackArrangement.moc"
