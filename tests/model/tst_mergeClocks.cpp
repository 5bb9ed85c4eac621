// SPDX-License-Identifier: Apache-2.0
#include "model/merge/mergeTraces.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/notes.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

constexpr int64_t us = 1'000, ms = 1'000'000;
constexpr int64_t startUtcNs = int64_t{1'700'000'000} * 1'000'000'000;

/// Reading of a clock at a true time.
using Clock = std::function<int64_t(int64_t)>;

Clock aheadBy(int64_t offNs) {
    return [offNs](int64_t trueNs) { return trueNs + offNs; };
}
Clock setBy(int64_t byNs, int64_t atNs, int64_t offNs) {
    return [=](int64_t trueNs) { return trueNs + offNs + (trueNs >= atNs ? byNs : 0); };
}

/// SIMULATED: one of two ranks, in times of its own clock.
struct Rank {
    Rank(int number, std::string_view host, Clock clock) : rank(number), shows(std::move(clock)) {
        sim.processes()[0].rank = number;
        sim.processes()[0].worldSize = 2;
        sim.description().facts.host = host;
        sim.description().startUtcNs = startUtcNs;
    }
    /// A call 30 us before its kernel.
    void call(std::string_view operation, TimeRange kernel, const NcclFacts& facts) {
        sim.addNccl(sim.defaultThread(), operation, 1 << 20, shows(kernel.startNs - 30 * us),
                    shows(kernel.startNs - 5 * us), SimulatedTrace::someCommunicator, facts);
        sim.launch(sim.defaultThread(), sim.defaultStream(), "ncclDevKernel", shows(kernel.startNs - 20 * us),
                   shows(kernel.startNs), shows(kernel.endNs));
    }
    TracePtr finish() { return sim.finish("rank" + std::to_string(rank) + ".sqlite"); }

    int rank;
    Clock shows;
    SimulatedTrace sim;
};

/// A collective every 20 ms, at which ranks arrive at different times.
TracePtr collectives(int rank, std::string_view host, Clock clock) {
    Rank made(rank, host, std::move(clock));
    std::mt19937 random(42);  // the same for both
    std::uniform_int_distribution<int64_t> late(0, 400 * us), delay(0, 2 * us);
    for (int each = 0; each < 80; ++each) {
        const int64_t begins[2] = {late(random), late(random)}, ends[2] = {0, delay(random)};
        const int64_t atNs = each * 20 * ms + 100 * ms;
        NcclFacts facts;
        facts.rank = rank;
        facts.rankCount = 2;
        made.call("AllReduce", {atNs + begins[rank], atNs + std::max(begins[0], begins[1]) + 90 * us + ends[rank]},
                  facts);
    }
    return made.finish();
}

/// Messages in both directions, like those of pipeline stages. With `waits`, the first side waits,
/// half a millisecond at most; otherwise a buffer stores the data until the other side arrives.
TracePtr messages(int rank, std::string_view host, Clock clock, bool waits, bool isNumbered) {
    Rank made(rank, host, std::move(clock));
    std::mt19937 random(43);  // the same for both
    std::uniform_int_distribution<int64_t> late(0, 500 * us), takes(20 * us, 22 * us);
    for (int each = 0; each < 200; ++each) {
        const int64_t atNs = each * 5 * ms, distanceNs = late(random), tookNs = takes(random);
        const bool isFirst = (each / 2 % 2 == 0) == (rank == 0);
        const int64_t beginNs = atNs + (isFirst ? 0 : distanceNs);
        NcclFacts facts;
        facts.rankCount = 2;
        if (isNumbered) facts.rank = rank;
        facts.peer = 1 - rank;
        made.call(each % 2 == rank ? "Send" : "Recv", {beginNs, waits ? atNs + distanceNs + tookNs : beginNs + tookNs},
                  facts);
    }
    return made.finish();
}

TracePtr merged(const std::vector<TracePtr>& traces) {
    Result<TraceBuilder> builder = mergeTraces(traces);
    if (!builder) qFatal("%s", builder.error().sentence.c_str());
    return builder->take();
}

/// Maximum distance of the kernel ends of each moment, without the `but` largest.
int64_t maxSpreadNs(const Trace& trace, size_t but = 0) {
    std::map<uint32_t, std::vector<int64_t>> ends;  // by process
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        ends[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.endNs[row]);
    std::vector<int64_t> spreads;
    for (size_t each = 0; each < ends[0].size(); ++each) spreads.push_back(std::abs(ends[0][each] - ends[1][each]));
    std::sort(spreads.begin(), spreads.end());
    return spreads[spreads.size() - 1 - but];
}

std::string factOf(const Process& process, std::string_view name) {
    for (const Property& each : process.facts->others)
        if (each.name == name) return each.value;
    return {};
}

bool isReported(const Trace& trace, std::string_view begin, std::string_view word = "") {
    return std::any_of(trace.health.begin(), trace.health.end(), [&](const HealthNote& note) {
        return note.sentence.starts_with(begin) && note.sentence.find(word) != std::string::npos;
    });
}

}  // namespace

class tst_mergeClocks : public QObject {
    Q_OBJECT

  private slots:
    void clocksAreSynchronizedByMessages() {
        for (const bool isNumbered : {true, false}) {
            const TracePtr whole = merged({messages(0, "a", aheadBy(0), true, isNumbered),
                                           messages(1, "b", aheadBy(-6'543'210), true, isNumbered)});
            QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("collectives"));
            const int64_t offsetNs = std::stoll(factOf(whole->processes[1], "clock.offsetNs"));
            const int64_t errorNs = clockErrorNs(whole->processes[1]);
            QVERIFY(std::abs(offsetNs - 6'543'210) <= errorNs && errorNs < 5 * us);
            QVERIFY(maxSpreadNs(*whole) <= 2 * us);
            QVERIFY(isReported(*whole, "The clock of b was synchronized with that of a by ", " messages: "));
        }
    }

    void bufferedMessagesDoNotSynchronize() {
        const TracePtr whole =
            merged({messages(0, "a", aheadBy(0), false, true), messages(1, "b", aheadBy(6 * ms), false, true)});
        QCOMPARE(factOf(whole->processes[1], "clock.method"), std::string("base-time"));
        QVERIFY(hasNote(*whole, HealthCode::ClocksNotAligned));
    }

    void changedClockIsRepairedAndReported_data() {
        QTest::addColumn<int>("who");
        QTest::addColumn<qint64>("byNs");
        QTest::newRow("forward") << 1 << qint64{5 * ms};
        QTest::newRow("back") << 1 << qint64{-3 * ms};
    }
    void changedClockIsRepairedAndReported() {
        QFETCH(int, who);
        QFETCH(qint64, byNs);
        constexpr int64_t atNs = 811 * ms;
        const TracePtr whole =
            merged({collectives(0, "a", aheadBy(0)), collectives(1, "b", setBy(byNs, atNs, 2 * ms))});
        const Process& process = whole->processes[static_cast<size_t>(who)];
        std::istringstream set(factOf(process, "clock.set"));
        int64_t foundNs = 0, afterNs = 0, beforeNs = 0, offsetNs = 0;
        QVERIFY(set >> foundNs >> afterNs >> beforeNs >> offsetNs);
        QVERIFY(std::abs(foundNs - byNs) < 20 * us);
        QVERIFY(afterNs < beforeNs && beforeNs - afterNs <= 25 * ms);
        // No event runs during the change.
        QVERIFY(maxSpreadNs(*whole) <= 10 * us);
        QVERIFY(isReported(*whole, "The clock of b was set by " + std::string(byNs > 0 ? "+" : "-")));
        QVERIFY(!hasNote(*whole, HealthCode::ClocksContradicted));
        for (uint32_t row = 0; row < whole->kernels.size(); ++row)
            QVERIFY(whole->kernels.startNs[row] <= whole->kernels.endNs[row]);
    }
};

LANESCOPE_TEST(tst_mergeClocks, NoApplication)
#include "tst_mergeClocks.moc"
