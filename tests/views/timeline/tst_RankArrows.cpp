// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/kinds/flows.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedRanks.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/FlowOverlay.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr uint64_t world = 0xabcdef;
constexpr int64_t us = 1'000;

/// Three simulated ranks reduce twice, and rank 1 is the last both times. Clock errors of ranks 1
/// and 2 are 30 and 20 us.
struct Ranks {
    TracePtr trace;
    std::vector<EventRef> firsts, seconds;  ///< The kernels by rank.

    explicit Ranks(bool isNumbered = true, bool hasErrors = true) {
        SimulatedRanks job(3);
        for (int round = 0; round < 2; ++round)
            for (size_t rank = 0; rank < 3; ++rank) {
                NcclFacts facts;
                facts.sequence = isNumbered ? round : -1;
                const int64_t begin = (round * 1000 + (rank == 1 ? 400 : 200 + 50 * int64_t(rank))) * us;
                job.addCall(rank, "AllReduce", 1 << 20, (round * 1000 + 10 * int64_t(rank)) * us,
                            TimeRange{begin, (round * 1000 + 600) * us}, facts, world);
            }
        for (const size_t rank : {1, 2})
            if (hasErrors)
                job.builder.processes()[job.processes[rank]].facts.edit().clockErrorNs = rank == 1 ? 30'000 : 20'000;
        trace = job.builder.finish();
        firsts = seconds = std::vector<EventRef>(3);
        for (uint32_t row = 0; row < trace->kernels.size(); ++row) {
            const EventRef kernel(EventKind::Kernel, row);
            const uint32_t call = trace->launchingCall(kernel).row();
            const uint32_t process = trace->threads[trace->apiCalls.thread[call]].process;
            const uint32_t rank = process - job.processes.front();
            (trace->kernels.startNs[row] < 1000 * us ? firsts : seconds)[rank] = kernel;
        }
    }
};

int differences(const QImage& a, const QImage& b, const QRect& area) {
    int count = 0;
    const QRect inside = area.intersected(a.rect());
    for (int y = inside.top(); y <= inside.bottom(); ++y)
        for (int x = inside.left(); x <= inside.right(); ++x) count += a.pixel(x, y) != b.pixel(x, y) ? 1 : 0;
    return count;
}

}  // namespace

class tst_RankArrows : public QObject {
    Q_OBJECT

  private slots:
    void workOfAllRanksIsOneCollective() {
        const Ranks ranks;
        const std::vector<EventRef> expected{ranks.firsts[0], ranks.firsts[2], ranks.firsts[1]};
        for (const EventRef each : ranks.firsts) QVERIFY(collectiveOf(*ranks.trace, each) == expected);
        QCOMPARE(collectiveOf(*ranks.trace, ranks.seconds[1]).back(), ranks.seconds[1]);
        const Ranks unnumbered(false);
        QVERIFY(collectiveOf(*unnumbered.trace, unnumbered.firsts[0]).empty());
        QVERIFY(collectiveOf(*ranks.trace, EventRef()).empty());
        QVERIFY(collectiveOf(*ranks.trace, ranks.trace->launchingCall(ranks.firsts[0])).empty());
    }

    void smallDifferencesAreNoError() {
        Process process;
        QCOMPARE(clockErrorNs(process), int64_t{0});
        for (const char* odd : {"", "-5", "12 us", "99999999999999999999"}) {
            takeNamedFact(process.facts.edit(), facts::clockErrorNs, odd);
            QCOMPARE(clockErrorNs(process), int64_t{0});
            process.facts.edit().clockErrorNs.reset();
        }
        takeNamedFact(process.facts.edit(), facts::clockErrorNs, "16006");
        QCOMPARE(clockErrorNs(process), int64_t{16'006});
    }

    void lastRankPointsAtTheWaitingRanks() {
        const Ranks ranks;
        TrackLayout layout;
        layout.setTracks(ranks.trace->tracks);
        const auto ofRanks = [&](EventRef event) {
            std::vector<FlowArrow> found;
            for (const FlowArrow& each : flowArrows(*ranks.trace, layout, event))
                if (each.kind == FlowKind::Rank) found.push_back(each);
            return found;
        };
        const auto all = ofRanks(ranks.firsts[1]);
        QCOMPARE(all.size(), size_t{2});
        for (const FlowArrow& each : all) {
            QCOMPARE(each.from.event, ranks.firsts[1]);
            QCOMPARE(each.to.timeNs, 400 * us);
            QCOMPARE(each.far, each.to.event);
        }
        QCOMPARE(all[0].to.event, ranks.firsts[0]);
        QCOMPARE(all[0].errorNs, 30 * us);
        QCOMPARE(all[1].errorNs, 50 * us);
        // A waiting rank shows only the rank that it waited for.
        const auto one = ofRanks(ranks.firsts[2]);
        QCOMPARE(one.size(), size_t{1});
        QCOMPARE(one[0].to.event, ranks.firsts[2]);
        QCOMPARE(one[0].far, ranks.firsts[1]);
    }

    void clockErrorIsHatched() {
        const Ranks ranks, ofOneClock(true, false);
        ShownTimeline shown(ranks.trace), certain(ofOneClock.trace);
        const auto picture = [](ShownTimeline& timeline, EventRef selected) {
            timeline.view.state().tracks().setAllFolded(false);
            timeline.view.state().selection().setEvent(selected);
            QApplication::processEvents();
            return timeline.canvas()->grab().toImage();
        };
        const QImage hatched = picture(shown, ranks.firsts[0]);
        const QImage plain = picture(certain, ofOneClock.firsts[0]);
        // Next to the arrowhead, within the error of 30 us, and beyond it.
        const int head = int(shown.toX(400 * us)), edge = int(shown.toX(430 * us));
        const int y = shown.middleOf(ranks.firsts[0]).y();
        QVERIFY(edge - head > 12);
        QVERIFY(differences(hatched, plain, {head + 7, y - 4, edge - head - 9, 8}) > 20);
        QCOMPARE(differences(hatched, plain, {edge + 3, y - 4, 40, 8}), 0);
    }
};

LANESCOPE_TEST(tst_RankArrows, QApplication)
#include "tst_RankArrows.moc"
