// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/stepPatterns.h"
#include "model/compare/RunComparison.h"
#include "tests/support/idleCauses.h"
#include "tests/support/runTest.h"

using namespace lanescope::analysis;
using namespace lanescope::compare;

namespace {

using Random = std::mt19937;
/// A generator of simulated step times, about 1.
using Series = std::function<std::vector<double>(Random&, size_t)>;

Series normal(double spread) {
    return [spread](Random& random, size_t count) {
        std::normal_distribution<double> noise(1, spread);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(noise(random));
        return steps;
    };
}

/// Each step correlates with the previous.
Series likeTheLast(double correlation, double spread) {
    return [=](Random& random, size_t count) {
        std::normal_distribution<double> noise(0, spread);
        double last = noise(random);
        std::vector<double> steps;
        while (steps.size() < count) {
            last = correlation * last + std::sqrt(1 - correlation * correlation) * noise(random);
            steps.push_back(1 + last);
        }
        return steps;
    };
}

Series skewed(double spread) {
    return [spread](Random& random, size_t count) {
        std::exponential_distribution<double> noise(1);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(1 + spread * noise(random));
        return steps;
    };
}

Series heavyTails(double spread) {
    return [spread](Random& random, size_t count) {
        std::student_t_distribution<double> noise(3);
        std::vector<double> steps;
        while (steps.size() < count) steps.push_back(std::max(0.1, 1 + spread * noise(random)));
        return steps;
    };
}

std::vector<StepSummary> stepsOf(const std::vector<double>& series, StepPart part = StepPart::LaunchBound) {
    std::vector<StepSummary> steps;
    for (const double each : series) {
        StepSummary step;
        step.number = static_cast<int64_t>(steps.size()) + 3;
        step.wallNs = std::llround(each * 40e6);
        step.parts[StepPart::Compute] = 30'000'000;
        step.parts[part] += step.wallNs - 30'000'000;
        steps.push_back(step);
    }
    return steps;
}

using Change = std::function<void(std::vector<double>&)>;

Change everyThird(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = 1; step < series.size(); step += 3) series[step] += excess;
    };
}

Change someOf(double share, double excess) {
    return [=](std::vector<double>& series) {
        Random random(17);
        std::bernoulli_distribution isOther(share);
        for (double& step : series) step += isOther(random) ? excess : 0;
    };
}

Change halfWay(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = series.size() / 2; step < series.size(); ++step) series[step] += excess;
    };
}

Change allTheWay(double excess) {
    return [excess](std::vector<double>& series) {
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += excess * static_cast<double>(step) / static_cast<double>(series.size());
    };
}

}  // namespace

class TestStepPatterns : public QObject {
    Q_OBJECT

    static RunSummary runOf(const std::vector<std::vector<StepSummary>>& workers) {
        RunSummary run;
        run.facts.title = "run";
        run.facts.kernelCount = 1;
        run.source = lanescope::StepSource::NvtxRange;
        for (const std::vector<StepSummary>& steps : workers) {
            WorkerSummary worker;
            worker.rank = static_cast<int>(run.workers.size());
            worker.gpuId = static_cast<int64_t>(run.workers.size());
            worker.steps = steps;
            worker.foundSteps = static_cast<int64_t>(steps.size());
            for (const StepPart part : {StepPart::Compute, StepPart::LaunchBound, StepPart::ExposedCommunication}) {
                Contributor contributor;
                contributor.part = part;
                contributor.name = part == StepPart::LaunchBound ? ContributorName(idle(CauseKind::OutsideCalls))
                                                                 : ContributorName("gemm");
                contributor.path = part == StepPart::LaunchBound ? "tokenize" : "";
                contributor.kind = part == StepPart::LaunchBound ? ContributorKind::Idle : ContributorKind::Kernel;
                contributor.count = worker.foundSteps;
                for (const StepSummary& step : steps) contributor.exposedNs += step.parts[part];
                worker.contributors.push_back(contributor);
            }
            run.workers.push_back(std::move(worker));
        }
        return run;
    }

  private slots:
    void varyingStepsHaveNoPattern_data() {
        QTest::addColumn<Series>("series");
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("most");
        for (const int count : {20, 40, 100}) {
            QTest::addRow("normal, 2 %%, %d", count) << normal(0.02) << count << 0.01;
            QTest::addRow("normal, 15 %%, %d", count) << normal(0.15) << count << 0.015;
            QTest::addRow("alike, 0.5, %d", count) << likeTheLast(0.5, 0.05) << count << 0.015;
            QTest::addRow("alike, 0.8, %d", count) << likeTheLast(0.8, 0.05) << count << 0.02;
            QTest::addRow("skewed, %d", count) << skewed(0.05) << count << 0.02;
            QTest::addRow("heavy tails, %d", count) << heavyTails(0.02) << count << 0.01;
        }
    }

    void varyingStepsHaveNoPattern() {
        QFETCH(Series, series);
        QFETCH(int, count);
        QFETCH(double, most);
        Random random(5);
        constexpr int times = 2000;
        std::array<int, 4> found{};
        for (int time = 0; time < times; ++time)
            if (const auto pattern = patternOf(stepsOf(series(random, size_t(count))))) ++found[size_t(pattern->kind)];
        const double all = double(found[0] + found[1] + found[2] + found[3]) / times;
        qInfo(
            "%s steps: a pattern in %.4f of 2,000 without (period %d, level %d, modes %d, drift "
            "%d)",
            QTest::currentDataTag(), all, found[0], found[1], found[2], found[3]);
        QVERIFY(all <= most);
    }

    void existingPatternsAreFound_data() {
        QTest::addColumn<Change>("change");
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("least");
        const auto add = [](const char* name, const Change& change, PatternKind kind, double least) {
            QTest::newRow(name) << change << int(kind) << least;
        };
        add("every third, 10 %", everyThird(0.1), PatternKind::Period, 0.99);
        add("every third, 6 %", everyThird(0.06), PatternKind::Period, 0.8);
        add("two modes, 20 %", someOf(0.3, 0.2), PatternKind::TwoModes, 0.95);
        add("a level, 20 %", halfWay(0.2), PatternKind::Level, 0.95);
        add("a drift, 10 %", allTheWay(0.1), PatternKind::Drift, 0.65);
        add("a drift, 15 %", allTheWay(0.15), PatternKind::Drift, 0.9);
    }

    /// Steps with a spread of 2 %, 60 of them.
    void existingPatternsAreFound() {
        QFETCH(Change, change);
        QFETCH(int, kind);
        QFETCH(double, least);
        Random random(6);
        constexpr int times = 500;
        int found = 0;
        for (int time = 0; time < times; ++time) {
            std::vector<double> series = normal(0.02)(random, 60);
            change(series);
            const auto pattern = patternOf(stepsOf(series));
            found += pattern && int(pattern->kind) == kind ? 1 : 0;
        }
        qInfo("%s: found in %.3f", QTest::currentDataTag(), double(found) / times);
        QVERIFY(double(found) / times >= least);
    }

    void patternReportsItsStepsAndCost() {
        Random random(1);
        std::vector<double> series = normal(0.01)(random, 60);
        everyThird(0.5)(series);
        const auto pattern = patternOf(stepsOf(series));
        QVERIFY(pattern);
        QCOMPARE(pattern->kind, PatternKind::Period);
        QCOMPARE(pattern->period, 3);
        QCOMPARE(pattern->firstNumber, 4);
        QCOMPARE(pattern->affected.size(), size_t{20});
        QVERIFY(std::abs(pattern->share - 1.0 / 3) < 1e-9);
        QVERIFY(std::abs(double(pattern->excessNs) - 20e6) < 0.5e6);
        QVERIFY(std::abs(double(pattern->costNs) - 20e6 / 3) < 0.2e6);
        QCOMPARE(pattern->part, StepPart::LaunchBound);
        QVERIFY(std::abs(double(pattern->partExcessNs) - 20e6) < 0.5e6);
    }

    /// With accumulated gradients: every fourth step is long, and every second slightly longer.
    void periodThatExplainsMostIsChosen() {
        Random random(4);
        for (int time = 0; time < 50; ++time) {
            std::vector<double> series = normal(0.01)(random, 120);
            for (size_t step = 0; step < series.size(); ++step)
                series[step] += step % 4 == 3 ? 0.5 : step % 2 == 1 ? 0.05 : 0;
            const auto fourth = patternOf(stepsOf(series));
            QVERIFY(fourth);
            QCOMPARE(fourth->kind, PatternKind::Period);
            QCOMPARE(fourth->period, 4);
            QCOMPARE(fourth->firstNumber, 6);
            // Also if some of the steps between are occasionally longer.
            for (const size_t place : {1, 4, 9, 11, 15, 18, 24, 27}) series[4 * place + 1] += 0.6;
            const auto mostly = patternOf(stepsOf(series));
            QVERIFY(mostly);
            QCOMPARE(mostly->period, 4);
            // And every second if that is all.
            series = normal(0.01)(random, 120);
            for (size_t step = 1; step < series.size(); step += 2) series[step] += 0.5;
            const auto second = patternOf(stepsOf(series));
            QVERIFY(second);
            QCOMPARE(second->period, 2);
        }
    }

    void driftCostsNoMoreThanItsRise() {
        Random random(9);
        std::vector<double> series = normal(0.002)(random, 120);
        allTheWay(0.1)(series);
        for (const size_t step : {5, 17, 31, 38, 52, 59, 66, 73, 85, 97}) series[step] += 3;
        const auto pattern = patternOf(stepsOf(series));
        QVERIFY(pattern);
        QCOMPARE(pattern->kind, PatternKind::Drift);
        QVERIFY2(pattern->costNs > 0 && pattern->costNs < pattern->excessNs,
                 qPrintable(QString("%1 of %2").arg(pattern->costNs).arg(pattern->excessNs)));
    }

    /// In growing steps, the last of every few is the longest, and the later half forms its own mode.
    void growingStepsAreADrift() {
        Random random(11);
        std::vector<double> series = normal(0.03)(random, 110);
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += step < 9 ? 0 : 2 + 0.05 * static_cast<double>(step);
        series[0] = 80;
        series[3] = 4;
        const auto pattern = patternOf(stepsOf(series));
        QVERIFY(pattern);
        QCOMPARE(pattern->kind, PatternKind::Drift);
    }

    /// However the later ones rise: most of the change is sudden.
    void jumpIsNoDrift() {
        Random random(5);
        std::vector<double> series = normal(0.03)(random, 54);
        for (size_t step = 0; step < series.size(); ++step)
            series[step] += step < 9 ? 0 : 10 + 0.05 * static_cast<double>(step);
        series[9] = 20;
        series[30] = 18;
        const auto pattern = patternOf(stepsOf(series));
        QVERIFY(!pattern || pattern->kind != PatternKind::Drift);
    }

    /// Also if steps grow or shrink in addition.
    void periodWithDriftStaysAPeriod() {
        for (const double slope : {0.02, -0.02}) {
            Random random(13);
            std::vector<double> series = normal(0.02)(random, 120);
            for (size_t step = 0; step < series.size(); ++step)
                series[step] += 8 + slope * static_cast<double>(step) + (step % 4 == 3 ? 1.0 : 0.0);
            const auto pattern = patternOf(stepsOf(series));
            QVERIFY(pattern);
            QCOMPARE(pattern->kind, PatternKind::Period);
            QCOMPARE(pattern->period, 4);
        }
    }

    void fewStepsHaveNoPattern() {
        QVERIFY(!patternOf({}));
        QVERIFY(!patternOf(stepsOf({1})));
        QVERIFY(!patternOf(stepsOf({1, 2, 1, 2, 1, 2, 1, 2})));
        QVERIFY(!patternOf(stepsOf(std::vector<double>(50, 1.0))));
    }

    /// All ranks have it because they wait; only the causing rank reports it.
    void patternIsReportedForItsOwnRank() {
        Random random(2);
        const std::vector<double> flat = normal(0.01)(random, 60);
        std::vector<double> series = flat;
        everyThird(0.35)(series);
        const RunSummary before = runOf({stepsOf(flat), stepsOf(flat), stepsOf(flat)});
        const RunSummary after = runOf({stepsOf(series, StepPart::ExposedCommunication),
                                        stepsOf(series, StepPart::ExposedCommunication), stepsOf(series)});
        const RunComparison comparison = compareRuns({before}, {after});
        QCOMPARE(comparison.answer.outcome, Outcome::Alike);
        QCOMPARE(comparison.patterns.size(), size_t{1});
        const PatternDifference& one = comparison.patterns.front();
        QCOMPARE(one.worker, std::string("rank 2, GPU 2"));
        QVERIFY(one.isCandidate);
        QCOMPARE(one.path, std::string("tokenize"));
        const QString sentence = QString::fromStdString(comparison.answer.sentence);
        QVERIFY2(sentence.contains("but only in the candidate every third step of rank 2, GPU 2 "
                                   "takes 1"),
                 qPrintable(sentence));
        QVERIFY2(sentence.contains("in tokenize"), qPrintable(sentence));
        // Swapped, it is the baseline's pattern; a pattern of both is no difference.
        const RunComparison back = compareRuns({after}, {before});
        QCOMPARE(back.patterns.size(), size_t{1});
        QVERIFY(!back.patterns.front().isCandidate);
        QVERIFY(compareRuns({after}, {after}).patterns.empty());
    }

    void halfOfSeveralRunsMustHaveThePattern() {
        Random random(3);
        const auto flat = [&] { return runOf({stepsOf(normal(0.01)(random, 60))}); };
        const auto uneven = [&] {
            std::vector<double> series = normal(0.01)(random, 60);
            everyThird(0.35)(series);
            return runOf({stepsOf(series)});
        };
        const std::vector<RunSummary> before{flat(), flat(), flat()};
        const auto found = comparePrograms(before, std::vector{uneven(), flat(), uneven()});
        QVERIFY(found);
        QCOMPARE(found->comparison.patterns.size(), size_t{1});
        QCOMPARE(found->comparison.patterns.front().pattern.period, 3);
        const auto none = comparePrograms(before, std::vector{flat(), flat(), uneven()});
        QVERIFY(none && none->comparison.patterns.empty());
    }
};

LANESCOPE_TEST(TestStepPatterns, NoApplication)
#include "tst_stepPatterns.moc"
