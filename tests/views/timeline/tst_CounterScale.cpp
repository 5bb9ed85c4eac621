// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "tests/support/doubleClick.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/PairedRows.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

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

class tst_CounterScale : public QObject {
    Q_OBJECT

  private slots:
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
        QCOMPARE(maxValue(baseline), 50.0);
        QCOMPARE(maxValue(candidate), 50.0);
        range.setRange({1500 * ms, 2000 * ms});
        QCOMPARE(maxValue(baseline), 10.0);
        QCOMPARE(maxValue(candidate), 10.0);
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

LANESCOPE_TEST(tst_CounterScale, QApplication)
#include "tst_CounterScale.moc"
