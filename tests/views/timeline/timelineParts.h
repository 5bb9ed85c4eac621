// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QTest>
#include <QWheelEvent>

#include "tests/support/SimulatedTrace.h"
#include "views/timeline/LabelColumn.h"
#include "views/timeline/OverviewStrip.h"
#include "views/timeline/TimeRuler.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

namespace lanescope {

/// A shown timeline of 1100 x 600 with its parts, and helpers for user actions.
struct ShownTimeline {
    views::TimelineView view;
    explicit ShownTimeline(TracePtr trace) {
        view.resize(1100, 600);
        view.setTrace(std::move(trace));
        view.show();
        view.setFocus();
        QApplication::processEvents();
    }

    views::TrackCanvas* canvas() { return view.findChild<views::TrackCanvas*>(); }
    views::TimeRuler* ruler() { return view.findChild<views::TimeRuler*>(); }
    views::LabelColumn* labels() { return view.findChild<views::LabelColumn*>(); }
    views::OverviewStrip* overview() { return view.findChild<views::OverviewStrip*>(); }

    /// Visible range in the trace's own time.
    TimeRange visible() const { return view.state().range().visible(); }
    double toX(int64_t timeNs) { return views::TimeScale{visible(), double(canvas()->width()), 0}.toX(timeNs); }
    int64_t toTimeNs(double x) { return views::TimeScale{visible(), double(canvas()->width()), 0}.toTimeNs(x); }

    /// Middle of a slice on the canvas; its track must be visible.
    QPoint middleOf(EventRef event, int scrollY = 0) {
        const SliceLocation at = view.trace()->locate(event);
        views::TrackLayout layout;
        layout.setTracks(view.trace()->tracks);
        layout.setMetrics(metrics());
        const views::LayoutRow* row = layout.rowOf(at.track);
        const TimeRange range = view.trace()->rangeOf(event);
        return QPoint(int(toX(range.startNs + range.durationNs() / 2)),
                      views::TrackLayout::laneTop(*row, at.lane) + row->laneHeight / 2 - scrollY);
    }
    views::LayoutMetrics metrics() const {
        return views::LayoutMetrics::forText(QFontMetrics(view.font()).height(), view.state().tracks().rowHeight());
    }

    static void wheel(QWidget* part, QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers = {}) {
        QWheelEvent event(at, part->mapToGlobal(at), QPoint(), angle, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(part, &event);
    }
    static void drag(QWidget* part, QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton,
                     Qt::KeyboardModifiers modifiers = {}) {
        QTest::mousePress(part, button, modifiers, from);
        for (int i = 1; i <= 4; ++i) send(part, from + (to - from) * i / 4, button, modifiers);
        QTest::mouseRelease(part, button, modifiers, to);
    }
    static void send(QWidget* part, QPoint at, Qt::MouseButtons buttons, Qt::KeyboardModifiers modifiers = {}) {
        QMouseEvent event(QEvent::MouseMove, at, part->mapToGlobal(at), Qt::NoButton, buttons, modifiers);
        QApplication::sendEvent(part, &event);
    }
};

/// The first track of a kind and title (empty = any); `noIndex` if none.
inline uint32_t trackOf(const Trace& trace, TrackKind kind, std::string_view title = {}) {
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].kind == kind && (title.empty() || trace.tracks[track].title == title)) return track;
    return noIndex;
}

/// Two simulated streams with three kernels of 100 us each, 100 us apart, and the calls that launch them.
struct SmallTrace {
    TracePtr trace;
    EventRef call, first, second, third, onOtherStream;

    SmallTrace() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.addStream(0, gpu, 7, true), other = builder.addStream(0, gpu, 20);
        call = builder.addApi(thread, "cudaLaunchKernel", 10'000, 20'000, 1);
        first = builder.addKernel(stream, "first_kernel", 100'000, 200'000, 1);
        second = builder.addKernel(stream, "second_kernel", 300'000, 400'000);
        onOtherStream = builder.addKernel(other, "other_kernel", 320'000, 420'000);
        third = builder.addKernel(stream, "third_kernel", 500'000, 600'000);
        builder.addApi(thread, "cudaDeviceSynchronize", 30'000, 1'000'000);
        trace = builder.finish();
    }
};

}  // namespace lanescope
