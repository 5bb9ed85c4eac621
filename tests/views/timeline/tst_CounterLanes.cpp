// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedMachine.h"
#include "tests/support/simulatedMemory.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/TrackPainter.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

constexpr int64_t ms = 1'000'000;

/// Scale of a single counter over all of its time.
CounterScale scaleOf(const CounterSeries& counter) {
    const ScaledCounter alone{&counter, {counter.timeNs(0), counter.endNs()}};
    return views::scaleOf(std::span(&alone, 1));
}

CounterSeries shareOf(const std::vector<int64_t>& timesMs, const std::vector<double>& values, int64_t endMs) {
    CounterSeries series;
    series.unit = CounterUnit::Percent;
    series.source = "gpm";
    series.isMeanOfInterval = true;
    LargeVector<int64_t> timesNs;
    for (const int64_t each : timesMs) timesNs.push_back(each * ms);
    series.set(timesNs, LargeVector<double>(values.begin(), values.end()), endMs * ms);
    return series;
}

/// Colours in a picture of a counter over `shown`, right of its scale.
QSet<QRgb> colorsOf(const CounterSeries& series, TimeRange shown) {
    QImage image(400, 60, QImage::Format_ARGB32_Premultiplied);
    image.fill(Theme::light().canvas);
    QPainter painter(&image);
    OpaqueFill opaque(painter);
    paintCounter(painter, opaque, series, scaleOf(series), series.extremesAt(shown, 400), shown, QRectF(0, 0, 400, 60),
                 CounterGrowth::Up, 1, Theme::light());
    painter.end();
    QSet<QRgb> colors;
    for (int y = 0; y < 60; ++y)
        for (int x = 330; x < 400; ++x) colors.insert(image.pixel(x, y));
    return colors;
}

}  // namespace

/// Arrangement with unfolded GPU counters.
TrackArrangement opened(const Trace& trace) {
    TrackArrangement arrangement;
    for (const Gpu& gpu : trace.gpus) arrangement.unfolded.push_back("GPU " + std::to_string(gpu.id) + "/Counters");
    return arrangement;
}

struct ShownCounters : ShownTimeline {
    explicit ShownCounters(const TracePtr& trace) : ShownTimeline(trace) {
        view.state().tracks().setArrangement(opened(*trace));
        QApplication::processEvents();
    }
};

TrackLayout openedLayout(const Trace& trace, const LayoutMetrics& metrics = {}) {
    TrackLayout layout;
    layout.setTracks(trace.tracks);
    layout.setMetrics(metrics);
    layout.setArrangement(opened(trace));
    return layout;
}

class tst_CounterLanes : public QObject {
    Q_OBJECT
    TracePtr trace_ = simulatedMemory();

    const CounterSeries& deviceMemory() const {
        return trace_->counters[trace_->tracks[trackOf(*trace_, TrackKind::Counter)].subject];
    }
    /// A point in the first lane of a track.
    QPoint pointAt(ShownTimeline& shown, uint32_t track, int64_t timeNs) const {
        const TrackLayout layout = openedLayout(*trace_, shown.metrics());
        const LayoutRow* row = layout.rowOf(track);
        return {int(shown.toX(timeNs)), TrackLayout::laneTop(*row, 0) + row->laneHeight / 2};
    }
    static QColor colorAt(ShownTimeline& shown, QPoint point) {
        return shown.canvas()->grab().toImage().pixelColor(point);
    }

  private slots:
    void countersAreShownUnderTheirGpu() {
        const uint32_t track = trackOf(*trace_, TrackKind::Counter);
        QCOMPARE(trace_->tracks[track].title, "Device memory");
        const Track& group = trace_->tracks[static_cast<size_t>(trace_->tracks[track].parent)];
        QCOMPARE(group.kind, TrackKind::CounterGroup);
        QCOMPARE(trace_->tracks[static_cast<size_t>(group.parent)].kind, TrackKind::Gpu);
        const TrackLayout layout = openedLayout(*trace_);
        QCOMPARE(layout.rowOf(track)->laneHeight, layout.metrics().counterHeight);
        QCOMPARE(layout.rowOf(track)->laneCount, 1);
        QVERIFY(!layout.canFold(track));
    }

    void hoverShowsTheValue() {
        ShownCounters shown(trace_);
        const uint32_t track = trackOf(*trace_, TrackKind::Counter);
        const QPoint point = pointAt(shown, track, 18 * ms);
        QTest::mouseMove(shown.canvas(), point);
        const HoverTip& card = shown.canvas()->hoverTip();
        const double value = deviceMemory().value(*deviceMemory().sampleAt(shown.toTimeNs(point.x() + 0.5)));
        QCOMPARE(card.title(), QString::fromStdString("Device memory: " + formatCounter(value, CounterUnit::Bytes)));
        QVERIFY2(card.detail().startsWith("for "), qPrintable(card.detail()));
    }

    void hoverReportsSeveralValuesPerPixel() {
        ShownCounters shown(trace_);
        const uint32_t track = trackOf(*trace_, TrackKind::Counter);
        QTest::mouseMove(shown.canvas(), pointAt(shown, track, 4 * ms));
        QVERIFY2(shown.canvas()->hoverTip().detail().contains("zoom in to separate them"),
                 qPrintable(shown.canvas()->hoverTip().detail()));
    }

    void hoverReportsUnrecordedTime() {
        ShownCounters shown(trace_);
        const uint32_t track = trackOf(*trace_, TrackKind::Counter);
        QTest::mouseMove(shown.canvas(), pointAt(shown, track, 70 * ms));
        QCOMPARE(shown.canvas()->hoverTip().title(), "Not recorded");
        QTest::mouseMove(shown.canvas(), pointAt(shown, trackOf(*trace_, TrackKind::Stream), 138 * ms));
        QCOMPARE(shown.canvas()->hoverTip().title(), "Some of this was lost");
        QTest::mouseMove(shown.canvas(), pointAt(shown, track, 18 * ms));
        QVERIFY(shown.canvas()->hoverTip().title().startsWith("Device memory"));
    }

    void clickSelectsTheValue() {
        ShownCounters shown(trace_);
        QSignalSpy selected(&shown.view.state().selection(), &TimelineSelection::eventChanged);
        const QPoint point = pointAt(shown, trackOf(*trace_, TrackKind::Counter), 18 * ms);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, point);
        QCOMPARE(selected.count(), 1);
        const EventRef event = shown.view.state().selection().event();
        QCOMPARE(event.kind(), EventKind::CounterSample);
        QVERIFY(trace_->rangeOf(event).contains(shown.toTimeNs(point.x() + 0.5)));
    }

    void keysWalkValuesAndLanes() {
        ShownCounters shown(trace_);
        const uint32_t counter = trace_->tracks[trackOf(*trace_, TrackKind::Counter)].subject;
        shown.view.state().selection().setEvent(trace_->sampleEvent(counter, 5));
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(shown.view.state().selection().event(), trace_->sampleEvent(counter, 6));
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QCOMPARE(shown.view.state().selection().event(), trace_->sampleEvent(counter, 4));
        QTest::keyClick(&shown.view, Qt::Key_Up);
        QVERIFY(shown.view.state().selection().event().kind() != EventKind::CounterSample);
        QTest::keyClick(&shown.view, Qt::Key_Down);
        QCOMPARE(shown.view.state().selection().event().kind(), EventKind::CounterSample);
        shown.view.state().selection().setEvent(trace_->sampleEvent(counter, 0));
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QCOMPARE(shown.view.state().selection().event(), trace_->sampleEvent(counter, 0));
    }

    void doubleClickZoomsToTheValue() {
        ShownCounters shown(trace_);
        const QPoint point = pointAt(shown, trackOf(*trace_, TrackKind::Counter), 18 * ms);
        const TimeRange held = deviceMemory().rangeOf(*deviceMemory().sampleAt(shown.toTimeNs(point.x() + 0.5)));
        doubleClick(shown.canvas(), point);
        QVERIFY(shown.visible().startNs <= held.startNs && shown.visible().endNs >= held.endNs);
        QVERIFY(shown.visible().durationNs() < 2 * held.durationNs());
    }

    void drawsAStepGraph() {
        ShownCounters shown(trace_);
        const Theme theme = Theme::light();
        const CounterSeries& counter = deviceMemory();
        const uint32_t track = trackOf(*trace_, TrackKind::Counter);
        const QPoint middle = pointAt(shown, track, 18 * ms);
        const LayoutMetrics metrics = shown.metrics();
        const QRectF area(0, middle.y() - metrics.counterHeight / 2, 100, metrics.counterHeight - 1);
        const int64_t timeNs = shown.toTimeNs(middle.x() + 0.5);
        const double y = counterY(scaleOf(counter), counter.value(*counter.sampleAt(timeNs)), area);
        const QColor below = colorAt(shown, {middle.x(), int(area.bottom()) - 2});
        const QColor above = colorAt(shown, {middle.x(), int(y) - 4});
        QVERIFY(below != theme.canvas);
        QCOMPARE(above, theme.canvas);
    }

    void unrecordedTimeIsHatched() {
        ShownCounters shown(trace_);
        const QPoint inside = pointAt(shown, trackOf(*trace_, TrackKind::Stream), 70 * ms);
        const QImage picture = shown.canvas()->grab().toImage();
        QSet<QRgb> colors;
        for (int x = 0; x < 20; ++x) colors.insert(picture.pixel(inside + QPoint(x, 0)));
        QVERIFY(colors.size() >= 2 && !colors.contains(Theme::light().canvas.rgb()));
    }

    void sentGrowsUpwardsAndReceivedDownwardsInOneTrack() {
        const TracePtr machine = simulatedMachine();
        ShownCounters shown(machine);
        const uint32_t track = trackOf(*machine, TrackKind::Counter, "NVLink");
        QVERIFY(track != noIndex);
        QCOMPARE(machine->tracks[track].lanes.size(), size_t(2));
        const TrackLayout layout = openedLayout(*machine, shown.metrics());
        const LayoutRow& row = *layout.rowOf(track);
        // Busy from 9 to 14 ms of a step of 20 ms.
        const int x = int(shown.toX(11 * ms)), middle = TrackLayout::laneTop(row, 1);
        const QColor canvas = Theme::light().canvas;
        QVERIFY(colorAt(shown, {x, middle - 5}) != canvas && colorAt(shown, {x, middle + 5}) != canvas);
        const int idle = int(shown.toX(5 * ms));
        QCOMPARE(colorAt(shown, {idle, middle - 8}), canvas);
        QCOMPARE(colorAt(shown, {idle, middle + 8}), canvas);
        QTest::mouseMove(shown.canvas(), {x, middle + 5});
        QVERIFY(shown.canvas()->hoverTip().title().startsWith("NVLink received: "));
        QTest::mouseMove(shown.canvas(), {x, middle - 5});
        QVERIFY(shown.canvas()->hoverTip().title().startsWith("NVLink transmitted: "));
        QVERIFY2(shown.canvas()->hoverTip().detail().contains("NVML, every "),
                 qPrintable(shown.canvas()->hoverTip().detail()));
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, {x, middle + 5});
        const SliceLocation place = machine->locate(shown.view.state().selection().event());
        QCOMPARE(test::listed(place.track, place.lane), test::listed(track, 1u));
    }

    void unknownValuesAreHatchedInsteadOfZero() {
        const TracePtr machine = simulatedMachine();
        ShownCounters shown(machine);
        const uint32_t track = trackOf(*machine, TrackKind::Counter, "SM activity");
        const TrackLayout layout = openedLayout(*machine, shown.metrics());
        const LayoutRow& row = *layout.rowOf(track);
        // Unknown from 72 to 78 ms.
        const QImage picture = shown.canvas()->grab().toImage();
        QSet<QRgb> colors;
        const int y = TrackLayout::laneTop(row, 0) + row.laneHeight / 2;
        for (int x = int(shown.toX(73 * ms)); x < int(shown.toX(76 * ms)); ++x) colors.insert(picture.pixel(x, y));
        QVERIFY(colors.size() >= 2 && !colors.contains(Theme::light().canvas.rgb()));
    }

    void scaleFarFromZeroBeginsAtTheMinimum() {
        const TracePtr machine = simulatedMachine();
        for (const CounterSeries& counter : machine->counters) {
            const CounterScale scale = scaleOf(counter);
            QVERIFY(scale.maxValue > scale.minValue);
            if (counter.unit == CounterUnit::Celsius) {
                QVERIFY(scale.minValue > 0 && scale.minValue < counter.minimum());
            }
            if (counter.unit == CounterUnit::Watts) QCOMPARE(scale.minValue, 0.0);
        }
    }

    void percentScalesEndAtARoundNumberAboveTheMaximum() {
        const auto scaleMaximumOf = [](double value) {
            CounterSeries series;
            series.unit = CounterUnit::Percent;
            series.set({0, 10}, {value / 2, value}, 20);
            const CounterScale scale = scaleOf(series);
            return std::pair(scale.minValue, scale.maxValue);
        };
        for (const auto& [value, maxValue] :
             {std::pair(0.3, 1.0), std::pair(5.0, 5.0), std::pair(5.2, 10.0), std::pair(13.3, 20.0),
              std::pair(51.0, 100.0), std::pair(100.0, 100.0), std::pair(0.0, 100.0), std::pair(640.0, 640.0)})
            QCOMPARE(scaleMaximumOf(value), std::pair(0.0, maxValue));
    }

    void unknownCounterHasNoScaleText() {
        // Hatched throughout: equal on the left and on the right.
        const auto picture = [](double value) {
            CounterSeries series;
            series.unit = CounterUnit::Percent;
            series.source = "gpm";
            series.set({0, 50}, {value, value}, 100);
            QImage image(300, 60, QImage::Format_ARGB32_Premultiplied);
            image.fill(Theme::light().canvas);
            QPainter painter(&image);
            OpaqueFill opaque(painter);
            paintCounter(painter, opaque, series, scaleOf(series), series.extremesAt({0, 100}, 300), {0, 100},
                         QRectF(0, 0, 300, 60), CounterGrowth::Up, 1, Theme::light());
            painter.end();
            QSet<QRgb> left, right;
            for (int y = 0; y < 60; ++y)
                for (int x = 0; x < 80; ++x) {
                    left.insert(image.pixel(x, y));
                    right.insert(image.pixel(x + 200, y));
                }
            return std::pair(left, right);
        };
        const auto [left, right] = picture(std::numeric_limits<double>::quiet_NaN());
        QVERIFY(right.contains(left));
        const auto [named, plain] = picture(40);
        QVERIFY2(!plain.contains(named), "the top is named where something is known");
    }

    void meanOverALongIntervalIsABandWithoutLine() {
        const QRgb line = Theme::light().colorOf(SliceCategory::Counter).rgb();
        QVERIFY(!colorsOf(shareOf({0, 400, 800}, {5, 7, 13.3}, 4900), {0, 4900 * ms}).contains(line));
        std::vector<int64_t> times;
        std::vector<double> values;
        for (int64_t index = 0; index < 98; ++index) {
            times.push_back(index * 50);
            values.push_back(5 + double(index % 7));
        }
        const CounterSeries fine = shareOf(times, values, 4900);
        QVERIFY(colorsOf(fine, {0, 4900 * ms}).contains(line));
        // If zoomed in until one reading fills the lane, it has no shape either.
        QVERIFY(!colorsOf(fine, {1010 * ms, 1040 * ms}).contains(line));
    }

    /// The text of a mean whose middle is near the scale moves beside it.
    void meanIsNotWrittenOverTheScale() {
        const CounterSeries coarse = shareOf({0, 300}, {140, 120}, 2000);
        const auto scaleText = [&](int64_t shownMs) {
            QImage image(600, 28, QImage::Format_RGB32);
            image.fill(Theme::light().canvas);
            QPainter painter(&image);
            OpaqueFill fill(painter);
            const TimeRange shown{0, shownMs * ms};
            paintCounter(painter, fill, coarse, {0, 147.1}, coarse.extremesAt(shown, 600), shown, {0, 0, 600, 28},
                         CounterGrowth::Up, 1, Theme::light());
            painter.end();
            return image.copy(0, 0, 40, 28);
        };
        // The first mean is 220 pixels wide with a text, and 90 wide without one.
        QCOMPARE(scaleText(818), scaleText(2000));
    }

    void adjacentCountersShareTheirScale() {
        const CounterSeries busy = shareOf({0, 100}, {30, 50}, 200), idle = shareOf({0, 100}, {3, 6}, 200);
        const std::array both{ScaledCounter{&busy, {0, 200 * ms}}, ScaledCounter{&idle, {0, 200 * ms}}};
        QCOMPARE(test::listed(scaleOf(idle).maxValue, views::scaleOf(both).maxValue), "10 | 50");
        // An invisible peak does not count.
        const ScaledCounter later{&busy, {0, 50 * ms}};
        QCOMPARE(views::scaleOf(std::span(&later, 1)).maxValue, 50.0);
        const CounterSeries started = shareOf({0, 100}, {90, 6}, 200);
        const ScaledCounter afterwards{&started, {100 * ms, 200 * ms}};
        QCOMPARE(views::scaleOf(std::span(&afterwards, 1)).maxValue, 10.0);
        const TracePtr machine = simulatedMachine();
        TimelineState first;
        first.setTrace(machine);
        const uint32_t track = trackOf(*machine, TrackKind::Counter, "NVLink");
        QCOMPARE(first.counterScale({track, 0}), first.counterScale({track, 1}));
    }

    void linksAndOtherCountersAreInitiallyFolded() {
        const TracePtr machine = simulatedMachine();
        TrackLayout layout;
        layout.setTracks(machine->tracks);
        int shown = 0;
        for (uint32_t track = 0; track < machine->tracks.size(); ++track)
            if (machine->tracks[track].kind == TrackKind::Counter && layout.rowOf(track)) ++shown;
        QCOMPARE(shown, 0);
        const TrackLayout open = openedLayout(*machine);
        for (uint32_t track = 0; track < machine->tracks.size(); ++track)
            if (machine->tracks[track].kind == TrackKind::Counter && open.rowOf(track)) ++shown;
        // For each GPU its activity, its memory, NVLink and compute; no host counters.
        QVERIFY2(shown > 0 && shown <= 2 * 4, qPrintable(QString::number(shown)));
        QCOMPARE(open.rowOf(trackOf(*machine, TrackKind::Counter, "Link 3")), nullptr);
        QCOMPARE(layout.rowOf(trackOf(*machine, TrackKind::Counter, "Link 3")), nullptr);
    }

    void foldedCountersAreOneLowStripBelowTheStreams() {
        const TracePtr machine = simulatedMachine();
        ShownTimeline shown(machine);
        const uint32_t group = trackOf(*machine, TrackKind::CounterGroup, "Counters");
        TrackLayout layout;
        layout.setTracks(machine->tracks);
        layout.setMetrics(shown.metrics());
        const LayoutRow row = *layout.rowOf(group);
        QCOMPARE(row.height, shown.metrics().headerHeight);
        for (const LayoutRow& each : layout.rows())
            if (machine->tracks[each.track].kind == TrackKind::Stream && each.track < group)
                QVERIFY(each.bottom() <= row.top);
        QCOMPARE(machine->tracks[group].subtitle.rfind("SM activity and ", 0), size_t(0));
        const QPoint point(int(shown.toX(11 * ms)), row.top + row.height / 2);
        QTest::mouseMove(shown.canvas(), point);
        QVERIFY2(shown.canvas()->hoverTip().title().startsWith("SM activity: "),
                 qPrintable(shown.canvas()->hoverTip().title()));
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, point);
        const EventRef value = shown.view.state().selection().event();
        QCOMPARE(value.kind(), EventKind::CounterSample);
        // When unfolded, the same values are right below, and the head of the group is empty.
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, QPoint(100, point.y()));
        const uint32_t first = trackOf(*machine, TrackKind::Counter, "SM activity");
        QVERIFY(shown.view.places().trackArea(first).height() > shown.metrics().headerHeight);
        QCOMPARE(machine->locate(value).track, first);
        QTest::mouseMove(shown.canvas(), point + QPoint(1, 0));
        QVERIFY(!shown.canvas()->hoverTip().isVisible());
    }

    void counterOfOneValueIsHarmless() {
        SimulatedTrace builder;
        builder.addKernel(builder.defaultStream(), "gemm", 0, 1000);
        builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 0, 1000);
        ShownCounters shown(builder.finish());
        QVERIFY(!shown.canvas()->grab().isNull());
    }
};

LANESCOPE_TEST(tst_CounterLanes, QApplication)
#include "tst_CounterLanes.moc"
