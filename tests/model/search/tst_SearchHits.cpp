// SPDX-License-Identifier: Apache-2.0
#include "model/search/SearchHits.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

class tst_SearchHits : public QObject {
    Q_OBJECT

  private slots:
    void hitsMatchPlainLoop() {
        const TracePtr trace = simulatedTraining();
        std::vector<EventRef> events;
        for (uint32_t row = 0; row < trace->kernels.size(); row += 5) events.emplace_back(EventKind::Kernel, row);
        for (uint32_t row = 0; row < trace->apiCalls.size(); row += 3) events.emplace_back(EventKind::Api, row);
        const std::set<EventRef> isHit(events.begin(), events.end());
        const SearchHitsPtr hits = SearchHits::of(*trace, events);
        QCOMPARE(hits->events(), events);
        size_t found = 0;
        for (uint32_t track = 0; track < trace->tracks.size(); ++track) {
            for (uint32_t lane = 0; lane < trace->tracks[track].lanes.size(); ++lane) {
                const Lane& slices = trace->tracks[track].lanes[lane];
                for (uint32_t slice = 0; slice < slices.size(); ++slice) {
                    const bool isOne = isHit.contains(slices.event[slice]);
                    QCOMPARE(hits->touches(track, lane, slice, 1), isOne);
                    // A collective that waits for other ranks is two slices.
                    if (isOne && slices.category[slice] != SliceCategory::NcclWait) ++found;
                }
                QVERIFY(!hits->touches(track, lane, slices.size(), 10));
            }
        }
        QCOMPARE(found, events.size());
    }

    void manyHitPlacesAreThinned() {
        const TracePtr trace = simulatedTraining({.steps = 100});
        std::vector<EventRef> few, all;
        for (uint32_t row = 0; row < trace->apiCalls.size(); ++row) {
            all.emplace_back(EventKind::Api, row);
            if (row % 1'000 == 0) few.push_back(all.back());
        }
        QVERIFY(all.size() > 2 * SearchHits::placeCount);
        const SearchHitsPtr ofFew = SearchHits::of(*trace, few);
        QCOMPARE(ofFew->places().size(), few.size());
        const SearchHitsPtr ofAll = SearchHits::of(*trace, all);
        QVERIFY(ofAll->places().size() <= SearchHits::placeCount + 1);
        // Each hit has a place near it.
        const int64_t stepNs = trace->range.durationNs() / SearchHits::placeCount;
        size_t place = 0;
        for (const EventRef event : all) {
            const int64_t startNs = trace->rangeOf(event).startNs;
            while (place + 1 < ofAll->places().size() && ofAll->places()[place + 1] <= startNs) ++place;
            QVERIFY(startNs - ofAll->places()[place] < stepNs);
        }
    }

    void invalidEventsAreNoHits() {
        const TracePtr trace = simulatedTraining();
        QVERIFY(SearchHits::of(*trace, {EventRef()})->isEmpty());
        QVERIFY(SearchHits::of(*trace, {})->isEmpty());
        const SearchHitsPtr hits = SearchHits::of(*trace, {EventRef(EventKind::Kernel, 0)});
        QVERIFY(!hits->touches(100'000, 0, 0, 1));
        QVERIFY(!hits->touches(0, 100'000, 0, 1));
    }
};

LANESCOPE_TEST(tst_SearchHits, NoApplication)
#include "tst_SearchHits.moc"
