// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "tests/support/runTest.h"
#include "views/timeline/scales.h"

using namespace lanescope;
using namespace lanescope::views;

class TestRulerLabels : public QObject {
    Q_OBJECT
  private slots:
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
};

LANESCOPE_TEST(TestRulerLabels, QApplication)
#include "tst_rulerLabels.moc"
