// SPDX-License-Identifier: Apache-2.0
#include "model/causality/CausalGraph.h"
#include "model/causality/buildGraph.h"
#include "model/trace/kinds/CpuState.h"
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

/// Ten steps of 1 ms: a kernel of 200 us, a wait for it, and a state of the thread until the end of the step.
struct WaitingSteps {
    explicit WaitingSteps(ThreadState state, StateSource source = StateSource::Scheduler) {
        SimulatedTrace made;
        const uint32_t thread = made.defaultThread(), stream = made.defaultStream();
        for (int64_t step = 0; step < 10; ++step) {
            const int64_t atNs = step * stepNs;
            const uint32_t correlation = 10 * static_cast<uint32_t>(step + 1);
            made.addApi(thread, "cuLaunchKernel", atNs, atNs + 4'000, correlation);
            made.addKernel(stream, "gemm", atNs + 6'000, atNs + 206'000, correlation);
            made.addApi(thread, "cuStreamSynchronize", atNs + 4'000, atNs + 211'000, correlation + 1);
            made.addSync(stream, SyncType::Stream, atNs + 4'000, atNs + 211'000, correlation + 1);
            steps.push_back({atNs, atNs + stepNs});
            if (source != StateSource::Scheduler) continue;
            made.add<kinds::CpuState>({.startNs = atNs,
                                       .endNs = atNs + 211'000,
                                       .thread = thread,
                                       .state = ThreadState::Running,
                                       .source = StateSource::Scheduler});
            made.add<kinds::CpuState>({.startNs = atNs + 211'000,
                                       .endNs = atNs + stepNs,
                                       .thread = thread,
                                       .state = state,
                                       .source = StateSource::Scheduler});
        }
        // One run of equal samples, in which the thread ran during its calls and for a tenth of the rest.
        if (source != StateSource::Scheduler)
            made.add<kinds::CpuState>({.startNs = 0,
                                       .endNs = 10 * stepNs,
                                       .thread = thread,
                                       .state = state,
                                       .source = source,
                                       .cpuNs = 10 * (211'000 + 78'900)});
        trace = made.finish();
    }
    StepReplay replay(bool isLoading) const {
        const StatesOfThreads states(*trace);
        const uint32_t stream = trace->kernels.stream[0];
        return {{*trace, states, {}, [isLoading](uint32_t, TimeRange) { return isLoading; }},
                {trace->streams[stream].process, trace->streams[stream].gpu, steps}};
    }
    static int64_t stepAfter(const StepReplay& replay, std::string_view scale) {
        const Change change = *parseScale(scale);
        return std::llround(replay.forecast(std::span(&change, 1)).stepNs);
    }

    static constexpr int64_t stepNs = 1'000'000;
    std::vector<TimeRange> steps;
    TracePtr trace;
};

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

    void fasterKernelsWaitForTheNextBatch() {
        const WaitingSteps made(ThreadState::Poll);
        const StepReplay replay = made.replay(true);
        QCOMPARE(replay.refusal(), std::string());
        QCOMPARE(WaitingSteps::stepAfter(replay, "kernels=0.5"), WaitingSteps::stepNs);
        QCOMPARE(WaitingSteps::stepAfter(replay, "loader=0.5"), WaitingSteps::stepNs / 2);
        QCOMPARE(WaitingSteps::stepAfter(replay, "kernels=10"), int64_t{2'011'000});
        // Without the loader: the launch, its way to the GPU, the kernel, and the way back.
        QCOMPARE(WaitingSteps::stepAfter(replay, "loader=0"), int64_t{211'000});
    }

    void sampledWaitsForBatchesOverlapTheStep() {
        const WaitingSteps made(ThreadState::Poll, StateSource::StateSamples);
        const StepReplay replay = made.replay(true);
        QCOMPARE(replay.refusal(), std::string());
        QCOMPARE(WaitingSteps::stepAfter(replay, "kernels=0.5"), WaitingSteps::stepNs);
        QCOMPARE(WaitingSteps::stepAfter(replay, "loader=0.5"), WaitingSteps::stepNs / 2);
        // The thread still receives each batch.
        QCOMPARE(WaitingSteps::stepAfter(replay, "kernels=10"), int64_t{2'011'000 + 78'900});
        QCOMPARE(WaitingSteps::stepAfter(replay, "loader=0"), int64_t{211'000 + 78'900});
        const Change removal = *parseRemoval("loader");
        QCOMPARE(std::llround(replay.forecast(std::span(&removal, 1)).stepNs), 211'000LL);
    }

    void sampledSleepsAreTheThreadsOwn() {
        const WaitingSteps made(ThreadState::Sleep, StateSource::StateSamples);
        QCOMPARE(WaitingSteps::stepAfter(made.replay(true), "kernels=0.5"), WaitingSteps::stepNs - 100'000);
    }

    void pageableCopiesTakeTheTimeOfTheirCall() {
        SimulatedTrace made;
        const uint32_t thread = made.defaultThread(), stream = made.defaultStream();
        std::vector<TimeRange> steps;
        for (int64_t step = 0; step < 10; ++step) {
            const int64_t atNs = step * 1'000'000;
            const uint32_t correlation = 10 * static_cast<uint32_t>(step + 1);
            // The call returns before the last piece of the copy is there.
            made.addApi(thread, "cuMemcpyHtoDAsync_v2", atNs, atNs + 700'000, correlation);
            made.addMemcpy(stream, MemcpyKind::HtoD, 64 << 20, atNs + 100'000, atNs + 720'000, correlation,
                           MemoryKind::Pageable, MemoryKind::Device);
            made.addApi(thread, "cuLaunchKernel", atNs + 750'000, atNs + 755'000, correlation + 1);
            made.addKernel(stream, "gemm", atNs + 757'000, atNs + 957'000, correlation + 1);
            made.addApi(thread, "cuStreamSynchronize", atNs + 755'000, atNs + 960'000, correlation + 2);
            made.addSync(stream, SyncType::Stream, atNs + 755'000, atNs + 960'000, correlation + 2);
            steps.push_back({atNs, atNs + 1'000'000});
        }
        const TracePtr trace = made.finish();
        const StatesOfThreads states(*trace);
        const StepReplay replay({*trace, states, {}},
                                {trace->streams[stream].process, trace->streams[stream].gpu, steps});
        QCOMPARE(replay.refusal(), std::string());
        QCOMPARE(WaitingSteps::stepAfter(replay, "copy:HtoD=0.5"), int64_t{690'000});
        QCOMPARE(WaitingSteps::stepAfter(replay, "copy:HtoD=2"), int64_t{1'620'000});
    }

    void hostCodeShortensStepsAlone() {
        const WaitingSteps made(ThreadState::Running);
        const StepReplay replay = made.replay(false);
        QCOMPARE(WaitingSteps::stepAfter(replay, "host=0.5"), WaitingSteps::stepNs - 789'000 / 2);
        QCOMPARE(WaitingSteps::stepAfter(replay, "kernels=0.5"), WaitingSteps::stepNs - 100'000);
        QVERIFY(replay.error() < 1e-9);
        QCOMPARE(replay.stepCount(), size_t{9});
        int64_t pathNs = 0;
        for (const PathShare& share : replay.path()) pathNs += share.ns;
        QCOMPARE(pathNs, 9 * WaitingSteps::stepNs);
        // The host code after each wait is the longest part.
        QCOMPARE(replay.graph().groups[replay.path().front().group].kind, NodeKind::Host);
        QCOMPARE(replay.path().front().ns, 9 * int64_t{789'000});
        // Its pieces are these parts in time, without delays, on the thread and on the GPU.
        int64_t withoutDelaysNs = 0, piecesNs = 0, endNs = made.steps[0].endNs - 789'000;
        for (const PathShare& share : replay.path()) withoutDelaysNs += share.delay ? 0 : share.ns;
        for (const PathPiece& piece : replay.pathPieces()) {
            QVERIFY(endNs <= piece.range.startNs && !piece.range.isEmpty());
            endNs = piece.range.endNs;
            piecesNs += piece.range.durationNs();
            QCOMPARE(piece.event.kind() == EventKind::Kernel, piece.group.kind == NodeKind::Kernel);
            QCOMPARE(piece.thread, piece.group.kind == NodeKind::Kernel ? noIndex : 0u);
        }
        QCOMPARE(piecesNs, withoutDelaysNs);
    }

    /// A kernel may start before its launch has returned, and before the kernel ahead of it has ended.
    void piecesOfAPathEndWhereTheirEffectsStart() {
        SimulatedTrace made;
        const uint32_t thread = made.defaultThread(), stream = made.defaultStream();
        std::vector<TimeRange> steps;
        for (int64_t step = 0; step < 10; ++step) {
            const int64_t atNs = step * 1'000'000;
            const uint32_t correlation = 10 * static_cast<uint32_t>(step + 1);
            made.addApi(thread, "cuLaunchKernel", atNs + 500'000, atNs + 510'000, correlation);
            made.addKernel(stream, "first", atNs + 506'000, atNs + 600'000, correlation);
            made.addApi(thread, "cuLaunchKernel", atNs + 510'000, atNs + 520'000, correlation + 1);
            made.addKernel(stream, "second", atNs + 599'000, atNs + 700'000, correlation + 1);
            made.addApi(thread, "cuStreamSynchronize", atNs + 520'000, atNs + 705'000, correlation + 2);
            made.addSync(stream, SyncType::Stream, atNs + 520'000, atNs + 705'000, correlation + 2);
            steps.push_back({atNs, atNs + 1'000'000});
        }
        const TracePtr trace = made.finish();
        const StatesOfThreads states(*trace);
        const StepReplay replay({*trace, states, {}, [](uint32_t, TimeRange) { return false; }},
                                {trace->streams[stream].process, trace->streams[stream].gpu, steps});
        std::map<std::string, std::set<int64_t>> durations;
        for (const PathPiece& piece : replay.pathPieces())
            if (piece.event.isValid()) durations[trace->nameOf(piece.event)].insert(piece.range.durationNs());
        QCOMPARE(durations["first"], std::set<int64_t>{93'000});
        QCOMPARE(durations["second"], std::set<int64_t>{101'000});
        QCOMPARE(durations["cuLaunchKernel"], std::set<int64_t>{6'000});
    }

    void firstStepCountsUnlessItFollowsAPause() {
        WaitingSteps made(ThreadState::Running);
        QCOMPARE(made.replay(false).stepsText(), std::string("9 of 10 steps"));
        made.steps.erase(made.steps.begin());
        QCOMPARE(made.replay(false).stepsText(), std::string("9 steps"));
        made.steps.resize(1);
        QCOMPARE(made.replay(false).stepsText(), std::string("1 step"));
    }

    void kernelsAreNamedByPartsAndPatterns() {
        const WaitingSteps made(ThreadState::Running);
        const StepReplay replay = made.replay(false);
        for (const auto& [name, kernels] : {std::pair("kernel:em=0.5", 1u),
                                            {"kernel:g*m=0.5", 1u},
                                            {"kernel:*m=0.5", 1u},
                                            {"kernel:e*=0.5", 0u},
                                            {"kernels=0.5", 1u}}) {
            const Change change = *parseScale(name);
            const Scales scales = scalesOf(*made.trace, replay.graph(), std::span(&change, 1));
            QVERIFY2(scales.kernels[0].size() == kernels && scales.selected[0] == kernels, name);
        }
    }

    /// Times of a corrupt trace, of which differences of differences must not overflow.
    void sumsOfTimesAreBounded() {
        CausalGraph graph;
        graph.groups.emplace_back();
        for (const int64_t own : {INT64_MAX, INT64_MIN}) {
            const CausalGraph::Node first = graph.addNode(0, own / 2, own / 2);
            graph.ownNs[first] = own;
            const CausalGraph::Node next = graph.addNode(0, own / 2, own / 2);
            graph.addEdge(EdgeKind::Thread, first);
            graph.ownNs[next] = own;
        }
        const std::vector<int64_t> ends = graph.replay();
        QVERIFY(ends[1] > 0 && ends[3] < 0);
        int64_t difference = 0, twice = 0;
        QVERIFY(!__builtin_sub_overflow(ends[1], ends[3], &difference));
        QVERIFY(!__builtin_sub_overflow(difference, -difference, &twice));
    }

    /// Kernels of two communicators of the same processes at the same times.
    void collectivesAtTheSameTimeAreAllKept() {
        SimulatedTrace made;
        for (uint32_t rank = 0; rank < 2; ++rank) {
            const uint32_t process = made.addProcess(100 + rank, "python3", static_cast<int>(rank));
            const uint32_t thread = made.addThread(process, 100 + rank), gpu = made.addGpu();
            for (uint32_t each = 0; each < 2; ++each) {
                const int64_t atNs = 10'000 * each;
                const uint32_t stream = made.addStream(process, gpu, 7 + each);
                NcclFacts facts;
                facts.sequence = 0;
                facts.rank = static_cast<int32_t>(rank);
                facts.rankCount = 2;
                made.addNccl(thread, "AllReduce", 1 << 20, atNs, atNs + 9'000, SimulatedTrace::someCommunicator + each,
                             facts);
                made.addApi(thread, "cuLaunchKernelEx", atNs + 1'000, atNs + 5'000, 100 * rank + each + 1);
                made.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50'000 + 10'000 * rank, 90'000,
                               100 * rank + each + 1);
            }
        }
        const TracePtr trace = made.finish();
        const CausalGraph graph = graphOf(*trace);
        size_t collectives = 0;
        for (const uint32_t group : graph.group) collectives += graph.groups[group].kind == NodeKind::Collective;
        QCOMPARE(collectives, size_t{4});
    }

    void waitsForUnknownReasonsRefuseForecasts() {
        const WaitingSteps made(ThreadState::Lock);
        const StepReplay replay = made.replay(false);
        QCOMPARE(replay.refusal(),
                 std::string("The recorded causes do not explain this step: 78.9 % unexplained on the main thread."));
    }

    void changesAreParsed() {
        QCOMPARE(parseScale("kernel:gemm=0.5")->text(), std::string("kernel:gemm=0.5"));
        QCOMPARE(parseScale("line:train.py:212=0")->name, std::string("train.py:212"));
        QCOMPARE(parseRemoval("loader")->text(), std::string("no loader"));
        for (const char* wrong :
             {"kernel=0.5", "gemm=0.5", "nccl", "nccl=-1", "nccl=x", "nccl=0.5x", "nccl:a=1", "=", ""})
            QVERIFY2(!parseScale(wrong), wrong);
        QVERIFY(!parseRemoval("nccl=0"));
    }
};

LANESCOPE_TEST(TestCausality, NoApplication)
#include "tst_Causality.moc"
