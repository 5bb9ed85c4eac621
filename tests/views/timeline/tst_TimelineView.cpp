// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QSvgRenderer>
#include <QtWidgets>

#include "model/trace/kinds/Api.h"
#include "tests/support/doubleClick.h"
#include "tests/support/fileBytes.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/FlowOverlay.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TrackPainter.h"
#include "views/timeline/exportPicture.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

int pixelsOf(const QImage& image, const QColor& color) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color;
    }
    return count;
}

/// A stream of 4,000 short kernels of two alternating names.
TracePtr manyShortKernels() {
    SimulatedTrace builder;
    const uint32_t stream = builder.addStream(0, builder.addGpu(), 7);
    for (int i = 0; i < 4'000; ++i)
        builder.addKernel(stream, i % 2 ? "odd" : "even", 1'000 + i * 1'000, 1'700 + i * 1'000);
    return builder.finish();
}

QImage canvasOf(ShownTimeline& shown) { return shown.canvas()->grab().toImage(); }

constexpr QSize size{80, 60};

/// Paints the same rectangles in both ways, after applying `prepare` to each painter.
template <class Prepare>
void comparePictures(double ratio, QImage::Format format, Prepare prepare) {
    std::mt19937 random(7);
    QImage plain(size, format), quick(size, format);
    for (QImage* image : {&plain, &quick}) {
        image->fill(Qt::white);
        image->setDevicePixelRatio(ratio);
    }
    QPainter plainPainter(&plain), quickPainter(&quick);
    prepare(plainPainter);
    prepare(quickPainter);
    OpaqueFill fill(quickPainter);
    // Sixteenths of a pixel, so that many edges lie on the middle of one.
    const auto place = [&](int most) { return (int(random() % uint32_t(32 * most)) - 8 * most) / 16.0; };
    for (int i = 0; i < 3000; ++i) {
        const QRectF area(place(90), place(70), place(20), place(20));
        const QRgb color = QRgb(random()) | 0xff000000u;
        if (area.width() < 0 || area.height() < 0) continue;
        plainPainter.fillRect(area, QColor::fromRgb(color));
        fill.fill(area, color);
        QVERIFY2(
            plain == quick,
            qPrintable(QStringLiteral("%1 %2 %3 %4").arg(area.x()).arg(area.y()).arg(area.width()).arg(area.height())));
    }
}

}  // namespace

class tst_TimelineView : public QObject {
    Q_OBJECT

    SmallTrace small_;
    TracePtr busy_ = manyShortKernels();

  private slots:
    void emptyViewShowsAnInstruction() {
        ShownTimeline shown(nullptr);
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, shown.view.state().options().theme().canvas) < image.width() * image.height());
        // No click here may crash.
        QTest::mouseClick(shown.canvas(), Qt::LeftButton, {}, {100, 100});
        doubleClick(shown.canvas(), {100, 100});
        shown.drag(shown.ruler(), {10, 5}, {200, 5});
        shown.drag(shown.overview(), {10, 5}, {200, 5});
        QTest::mouseClick(shown.labels(), Qt::LeftButton, {}, {20, 20});
        for (const Qt::Key key : {Qt::Key_W, Qt::Key_F, Qt::Key_Z, Qt::Key_Left, Qt::Key_Down, Qt::Key_Escape}) {
            QTest::keyClick(&shown.view, key);
        }
        shown.view.revealEvent(EventRef(EventKind::Kernel, 5));
        QVERIFY(!shown.view.state().selection().range());
    }

    void traceWithoutEventsIsPainted() {
        ShownTimeline shown(SimulatedTrace().finish());
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, shown.view.state().options().theme().canvas) < image.width() * image.height());
        QVERIFY(!shown.view.grab().isNull());
    }

    void newTraceIsShownCompletely() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        shown.view.state().range().axis().setRange({1'000, 2'000});
        shown.view.state().selection().setEvent(small.first);
        const TracePtr other = simulatedTraining();
        shown.view.setTrace(other);
        QVERIFY(shown.view.state().range().axis().isFitted());
        QVERIFY(shown.visible().startNs <= other->range.startNs && shown.visible().endNs >= other->range.endNs);
        QVERIFY(!shown.view.state().selection().event().isValid());
    }

    void viewsOnOneRangeMoveTogether() {
        const SmallTrace small;
        VisibleRange shared;
        ShownTimeline left(small.trace);
        ShownTimeline right(small.trace);
        left.view.state().range().setAxis(&shared);
        right.view.state().range().setAxis(&shared);
        left.view.state().range().setOrigin(100'000);
        right.view.state().range().setOrigin(300'000);
        shared.setRange({0, 50'000});
        QCOMPARE(left.visible(), (TimeRange{100'000, 150'000}));
        QCOMPARE(right.visible(), (TimeRange{300'000, 350'000}));

        left.wheel(left.canvas(), {200, 100}, {0, 120});
        QVERIFY(shared.range().durationNs() < 50'000);
        QCOMPARE(right.visible(), left.visible().shifted(200'000));
        right.drag(right.canvas(), {300, 100}, {250, 100});
        QCOMPARE(right.visible(), left.visible().shifted(200'000));
        // Selections stay in each trace's own time.
        right.drag(right.ruler(), {10, 5}, {210, 5});
        QVERIFY(right.view.state().selection().range()->startNs >= 300'000);
        QVERIFY(!left.view.state().selection().range());
    }

    void sharedRangeMayBeDestroyedFirst() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        VisibleRange* const own = &shown.view.state().range().axis();
        {
            VisibleRange shared;
            shown.view.state().range().setAxis(&shared);
            QCOMPARE(&shown.view.state().range().axis(), &shared);
        }
        QCOMPARE(&shown.view.state().range().axis(), own);
        shown.view.commands().fit();
        QVERIFY(shown.visible().durationNs() >= small.trace->range.durationNs() && !shown.view.grab().isNull());
    }

    void revealEventMakesItVisible() {
        const TracePtr trace = simulatedTraining();
        ShownTimeline shown(trace);
        shown.view.resize(1100, 220);
        shown.view.state().tracks().setAllFolded(true);
        for (const EventRef event :
             {EventRef(EventKind::Kernel, trace->kernels.size() - 1), EventRef(EventKind::Api, 3),
              EventRef(EventKind::Nvtx, trace->nvtx.size() / 2), EventRef(EventKind::Memcpy, 0)}) {
            shown.view.revealEvent(event);
            QApplication::processEvents();
            QCOMPARE(shown.view.state().selection().event(), event);
            const TimeRange range = trace->rangeOf(event);
            QVERIFY(shown.visible().startNs <= range.startNs && shown.visible().endNs >= range.endNs);
            QVERIFY(shown.toX(range.endNs) - shown.toX(range.startNs) >= 10);
            // Its outline is visible, so it was scrolled and unfolded to.
            QVERIFY(pixelsOf(shown.canvas()->grab().toImage(), shown.view.state().options().theme().text) > 20);
        }
    }

    void revealingAnEventWithoutTrackOnlySelects() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        const TimeRange before = shown.visible();
        shown.view.revealEvent(EventRef(EventKind::Kernel, 4'000'000));
        QCOMPARE(shown.visible(), before);
        QVERIFY(!shown.view.grab().isNull());
    }

    void hitsArePainted() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        const QColor color = shown.view.state().options().theme().searchHit;
        QCOMPARE(pixelsOf(shown.view.grab().toImage(), color), 0);
        shown.view.state().selection().setHits(SearchHits::of(*small.trace, {small.second, small.onOtherStream}));
        QVERIFY(pixelsOf(shown.canvas()->grab().toImage(), color) > 100);
        QVERIFY(pixelsOf(shown.overview()->grab().toImage(), color) > 0);
        shown.view.state().selection().setHits(nullptr);
        QCOMPARE(pixelsOf(shown.view.grab().toImage(), color), 0);
    }

    void selectedCallsPointAtTheirWork() {
        const SmallTrace small;
        TrackLayout layout;
        layout.setTracks(small.trace->tracks);
        for (const EventRef event : {small.call, small.first}) {
            const auto arrows = flowArrows(*small.trace, layout, event);
            QCOMPARE(arrows.size(), 1u);
            QCOMPARE(test::listed(arrows[0].from.timeNs, arrows[0].to.timeNs), "20000 | 100000");
            QVERIFY(arrows[0].from.y > arrows[0].to.y);  // threads are below GPUs
        }
        QVERIFY(flowArrows(*small.trace, layout, small.second).empty());
        QVERIFY(flowArrows(*small.trace, layout, EventRef()).empty());
    }

    void flowsOfFoldedTracksEndAtTheirGroup() {
        const SmallTrace small;
        TrackLayout layout;
        layout.setTracks(small.trace->tracks);
        layout.setAllFolded(true);
        const auto arrows = flowArrows(*small.trace, layout, small.call);
        QCOMPARE(arrows.size(), 1u);
        QCOMPARE(arrows[0].to.y, layout.rows().front().height / 2.0);
    }

    void themesRepaint() {
        const SmallTrace small;
        ShownTimeline shown(small.trace);
        shown.view.state().options().setTheme(Theme::dark());
        const QImage image = shown.canvas()->grab().toImage();
        QVERIFY(pixelsOf(image, Theme::dark().canvas) > image.width());
        QVERIFY(pixelsOf(image, Theme::light().canvas) < 100);  // except white text on slices
    }

    void lateTimesArePaintedLikeEarlyOnes() {
        const int64_t late = 40LL * 24 * 3600 * 1'000'000'000;  // forty days in
        const auto picture = [](int64_t offsetNs) {
            SimulatedTrace builder;
            const uint32_t stream = builder.defaultStream();
            for (int i = 0; i < 50; ++i) {
                builder.addKernel(stream, "kernel", offsetNs + i * 1'000, offsetNs + i * 1'000 + 700);
            }
            ShownTimeline shown(builder.finish());
            shown.view.state().range().setOrigin(offsetNs);
            shown.view.state().range().axis().setRange({10'000, 20'000});
            return shown.canvas()->grab().toImage();
        };
        QCOMPARE(picture(late), picture(0));
    }

    void partsHaveAccessibleRoles() {
        ShownTimeline shown(SmallTrace().trace);
        const auto roleOf = [](QObject* part) { return QAccessible::queryAccessibleInterface(part)->role(); };
        QCOMPARE(roleOf(&shown.view), QAccessible::Chart);
        QCOMPARE(roleOf(shown.labels()), QAccessible::Tree);
        QCOMPARE(roleOf(shown.canvas()), QAccessible::Graphic);
        QCOMPARE(roleOf(shown.overview()), QAccessible::Graphic);
        QCOMPARE(roleOf(shown.ruler()), QAccessible::Indicator);
    }

    void restingPointerHighlightsTheName() {
        ShownTimeline shown(busy_);
        shown.view.state().range().axis().setRange({2'000'000, 2'010'000});
        const auto pointNextToLabel = [&](uint32_t kernel) {
            return shown.middleOf(EventRef(EventKind::Kernel, kernel)) + QPoint(16, 5);
        };
        const QPoint even = pointNextToLabel(2'007), odd = pointNextToLabel(2'006);
        const QImage plain = canvasOf(shown);
        const uint32_t hovered = 2'001;  // of the same name as 2007
        shown.send(shown.canvas(), shown.middleOf(EventRef(EventKind::Kernel, hovered)), Qt::NoButton);
        QCOMPARE(canvasOf(shown).pixel(odd), plain.pixel(odd));  // not before the pointer rests
        QTRY_VERIFY(canvasOf(shown).pixel(odd) != plain.pixel(odd));
        QCOMPARE(canvasOf(shown).pixel(even), plain.pixel(even));
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(shown.canvas(), &leave);
        QTRY_COMPARE(canvasOf(shown), plain);
    }

    void highlightingCanBeDisabled() {
        ShownTimeline shown(small_.trace);
        const QPoint third = shown.middleOf(small_.third) + QPoint(0, 6);
        const QRgb plain = canvasOf(shown).pixel(third);
        shown.view.state().selection().setEvent(small_.first);
        QVERIFY(canvasOf(shown).pixel(third) != plain);
        shown.view.commands().setHighlighting(false);
        QVERIFY(!shown.view.state().selection().isHighlighting());
        QCOMPARE(canvasOf(shown).pixel(third), plain);
    }

    void mergedSlicesShowTheirBusyShare() {
        ShownTimeline shown(busy_);
        shown.canvas()->repaint();
        shown.send(shown.canvas(), shown.middleOf(EventRef(EventKind::Kernel, 2'000)), Qt::NoButton);
        const HoverTip& card = shown.canvas()->hoverTip();
        QVERIFY2(card.title().contains("70 % busy") || card.title().contains("% busy"), qPrintable(card.title()));
        QVERIFY2(card.title().contains("slices"), qPrintable(card.title()));
        QVERIFY2(card.detail().contains("widest: "), qPrintable(card.detail()));
        QVERIFY2(card.detail().contains("700 ns"), qPrintable(card.detail()));
    }

    /// Fifty steps on a hundred pixels are not "it 0", though that text would fit.
    void mergedSlicesShowNoSingleName() {
        constexpr int64_t stepNs = 2'000'000, lastNs = 1'100'000'000;
        const auto drawn = [&](int steps) {
            SimulatedTrace builder;
            const uint32_t stream = builder.addStream(0, builder.addGpu(), 7);
            const int64_t eachNs = 50 * stepNs / steps;
            for (int step = 0; step < steps; ++step)
                builder.addKernel(stream, "it " + std::to_string(step), step * eachNs,
                                  (step + 1) * eachNs - eachNs / 10);
            builder.addKernel(stream, "end", lastNs - 1'000, lastNs);
            ShownTimeline shown(builder.finish());
            shown.view.state().range().axis().setRange({0, lastNs});
            const QImage image = canvasOf(shown);
            const double ratio = image.devicePixelRatio();
            const int y = shown.middleOf(EventRef(EventKind::Kernel, 0)).y();
            // Without letters, a column of a lane has one colour from top to bottom.
            int mixed = 0;
            for (double x = shown.toX(0) + 4; x < shown.toX(50 * stepNs) - 14; ++x) {
                const QRgb middle = image.pixel(int(x * ratio), int(y * ratio));
                for (int dy = -4; dy <= 4; ++dy)
                    if (image.pixel(int(x * ratio), int((y + dy) * ratio)) != middle) {
                        ++mixed;
                        break;
                    }
            }
            return mixed;
        };
        QVERIFY(drawn(1) > 4);  // one slice has its name
        QCOMPARE(drawn(50), 0);
    }

    void mergedRangesOfOneSeriesHaveTheirNumbers() {
        StringTable strings;
        const StringIndex first = strings.intern("it 0"), last = strings.intern("it 49");
        const StringIndex other = strings.intern("forward");
        LabelCache labels;
        labels.reset(&strings, QFont());
        QVERIFY(labels.areOfOneSeries(first, last) && !labels.areOfOneSeries(first, other));
        const QString whole = labels.fittedSeries(first, last, 50, 400);
        QCOMPARE(whole, QString("it 0 \u2026 it 49 (50)"));
        const double width = QFontMetricsF(QFont()).horizontalAdvance(whole);
        QCOMPARE(labels.fittedSeries(first, last, 50, width * 0.85), QString("it 0 \u2026 it 49"));
        QCOMPARE(labels.fittedSeries(first, last, 50, width * 0.62), QString("it 0 \u2026 49"));
        QCOMPARE(labels.fittedSeries(first, last, 50, 5), QString());
        QCOMPARE(labels.fittedSeries(other, other, 7, 400), QString("forward (7)"));
    }

    /// Letters and a perforated edge tell merged ranges from one long range; both appear only there.
    void mergedRangesDifferFromASingleOne() {
        const auto picture = [](const std::vector<std::string>& names) {
            constexpr int64_t allNs = 200'000'000;
            SimulatedTrace builder;
            const uint32_t thread = builder.defaultThread();
            const auto count = static_cast<int64_t>(names.size());
            for (int64_t each = 0; each < count; ++each)
                builder.addNvtx(thread, names[size_t(each)], each * allNs / count, (each + 1) * allNs / count);
            builder.addKernel(builder.defaultStream(), "end", 1'099'000'000, 1'100'000'000);
            ShownTimeline shown(builder.finish());
            shown.view.state().range().axis().setRange({0, 1'100'000'000});
            const QImage image = canvasOf(shown);
            const SliceLocation at = shown.view.trace()->locate(EventRef(EventKind::Nvtx, 0));
            const auto area = shown.view.state().tracks().layout().areaOf({at.track, at.lane});
            const double ratio = image.devicePixelRatio();
            return image.copy(
                QRectF(20 * ratio, (area->top - 1) * ratio, 120 * ratio, (area->height + 1) * ratio).toRect());
        };
        const auto inkIn = [](const QImage& image, int top, int bottom) {
            int ink = 0;
            for (int y = top; y < bottom; ++y)
                for (int x = 1; x < image.width(); ++x) ink += image.pixel(x, y) != image.pixel(x - 1, y) ? 1 : 0;
            return ink;
        };
        std::vector<std::string> series, mixed;
        for (int step = 0; step < 900; ++step) {
            series.push_back("it " + std::to_string(step));
            mixed.push_back(step % 2 == 0 ? "forward" : "backward");
        }
        const QImage merged = picture(series), ofTwo = picture(mixed);
        const int height = merged.height();
        QVERIFY(inkIn(merged, 0, height / 4) > 20);       // perforated
        QVERIFY(inkIn(merged, height / 4, height) > 20);  // letters
        QVERIFY(inkIn(ofTwo, 0, height / 4) > 20);
        QCOMPARE(inkIn(ofTwo, height / 3, height), 0);  // no single name
    }

    void unfoldedRowsHaveLettersAtEveryHeight() {
        for (const RowHeight height : {RowHeight::Compact, RowHeight::Normal, RowHeight::Tall}) {
            const auto letters = [&](const std::string& name) {
                SimulatedTrace builder;
                builder.addNvtx(builder.defaultThread(), name, 0, 1'000'000);
                builder.addKernel(builder.defaultStream(), "gemm", 0, 1'000);
                ShownTimeline shown(builder.finish());
                shown.view.state().tracks().setRowHeight(height);
                return canvasOf(shown);
            };
            QVERIFY(letters("train_step 3") != letters(""));
        }
    }

    void colorsFollowTheSelectedMode() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu(), one = builder.addStream(0, gpu, 7);
        const uint32_t two = builder.addStream(0, gpu, 20);
        const EventRef gemm = builder.addKernel(one, "gemm", 0, 100);
        const EventRef relu = builder.addKernel(one, "relu", 100, 200);
        const EventRef reduce = builder.addKernel(two, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 300);
        const EventRef gather = builder.addKernel(two, "ncclDevKernel_AllGather_RING_LL", 300, 400);
        const uint32_t thread = builder.defaultThread();
        const auto frame = [&](const char* function, uint32_t line) {
            return builder.frame(function, "/home/ada/train.py", line);
        };
        const uint32_t stacks[] = {frame("forward", 10), frame("forward", 11), frame("step", 12)};
        EventRef byStack[3];
        for (uint32_t index = 0; index < 3; ++index) {
            const int64_t atNs = 700 + 100 * index;
            builder.addApi(thread, "cuLaunchKernel", atNs, atNs + 10, index + 1, stacks[index]);
            byStack[index] = builder.addKernel(one, "gemm", atNs + 20, atNs + 60, index + 1);
        }
        const EventRef exchange = builder.addNccl(thread, "AlltoAll", 64, 400, 500);
        const EventRef scatter = builder.addNccl(thread, "Scatter", 64, 500, 600);
        const TracePtr trace = builder.finish();
        SliceColors colors;
        const auto colorOf = [&](EventRef event) {
            const SliceLocation at = trace->locate(event);
            return colors.fillOf(trace->tracks[at.track].lanes[at.lane], at.slice);
        };
        const auto meaningOf = [&](EventRef event) {
            const SliceLocation at = trace->locate(event);
            return colors.meaningOf(trace->tracks[at.track].lanes[at.lane], at.slice);
        };
        const Theme theme = Theme::light();
        colors.reset(trace, theme, ColorMode::Name);
        QCOMPARE(colorOf(gemm), theme.colorOf(SliceCategory::Kernel, "gemm").rgb());
        QCOMPARE(meaningOf(gemm), QString());
        colors.reset(trace, theme, ColorMode::Kind);
        QCOMPARE(colorOf(gemm), theme.colorOf(SliceCategory::Kernel).rgb());
        QCOMPARE(test::listed(colorOf(gemm), colorOf(reduce)), test::listed(colorOf(relu), colorOf(gather)));
        colors.reset(trace, theme, ColorMode::Stream);
        QCOMPARE(colorOf(gemm), colorOf(relu));
        QVERIFY(colorOf(gemm) != colorOf(reduce));
        QCOMPARE(meaningOf(reduce), QString("colour: stream 20"));
        colors.reset(trace, theme, ColorMode::NcclOperation);
        QCOMPARE(colorOf(gemm), colorOf(relu));
        QVERIFY(colorOf(reduce) != colorOf(gather) && colorOf(reduce) != colorOf(gemm));
        QVERIFY(colorOf(exchange) != colorOf(scatter));
        QCOMPARE(test::listed(meaningOf(reduce), meaningOf(gemm)), "colour: NCCL AllReduce | grey: no communication");
        colors.reset(trace, theme, ColorMode::PythonLine);
        QVERIFY(colorOf(byStack[0]) != colorOf(byStack[1]));
        QCOMPARE(meaningOf(byStack[0]), QString("colour: train.py:10 in forward"));
        QCOMPARE(meaningOf(gemm), QString("grey: unknown Python line"));
        QVERIFY(colorOf(gemm) != colorOf(byStack[0]));
        colors.reset(trace, theme, ColorMode::PythonFunction);
        QCOMPARE(colorOf(byStack[0]), colorOf(byStack[1]));
        QVERIFY(colorOf(byStack[0]) != colorOf(byStack[2]));
        QCOMPARE(meaningOf(byStack[1]), QString("colour: forward"));

        ShownTimeline shown(trace);
        const QImage byName = canvasOf(shown);
        shown.view.commands().setColorMode(ColorMode::Stream);
        QCOMPARE(shown.view.state().options().colorMode(), ColorMode::Stream);
        QVERIFY(canvasOf(shown) != byName);
        shown.view.commands().setColorMode(ColorMode::Name);
        QCOMPARE(canvasOf(shown), byName);
    }

    void trailingNumbersOfNamesStayVisible() {
        StringTable strings;
        const StringIndex step = strings.intern("training step 10");
        const StringIndex kernel = strings.intern("void gemm_kernel<float>");
        const QFont font;
        const QFontMetricsF metrics(font);
        QFont unhinted = font;
        unhinted.setHintingPreference(QFont::PreferNoHinting);
        LabelCache labels;
        labels.reset(&strings, font);
        // Integral only at integral screen scales.
        const double whole = std::max(metrics.horizontalAdvance("training step 10"),
                                      QFontMetricsF(unhinted).horizontalAdvance("training step 10"));
        QCOMPARE(labels.fitted(step, whole + 1), QString("training step 10"));
        for (double width = whole - 1; width > 20; width -= 7) {
            const QString label = labels.fitted(step, width);
            if (label.isEmpty()) continue;
            // With less than three letters before it, the number alone.
            QVERIFY2(label == "10" || (label.endsWith("\u202610") && label.size() >= 6), qPrintable(label));
            QVERIFY(metrics.horizontalAdvance(label) <= width);
        }
        for (double width = metrics.horizontalAdvance("void gemm_kernel<float>") - 1; width > 20; width -= 7) {
            const QString label = labels.fitted(kernel, width);
            QVERIFY2(label.isEmpty() || label.endsWith(QChar(0x2026)), qPrintable(label));
        }
    }

    void numbersAreShownWhereverTheyFit() {
        StringTable strings;
        const StringIndex step = strings.intern("training step 10");
        QFont font;
        LabelCache labels;
        labels.reset(&strings, font);
        const double hinted = QFontMetricsF(font).horizontalAdvance("10");
        font.setHintingPreference(QFont::PreferNoHinting);
        const double wide = std::ceil(std::max(hinted, QFontMetricsF(font).horizontalAdvance("10")));
        for (double width = wide; width < wide + 12; ++width) QCOMPARE(labels.fitted(step, width), QString("10"));
        QVERIFY(labels.fitted(step, wide - 2).isEmpty());
    }

    void abnormalEndsAreMarked() {
        SimulatedTrace builder;
        builder.addApi(builder.defaultThread(), "cudaMalloc", 0, 500'000);
        builder.processes()[0].endedAbnormally = true;
        // The code marks it as an end; the text is for the user.
        builder.description().health = {{Severity::Warning, HealthCode::ProcessEndedAbnormally,
                                         "Signal 9 was its undoing.", builder.processes()[0].globalPid}};
        const TracePtr trace = builder.finish();
        ShownTimeline shown(trace);
        const QRgb color = shown.view.state().options().theme().error.rgb();
        const QImage image = canvasOf(shown);
        const int x = int(shown.toX(500'000));
        QCOMPARE(image.pixel(x, 10), color);
        const QImage ruler = shown.ruler()->grab().toImage();
        QCOMPARE(ruler.pixel(x + 1, ruler.height() - 5), color);
        shown.send(shown.canvas(), {x + 3, 10}, Qt::NoButton);
        QVERIFY2(shown.canvas()->hoverTip().title().contains("Signal 9"),
                 qPrintable(shown.canvas()->hoverTip().title()));
    }

    void paintsLikeThePainter_data() {
        const test::Rows<double, int> row;
        row("plain", 1.0, int(QImage::Format_RGB32));
        row("alpha", 1.0, int(QImage::Format_ARGB32_Premultiplied));
        row("double", 2.0, int(QImage::Format_RGB32));
        row("one and a half", 1.5, int(QImage::Format_RGB32));
        row("one and a quarter", 1.25, int(QImage::Format_RGB32));
        row("16 bits", 1.0, int(QImage::Format_RGB16));
    }
    void paintsLikeThePainter() {
        const auto [ratio, format] = test::row<double, int>();
        comparePictures(ratio, QImage::Format(format), [](QPainter&) {});
    }

    void respectsTheClip() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) {
            painter.setClipRect(QRect(10, 5, 40, 30));
            painter.setClipRect(QRect(5, 20, 30, 100), Qt::IntersectClip);
        });
        comparePictures(2, QImage::Format_RGB32, [](QPainter& painter) { painter.setClipRect(QRect(3, 5, 20, 11)); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) {
            painter.setClipRegion(QRegion(5, 5, 20, 20).united(QRegion(40, 10, 20, 40)));
        });
    }

    void followsTheTransformation() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.translate(13, 7); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.scale(1.5, 3); });
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.rotate(30); });
    }

    void leavesTransparentFillsToThePainter() {
        comparePictures(1, QImage::Format_RGB32, [](QPainter& painter) { painter.setOpacity(0.5); });
    }

    void pngShowsTheView() {
        QTemporaryDir folder;
        ShownTimeline shown(simulatedTraining());
        const QString path = folder.filePath("picture.PNG");
        QVERIFY(exportPicture(shown.view, path.toStdString()).has_value());
        const QImage picture(path);
        QCOMPARE(picture.size(), shown.view.size());
        const QImage canvas = shown.canvas()->grab().toImage().convertToFormat(QImage::Format_RGB32);
        const QRect area(shown.canvas()->pos(), shown.canvas()->size());
        QCOMPARE(picture.copy(area).convertToFormat(QImage::Format_RGB32), canvas);
    }

    void svgIsValidAndContainsText() {
        QTemporaryDir folder;
        ShownTimeline shown(SmallTrace().trace);
        const QString path = folder.filePath("picture.svg");
        QVERIFY(exportPicture(shown.view, path.toStdString()).has_value());
        QSvgRenderer renderer(path);
        QVERIFY(renderer.isValid());
        QCOMPARE(renderer.viewBox().size(), shown.view.size());
        const QByteArray text = test::fileBytes(path);
        for (const char* part : {"cudaDeviceSynchronize", "GPU 0"}) QVERIFY2(text.contains(part), part);
    }

    void unwritablePathsAreExplained_data() {
        const test::Rows<QString, QString> row;
        row("other ending", "picture.jpg", ".png or .svg");
        row("no ending", "picture", ".png or .svg");
        row("no folder", "missing/picture.png", "Cannot write");
        row("no folder, SVG", "missing/picture.svg", "Cannot write");
    }
    void unwritablePathsAreExplained() {
        const auto [name, says] = test::row<QString, QString>();
        QTemporaryDir folder;
        ShownTimeline shown(SmallTrace().trace);
        const auto result = exportPicture(shown.view, folder.filePath(name).toStdString());
        QVERIFY(!result.has_value());
        const QString sentence = QString::fromStdString(result.error().sentence);
        QVERIFY2(sentence.contains(says) && sentence.contains(name), qPrintable(sentence));
        QVERIFY(QDir(folder.path()).isEmpty());
    }

    void failedWriteKeepsTheOldFile() {
        QTemporaryDir folder;
        const QString path = folder.filePath("picture.png");
        QVERIFY(QDir(folder.path()).mkdir("picture.png"));  // a folder of that name cannot be replaced
        ShownTimeline shown(SmallTrace().trace);
        QVERIFY(!exportPicture(shown.view, path.toStdString()).has_value());
        QVERIFY(QFileInfo(path).isDir());
        QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot).size(), 1);
    }
};

LANESCOPE_TEST(tst_TimelineView, QApplication)
#include "tst_TimelineView.moc"
