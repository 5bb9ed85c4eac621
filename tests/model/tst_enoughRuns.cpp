// SPDX-License-Identifier: Apache-2.0
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

Draw modes(double distance, double share, double spread) {
    return [=](std::mt19937& random) {
        const bool isOther = std::uniform_real_distribution<double>(0, 1)(random) < share;
        return (isOther ? distance : 0) + std::normal_distribution<double>(0, spread)(random);
    };
}

Draw heavyTails(double spread) {
    return [spread](std::mt19937& random) { return spread * std::student_t_distribution<double>(3)(random); };
}

struct Stopped {
    Claim claim;
    int rounds = 0;
};

/// Runs the stopping rule of `bench` on such runs; the candidate's take longer by `shift`.
Stopped bench(const Draw& draw, std::mt19937& random, int most, double shift) {
    RunMedians medians;
    std::vector<Claim> claims;
    for (int round = 1; round <= most; ++round) {
        medians.baseline.push_back(50e6 * std::exp(draw(random)));
        medians.candidate.push_back(50e6 * std::exp(draw(random) + shift));
        if (round < 2) continue;
        claims.push_back(judgeRuns(medians));
        if (areEnough(claims)) return {claims.back(), round};
    }
    return {claims.back(), most};
}

Claim claimOf(int64_t runs, double reach) {
    Claim claim;
    claim.unit = ClaimUnit::Runs;
    claim.baselineRuns = claim.candidateRuns = runs;
    claim.lowPercent = 7 - reach;
    claim.highPercent = 7 + reach;
    return claim;
}

}  // namespace

class TestEnoughRuns : public QObject {
    Q_OBJECT

  private slots:
    void twoPreciseRoundsInARowEndIt() {
        QVERIFY(!areEnough({}));
        const auto enough = [](std::vector<Claim> claims) { return areEnough(claims); };
        QVERIFY(!enough({claimOf(6, 0.5)}) && enough({claimOf(5, 0.9), claimOf(6, 0.9)}));
        QVERIFY(!enough({claimOf(5, 1.1), claimOf(6, 0.9)}) && !enough({claimOf(5, 0.9), claimOf(6, 1.1)}));
        QVERIFY(!enough({claimOf(4, 0.1), claimOf(5, 0.1)}));
    }

    void obviousDifferenceDoesNotEndIt() { QVERIFY(!areEnough(std::vector{claimOf(8, 1.5), claimOf(9, 1.5)})); }

    void stoppingRuleMakesNoFalseClaims_data() {
        const lanescope::test::Rows<Draw, int> row;
        const auto add = [&row](const char* name, const Draw& draw, int most = 10) {
            row(QString::asprintf("%s, %d rounds at most", name, most), draw, most);
        };
        add("normal, 0.5 %", normal(0.005));
        add("normal, 0.8 %", normal(0.008));
        add("normal, 1 %", normal(0.01));
        add("normal, 1.5 %", normal(0.015));
        add("normal, 1.5 %", normal(0.015), 20);
        add("normal, 2 %", normal(0.02), 20);
        add("two modes, 3 %", modes(0.03, 0.5, 0.003));
        add("a rare mode, 5 %", modes(0.05, 0.2, 0.003));
        add("heavy tails, 1 %", heavyTails(0.01));
    }
    void stoppingRuleMakesNoFalseClaims() {
        const auto [draw, most] = lanescope::test::row<Draw, int>();
        std::mt19937 random(42);
        constexpr int times = 2000;
        const double shift = std::log(1.03);
        int claimed = 0, covered = 0, rounds = 0;
        for (int time = 0; time < times; ++time) {
            const Stopped equal = bench(draw, random, most, 0);
            claimed += equal.claim.outcome != Outcome::WithinNoise ? 1 : 0;
            rounds += equal.rounds;
            const Claim changed = bench(draw, random, most, shift).claim;
            covered += changed.lowPercent <= 3 && changed.highPercent >= 3 ? 1 : 0;
        }
        const double claims = double(claimed) / times, coverage = double(covered) / times;
        qInfo("%s: claims of no change %.3f, coverage %.3f, %.1f rounds", QTest::currentDataTag(), claims, coverage,
              double(rounds) / times);
        QVERIFY(claims <= 0.065);
        QVERIFY(coverage >= 0.93);
    }
};

LANESCOPE_TEST(TestEnoughRuns, NoApplication)
#include "tst_enoughRuns.moc"
