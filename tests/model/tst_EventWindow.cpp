// SPDX-License-Identifier: Apache-2.0
#include "model/events/listEvents.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;

namespace {

constexpr EventKind listed[] = {EventKind::Kernel, EventKind::Memcpy, EventKind::Memset, EventKind::Api,
                                EventKind::Sync,   EventKind::Nvtx,   EventKind::Graph,  EventKind::PageFault};

/// The same result by testing every event.
std::vector<EventRef> plainly(const Trace& trace, TimeRange range, EventKinds wanted) {
    std::vector<EventRef> found;
    for (const EventKind kind : listed) {
        if (!wanted.has(kind)) continue;
        for (uint32_t row = 0; row < trace.rowCount(kind); ++row) {
            const TimeRange event = trace.rangeOf(EventRef(kind, row));
            const bool startsInside = event.startNs >= range.startNs && event.startNs < range.endNs;
            const bool isUnderWay = event.startNs < range.startNs && event.endNs > range.startNs;
            if (startsInside || isUnderWay) found.emplace_back(kind, row);
        }
    }
    return found;
}

std::vector<uint32_t> sortedBits(std::vector<EventRef> events) {
    std::vector<uint32_t> bits;
    for (const EventRef event : events) bits.push_back(event.bits());
    std::sort(bits.begin(), bits.end());
    return bits;
}

/// Many events that start at the same moment, some of them long.
TracePtr crowded() {
    SimulatedTrace builder;
    std::mt19937 random(7);
    const uint32_t thread = builder.defaultThread();
    const uint32_t stream = builder.defaultStream();
    for (int i = 0; i < 300; ++i) {
        const int64_t start = random() % 40 * 10;
        const int64_t end = start + random() % 120;
        switch (random() % 4) {
            case 0: builder.addKernel(stream, "kernel " + std::to_string(i % 5), start, end); break;
            case 1: builder.addMemcpy(stream, MemcpyKind::HtoD, 1000 + i, start, end); break;
            case 2: builder.addApi(thread, "cuLaunchKernel", start, end, 1); break;
            default: builder.addNvtx(thread, "range", start, end, NvtxStyle::StartEnd);
        }
    }
    return builder.finish();
}

}  // namespace

class tst_EventWindow : public QObject {
    Q_OBJECT

  private slots:
    void windowMatchesPlainLoop_data() {
        QTest::addColumn<bool>("isTraining");
        QTest::newRow("crowded") << false;
        QTest::newRow("training") << true;
    }
    void windowMatchesPlainLoop() {
        QFETCH(bool, isTraining);
        const TracePtr trace = isTraining ? simulatedTraining({.steps = 2}) : crowded();
        std::mt19937_64 random(11);
        for (int round = 0; round < 60; ++round) {
            const auto length = static_cast<uint64_t>(trace->range.durationNs());
            TimeRange range{trace->range.startNs + int64_t(random() % length),
                            trace->range.startNs + int64_t(random() % length)};
            if (range.endNs < range.startNs) std::swap(range.startNs, range.endNs);
            if (round == 0) range = trace->range;
            EventKinds wanted = EventKinds::recorded();
            if (round % 3 == 1) wanted.remove(EventKind::Api).remove(EventKind::Kernel);
            const EventWindow window(*trace, range, wanted);
            const auto events = window.slice(0, window.size());
            const auto expected = sortedBits(plainly(*trace, range, wanted));
            QCOMPARE(size_t(window.size()), expected.size());
            QCOMPARE(sortedBits(events), expected);
            QVERIFY(std::is_sorted(events.begin(), events.end(), [&](EventRef a, EventRef b) {
                return trace->rangeOf(a).startNs < trace->rangeOf(b).startNs;
            }));
        }
    }

    void partOfTheWindowEqualsPartOfTheWhole() {
        const TracePtr trace = crowded();
        const EventWindow window(*trace, {95, 333}, EventKinds::recorded());
        const auto whole = window.slice(0, window.size());
        for (int64_t first = 0; first <= window.size(); ++first) {
            const auto part = window.slice(first, 7);
            const auto end = std::min<int64_t>(first + 7, window.size());
            const std::vector<EventRef> expected(whole.begin() + first, whole.begin() + end);
            QVERIFY2(part == expected, qPrintable(QString::number(first)));
        }
        QVERIFY(window.slice(window.size() + 5, 3).empty());
        QCOMPARE(window.slice(-3, 2).size(), size_t(2));
    }

    void windowFindsTheRowOfEachEvent() {
        const TracePtr trace = crowded();
        const EventWindow window(*trace, {95, 333}, EventKinds::recorded());
        const auto whole = window.slice(0, window.size());
        for (size_t index = 0; index < whole.size(); ++index)
            QCOMPARE(window.indexOf(whole[index]).value_or(-1), int64_t(index));
        for (const EventKind kind : listed) {
            for (uint32_t row = 0; row < trace->rowCount(kind); ++row) {
                const EventRef event(kind, row);
                const bool isInside = std::ranges::find(whole, event) != whole.end();
                QCOMPARE(window.indexOf(event).has_value(), isInside);
            }
        }
        QVERIFY(!window.indexOf({}).has_value());
    }

    void windowWithoutKindsOrTimeIsEmpty() {
        const TracePtr trace = crowded();
        QCOMPARE(EventWindow(*trace, trace->range, {}).size(), int64_t(0));
        QCOMPARE(EventWindow().size(), int64_t(0));
        QVERIFY(EventWindow().slice(0, 5).empty());
        QCOMPARE(EventWindow(*trace, {-50, -20}, EventKinds::recorded()).size(), int64_t(0));
    }

    void sampledFunctionIsNoSingleEvent() {
        SimulatedTrace builder;
        const uint32_t thread = builder.defaultThread();
        builder.addKernel(builder.defaultStream(), "kernel", 0, 1000);
        const uint32_t stack = builder.stack(noIndex, builder.intern("main"), builder.intern("a.c"), 1);
        for (int64_t sample = 0; sample < 100; ++sample) {
            kinds::CpuState::Row row;
            row.startNs = sample * 10;
            row.endNs = row.startNs + 10;
            row.thread = thread;
            row.state = ThreadState::Running;
            row.source = StateSource::Samples;
            row.stack = stack;
            builder.add<kinds::CpuState>(row);
        }
        const TracePtr trace = builder.finish();
        EventKinds kinds;
        kinds.add(EventKind::CpuState);
        const EventWindow window(*trace, {505, 515}, kinds);
        for (const EventRef event : window.slice(0, window.size())) {
            const TimeRange own = trace->rangeOf(event);
            QVERIFY2(own.endNs > 505 && own.startNs < 515, std::to_string(own.startNs).c_str());
        }
        QVERIFY(window.size() >= 1);
    }

    void describesACopy() {
        SimulatedTrace builder;
        const EventRef copy = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 4096, 100, 300, 17);
        const EventRef instant = builder.addMemcpy(builder.defaultStream(), MemcpyKind::HtoD, 4096, 400, 400);
        const TracePtr trace = builder.finish();
        const auto cells = eventCells(*trace, copy);
        QCOMPARE(cells.size(), eventColumns().size());
        QCOMPARE(std::get<int64_t>(cells[0]), int64_t(100));
        QCOMPARE(std::get<int64_t>(cells[1]), int64_t(200));
        QCOMPARE(std::get<std::string>(cells[2]), std::string("Memcpy"));
        QCOMPARE(std::get<int64_t>(cells[6]), int64_t(4096));
        QCOMPARE(std::get<double>(cells[7]), 4096.0 / 200);
        QCOMPARE(std::get<int64_t>(cells[8]), int64_t(17));
        // Without a duration, no rate.
        QVERIFY(std::holds_alternative<std::monostate>(eventCells(*trace, instant)[7]));
        QVERIFY(std::holds_alternative<std::monostate>(eventCells(*trace, instant)[8]));
    }

    void filtersByWords() {
        const TracePtr trace = crowded();
        const auto list = listEvents(
            *trace, {.range = trace->range, .kinds = EventKinds().add(EventKind::Kernel), .words = "KERNEL 3"});
        QVERIFY(list.has_value());
        QVERIFY(!list->events.empty());
        for (const EventRef event : list->events) QCOMPARE(trace->nameOf(event), std::string("kernel 3"));
        QVERIFY(listEvents(*trace, {.range = trace->range, .words = "no such thing"})->events.empty());
    }

    void sortsByEveryColumn() {
        const TracePtr trace = crowded();
        for (size_t column = 0; column < eventColumnCount; ++column) {
            for (const bool isDescending : {false, true}) {
                const auto sortedBy = static_cast<EventColumn>(column);
                const auto list =
                    listEvents(*trace, {.range = trace->range, .sortedBy = sortedBy, .isDescending = isDescending});
                QVERIFY(list.has_value());
                bool wasEmpty = false;
                Cell before;
                for (const EventRef event : list->events) {
                    const Cell cell = eventCell(*trace, event, sortedBy);
                    const bool isEmpty = cell.index() == 0;
                    QVERIFY(isEmpty || !wasEmpty);
                    if (!isEmpty && before.index() != 0) QVERIFY(isDescending ? !(before < cell) : !(cell < before));
                    wasEmpty = isEmpty;
                    before = cell;
                }
            }
        }
    }

    void reportsSearchProgress() {
        const TracePtr trace = crowded();
        const auto list = listEvents(*trace, {.range = trace->range, .maxScanned = 50});
        QVERIFY(list.has_value());
        QCOMPARE(list->scanned, int64_t(50));
        QCOMPARE(list->events.size(), size_t(50));
        QVERIFY(list->inRange > 50);
    }

    void stopsOnCancel() {
        const TracePtr trace = crowded();
        QVERIFY(!listEvents(*trace, {.range = trace->range}, [] { return true; }).has_value());
    }
};

LANESCOPE_TEST(tst_EventWindow, QCoreApplication)
#include "tst_EventWindow.moc"
