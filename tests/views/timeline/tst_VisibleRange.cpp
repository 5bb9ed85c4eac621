// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QtWidgets>

#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/PairedRows.h"
#include "views/timeline/TimelineState.h"
#include "views/timeline/scales.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

struct Axis {
    QObject owner;
    VisibleRange range;
    explicit Axis(TimeRange extent = {0, 1'000'000}) { range.setExtent(&owner, extent); }
};

constexpr int64_t ms = 1'000'000;

/// Two kernels, from 1 s to 1.4 s and from there to 2 s, and a counter of their process that was
/// far higher before, and then has these values from 1, 1.5 and 1.6 s on.
TracePtr traceWith(CounterUnit unit, const std::array<double, 3>& values) {
    SimulatedTrace builder;
    const uint32_t stream = builder.defaultStream();
    builder.addKernel(stream, "calm", 1000 * ms, 1400 * ms);
    builder.addKernel(stream, "busy", 1400 * ms, 2000 * ms);
    CounterSeries series;
    series.name = "CPU";
    series.key = "process.cpu";
    series.source = "proc";
    series.unit = unit;
    series.process = 0;
    series.set({0, 1000 * ms, 1500 * ms, 1600 * ms}, {1072e9, values[0], values[1], values[2]}, 2000 * ms);
    builder.counter(std::move(series));
    return builder.finish();
}

}  // namespace

class tst_VisibleRange : public QObject {
    Q_OBJECT

  private slots:
    void firstExtentIsShownWithAMargin() {
        Axis axis;
        QVERIFY(axis.range.isFitted());
        QCOMPARE(axis.range.range(), (TimeRange{-10'000, 1'010'000}));
    }

    void zoomingKeepsTheTimeInPlace() {
        Axis axis;
        axis.range.setRange({200'000, 600'000});
        const int64_t timeNs = 300'000;
        for (int i = 0; i < 12; ++i) {
            axis.range.zoomAt(timeNs, i % 3 == 2 ? 0.7 : 1.5);
            const TimeRange range = axis.range.range();
            const double share = double(timeNs - range.startNs) / double(range.durationNs());
            QVERIFY2(std::abs(share - 0.25) < 0.001, qPrintable(QString::number(share)));
        }
    }

    void zoomingInStopsAtTheMinimum() {
        Axis axis;
        for (int i = 0; i < 100; ++i) axis.range.zoomAt(500'000, 2);
        QCOMPARE(axis.range.range().durationNs(), VisibleRange::minVisibleNs);
        QVERIFY(axis.range.range().contains(500'000));
    }

    void zoomingOutStopsAtTheLimits() {
        Axis axis;
        axis.range.setRange({10, 500});
        for (int i = 0; i < 100; ++i) axis.range.zoomAt(20, 0.5);
        QVERIFY(axis.range.isFitted());
    }

    void panningStopsAtTheLimitsAndKeepsTheDuration() {
        Axis axis;
        axis.range.setRange({400'000, 500'000});
        axis.range.pan(50'000);
        QCOMPARE(axis.range.range(), (TimeRange{450'000, 550'000}));
        axis.range.pan(std::numeric_limits<int64_t>::max());
        QCOMPARE(axis.range.range(), (TimeRange{910'000, 1'010'000}));
        axis.range.pan(std::numeric_limits<int64_t>::min());
        QCOMPARE(axis.range.range(), (TimeRange{-10'000, 90'000}));
    }

    void tooShortRangeGrowsAroundItsMiddle() {
        Axis axis;
        axis.range.setRange({500, 502});
        QCOMPARE(axis.range.range(), (TimeRange{496, 506}));
        axis.range.setRange({500, 500});
        QCOMPARE(axis.range.range(), (TimeRange{495, 505}));
    }

    void setRangeMovesIntoTheLimits() {
        Axis axis;
        axis.range.setRange({-500'000, -400'000});
        QCOMPARE(axis.range.range(), (TimeRange{-10'000, 90'000}));
        axis.range.setRange({-5'000'000, 5'000'000});
        QVERIFY(axis.range.isFitted());
    }

    void changedIsSentOnlyForChanges() {
        Axis axis;
        QSignalSpy spy(&axis.range, &VisibleRange::changed);
        axis.range.fit();
        QCOMPARE(spy.count(), 0);
        axis.range.setRange({1, 100});
        axis.range.setRange({1, 100});
        QCOMPARE(spy.count(), 1);
    }

    void extentsAreUnited() {
        Axis axis;
        QObject other;
        axis.range.setExtent(&other, {-1'000'000, 500'000});
        QCOMPARE(axis.range.limits(), (TimeRange{-1'020'000, 1'020'000}));
        QVERIFY(axis.range.isFitted());
        axis.range.setRange({0, 100});
        axis.range.setExtent(&other, {});
        QCOMPARE(axis.range.range(), (TimeRange{0, 100}));
        QCOMPARE(axis.range.limits(), (TimeRange{-10'000, 1'010'000}));
    }

    void destroyedOwnerRemovesItsExtent() {
        Axis axis;
        {
            QObject other;
            axis.range.setExtent(&other, {0, 9'000'000});
            QVERIFY(axis.range.limits().endNs > 9'000'000);
        }
        QCOMPARE(axis.range.limits().endNs, 1'010'000);
    }

    void nonsenseFactorsDoNothing() {
        Axis axis;
        axis.range.setRange({100, 1'100});
        for (const double factor :
             {0.0, -2.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            axis.range.zoomAt(500, factor);
            QCOMPARE(axis.range.range(), (TimeRange{100, 1'100}));
        }
    }

    void extremeExtentsDoNotOverflow() {
        Axis axis({std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()});
        axis.range.zoomAt(0, 1e6);
        axis.range.pan(std::numeric_limits<int64_t>::max());
        axis.range.fit();
        QVERIFY(axis.range.limits().durationNs() > 0 && axis.range.isFitted());
    }

    void stepsAreOneTwoOrFive_data() {
        QTest::addColumn<qint64>("durationNs");
        for (qint64 durationNs = 10; durationNs < 1'000'000'000'000; durationNs = durationNs * 7 / 2 + 1) {
            QTest::addRow("%lld", static_cast<long long>(durationNs)) << durationNs;
        }
    }
    void stepsAreOneTwoOrFive() {
        QFETCH(qint64, durationNs);
        const TimeTicks ticks = timeTicks({0, durationNs}, 1200, 100);
        int64_t leading = ticks.stepNs;
        while (leading % 10 == 0) leading /= 10;
        QVERIFY(leading == 1 || leading == 2 || leading == 5);
        QVERIFY(double(ticks.stepNs) * 1200 / double(durationNs) >= 99.9);
        // At most two and a half times as sparse as requested, unless a nanosecond is wider.
        QVERIFY(ticks.stepNs == 1 || double(ticks.stepNs) * 1200 / double(durationNs) <= 250.1);
    }

    void unitsFollowTheZoom_data() {
        const test::Rows<qint64, qint64, QString> row;
        row("seconds", qint64(0), qint64(60'000'000'000), "5 s");
        row("milliseconds", qint64(0), qint64(60'000'000), "5 ms");
        row("microseconds", qint64(0), qint64(60'000), "5 µs");
        row("nanoseconds", qint64(0), qint64(60), "5 ns");
        row("decimals", qint64(1'200'000'000), qint64(1'200'600'000), "1200.05 ms");
        row("before zero", qint64(-60'000'000), qint64(0), QString(QChar(0x2212)) + "55 ms");
    }
    void unitsFollowTheZoom() {
        const auto [startNs, endNs, label] = test::row<qint64, qint64, QString>();
        QStringList labels;
        for (const TimeTick& tick : timeTicks({startNs, endNs}, 1200).ticks) {
            if (tick.isMajor) labels += tick.label;
        }
        QVERIFY2(labels.contains(label), qPrintable(labels.join(", ")));
    }

    void deepZoomCountsFromAnAnchor() {
        const TimeTicks ticks = timeTicks({5'123'456'200, 5'123'456'800}, 1200);
        QVERIFY(ticks.hasAnchor);
        QCOMPARE(ticks.anchorNs, 5'123'456'000);
        QCOMPARE(ticks.anchorLabel, QStringLiteral("5.123\u2009456 s"));
        QCOMPARE(ticks.ticks.front().label, QString("+200 ns"));
    }

    void everyMajorTickOfTheRangeExists() {
        const TimeRange range{1'234'567, 8'765'432};
        const TimeTicks ticks = timeTicks(range, 1000);
        std::vector<int64_t> expected;
        for (int64_t timeNs = range.startNs; timeNs < range.endNs; ++timeNs) {
            if (timeNs % ticks.stepNs == 0) expected.push_back(timeNs);
        }
        std::vector<int64_t> found;
        for (const TimeTick& tick : ticks.ticks) {
            if (tick.isMajor && range.contains(tick.timeNs)) found.push_back(tick.timeNs);
        }
        QCOMPARE(found, expected);
    }

    void noWidthOrTimeGivesNoTicks() {
        QVERIFY(timeTicks({0, 1000}, 0).ticks.empty() && timeTicks({1000, 1000}, 800).ticks.empty());
        QVERIFY(timeTicks({1000, 0}, 800).ticks.empty());
    }

    void timesKeepAllTheirDigits_data() {
        const test::Rows<qint64, QString> row;
        row("zero", qint64(0), "0 ns");
        row("ns", qint64(999), "999 ns");
        row("us", qint64(1'500), "1.5 µs");
        row("ms", qint64(18'988'003), "18.988 003 ms");
        row("s", qint64(3'000'000'000), "3 s");
        row("hours", qint64(7'200'000'000'001), "7 200.000 000 001 s");
    }
    void timesKeepAllTheirDigits() {
        const auto [timeNs, text] = test::row<qint64, QString>();
        QCOMPARE(formatTime(timeNs).replace(QChar(0x2009), QChar(' ')), text);
    }

    void scaleRoundTrips() {
        const TimeScale scale{{5'000'000'000'000, 5'000'000'600'000}, 1200, 40};
        QCOMPARE(test::listed(scale.toX(scale.range.startNs), scale.toX(scale.range.endNs)), "40 | 1240");
        for (int x = 40; x < 1240; ++x) QCOMPARE(scale.toX(scale.toTimeNs(x)), double(x));
        QCOMPARE((TimeScale{{5, 5}, 100, 7}).toX(1'000), 7.0);
        QCOMPARE((TimeScale{{5, 9}, 0, 7}).toTimeNs(80), 5);
    }

    void labelsDoNotTouchAtAnyFontSize() {
        QFont font = QApplication::font();
        for (const double points : {7.0, 9.0, 14.0, 20.0, 32.0}) {
            font.setPointSizeF(points);
            const QFontMetrics metrics(font);
            for (int64_t durationNs = 500; durationNs < 100'000'000'000; durationNs *= 3)
                for (const int64_t startNs : {int64_t(0), int64_t(11'000'000'000)}) {
                    const TimeRange range{startNs, startNs + durationNs};
                    constexpr double width = 1'000;
                    double end = -1;
                    for (const TimeTick& tick : timeTicks(range, width, pixelsPerLabel(metrics)).ticks) {
                        if (!tick.isMajor || tick.timeNs < startNs) continue;
                        const double at = double(tick.timeNs - startNs) / double(durationNs) * width;
                        QVERIFY2(at > end, qPrintable(tick.label));
                        end = at + metrics.horizontalAdvance(tick.label);
                    }
                }
        }
    }

    void bothRunsShareTheScaleOfTheVisibleRange() {
        VisibleRange range;
        TimelineState baseline, candidate;
        for (TimelineState* each : {&baseline, &candidate}) each->range().setAxis(&range);
        baseline.setTrace(traceWith(CounterUnit::Percent, {6.5, 6.5, 6.5}));
        candidate.setTrace(traceWith(CounterUnit::Percent, {20.6, 3, 3}));
        const PairedRows rows(baseline, candidate, compare::pairTracks(*baseline.trace(), *candidate.trace()));
        const uint32_t track = trackOf(*baseline.trace(), TrackKind::Counter);
        const auto maxValue = [&](const TimelineState& of) { return of.counterScale({track, 0}).maxValue; };
        range.setRange({1000 * ms, 2000 * ms});
        QCOMPARE(test::listed(maxValue(baseline), maxValue(candidate)), "50 | 50");
        range.setRange({1500 * ms, 2000 * ms});
        QCOMPARE(test::listed(maxValue(baseline), maxValue(candidate)), "10 | 10");
    }

    /// A program that was busy during its start, before the first event of the trace.
    void laneScaleFollowsTheVisiblePeak() {
        const TracePtr trace = traceWith(CounterUnit::Percent, {110, 400, 90});
        const uint32_t track = trackOf(*trace, TrackKind::Counter);
        QVERIFY2(trace->tracks[track].subtitle.ends_with("peak 400.0 %"), trace->tracks[track].subtitle.c_str());
        ShownTimeline shown(trace);
        TrackArrangement unfolded;
        unfolded.unfolded = {trackPaths(trace->tracks)[size_t(trace->tracks[track].parent)]};
        shown.view.state().tracks().setArrangement(unfolded);
        QApplication::processEvents();
        TimelineState state;
        state.setTrace(trace);
        state.range().setAxis(&shown.view.state().range().axis());
        state.range().setOrigin(shown.view.state().range().origin());
        TrackLayout layout;
        layout.setTracks(trace->tracks);
        layout.setMetrics(shown.metrics());
        layout.setArrangement(unfolded);
        const LayoutRow* const row = layout.rowOf(track);
        QVERIFY(row != nullptr);
        const int top = TrackLayout::laneTop(*row, 0);
        const QRgb empty = shown.canvas()->grab().toImage().pixel(int(shown.toX(1237 * ms)), top + 1);
        // Share of the lane's height for the value at that time.
        const auto height = [&](int64_t timeNs) {
            const QImage picture = shown.canvas()->grab().toImage();
            const int x = int(shown.toX(timeNs));
            int filled = 0;
            while (filled < row->laneHeight - 1 && picture.pixel(x, top + row->laneHeight - 3 - filled) != empty)
                ++filled;
            return double(filled) / row->laneHeight;
        };
        QCOMPARE(state.counterScale({track, 0}).maxValue, 400.0);
        QVERIFY2(height(1237 * ms) < 0.4, qPrintable(QString::number(height(1237 * ms))));
        const EventRef calm(EventKind::Kernel, 0);
        doubleClick(shown.canvas(), shown.middleOf(calm));
        QVERIFY2(shown.visible().endNs <= 1500 * ms, qPrintable(QString::number(shown.visible().endNs)));
        QCOMPARE(state.counterScale({track, 0}).maxValue, 110.0);
        QVERIFY2(height(1237 * ms) > 0.75, qPrintable(QString::number(height(1237 * ms))));
    }

    void laneOfZerosKeepsTheScaleOfTheTrace() {
        TimelineState state;
        state.setTrace(traceWith(CounterUnit::BytesPerSecond, {5e9, 0, 0}));
        const uint32_t track = trackOf(*state.trace(), TrackKind::Counter);
        state.range().setVisible({1700 * ms, 1900 * ms});
        QCOMPARE(state.counterScale({track, 0}).maxValue, 5e9);
    }
};

LANESCOPE_TEST(tst_VisibleRange, QApplication)
#include "tst_VisibleRange.moc"
