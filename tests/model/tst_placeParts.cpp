// SPDX-License-Identifier: Apache-2.0
#include "model/format/GlobalId.h"
#include "model/format/factNames.h"
#include "model/merge/mergeTraces.h"
#include "model/merge/placeParts.h"
#include "model/trace/processes.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

/// A rank of host "box", and two workers that it started: only samplers recorded these, without a boot id.
TracePtr rankWithWorkers(int rank, std::string_view boot) {
    SimulatedTrace sim;
    const auto pid = static_cast<uint32_t>(100 + rank);
    const uint32_t process = sim.addProcess(pid, "python3", rank);
    sim.processes()[process].facts.edit().bootId = boot;
    sim.launch(sim.addThread(process, pid), sim.addStream(process, sim.addGpu(), 7), "gemm", 0, 10'000, 60'000);
    const uint32_t worker = sim.addProcess(pid + 50, "python3", {});
    sim.addNvtx(sim.addThread(worker, pid + 50), "load", 0, 50'000);
    // The process of simulated traces has no event here.
    sim.processes()[0].pid = pid + 100;
    sim.processes()[0].globalPid = globalPid(pid + 100);
    for (const uint32_t each : {0u, worker}) sim.processes()[each].facts.edit().parentPid = pid;
    sim.description().facts.host = "box";
    sim.description().startUtcNs = int64_t{1'700'000'000} * 1'000'000'000;
    SamplerFacts samplers;
    samplers.threads = "1 % of a core";
    sim.description().facts.samplers.push_back(samplers);
    return sim.finish("rank" + std::to_string(rank) + ".sqlite");
}

/// Names of the samplers of the merged traces; empty if the traces cannot be merged.
std::vector<std::string> samplersOf(const std::vector<TracePtr>& parts) {
    std::vector<std::string> names;
    auto builder = mergeTraces(parts, {}, {});
    if (!builder) return names;
    const TracePtr merged = builder->take();
    for (const SamplerFacts& each : merged->facts.samplers) names.push_back(each.host);
    return names;
}

}  // namespace

class tst_placeParts : public QObject {
    Q_OBJECT

  private slots:
    void sampledProcessIsMatchedToItsHost() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a")};
        const auto placed = placeParts(ranks);
        QVERIFY(placed.has_value());
        QCOMPARE(placed->clocks.size(), size_t(1));
        QVERIFY(placed->hosts.empty());
        for (const auto& part : placed->parts)
            for (const int64_t id : part.globalPids) QCOMPARE(hostOf(id), 0u);
    }

    void twoBootsAreTwoMachines() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "b")};
        const auto placed = placeParts(ranks);
        QVERIFY(placed.has_value());
        QCOMPARE(placed->clocks.size(), size_t(2));
        for (const auto& part : placed->parts)
            for (const int64_t id : part.globalPids) QCOMPARE(hostOf(id), hostOf(part.globalPids.front()));
        QVERIFY(hostOf(placed->parts[0].globalPids[0]) != hostOf(placed->parts[1].globalPids[0]));
    }

    void workerServesTheRankThatStartedIt() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a")};
        auto builder = mergeTraces(ranks, {}, {});
        QVERIFY(builder.has_value());
        const TracePtr merged = builder->take();
        const auto served = ranksServed(*merged);
        for (uint32_t process = 0; process < merged->processes.size(); ++process) {
            QVERIFY(served[process].has_value());
            QCOMPARE(static_cast<uint32_t>(*served[process]), merged->processes[process].pid % 50);
        }
    }

    /// None is dropped, whatever the file names.
    void samplersOfOneNameAreNumbered() {
        const std::vector<TracePtr> same{rankWithWorkers(0, "a"), rankWithWorkers(0, "b"), rankWithWorkers(0, "c")};
        QCOMPARE(samplersOf(same), (std::vector<std::string>{"", "box, rank 0", "box, rank 0 (2)"}));
    }

    void samplersOfOneHostAreDistinguishedByRank() {
        const std::vector<TracePtr> ranks{rankWithWorkers(0, "a"), rankWithWorkers(1, "a"), rankWithWorkers(2, "a")};
        QCOMPARE(samplersOf(ranks), (std::vector<std::string>{"", "box, rank 1", "box, rank 2"}));
    }
};

LANESCOPE_TEST(tst_placeParts, NoApplication)
#include "tst_placeParts.moc"
