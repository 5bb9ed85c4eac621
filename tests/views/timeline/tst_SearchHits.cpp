#include <QTest>

#include "tests/support/simulatedTraining.h"
#include "views/timeline/SearchHits.h"

using namespace lanescope;

class tst_SearchHits : public QObject {
    Q_OBJECT

  private slots:
    void slicesAgreeWithAPlainLoop();
    void newHitsForgetOldAnswers();
    void invalidEventsAreNoHits();
};

void tst_SearchHits::slicesAgreeWithAPlainLoop() {
    const TracePtr trace = simulatedTraining();
    std::vector<EventRef> events;
    for (uint32_t row = 0; row < trace->kernels.size(); row += 5)
        events.emplace_back(EventKind::Kernel, row);
    for (uint32_t row = 0; row < trace->apiCalls.size(); row += 3)
        events.emplace_back(EventKind::Api, row);
    SearchHits hits;
    hits.set(events);
    size_t found = 0;
    for (const Track& track : trace->tracks) {
        for (const Lane& lane : track.lanes) {
            std::vector<uint32_t> expected;
            for (uint32_t slice = 0; slice < lane.size(); ++slice) {
                if (std::find(events.begin(), events.end(), lane.event[slice]) != events.end()) {
                    expected.push_back(slice);
                }
            }
            QCOMPARE(hits.slicesOf(lane), expected);
            found += expected.size();
        }
    }
    QCOMPARE(found, events.size());
}

void tst_SearchHits::newHitsForgetOldAnswers() {
    Lane lane;
    lane.startNs = {0, 10};
    lane.endNs = {5, 15};
    lane.event = {EventRef(EventKind::Api, 0), EventRef(EventKind::Api, 1)};
    SearchHits hits;
    hits.set({EventRef(EventKind::Api, 1)});
    QCOMPARE(hits.slicesOf(lane), std::vector<uint32_t>{1});
    hits.set({EventRef(EventKind::Api, 0)});
    QCOMPARE(hits.slicesOf(lane), std::vector<uint32_t>{0});
    hits.set({});
    QVERIFY(hits.isEmpty());
    QVERIFY(hits.slicesOf(lane).empty());
}

void tst_SearchHits::invalidEventsAreNoHits() {
    SearchHits hits;
    hits.set({EventRef()});
    QVERIFY(hits.isEmpty());
    QVERIFY(!hits.contains(EventRef()));
    QVERIFY(!hits.contains(EventRef(EventKind::Kernel, 3)));
}

QTEST_APPLESS_MAIN(tst_SearchHits)
#include "tst_SearchHits.moc"
