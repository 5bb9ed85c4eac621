// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/runTest.h"
#include "views/timeline/scales.h"

using namespace lanescope;
using namespace lanescope::views;

class tst_timeTicks : public QObject {
    Q_OBJECT

  private slots:
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
        QTest::addColumn<qint64>("startNs");
        QTest::addColumn<qint64>("endNs");
        QTest::addColumn<QString>("label");
        QTest::newRow("seconds") << qint64(0) << qint64(60'000'000'000) << "5 s";
        QTest::newRow("milliseconds") << qint64(0) << qint64(60'000'000) << "5 ms";
        QTest::newRow("microseconds") << qint64(0) << qint64(60'000) << "5 us";
        QTest::newRow("nanoseconds") << qint64(0) << qint64(60) << "5 ns";
        QTest::newRow("decimals") << qint64(1'200'000'000) << qint64(1'200'600'000) << "1200.05 ms";
        QTest::newRow("before zero") << qint64(-60'000'000) << qint64(0) << QString(QChar(0x2212)) + "55 ms";
    }
    void unitsFollowTheZoom() {
        QFETCH(qint64, startNs);
        QFETCH(qint64, endNs);
        QFETCH(QString, label);
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
        QVERIFY(timeTicks({0, 1000}, 0).ticks.empty());
        QVERIFY(timeTicks({1000, 1000}, 800).ticks.empty());
        QVERIFY(timeTicks({1000, 0}, 800).ticks.empty());
    }

    void timesKeepAllTheirDigits_data() {
        QTest::addColumn<qint64>("timeNs");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << qint64(0) << "0 ns";
        QTest::newRow("ns") << qint64(999) << "999 ns";
        QTest::newRow("us") << qint64(1'500) << "1.5 us";
        QTest::newRow("ms") << qint64(18'988'003) << "18.988 003 ms";
        QTest::newRow("s") << qint64(3'000'000'000) << "3 s";
        QTest::newRow("hours") << qint64(7'200'000'000'001) << "7 200.000 000 001 s";
    }
    void timesKeepAllTheirDigits() {
        QFETCH(qint64, timeNs);
        QFETCH(QString, text);
        QCOMPARE(formatTime(timeNs).replace(QChar(0x2009), QChar(' ')), text);
    }

    void scaleRoundTrips() {
        const TimeScale scale{{5'000'000'000'000, 5'000'000'600'000}, 1200, 40};
        QCOMPARE(scale.toX(scale.range.startNs), 40.0);
        QCOMPARE(scale.toX(scale.range.endNs), 1240.0);
        for (int x = 40; x < 1240; ++x) QCOMPARE(scale.toX(scale.toTimeNs(x)), double(x));
        QCOMPARE((TimeScale{{5, 5}, 100, 7}).toX(1'000), 7.0);
        QCOMPARE((TimeScale{{5, 9}, 0, 7}).toTimeNs(80), 5);
    }
};

LANESCOPE_TEST(tst_timeTicks, NoApplication)
#include "tst_timeTicks.moc"
