// SPDX-License-Identifier: Apache-2.0
#include "model/merge/fitClocks.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t ms = 1'000'000, second = 1'000'000'000;

/// A simulated clock: its reading at a true time.
struct Clock {
    double offsetNs = 0, drift = 0;
    std::vector<std::pair<double, double>> sets;  ///< Times and sizes of clock changes.

    /// The reading without clock changes.
    int64_t ran(double trueNs) const { return std::llround(trueNs + offsetNs + drift * trueNs); }
    int64_t shows(double trueNs) const {
        double setNs = 0;
        for (const auto& [atNs, byNs] : sets) setNs += trueNs >= atNs ? byNs : 0;
        return ran(trueNs) + std::llround(setNs);
    }
};

/// Simulated hosts whose clocks are off by up to 10 ms and drift by up to 20 ppm. They run
/// collectives whose ranks arrive up to a millisecond apart and end within some microseconds.
struct Job {
    explicit Job(size_t hosts, unsigned seed) : random(seed) {
        std::uniform_real_distribution<double> offset(-10.0 * ms, 10.0 * ms), drift(-20e-6, 20e-6);
        for (size_t host = 0; host < hosts; ++host) clocks.push_back({offset(random), drift(random), {}});
    }

    void run(int collectives, double lengthNs) {
        std::vector<uint32_t> all(clocks.size());
        for (uint32_t host = 0; host < all.size(); ++host) all[host] = host;
        for (int each = 0; each < collectives; ++each) collective(all, lengthNs * each / collectives);
    }

    void collective(const std::vector<uint32_t>& hosts, double atNs) {
        std::uniform_real_distribution<double> late(0, 1.0 * ms);
        std::exponential_distribution<double> delay(1.0 / 3000);
        std::vector<double> begins;
        for (size_t host = 0; host < hosts.size(); ++host) begins.push_back(atNs + late(random));
        const double endNs = *std::max_element(begins.begin(), begins.end()) + 150'000;
        CommonTime moment{.sightings = {}, .isCausal = true};
        for (size_t host = 0; host < hosts.size(); ++host) {
            const Clock& clock = clocks[hosts[host]];
            moment.sightings.push_back({hosts[host], clock.shows(begins[host]), clock.shows(endNs + delay(random))});
        }
        moments.push_back(std::move(moment));
    }

    /// A collective whose ranks end one after the other, always in the same order, like the hops of
    /// a ring or the levels of a tree.
    void inOrder(const std::vector<uint32_t>& hosts, double atNs, double hopNs, bool isTree) {
        std::uniform_real_distribution<double> late(0, 1.0 * ms);
        std::exponential_distribution<double> delay(1.0 / 6000);
        std::vector<double> begins;
        for (size_t host = 0; host < hosts.size(); ++host) begins.push_back(atNs + late(random));
        const double endNs = *std::max_element(begins.begin(), begins.end()) + 150'000;
        CommonTime moment{.sightings = {}, .isCausal = true};
        for (size_t host = 0; host < hosts.size(); ++host) {
            const double place = isTree ? std::floor(std::log2(host + 1.0)) : static_cast<double>(host % 2);
            const Clock& clock = clocks[hosts[host]];
            moment.sightings.push_back(
                {hosts[host], clock.shows(begins[host]), clock.shows(endNs + hopNs * place + delay(random))});
        }
        moments.push_back(std::move(moment));
    }

    /// A message, which the sender finishes shortly before the receiver.
    void message(uint32_t from, uint32_t to, double atNs) {
        std::uniform_real_distribution<double> late(0, 1.0 * ms);
        std::exponential_distribution<double> delay(1.0 / 3000);
        const double sendNs = atNs + late(random), receiveNs = atNs + late(random);
        const double endNs = std::max(sendNs, receiveNs) + 80'000;
        moments.push_back({{{from, clocks[from].shows(sendNs), clocks[from].shows(endNs - 1'500)},
                            {to, clocks[to].shows(receiveNs), clocks[to].shows(endNs + delay(random))}},
                           false});
    }

    /// A training: a ring over all hosts, trees in groups of four, and a pipeline of messages in both directions.
    void train(int steps, double lengthNs) {
        std::vector<uint32_t> all(clocks.size());
        for (uint32_t host = 0; host < all.size(); ++host) all[host] = host;
        for (int step = 0; step < steps; ++step) {
            const double atNs = lengthNs * step / steps;
            inOrder(all, atNs, 2'000, false);
            for (uint32_t first = 0; first < all.size(); first += 4)
                inOrder({first, first + 1, first + 2, first + 3}, atNs + 3.0 * ms, 2'000, true);
            for (uint32_t host = 0; host + 1 < all.size(); ++host) {
                message(host, host + 1, atNs + 6.0 * ms);
                message(host + 1, host, atNs + 9.0 * ms);
            }
        }
    }

    ClockFit fit() const { return fitClocks(static_cast<uint32_t>(clocks.size()), moments); }

    /// Maximum error of the fit during the job, except between the moments around a clock change.
    double errorNs(const ClockFit& fit, size_t host, double lengthNs) const {
        const FittedClock& fitted = fit.clocks[host];
        double worst = 0;
        for (int part = 0; part <= 200; ++part) {
            const double atNs = lengthNs * part / 200;
            const int64_t shown = clocks[host].shows(atNs);
            const bool isBetween =
                std::any_of(fitted.settings.begin(), fitted.settings.end(), [&](const ClockSetting& each) {
                    const int64_t slack = std::abs(each.byNs);
                    return shown > each.afterNs - slack && shown < each.beforeNs + slack;
                });
            if (isBetween) continue;
            worst = std::max(worst, std::abs(static_cast<double>(fitted.map.at(shown) - clocks[0].ran(atNs))));
        }
        return worst;
    }

    /// Changes a clock by 0.2 to 20 ms near the middle, in either direction.
    void set(size_t host, double lengthNs, bool isForward) {
        std::uniform_real_distribution<double> place(0.1, 0.9), size(std::log(0.2), std::log(20.0));
        clocks[host].sets.emplace_back(lengthNs * place(random), (isForward ? 1 : -1) * std::exp(size(random)) * ms);
    }

    /// Adds the error of each clock to `errors`; none may exceed the reported error.
    bool isWithin(const ClockFit& fit, double lengthNs, std::vector<double>& errors) const {
        bool isRight = true;
        for (size_t host = 0; host < clocks.size(); ++host) {
            errors.push_back(errorNs(fit, host, lengthNs));
            if (errors.back() <= static_cast<double>(fit.clocks[host].errorNs)) continue;
            qWarning("host %zu: %.0f ns off, and it says %lld", host, errors.back(),
                     static_cast<long long>(fit.clocks[host].errorNs));
            isRight = false;
        }
        return isRight;
    }

    std::mt19937 random;
    std::vector<Clock> clocks;
    std::vector<CommonTime> moments;
};

}  // namespace

class tst_fitClocks : public QObject {
    Q_OBJECT

  private slots:
    void sixteenHostsAreSynchronized() {
        std::vector<double> errors;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            constexpr double lengthNs = 20.0 * second;
            Job job(16, seed);
            job.run(300, lengthNs);
            const ClockFit fit = job.fit();
            QCOMPARE(test::listed(fit.violations, fit.causalTimes), "0 | 300");
            for (size_t host = 1; host < job.clocks.size(); ++host) {
                const double error = job.errorNs(fit, host, lengthNs);
                QVERIFY2(error <= static_cast<double>(fit.clocks[host].errorNs),
                         qPrintable(QString("seed %1, host %2: %3 ns off, and it says %4")
                                        .arg(seed)
                                        .arg(host)
                                        .arg(error)
                                        .arg(fit.clocks[host].errorNs)));
                QVERIFY(fit.clocks[host].errorNs < 20'000);
                QVERIFY(fit.clocks[host].slackNs->startNs <= 0 && fit.clocks[host].slackNs->endNs >= 0);
                errors.push_back(error);
            }
        }
        std::nth_element(errors.begin(), errors.begin() + 75, errors.end());
        qInfo("median error %.0f ns, greatest %.0f ns", errors[75], *std::max_element(errors.begin(), errors.end()));
        QVERIFY(errors[75] <= 5'000);
    }

    void treesRingsAndMessagesSynchronize() {
        std::vector<double> errors;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            constexpr double lengthNs = 20.0 * second;
            Job job(16, 100 + seed);
            job.train(60, lengthNs);
            const ClockFit fit = job.fit();
            for (size_t host = 1; host < job.clocks.size(); ++host) {
                errors.push_back(job.errorNs(fit, host, lengthNs));
                QVERIFY2(errors.back() <= static_cast<double>(fit.clocks[host].errorNs),
                         qPrintable(QString("seed %1, host %2: %3 ns off, and it says %4")
                                        .arg(seed)
                                        .arg(host)
                                        .arg(errors.back())
                                        .arg(fit.clocks[host].errorNs)));
                QVERIFY(fit.clocks[host].errorNs < 30'000);
            }
        }
        std::sort(errors.begin(), errors.end());
        qInfo("median error %.0f ns, greatest %.0f ns", errors[errors.size() / 2], errors.back());
        QVERIFY(errors[errors.size() / 2] <= 5'000);
    }

    void changedClockIsFittedBeforeAndAfter() {
        std::vector<double> errors;
        for (unsigned seed = 1; seed <= 30; ++seed) {
            constexpr double lengthNs = 20.0 * second;
            Job job(16, 200 + seed);
            const size_t set = seed % 16;  // also the first, which is the reference of the others
            job.set(set, lengthNs, seed % 2 == 0);
            job.train(60, lengthNs);
            const ClockFit fit = job.fit();
            QVERIFY2(job.isWithin(fit, lengthNs, errors), qPrintable(QString("seed %1").arg(seed)));
            QCOMPARE(fit.violations, 0u);
            for (size_t host = 0; host < job.clocks.size(); ++host) {
                QCOMPARE(fit.clocks[host].settings.size(), job.clocks[host].sets.size());
                QVERIFY(fit.clocks[host].errorNs < 40'000);
            }
            const auto [atNs, byNs] = job.clocks[set].sets.front();
            const ClockSetting found = fit.clocks[set].settings.front();
            QVERIFY(std::abs(static_cast<double>(found.byNs) - byNs) < 40'000);
            QVERIFY(found.afterNs <= job.clocks[set].shows(atNs - 1));
            QVERIFY(found.beforeNs >= job.clocks[set].shows(atNs));
        }
        std::sort(errors.begin(), errors.end());
        qInfo("median error %.0f ns, greatest %.0f ns", errors[errors.size() / 2], errors.back());
        QVERIFY(errors[errors.size() / 2] <= 5'000);
    }

    void severalClocksMayChangeSeveralTimes() {
        std::vector<double> errors;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            constexpr double lengthNs = 60.0 * second;
            Job job(8, 300 + seed);
            job.clocks[2].sets = {{15.0 * second, 4.0 * ms}, {40.0 * second, -7.0 * ms}};
            job.clocks[5].sets = {{28.0 * second, -1.0 * ms}};
            job.train(180, lengthNs);
            const ClockFit fit = job.fit();
            QVERIFY2(job.isWithin(fit, lengthNs, errors), qPrintable(QString("seed %1").arg(seed)));
            for (size_t host = 0; host < job.clocks.size(); ++host)
                QCOMPARE(fit.clocks[host].settings.size(), job.clocks[host].sets.size());
        }
        std::sort(errors.begin(), errors.end());
        QVERIFY(errors[errors.size() / 2] <= 5'000);
    }

    void secondOfTwoClocksIsTheChangedOne() {
        std::vector<double> errors;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            constexpr double lengthNs = 20.0 * second;
            Job job(2, 400 + seed);
            job.set(1, lengthNs, seed % 2 == 0);
            job.run(200, lengthNs);
            const ClockFit fit = job.fit();
            QVERIFY2(job.isWithin(fit, lengthNs, errors), qPrintable(QString("seed %1").arg(seed)));
            QVERIFY(fit.clocks[0].settings.empty());
            QCOMPARE(fit.clocks[1].settings.size(), size_t{1});
        }
    }

    void unchangedClocksAreNotReported_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"even", "training", "pairs", "wandering", "inconsistent times", "few"})
            QTest::newRow(kind) << kind;
    }
    void unchangedClocksAreNotReported() {
        QFETCH(QString, kind);
        for (unsigned seed = 1; seed <= 40; ++seed) {
            constexpr double lengthNs = 20.0 * second;
            Job job(kind == "pairs" ? 2 : 8, 500 + seed);
            if (kind == "training")
                job.train(60, lengthNs);
            else
                job.run(kind == "few" ? 12 : 300, lengthNs);
            // Temperature drift: microseconds over seconds, at random.
            if (kind == "wandering") {
                std::normal_distribution<double> walk(0, 300);
                std::vector<double> at(job.clocks.size());
                for (CommonTime& moment : job.moments)
                    for (Sighting& each : moment.sightings) {
                        at[each.clock] += walk(job.random);
                        each.beginNs += std::llround(at[each.clock]);
                        each.endNs += std::llround(at[each.clock]);
                    }
            }
            // A tenth of mismatched moments, in groups, as if a file numbers from another start.
            if (kind == "inconsistent times")
                for (size_t each = 0; each < job.moments.size(); ++each) {
                    job.moments[each].isCausal = false;
                    if (each % 40 < 4) job.moments[each].sightings[each / 40 % 8].endNs += 30 * ms;
                }
            const ClockFit fit = job.fit();
            for (size_t host = 0; host < job.clocks.size(); ++host)
                QVERIFY2(fit.clocks[host].settings.empty(),
                         qPrintable(QString("seed %1, host %2").arg(seed).arg(host)));
        }
    }

    void timesOfAChangedClockKeepTheirOrder() {
        ClockMap map{{100, 0, 0}, {{1'000, {-900, 0, 0}}, {5'000, {300, 0, 0}}}};
        QCOMPARE(map.at(999), int64_t{1'099});
        QCOMPARE(map.at(1'000), int64_t{1'100});  // set forward: the repeated time occurs once
        QCOMPARE(test::listed(map.at(1'500), map.at(3'000), map.at(4'999), map.at(5'000)), "1100 | 2100 | 4099 | 5300");
        for (int64_t at = 0, last = map.at(-1); at < 7'000; ++at) {
            QVERIFY(map.at(at) >= last);
            last = map.at(at);
        }
        ClockMap moved = map;
        moved.countFrom(400);
        moved.shift(7);
        for (int64_t at = 0; at < 7'000; ++at) QCOMPARE(moved.at(at - 400), map.at(at) + 7);
    }

    void inconsistentTimesCountLittle() {
        constexpr double lengthNs = 10.0 * second;
        Job job(4, 7);
        job.run(200, lengthNs);
        // Some mismatched moments.
        for (size_t each = 0; each < job.moments.size(); each += 10) {
            job.moments[each].isCausal = false;
            job.moments[each].sightings[each / 10 % 4].endNs += 30 * ms;
        }
        const ClockFit fit = job.fit();
        for (size_t host = 1; host < 4; ++host)
            QVERIFY(job.errorNs(fit, host, lengthNs) <= static_cast<double>(fit.clocks[host].errorNs));
    }

    void clockWithoutSharedEventsIsNotFitted() {
        Job job(4, 3);
        for (int each = 0; each < 50; ++each) {
            job.collective({0, 1}, each * 0.1 * second);
            job.collective({2, 3}, each * 0.1 * second);
        }
        const ClockFit fit = job.fit();
        QCOMPARE(test::listed(fit.clocks[1].moments, fit.clocks[2].moments, fit.clocks[3].moments), "50 | 0 | 0");
        QCOMPARE(fit.clocks[3].map.at(5), int64_t{5});
    }

    void hostsMayMeetOnlyInPairs() {
        constexpr double lengthNs = 10.0 * second;
        Job job(6, 5);
        for (int each = 0; each < 600; ++each) {
            const auto first = static_cast<uint32_t>(each % 5);
            job.collective({first, first + 1}, lengthNs * each / 600);
        }
        const ClockFit fit = job.fit();
        for (size_t host = 1; host < 6; ++host)
            QVERIFY(job.errorNs(fit, host, lengthNs) <= static_cast<double>(fit.clocks[host].errorNs));
        // Distant clocks are less certain.
        QVERIFY(fit.clocks[5].errorNs > fit.clocks[1].errorNs);
    }

    void impossibleTimesAreCountedAndRepaired() {
        std::vector<CommonTime> moments;
        // The event ends on the second clock long before it ends on the first.
        for (int64_t each = 0; each < 20; ++each)
            moments.push_back({{{0, each * ms, each * ms + 100'000}, {1, each * ms, each * ms + 50'000}}, true});
        // The second begins as it ends on the first, which leaves no room to shift.
        moments.push_back({{{0, 21 * ms, 21 * ms + 40'000}, {1, 21 * ms + 30'000, 21 * ms + 90'000}}, true});
        QCOMPARE(fitClocks(2, moments).violations, 0u);
        // Two contradictory moments cannot both be true.
        moments.push_back({{{0, 22 * ms, 22 * ms + 1'000}, {1, 22 * ms + 90'000, 22 * ms + 91'000}}, true});
        moments.push_back({{{0, 23 * ms + 90'000, 23 * ms + 91'000}, {1, 23 * ms, 23 * ms + 1'000}}, true});
        const ClockFit contradicted = fitClocks(2, moments);
        QVERIFY(contradicted.violations >= 1);
        QCOMPARE(contradicted.causalTimes, 23u);
    }

    void noEventsGiveNoFit() {
        QVERIFY(fitClocks(0, {}).clocks.empty());
        const ClockFit fit = fitClocks(3, {});
        QCOMPARE(fit.clocks.size(), size_t{3});
        QCOMPARE(fit.clocks[2].moments, 0u);
        QVERIFY(!fit.clocks[2].slackNs);
    }
};

LANESCOPE_TEST(tst_fitClocks, NoApplication)
#include "tst_fitClocks.moc"
