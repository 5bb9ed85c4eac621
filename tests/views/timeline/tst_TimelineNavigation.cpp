// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtWidgets>

#include "model/trace/kinds/flows.h"
#include "model/trace/rangeDomains.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/TimelineNavigator.h"
#include "views/timeline/ZoomHistory.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// Waits until the view counts as resting.
void rest() { QTest::qWait(ZoomHistory::restMs + 150); }

/// Two GPUs: a stream on the first with 4,000 short kernels and a long one at the end, and a stream
/// on the second whose kernel waited for the first's last short one.
struct BusyTrace {
    TracePtr trace;
    EventRef first, last, call, launched, waiting;

    BusyTrace() {
        SimulatedTrace builder;
        const uint32_t one = builder.addGpu();
        const uint32_t two = builder.addGpu();
        const uint32_t thread = builder.addThread(0, 4242, "python3");
        const uint32_t stream = builder.addStream(0, one, 7);
        const uint32_t other = builder.addStream(0, two, 20);
        call = builder.addApi(thread, "cudaLaunchKernel", 500, 900, 1);
        for (int i = 0; i < 4'000; ++i) {
            const EventRef kernel =
                builder.addKernel(stream, i % 2 ? "odd" : "even", 1'000 + i * 1'000, 1'700 + i * 1'000, 1 + i);
            if (i == 0) first = kernel;
            if (i == 3'999) launched = kernel;
        }
        builder.eventRecord({stream, 3, noIndex, 5'000});
        builder.eventWait({other, 3, noIndex, 5'001});
        waiting = builder.addKernel(other, "waiting", 4'100'000, 4'200'000, 5'002);
        last = builder.addKernel(stream, "long", 4'300'000, 5'000'000, 5'003);
        trace = builder.finish();
    }
};

}  // namespace

class tst_TimelineNavigation : public QObject {
    Q_OBJECT

  private slots:
    void fitsTheSelection() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.second);
        shown.view.state().selection().setRange(TimeRange{400'000, 480'000});
        QTest::keyClick(&shown.view, Qt::Key_F);
        QCOMPARE(shown.visible(), (TimeRange{390'000, 490'000}));
        shown.view.state().selection().setRange(std::nullopt);
        QTest::keyClick(&shown.view, Qt::Key_F);
        QCOMPARE(shown.visible(), (TimeRange{287'500, 412'500}));
        QTest::keyClick(&shown.view, Qt::Key_Escape);
        QTest::keyClick(&shown.view, Qt::Key_F);
        QVERIFY(shown.view.state().range().axis().isFitted());
        shown.view.state().range().axis().setRange({1'000, 2'000});
        QTest::keyClick(&shown.view, Qt::Key_0);
        QVERIFY(shown.view.state().range().axis().isFitted());
    }

    void enterZoomsToTheEvent() {
        ShownTimeline shown(small_.trace);
        const TimeRange before = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(shown.visible(), before);
        shown.view.state().selection().setRange(TimeRange{400'000, 480'000});
        shown.view.state().selection().setEvent(small_.second);
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(shown.visible(), (TimeRange{287'500, 412'500}));
    }

    void goesBackAndForward_data() {
        QTest::addColumn<Qt::Key>("key");
        QTest::newRow("Z") << Qt::Key_Z;
        QTest::newRow("Backspace") << Qt::Key_Backspace;
    }
    void goesBackAndForward() {
        QFETCH(Qt::Key, key);
        ShownTimeline shown(small_.trace);
        QSignalSpy changed(&shown.view.history(), &ZoomHistory::changed);
        const TimeRange whole = shown.visible();
        QVERIFY(!shown.view.history().canGoBack());
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange zoomed = shown.visible();
        rest();
        QVERIFY(shown.view.history().canGoBack());
        QVERIFY(changed.count() > 0);
        shown.drag(shown.canvas(), {300, 300}, {200, 300});
        const TimeRange panned = shown.visible();
        QVERIFY(panned != zoomed);
        rest();
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), zoomed);
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), whole);
        QVERIFY(!shown.view.history().canGoBack());
        QTest::keyClick(&shown.view, key);
        QCOMPARE(shown.visible(), whole);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        QTest::keyClick(&shown.view, key, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), panned);
        QVERIFY(!shown.view.history().canGoForward());
        // Navigating elsewhere clears the forward history.
        QTest::keyClick(&shown.view, key);
        shown.wheel(shown.canvas(), {300, 100}, {0, 240});
        rest();
        QVERIFY(!shown.view.history().canGoForward());
    }

    void oneMotionIsOneStepBack() {
        ShownTimeline shown(small_.trace);
        const TimeRange whole = shown.visible();
        for (int i = 0; i < 12; ++i) shown.wheel(shown.canvas(), {300, 100}, {0, 120});
        QTest::keyPress(&shown.view, Qt::Key_D);
        QTest::qWait(60);
        QTest::keyRelease(&shown.view, Qt::Key_D);
        rest();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(shown.visible(), whole);
    }

    void goingBackIncludesAMotionInProgress() {
        ShownTimeline shown(small_.trace);
        const TimeRange whole = shown.visible();
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange zoomed = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Z);  // at once
        QCOMPARE(shown.visible(), whole);
        QTest::keyClick(&shown.view, Qt::Key_Z, Qt::ShiftModifier);
        QCOMPARE(shown.visible(), zoomed);
    }

    void newTraceHasNoHistory() {
        ShownTimeline shown(small_.trace);
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        shown.view.setTrace(busy_.trace);
        rest();
        QVERIFY(!shown.view.history().canGoBack());
        const TimeRange whole = shown.visible();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(shown.visible(), whole);
    }

    void growingTraceKeepsItsHistory() {
        ShownTimeline shown(small_.trace);
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        const TimeRange zoomed = shown.visible();
        for (int round = 0; round < 3; ++round) {
            shown.view.history().moveWithoutHistory([&] {
                shown.view.setTrace(small_.trace);
                shown.view.state().range().axis().setRange(zoomed.shifted(10 * (round + 1)));
            });
            rest();
        }
        QVERIFY(shown.visible() != zoomed);
        QVERIFY(shown.view.history().canGoBack());
        shown.view.history().back();
        QVERIFY(shown.view.state().range().axis().isFitted());
        QVERIFY(!shown.view.history().canGoBack());
        // The view that the user was moving when the trace grew is its own entry.
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        const TimeRange closer = shown.visible();
        shown.view.history().moveWithoutHistory([&] {
            shown.view.setTrace(small_.trace);
            shown.view.state().range().axis().setRange(closer);
        });
        rest();
        QVERIFY(shown.view.history().canGoBack());
        shown.view.history().back();
        QVERIFY(shown.view.state().range().axis().isFitted());
    }

    void goesBackToTheTracks() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(1100, 200);
        QApplication::processEvents();
        rest();
        auto* bar = shown.view.findChild<QScrollBar*>();
        bar->setValue(bar->maximum());
        shown.wheel(shown.canvas(), {300, 100}, {0, 480});
        rest();
        QTest::keyClick(&shown.view, Qt::Key_Z);
        QCOMPARE(bar->value(), 0);
        QTest::keyClick(&shown.view, Qt::Key_Z, Qt::ShiftModifier);
        QCOMPARE(bar->value(), bar->maximum());
    }

    void cursorKeysSkipToDistinguishableSlices() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        int64_t before = busy_.trace->rangeOf(busy_.first).startNs;
        for (int i = 0; i < 5; ++i) {
            QTest::keyClick(&shown.view, Qt::Key_Right);
            const int64_t now = busy_.trace->rangeOf(shown.view.state().selection().event()).startNs;
            QVERIFY(shown.toX(now) - shown.toX(before) >= 0.99);
            QVERIFY(shown.toX(now) - shown.toX(before) < 2);
            before = now;
        }
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QVERIFY(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs < before);
        QTest::keyClick(&shown.view, Qt::Key_End);
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(shown.view.state().selection().event(), busy_.last);
    }

    void periodAndCommaGoToTheAdjacentSlice() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Period);
        QCOMPARE(shown.view.state().selection().event().row(), busy_.first.row() + 1);
        QTest::keyClick(&shown.view, Qt::Key_Comma);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Comma);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
    }

    void cursorKeysRestartWhereTheLaneIsVisible() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.first);
        shown.view.state().range().axis().setRange({2'000'000, 2'010'000});
        QTest::keyClick(&shown.view, Qt::Key_Right);
        QCOMPARE(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs, 2'000'000);
        QCOMPARE(shown.visible(), (TimeRange{2'000'000, 2'010'000}));
        shown.view.state().selection().setEvent(busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_Left);
        QCOMPARE(busy_.trace->rangeOf(shown.view.state().selection().event()).startNs, 2'009'000);
    }

    void homeAndEndGoToTheEndsOfTheLane() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(EventRef(EventKind::Kernel, 77));
        shown.view.state().range().axis().setRange({78'000, 80'000});
        QTest::keyClick(&shown.view, Qt::Key_End);
        QCOMPARE(shown.view.state().selection().event(), busy_.last);
        QVERIFY(shown.visible().overlaps(busy_.trace->rangeOf(busy_.last)));
        QTest::keyClick(&shown.view, Qt::Key_Home);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QVERIFY(shown.visible().overlaps(busy_.trace->rangeOf(busy_.first)));
    }

    void controlHomeAndEndScroll() {
        ShownTimeline shown(small_.trace);
        shown.view.resize(1100, 200);
        QApplication::processEvents();
        auto* bar = shown.view.findChild<QScrollBar*>();
        QVERIFY(bar->maximum() > 0);
        QTest::keyClick(&shown.view, Qt::Key_End, Qt::ControlModifier);
        QCOMPARE(bar->value(), bar->maximum());
        QTest::keyClick(&shown.view, Qt::Key_Home, Qt::ControlModifier);
        QCOMPARE(bar->value(), 0);
        QVERIFY(!shown.view.state().selection().event().isValid());
    }

    void keysFollowFlowEvents() {
        ShownTimeline shown(busy_.trace);
        shown.view.state().selection().setEvent(busy_.call);
        QTest::keyClick(&shown.view, Qt::Key_G);
        QCOMPARE(shown.view.state().selection().event(), busy_.first);
        QTest::keyClick(&shown.view, Qt::Key_G, Qt::ShiftModifier);
        QCOMPARE(shown.view.state().selection().event(), busy_.call);
        shown.view.state().selection().setEvent(busy_.launched);
        QTest::keyClick(&shown.view, Qt::Key_E);  // on to the work of the other stream
        QCOMPARE(shown.view.state().selection().event(), busy_.waiting);
        QTest::keyClick(&shown.view, Qt::Key_E);  // no work waits for that
        QCOMPARE(shown.view.state().selection().event(), busy_.waiting);
        QTest::keyClick(&shown.view, Qt::Key_Q);
        QCOMPARE(shown.view.state().selection().event(), busy_.launched);
    }

    void keysAndMouseFollowOperatorsToTheirBackward() {
        SimulatedTrace builder;
        const uint32_t main = builder.addThread(0, 4242, "python3");
        const uint32_t autograd = builder.addThread(0, 4250, "pt_autograd_0");
        const auto add = [&](uint32_t thread, const char* name, int64_t startNs, int64_t endNs) {
            return builder.addNvtx(thread, name, startNs, endNs, NvtxStyle::PushPop, operatorDomain);
        };
        const EventRef forward = add(main, "aten::mm", 10'000, 110'000);
        const EventRef other = add(main, "aten::relu", 200'000, 300'000);
        const EventRef backward = add(autograd, "MmBackward0", 500'000, 600'000);
        builder.addKernel(builder.defaultStream(), "gemm", 20'000, 900'000);
        builder.backward(forward, backward);
        ShownTimeline shown(builder.finish());
        shown.view.state().selection().setEvent(forward);
        QVERIFY(shown.canvas()->flowLabels().empty());
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), backward);
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), backward);
        QTest::keyClick(&shown.view, Qt::Key_Q);
        QCOMPARE(shown.view.state().selection().event(), forward);
        // Its arrow leads out of view.
        shown.view.state().range().axis().setRange({0, 150'000});
        QCOMPARE(shown.canvas()->flowLabels().size(), size_t{1});
        const FlowOverlay::Label label = shown.canvas()->flowLabels()[0];
        QVERIFY2(label.text.startsWith("MmBackward0 at +"), qPrintable(label.text));
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, label.area.center().toPoint());
        QCOMPARE(shown.view.state().selection().event(), backward);
        shown.view.state().selection().setEvent(other);
        QVERIFY(shown.canvas()->flowLabels().empty());
        QTest::keyClick(&shown.view, Qt::Key_E);
        QCOMPARE(shown.view.state().selection().event(), other);
    }

    void flowsOutOfViewEndInALabel() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.call);
        QVERIFY(shown.canvas()->flowLabels().empty());
        shown.view.state().range().axis().setRange({0, 50'000});
        QCOMPARE(shown.canvas()->flowLabels().size(), size_t{1});
        QCOMPARE(shown.canvas()->flowLabels()[0].text, QString("first_kernel at +80.00 us"));
        QVERIFY(shown.canvas()->rect().contains(shown.canvas()->flowLabels()[0].area.toAlignedRect()));
        shown.view.state().selection().setEvent(small_.first);
        shown.view.state().range().axis().setRange({90'000, 150'000});
        QCOMPARE(shown.canvas()->flowLabels()[0].text,
                 QString("cudaLaunchKernel at %1%2").arg(QChar(0x2212)).arg("80.00 us"));
        // Another stream waits, on a lower GPU.
        shown.view.setTrace(busy_.trace);
        shown.view.state().selection().setEvent(busy_.launched);
        shown.view.resize(1100, 160);
        QApplication::processEvents();
        QVERIFY(!shown.canvas()->flowLabels().empty());
        QCOMPARE(shown.canvas()->flowLabels().back().text, QString("GPU 1 Compute, stream 20 below"));
    }

    void labelsKeepTheirEventVisible() {
        ShownTimeline shown(busy_.trace);
        shown.view.resize(1100, 160);
        shown.view.state().selection().setEvent(busy_.launched);
        const TimeRange event = busy_.trace->rangeOf(busy_.launched);
        // The event at the left edge, in the middle and at the right edge of the view.
        for (const int64_t beforeNs : {100, 50'000, 99'000}) {
            shown.view.state().range().axis().setRange({event.startNs - beforeNs, event.startNs - beforeNs + 100'000});
            QApplication::processEvents();
            const QPoint at = shown.middleOf(busy_.launched);
            if (!shown.canvas()->rect().contains(at)) continue;
            for (const FlowOverlay::Label& label : shown.canvas()->flowLabels())
                QVERIFY2(!label.area.contains(at), qPrintable(label.text));
        }
    }

    void labelLeadsToItsEvent() {
        ShownTimeline shown(small_.trace);
        shown.view.state().selection().setEvent(small_.call);
        shown.view.state().range().axis().setRange({0, 50'000});
        const QPoint at = shown.canvas()->flowLabels()[0].area.center().toPoint();
        shown.send(shown.canvas(), at, Qt::NoButton);
        QCOMPARE(shown.canvas()->cursor().shape(), Qt::PointingHandCursor);
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, at);
        QCOMPARE(shown.view.state().selection().event(), small_.first);
        QVERIFY(shown.visible().overlaps(small_.trace->rangeOf(small_.first)));
    }

    void showsTheSelectedEventsPlace() {
        ShownTimeline shown(small_.trace);
        TimelineNavigator(shown.view.state()).showPlace({500'000, 500'000}, 0);
        QVERIFY(shown.visible().contains(500'000));
        QVERIFY(shown.visible().durationNs() < 100'000);
    }

  private:
    SmallTrace small_;
    BusyTrace busy_;
};

LANESCOPE_TEST(tst_TimelineNavigation, QApplication)
#include "tst_TimelineNavigation.moc"
