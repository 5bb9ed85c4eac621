// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/timeline/VisibleRange.h"

using namespace lanescope;
using namespace lanescope::views;

namespace {

struct Axis {
    QObject owner;
    VisibleRange range;
    explicit Axis(TimeRange extent = {0, 1'000'000}) { range.setExtent(&owner, extent); }
};

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
        QVERIFY(axis.range.limits().durationNs() > 0);
        QVERIFY(axis.range.isFitted());
    }
};

LANESCOPE_TEST(tst_VisibleRange, NoApplication)
#include "tst_VisibleRange.moc"
