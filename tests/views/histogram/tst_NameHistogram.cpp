// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "tests/support/SimulatedTrace.h"
#include "tests/support/child.h"
#include "tests/support/keepPicture.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "views/histogram/NamePanel.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t us = 1'000;

NameOccurrences lasting(const std::vector<int64_t>& durations) {
    SimulatedTrace builder;
    EventRef first;
    int64_t nowNs = 0;
    for (const int64_t durationNs : durations) {
        const EventRef event = builder.addKernel(builder.defaultStream(), "gemm", nowNs, nowNs + durationNs);
        if (!first.isValid()) first = event;
        nowNs += durationNs + us;
    }
    builder.addKernel(builder.defaultStream(), "relu", nowNs, nowNs + us);
    return occurrencesOf(*builder.finish(), first);
}

}  // namespace

class TestNameHistogram : public QObject {
    Q_OBJECT
  private slots:
    void allEventsOfTheNameAreFoundAndNoOthers() {
        const TracePtr trace = simulatedTraining({.steps = 3});
        for (uint32_t row = 0; row < 40; ++row) {
            const EventRef event(EventKind::Kernel, row);
            const NameOccurrences found = occurrencesOf(*trace, event);
            int64_t count = 0, totalNs = 0;
            for (uint32_t each = 0; each < trace->kernels.size(); ++each) {
                const EventRef other(EventKind::Kernel, each);
                if (trace->nameOf(other) != trace->nameOf(event)) continue;
                ++count;
                totalNs += trace->rangeOf(other).durationNs();
            }
            QCOMPARE(test::listed(int64_t(found.events.size()), found.totalNs), test::listed(count, totalNs));
            QVERIFY(std::is_sorted(found.startNs.begin(), found.startNs.end()));
            QCOMPARE(found.durationNs[found.longest()], found.maxNs);
        }
        QVERIFY(occurrencesOf(*trace, {}).isEmpty());
    }

    void barsCountEachDurationOnce() {
        std::mt19937 random(1);
        for (const int64_t most : {int64_t(3), int64_t(500), int64_t(40'000'000)}) {
            std::vector<int64_t> durations;
            for (int i = 0; i < 300; ++i)
                durations.push_back(std::uniform_int_distribution<int64_t>(most / 100 + 1, most)(random));
            const NameOccurrences found = lasting(durations);
            const DurationHistogram histogram = durationHistogram(found, 24);
            QCOMPARE(histogram.isLogarithmic, found.maxNs > 20 * found.minNs);
            QVERIFY(!histogram.bars.empty() && histogram.bars.size() <= 24);
            int64_t sum = 0;
            for (const auto& bar : histogram.bars) {
                int64_t plain = 0;
                const bool isLast = &bar == &histogram.bars.back();
                for (const int64_t durationNs : durations)
                    if (durationNs >= bar.fromNs && (durationNs < bar.untilNs || isLast)) ++plain;
                QCOMPARE(bar.count, plain);
                sum += bar.count;
            }
            QCOMPARE(sum, int64_t(durations.size()));
        }
    }

    void percentilesAreMarked() {
        std::vector<int64_t> durations;
        for (int64_t each = 1; each <= 101; ++each) durations.push_back(each * us);
        NameHistogram chart;
        chart.resize(1000, 220);
        chart.setOccurrences(std::make_shared<const NameOccurrences>(lasting(durations)), {0, 6'000 * us});
        chart.show();
        QCOMPARE(chart.percentiles(), (std::array<int64_t, 3>{51 * us, 91 * us, 100 * us}));
        // As the median of all tables, between two values.
        NameHistogram even;
        even.setOccurrences(std::make_shared<const NameOccurrences>(lasting({10 * us, 20 * us})), {0, 100 * us});
        QCOMPARE(even.percentiles(), (std::array<int64_t, 3>{15 * us, 19 * us, 19'900}));
        const QImage image = chart.grab().toImage();
        const int x = chart.xOfDuration(91 * us);
        QVERIFY(chart.durationArea().contains(x, chart.durationArea().center().y()));
        int dark = 0;
        for (int y = chart.durationArea().top(); y < chart.durationArea().bottom(); ++y)
            dark += image.pixelColor(x, y) == Theme::light().text;
        QVERIFY(dark > 20);
    }

    void draggingSelectsDurationsOrTime() {
        std::vector<int64_t> durations;
        for (int64_t each = 1; each <= 100; ++each) durations.push_back((each % 2 == 0 ? 10 : 20) * us);
        NameHistogram chart;
        chart.resize(1000, 220);
        const auto found = std::make_shared<const NameOccurrences>(lasting(durations));
        const TimeRange whole{found->startNs.front(), found->startNs.back() + found->durationNs.back()};
        chart.setOccurrences(found, whole);
        chart.show();
        QSignalSpy ranges(&chart, &NameHistogram::rangeActivated), events(&chart, &NameHistogram::eventActivated);
        const auto drag = [&chart](int from, int to) {
            const int y = chart.timeArea().center().y();
            QTest::mousePress(&chart, Qt::LeftButton, {}, {from, y});
            QTest::mouseMove(&chart, {(from + to) / 2, y});
            QTest::mouseMove(&chart, {to, y});
            QTest::mouseRelease(&chart, Qt::LeftButton, {}, {to, y});
        };
        const QRect bars = chart.durationArea();
        drag(bars.left(), bars.center().x());
        QVERIFY(chart.brush() && !chart.brush()->isOfTime);
        QCOMPARE(chart.brushedCount(), size_t(50));
        QVERIFY(ranges.isEmpty());
        const QRect time = chart.timeArea();
        drag(time.left(), time.center().x());
        QVERIFY(chart.brush()->isOfTime);
        const size_t brushed = chart.brushedCount();
        QVERIFY2(brushed > 45 && brushed < 55, qPrintable(QString::number(brushed)));
        QCOMPARE(ranges.size(), 1);
        QTest::keyClick(&chart, Qt::Key_Escape);
        QVERIFY(!chart.brush());
        QCOMPARE(chart.brushedCount(), size_t(100));
        QVERIFY(events.isEmpty());
    }

    void equalDurationsMakeOneBar() {
        const DurationHistogram histogram = durationHistogram(lasting({70, 70, 70}), 30);
        QCOMPARE(histogram.bars.size(), size_t(1));
        QCOMPARE(histogram.bars[0].count, int64_t(3));
        QVERIFY(durationHistogram(NameOccurrences(), 30).bars.empty());
    }

    void clicksAndKeysLeadToAnEvent() {
        const TracePtr trace = simulatedTraining({.steps = 6});
        NamePanel panel;
        panel.resize(900, 220);
        panel.show();
        panel.setTrace(trace);
        QVERIFY(panel.headline().contains("Right-click"));
        panel.showNameOf({EventKind::Kernel, 1});
        QTRY_VERIFY(!panel.isStale());
        QTRY_VERIFY(panel.headline().startsWith(QString::fromStdString(trace->nameOf({EventKind::Kernel, 1}))));
        keepPicture(panel, "one-name");
        NameHistogram& charts = child<NameHistogram>(panel);
        QSignalSpy activated(&panel, &NamePanel::eventActivated);
        const auto chosen = [&] { return activated.takeLast().front().value<EventRef>(); };
        // The last nonempty bar contains the longest.
        const QRect area = charts.durationArea();
        QTest::mouseClick(&charts, Qt::LeftButton, {}, {area.right() - 2, area.bottom() - 1});
        QCOMPARE(activated.count(), 1);
        const NameOccurrences found = occurrencesOf(*trace, {EventKind::Kernel, 1});
        QCOMPARE(trace->rangeOf(chosen()).durationNs(), found.maxNs);
        // The point of the first one.
        const QRect time = charts.timeArea();
        const double share =
            double(found.startNs[0] - trace->timelineRange().startNs) / double(trace->timelineRange().durationNs());
        const QPoint point(time.left() + int(share * time.width()), time.center().y());
        QVERIFY(charts.occurrenceAt(point).has_value());
        QTest::mouseClick(&charts, Qt::LeftButton, {}, point);
        QCOMPARE(activated.count(), 1);
        chosen();
        QTest::keyClick(&charts, Qt::Key_End);
        QTest::keyClick(&charts, Qt::Key_Return);
        QCOMPARE(trace->rangeOf(chosen()).durationNs(), found.maxNs);
        QTest::keyClick(&charts, Qt::Key_Left);
        QTest::keyClick(&charts, Qt::Key_Return);
        QCOMPARE(chosen(), found.events[found.longest() - (found.longest() > 0 ? 1 : 0)]);
        QTest::mouseClick(&charts, Qt::LeftButton, {}, {2, 2});
        QCOMPARE(activated.count(), 0);
    }
};

LANESCOPE_TEST(TestNameHistogram, QApplication)
#include "tst_NameHistogram.moc"
