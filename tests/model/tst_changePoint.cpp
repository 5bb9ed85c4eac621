// SPDX-License-Identifier: Apache-2.0
#include "model/compare/changePoint.h"
#include "model/compare/judgeRuns.h"
#include "tests/support/runTest.h"

using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

/// Logarithm of the median step of one simulated run.
using Draw = std::function<double(std::mt19937&)>;

Draw normal(double spread) {
    return [spread](std::mt19937& random) { return std::normal_distribution<double>(0, spread)(random); };
}

double twoModes(std::mt19937& random) {
    return (random() % 2 == 0 ? 0 : 0.1) + std::normal_distribution<double>(0, 0.01)(random);
}

double heavyTails(std::mt19937& random) { return 0.02 * std::student_t_distribution<double>(3)(random); }

/// Simulated runs, of which the last `after` take longer by `shift`.
std::vector<double> series(const Draw& draw, std::mt19937& random, size_t runs, size_t after, double shift) {
    std::vector<double> medians;
    for (size_t run = 0; run < runs; ++run)
        medians.push_back(50e6 * std::exp(draw(random) + (run + after >= runs ? shift : 0)));
    return medians;
}

}  // namespace

class TestChangePoint : public QObject {
    Q_OBJECT

  private slots:
    void levelChangeIsFound() {
        const std::vector<double> medians{50, 50.4, 49.8, 50.1, 50.3, 49.9, 50.2, 55, 55.3, 54.8, 55.1, 55.2};
        const auto change = latestChange(medians);
        QVERIFY(change);
        QCOMPARE(change->first, size_t{7});
        QVERIFY(std::abs(change->percent - 10) < 0.5);
        QVERIFY(change->pValue < 0.025);
        const auto again = latestChange(medians);
        QCOMPARE(again->pValue, change->pValue);
    }

    void latestOfSeveralChangesIsReported() {
        std::mt19937 random(3);
        std::vector<double> medians = series(normal(0.005), random, 24, 12, std::log(1.1));
        for (const double each : series(normal(0.005), random, 12, 0, 0)) medians.push_back(each);
        const auto change = latestChange(medians);
        QVERIFY(change);
        QCOMPARE(change->first, size_t{24});
        QVERIFY(change->percent < -5);
    }

    void oneDeviatingRunIsNoChange() {
        QVERIFY(!latestChange(std::vector<double>{50, 50, 51, 50, 50, 51, 50, 51, 50, 50, 51, 90}));
        QVERIFY(!latestChange(std::vector<double>{50, 80, 80}));
        QVERIFY(!latestChange({}));
        QVERIFY(!latestChange(std::vector<double>(20, 50.0)));
    }

    /// Less than 1 % is irrelevant, however certain.
    void tinyChangeIsNone() {
        std::vector<double> medians(10, 50.0);
        medians.resize(20, 50.2);
        QVERIFY(!latestChange(medians));
        std::fill(medians.begin() + 10, medians.end(), 51.0);
        QVERIFY(latestChange(medians));
    }

    void varyingRunsHaveNoChange_data() {
        QTest::addColumn<Draw>("draw");
        QTest::addColumn<int>("runs");
        for (const int runs : {8, 12, 21}) {
            QTest::addRow("normal, %d runs", runs) << normal(0.02) << runs;
            QTest::addRow("two modes, %d runs", runs) << Draw(twoModes) << runs;
            QTest::addRow("heavy tails, %d runs", runs) << Draw(heavyTails) << runs;
        }
    }

    void varyingRunsHaveNoChange() {
        QFETCH(Draw, draw);
        QFETCH(int, runs);
        std::mt19937 random(11);
        constexpr int times = 2000;
        int found = 0;
        for (int time = 0; time < times; ++time)
            found += latestChange(series(draw, random, size_t(runs), 0, 0)) ? 1 : 0;
        qInfo("%s: a change in %.3f of 2,000 without", QTest::currentDataTag(), double(found) / times);
        QVERIFY(double(found) / times <= 0.035);
    }

    void runIsComparedWithItsLevel() {
        const auto level = [](size_t count, std::optional<size_t> first) {
            std::optional<ChangePoint> change;
            if (first) change = ChangePoint{*first, 5, 0.01};
            const Stretch found = levelOf(count, change, 3);
            return std::pair(found.begin, found.end);
        };
        using Pair = std::pair<size_t, size_t>;
        QCOMPARE(level(10, std::nullopt), Pair(0, 10));
        QCOMPARE(level(10, 6), Pair(6, 10));
        QCOMPARE(level(10, 7), Pair(7, 10));
        QCOMPARE(level(10, 8), Pair(0, 8));  // Two runs since the change are too few for a spread.
        QCOMPARE(level(10, 9), Pair(0, 9));
        QCOMPARE(level(4, 2), Pair(0, 4));
    }

    void ordinaryRunIsRarelyAnOutlier_data() { varyingRunsHaveNoChange_data(); }

    /// Also if a level change is found by mistake and the run is compared with fewer runs.
    void ordinaryRunIsRarelyAnOutlier() {
        QFETCH(Draw, draw);
        QFETCH(int, runs);
        std::mt19937 random(13);
        constexpr int times = 2000;
        int claimed = 0;
        for (int time = 0; time < times; ++time) {
            const std::vector<double> medians = series(draw, random, size_t(runs), 0, 0);
            const Stretch level = levelOf(medians.size() - 1, latestChange(medians), 3);
            const auto at = [&](size_t place) { return medians.begin() + std::ptrdiff_t(place); };
            const Claim claim = judgeRuns({{at(level.begin), at(level.end)}, {medians.back()}, {}});
            claimed += claim.outcome != Outcome::WithinNoise ? 1 : 0;
        }
        qInfo("%s: slower or faster in %.3f of 2,000 without a change", QTest::currentDataTag(),
              double(claimed) / times);
        // One run is no mean of several, so that heavy tails matter.
        const bool hasHeavyTails = QString(QTest::currentDataTag()).startsWith("heavy");
        QVERIFY(double(claimed) / times <= (hasHeavyTails ? 0.085 : 0.065));
    }

    void changesOfVaryingRunsAreFound_data() {
        QTest::addColumn<int>("percent");
        QTest::addColumn<int>("after");
        QTest::addColumn<double>("least");
        QTest::newRow("5 %, 5 of 21") << 5 << 5 << 0.8;
        QTest::newRow("5 %, 10 of 21") << 5 << 10 << 0.9;
        QTest::newRow("10 %, 3 of 21") << 10 << 3 << 0.95;
        QTest::newRow("10 %, 10 of 21") << 10 << 10 << 0.99;
    }

    void changesOfVaryingRunsAreFound() {
        QFETCH(int, percent);
        QFETCH(int, after);
        QFETCH(double, least);
        std::mt19937 random(12);
        constexpr int times = 400;
        int found = 0, near = 0;
        for (int time = 0; time < times; ++time) {
            const auto change =
                latestChange(series(normal(0.02), random, 21, size_t(after), std::log1p(percent / 100.0)));
            found += change ? 1 : 0;
            near += change && std::abs(int(change->first) - (21 - after)) <= 1 ? 1 : 0;
        }
        qInfo("%s, runs that spread by 2 %%: found in %.3f, within a run of its place in %.3f", QTest::currentDataTag(),
              double(found) / times, double(near) / times);
        QVERIFY(double(found) / times >= least);
    }
};

LANESCOPE_TEST(TestChangePoint, NoApplication)
#include "tst_changePoint.moc"
