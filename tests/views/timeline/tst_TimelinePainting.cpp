// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "model/trace/kinds/Api.h"
#include "tests/support/runTest.h"
#include "tests/views/timeline/timelineParts.h"
#include "views/timeline/SliceColors.h"
#include "views/timeline/TrackPainter.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

/// A stream of 4,000 short kernels of two alternating names.
TracePtr manyShortKernels() {
    SimulatedTrace builder;
    const uint32_t stream = builder.addStream(0, builder.addGpu(), 7);
    for (int i = 0; i < 4'000; ++i)
        builder.addKernel(stream, i % 2 ? "odd" : "even", 1'000 + i * 1'000, 1'700 + i * 1'000);
    return builder.finish();
}

QImage canvasOf(ShownTimeline& shown) { return shown.canvas()->grab().toImage(); }

}  // namespace

class tst_TimelinePainting : public QObject {
    Q_OBJECT

  private slots:
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

    void colorsFollowTheSelectedMode() {
        SimulatedTrace builder;
        const uint32_t gpu = builder.addGpu();
        const uint32_t one = builder.addStream(0, gpu, 7);
        const uint32_t two = builder.addStream(0, gpu, 20);
        const EventRef gemm = builder.addKernel(one, "gemm", 0, 100);
        const EventRef relu = builder.addKernel(one, "relu", 100, 200);
        const EventRef reduce = builder.addKernel(two, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 200, 300);
        const EventRef gather = builder.addKernel(two, "ncclDevKernel_AllGather_RING_LL", 300, 400);
        const uint32_t thread = builder.defaultThread();
        const auto frame = [&](const char* function, uint32_t line) {
            return builder.stack(noIndex, builder.intern(function), builder.intern("/home/ada/train.py"), line);
        };
        const uint32_t stacks[] = {frame("forward", 10), frame("forward", 11), frame("step", 12)};
        EventRef byStack[3];
        for (uint32_t index = 0; index < 3; ++index) {
            const int64_t atNs = 700 + 100 * index;
            builder.add<kinds::Api>({.startNs = atNs,
                                     .endNs = atNs + 10,
                                     .name = builder.intern("cuLaunchKernel"),
                                     .thread = thread,
                                     .correlation = index + 1,
                                     .stack = stacks[index]});
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
        QCOMPARE(colorOf(gemm), colorOf(relu));
        QCOMPARE(colorOf(reduce), colorOf(gather));
        colors.reset(trace, theme, ColorMode::Stream);
        QCOMPARE(colorOf(gemm), colorOf(relu));
        QVERIFY(colorOf(gemm) != colorOf(reduce));
        QCOMPARE(meaningOf(reduce), QString("colour: stream 20"));
        colors.reset(trace, theme, ColorMode::NcclOperation);
        QCOMPARE(colorOf(gemm), colorOf(relu));
        QVERIFY(colorOf(reduce) != colorOf(gather));
        QVERIFY(colorOf(reduce) != colorOf(gemm));
        QVERIFY(colorOf(exchange) != colorOf(scatter));
        QCOMPARE(meaningOf(reduce), QString("colour: NCCL AllReduce"));
        QCOMPARE(meaningOf(gemm), QString("grey: not NCCL"));
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
            QVERIFY2(label.endsWith("\u202610"), qPrintable(label));
            QVERIFY(metrics.horizontalAdvance(label) <= width);
        }
        for (double width = metrics.horizontalAdvance("void gemm_kernel<float>") - 1; width > 20; width -= 7) {
            const QString label = labels.fitted(kernel, width);
            QVERIFY2(label.isEmpty() || label.endsWith(QChar(0x2026)), qPrintable(label));
        }
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

  private:
    SmallTrace small_;
    TracePtr busy_ = manyShortKernels();
};

LANESCOPE_TEST(tst_TimelinePainting, QApplication)
#include "tst_TimelinePainting.moc"
