// SPDX-License-Identifier: Apache-2.0
#include "model/bisect/ChangeSearch.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::bisect;

namespace {

constexpr size_t commits = 64;

/// A simulated history. Draws like the page of the folder.
class History {
  public:
    History(std::mt19937_64& random, bool hasChange, bool hasModes) : random_(random) {
        effect_ = hasChange ? std::exp(between(std::log(0.01), std::log(0.10))) : 0;
        noise_ = std::exp(between(std::log(0.003), std::log(0.05)));
        within_ = hasModes ? noise_ / std::sqrt(1 + distance_ * distance_ * share_ * (1 - share_)) : noise_;
        gap_ = hasModes ? distance_ * within_ : 0;
        culprit = 1 + random_() % commits;
        isBroken.assign(commits + 1, false);
        for (size_t state = 1; state < commits; ++state) isBroken[state] = between(0, 1) < 0.1;
    }

    double run(size_t state) {
        const double mode = gap_ > 0 && between(0, 1) < share_ ? gap_ : 0;
        const double spread = std::normal_distribution<double>(0, within_)(random_) + mode - gap_ * share_;
        return 50e6 * (1 + (state >= culprit ? effect_ : 0)) * (1 + spread);
    }
    InformationBound bound() const {
        const auto places = static_cast<double>(std::ranges::count(isBroken, false)) - 1;
        return informationBound(places, effect_ > 0 ? effect_ : 0.01, noise_);
    }

    size_t culprit = 0;
    std::vector<bool> isBroken;

  private:
    double between(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

    static constexpr double share_ = 0.3, distance_ = 3;
    std::mt19937_64& random_;
    double effect_ = 0, noise_ = 0, within_ = 0, gap_ = 0;
};

ChangeSearch searched(History& history) {
    constexpr size_t maxRuns = 100'000;
    ChangeSearch search(commits + 1);
    while (!search.isOver() && search.runs() < maxRuns) {
        const size_t state = search.next();
        if (history.isBroken[state])
            search.exclude(state);
        else
            search.addRun(state, history.run(state));
    }
    return search;
}

/// Adds exact runs of a history whose states from `culprit` on take 10 % longer.
ChangeSearch exact(size_t states, size_t culprit) {
    ChangeSearch search(states);
    for (double noise = 1e-6; !search.isOver(); noise = -noise) {
        const size_t state = search.next();
        search.addRun(state, (state >= culprit ? 110 : 100) + noise);
    }
    return search;
}

}  // namespace

class tst_ChangeSearch : public QObject {
    Q_OBJECT

  private slots:
    void simulatedHistoriesLeadToTheirCommit() {
        std::mt19937_64 random(20261129);
        constexpr int histories = 2000;
        int right = 0;
        double runs = 0, bound = 0, ratio = 0;
        for (int number = 0; number < histories; ++number) {
            History history(random, true, number % 2 == 1);
            const ChangeSearch search = searched(history);
            QVERIFY(search.isOver());
            runs += static_cast<double>(search.runs());
            bound += history.bound().total();
            ratio += static_cast<double>(search.runs()) / history.bound().total() / histories;
            if (search.state() != SearchState::Found) continue;
            const ChangePlace place = search.likeliest();
            right += place.before < history.culprit && history.culprit <= place.state ? 1 : 0;
        }
        qInfo("right: %d of %d, runs to the bound: %.2f in the mean, %.2f in the sum", right, histories, ratio,
              runs / bound);
        QVERIFY2(right >= 0.95 * histories, qPrintable(QString::number(right)));
        QVERIFY2(ratio <= 1.5, qPrintable(QString::number(ratio)));
    }

    void unchangedHistoriesAreNotBlamed() {
        std::mt19937_64 random(11);
        constexpr int histories = 1000;
        int blamed = 0;
        double ratio = 0;
        for (int number = 0; number < histories; ++number) {
            History history(random, false, number % 2 == 1);
            const ChangeSearch search = searched(history);
            QVERIFY(search.isOver());
            blamed += search.state() == SearchState::Found ? 1 : 0;
            ratio += static_cast<double>(search.runs()) / history.bound().proof / histories;
        }
        qInfo("blamed: %d of %d, runs to the bound of the proof: %.2f", blamed, histories, ratio);
        QVERIFY2(blamed <= 0.05 * histories, qPrintable(QString::number(blamed)));
        QVERIFY2(ratio <= 1.5, qPrintable(QString::number(ratio)));
    }

    void exactRunsNeedOneQuestionPerHalving() {
        for (size_t culprit = 1; culprit <= commits; ++culprit) {
            const ChangeSearch search = exact(commits + 1, culprit);
            QCOMPARE(search.state(), SearchState::Found);
            QCOMPARE(search.likeliest().state, culprit);
            QVERIFY2(search.runs() <= 8 + 7, qPrintable(QString::number(search.runs())));
            QVERIFY(std::abs(search.change().share - 0.1) < 1e-3);
        }
    }

    void twoStatesNeedTheProofOnly() {
        const ChangeSearch search = exact(2, 1);
        QCOMPARE(search.state(), SearchState::Found);
        QCOMPARE(test::listed(search.runs(), search.likeliest().state), "8 | 1");
    }

    void endsAlternate() {
        ChangeSearch search(10);
        std::vector<size_t> order;
        for (int run = 0; run < 8; ++run) {
            order.push_back(search.next());
            search.addRun(order.back(), order.back() == 0 ? 100 : 120 + run % 3);
        }
        QCOMPARE(order, std::vector<size_t>({0, 9, 9, 0, 0, 9, 9, 0}));
    }

    void brokenStatesWidenThePlace() {
        ChangeSearch search(9);
        for (double noise = 0.1; !search.isOver(); noise = -noise) {
            const size_t state = search.next();
            if (state >= 3 && state <= 5)
                search.exclude(state);
            else
                search.addRun(state, (state >= 4 ? 110 : 100) + noise);
        }
        QCOMPARE(search.state(), SearchState::Found);
        QCOMPARE(test::listed(search.likeliest().before, search.likeliest().state), "2 | 6");
    }

    void fasterEndIsReported() {
        ChangeSearch search(5);
        for (double noise = 0.1; !search.isOver(); noise = -noise) {
            const size_t state = search.next();
            search.addRun(state, (state > 0 ? 90 : 100) + noise);
        }
        QCOMPARE(search.state(), SearchState::OtherSide);
        QVERIFY(search.change().share < -0.08);
    }

    void controlComparesTheFirstEndWithItself() {
        ChangeSearch search(3);
        for (const double value : {100.0, 101.0, 100.5, 100.5}) {
            search.addRun(0, value);
            search.addRun(2, value + 10);
        }
        const auto control = search.control();
        QVERIFY(control && control->low < 0 && control->high > 0);
        QVERIFY(std::abs(control->share - 0.5 / 100.5) < 1e-9);
    }

    void driftIsSeenInTheRunsOfTheNeighbours() {
        // All states are equal, and the machine becomes 10 % slower between the proof and the search.
        ChangeSearch search(9);
        for (double noise = 0.1; search.state() == SearchState::Proof; noise = -noise) {
            const size_t state = search.next();
            search.addRun(state, (state > 0 ? 110 : 100) + noise);
        }
        for (double noise = 0.1; !search.isOver(); noise = -noise) search.addRun(search.next(), 110 + noise);
        QCOMPARE(search.likeliest().state, size_t{1});
        search.addRun(0, 110.1);
        search.addRun(0, 109.9);
        QVERIFY(search.runsSinceProof(0) >= 2);
        for (const double value : {110.1, 109.9}) search.addRun(1, value);
        const auto own = search.changeBetween(0, 1);
        QVERIFY(own && own->high < search.change().low);
        QVERIFY(!search.changeBetween(0, 8));
    }

    void expectedRunsFallWithTheUncertainty() {
        ChangeSearch search(65);
        double noise = 1, last = 1e9;
        for (; search.state() == SearchState::Proof; noise = -noise) {
            const size_t state = search.next();
            search.addRun(state, (state > 0 ? 110 : 100) + noise);
        }
        QCOMPARE(search.likelyPlaces(), size_t{61});
        for (; !search.isOver(); noise = -noise) {
            QVERIFY(search.expectedRuns() <= last + 1);
            last = search.expectedRuns();
            const size_t state = search.next();
            search.addRun(state, (state >= 20 ? 110 : 100) + noise);
        }
        QCOMPARE(test::listed(search.likeliest().state, search.likelyPlaces()), "20 | 1");
    }

    void metricThatAppearsIsRelativeToTheLastEnd() {
        ChangeSearch search(3);
        for (double noise = 0.01; !search.isOver(); noise = -noise) {
            const size_t state = search.next();
            search.addRun(state, state >= 1 ? 5 + noise : 0);
        }
        QCOMPARE(search.state(), SearchState::Found);
        QVERIFY(std::abs(search.change().share - 1) < 0.01);
    }

    void capacityIsOneBitForDistantAnswersAndSmallForNearOnes() {
        QVERIFY(std::abs(informationBound(64, 1, 0.01).search - (0.95 * std::log2(64) - 0.2864)) < 1e-3);
        // d²/8s² nats for small distances.
        const double near = informationBound(64, 0.05, 1).search;
        QVERIFY(std::abs(near - (0.95 * std::log(64) - 0.19852) / (0.0025 / 8)) < 0.01 * near);
    }
};

LANESCOPE_TEST(tst_ChangeSearch, NoApplication)
#include "tst_ChangeSearch.moc"
