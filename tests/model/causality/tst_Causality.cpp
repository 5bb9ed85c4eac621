// SPDX-License-Identifier: Apache-2.0
#include "model/causality/CausalGraph.h"
#include "model/causality/StepReplay.h"
#include "model/causality/buildGraph.h"
#include "model/trace/kinds/eventFacts.h"
#include "tests/model/causality/RandomProgram.h"
#include "tests/support/SimulatedTrace.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::causality;

namespace {

CausalGraph graphOf(const Trace& trace) {
    const StatesOfThreads states(trace);
    return buildCausalGraph({trace, states, {}}, {INT64_MIN / 2, INT64_MAX / 2});
}

/// Returns the first difference between the ends of a run's work and those of a replay; empty if there is none.
std::string firstDifference(const RandomProgram::Run& run, const std::map<RandomProgram::Key, EventRef>& events,
                            const Trace& trace, const CausalGraph& graph, const std::vector<int64_t>& ends) {
    std::map<EventRef, CausalGraph::Node> nodes;  // the last node: a collective ends after its kernel's start
    for (CausalGraph::Node node = 0; node < graph.size(); ++node)
        if (graph.event[node].isValid()) nodes[graph.event[node]] = node;
    std::vector<size_t> order(run.all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t each) { return !run.all[each].isWork; });
    std::ranges::stable_sort(order, {}, [&](size_t each) { return *run.all[each].endNs; });
    for (const size_t each : order) {
        const EventRef event = events.at(RandomProgram::keyOf(run.all[each]));
        const auto node = nodes.find(event);
        if (node == nodes.end()) return "no node for " + trace.nameOf(event);
        const int64_t isNs = ends[node->second], shouldNs = *run.all[each].endNs;
        if (isNs == shouldNs) continue;
        return trace.nameOf(event) + " of rank " + std::to_string(run.all[each].rank) + ", stream " +
               std::to_string(run.all[each].stream) + ", recorded start " +
               std::to_string(graph.startNs[node->second]) + ": ends at " + std::to_string(isNs) + ", not " +
               std::to_string(shouldNs);
    }
    return {};
}

}  // namespace

class TestCausality : public QObject {
    Q_OBJECT

  private slots:
    void replaysEqualThePlainSimulator() {
        const char* asked = std::getenv("LANESCOPE_CAUSALITY_PROGRAMS");
        const uint32_t programs = asked ? static_cast<uint32_t>(std::atoi(asked)) : 1000;
        const char* first = std::getenv("LANESCOPE_CAUSALITY_FIRST");
        uint32_t failures = 0, replays = 0;
        for (uint32_t seed = first ? static_cast<uint32_t>(std::atoi(first)) : 0, end = seed + programs; seed < end;
             ++seed) {
            const RandomProgram program(seed);
            const RandomProgram::Run run = program.run();
            std::map<RandomProgram::Key, EventRef> events;
            const TracePtr trace = program.trace(run, events);
            const CausalGraph graph = graphOf(*trace);
            std::string wrong = firstDifference(run, events, *trace, graph, graph.replay());
            ++replays;
            for (const Change& change : program.changes()) {
                if (!wrong.empty()) break;
                const Scales scales = scalesOf(*trace, graph, std::span(&change, 1));
                wrong = firstDifference(program.run(change), events, *trace, graph, graph.replay(scales.ofGroup));
                if (!wrong.empty()) wrong = change.text() + ": " + wrong;
                ++replays;
            }
            if (wrong.empty()) continue;
            ++failures;
            if (failures < 20) qWarning("program %u: %s", seed, wrong.c_str());
        }
        qInfo("%u programs, %u replays, %u wrong", programs, replays, failures);
        QCOMPARE(failures, 0u);
    }
};

LANESCOPE_TEST(TestCausality, NoApplication)
#include "tst_Causality.moc"
