// SPDX-License-Identifier: Apache-2.0
// Rules about the launching thread (compiler, GIL), and about differences and exchange of data between ranks.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/analysis/IdleCause.h"
#include "model/analysis/ThreadActivities.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
#include "model/explain/hostTime.h"
#include "model/explain/rules.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns the time of exchange with others and of waiting for them.
int64_t togetherNs(const WorkerParts& worker) {
    return worker.parts[StepPart::WaitingForRanks] + worker.parts[StepPart::ExposedCommunication];
}

/// Returns the part in which the critical worker exceeds the median of the others most.
StepPart partThatIsLonger(const RunFindings& run) {
    auto worst = StepPart::Compute;
    int64_t largestNs = INT64_MIN;
    for (const StepPart part : allStepParts) {
        if (groupOf(part) == PartGroup::Collectives) continue;
        std::vector<int64_t> others;
        for (const WorkerParts& each : run.means())
            if (each.worker != run.mean().worker) others.push_back(each.parts[part]);
        std::nth_element(others.begin(), others.begin() + others.size() / 2, others.end());
        const int64_t excessNs = run.mean().parts[part] - others[others.size() / 2];
        if (excessNs <= largestNs) continue;
        largestNs = excessNs;
        worst = part;
    }
    return worst;
}

/// Finds the late rank, the critical worker, which waits least. The saving is the least wait of the other ranks minus
/// its own wait: if it were as fast as that rank, all ranks would wait that much less.
void findLateRank(RunFindings& run) {
    int64_t minTogetherNs = INT64_MAX;
    for (const WorkerParts& each : run.means())
        if (each.worker != run.mean().worker && !run.run().isPartlyReported(run.run().workers[each.worker]))
            minTogetherNs = std::min(minTogetherNs, togetherNs(each));
    if (minTogetherNs == INT64_MAX || !run.worker().rank) return;
    Finding* late = run.add(minTogetherNs - togetherNs(run.mean()), minShare, nullptr);
    if (late == nullptr) return;
    const StepPart part = partThatIsLonger(run);
    if (const Contributor* main = run.greatest([part](const Contributor& each) { return each.part == part; }))
        run.setContributor(*late, *main);
}

std::string sayLateRank(const FindingText& text) {
    const std::string_view in = text.finding().contributor.isIdle() ? "" : "in ";  // Its name contains its place.
    return fmt::format(
               "{} comes last, so the other ranks wait and exchange data at least {} longer than {}.{}{}",
               capitalized(text.worker().label()), text.time(), text.worker().label(),
               text.what().empty() ? "" : fmt::format(" This rank's extra time is mostly {}{}.", in, text.main()),
               text.place()) +
           text.onlyThere();
}

/// If several ranks differ, no single one is waited for by all others, yet all wait for those with
/// most to do. With even work, a step would compute as long as their mean.
void findUnbalancedRanks(RunFindings& run) {
    if (run.has(lateRankRule) || run.means().size() < 2 || !run.worker().rank) return;
    int64_t sumNs = 0;
    for (const WorkerParts& each : run.means()) sumNs += each.parts[StepPart::Compute];
    const int64_t meanNs = sumNs / static_cast<int64_t>(run.means().size());
    run.add(run.mean().parts[StepPart::Compute] - meanNs, minShare,
            run.greatest([](const Contributor& each) { return each.part == StepPart::Compute; }));
}

std::string sayUnbalancedRanks(const FindingText& text) {
    return fmt::format("{} computes {} longer than the mean of all ranks: mostly {}.", text.worker().label(),
                       text.time(), text.main());
}

/// Minimum share of exposed communication. Good programs have some, since not all of it can be overlapped.
constexpr double minCommunicationShare = 0.10;

bool isExchange(const Contributor& each) {
    return each.part == StepPart::ExposedCommunication || each.part == StepPart::ExposedPtoP;
}

void findNvlinkUnused(RunFindings& run) {
    if (run.run().facts.isNvlinkPresent && run.run().nvlink.use == NvlinkVerdict::Use::NotSeen)
        run.add(run.exposedNs(isExchange), minShare, run.greatest(isExchange));
}

std::string sayNvlinkUnused(const FindingText& text) {
    return fmt::format(
        "NVLink connects these GPUs but carried nothing: for {} they only exchange data, over something slower, "
        "mostly in {}.",
        text.time(), text.what());
}

void findExposedCommunication(RunFindings& run) {
    if (!run.has(nvlinkUnusedRule)) run.addPart(StepPart::ExposedCommunication, minCommunicationShare);
}

std::string sayExposedCommunication(const FindingText& text) {
    return fmt::format("GPUs only exchange data for {}: mostly {}, {}.", text.time(), text.main(), text.times());
}

/// Returns the time of exchange and waiting of every rank, or of its other kernels.
Evidence ranksEvidence(const FindingText& text, bool isOfCollectives) {
    int64_t sum = 0;
    for (const WorkerSummary& worker : text.run().workers) {
        const StepParts parts = worker.totalParts();
        sum += isOfCollectives ? parts[StepPart::WaitingForRanks] + parts[StepPart::ExposedCommunication]
                               : parts[StepPart::Compute];
    }
    return {EvidenceQuery::perWorker(text.run(), isOfCollectives), sum};
}

/// Returns NCCL's kernels without overlap, with the time in which they wait for other ranks.
Evidence exchangeEvidence(const FindingText& text) {
    const EvidenceQuery query(text);
    return {query.exposed({query.collectives(), query.copies("k.copyKind = 10")}, {query.otherKernels()}),
            sumNs(text.worker(),
                  [](const Contributor& each) { return isExchange(each) || each.part == StepPart::WaitingForRanks; })};
}

}  // namespace

const Rule lateRankRule{
    .id = "late_rank",
    .title = "Other ranks wait for this one",
    .finds = "One rank is last: each other rank waits and exchanges data for at least 3 % of the step longer.",
    .advice = "Check what that rank does more than the others: its share of the data, its GPU, its host.",
    .find = findLateRank,
    .say = sayLateRank,
    .evidence = [](const FindingText& text) { return ranksEvidence(text, true); },
    .advise = [](const FindingText& text) { return text.adviseCause(lateRankRule.advice); },
    .isOfLateRank = true,
    .isForNcclOnly = true,
    .namesWorker = true,
};

const Rule unbalancedRanksRule{
    .id = "unbalanced_ranks",
    .title = "This rank computes longer than the others",
    .finds = "One rank computes longer than the mean of all ranks. The excess is at least 3 % of the step.",
    .advice = "Give all ranks the same amount of work: experts by load, sequences by length, layers by cost.",
    .find = findUnbalancedRanks,
    .say = sayUnbalancedRanks,
    .evidence = [](const FindingText& text) { return ranksEvidence(text, false); },
    .namesWorker = true,
};

const Rule nvlinkUnusedRule{
    .id = "nvlink_unused",
    .title = "NVLink carries nothing",
    .finds =
        "NVLink connects the GPUs but carries nothing, while GPUs only exchange data for at least 3 % of the step.",
    .advice = "See NCCL_P2P_DISABLE, NCCL_P2P_LEVEL, container settings and `lanescope info --topology`.",
    .find = findNvlinkUnused,
    .say = sayNvlinkUnused,
    .evidence = exchangeEvidence,
    .namesWorker = true,
};

const Rule exposedCommunicationRule{
    .id = "exposed_communication",
    .title = "Communication without overlap",
    .finds = "GPUs only exchange data for at least 10 % of the step.",
    .advice =
        "Start collectives earlier and in buckets, so that backward overlaps them; fewer bytes (bf16, accumulated "
        "gradients).",
    .find = findExposedCommunication,
    .say = sayExposedCommunication,
    .evidence = exchangeEvidence,
};

namespace {

std::string sayCompiling(const FindingText& text) {
    return fmt::format("The GPU waits {} while the program compiles code: mostly {}.{}", text.time(), text.main(),
                       text.place()) +
           recompiledSentence(text.worker());
}

/// Minimum share of the mean step. It is larger than for other waits, because samples only estimate waits for the GIL.
constexpr double minGilShare = 0.10;

void findGilWaits(RunFindings& run) {
    run.accounted.hasGilWaits = run.addIdleTimeOf(gilWaitNs, minGilShare) != nullptr;
}

std::string sayGilWaits(const FindingText& text) {
    return fmt::format(
        "The GPU waits about {} for a thread that cannot launch while another thread has the GIL, as samples suggest: "
        "mostly {}.{}",
        text.time(), text.main(), text.place());
}

/// Returns the late launches at which the layer "seen" of the trace has samples. The time between samples counts to the
/// finding too, so that the rows do not sum to it.
template <class Add>
Evidence lateGapsSeen(const FindingText& text, Add add) {
    EvidenceQuery query(text);
    if (text.run().facts.producerKind != ProducerKind::Lanescope) return {query.gaps("g.late")};
    add(query);
    return {query.gaps("g.late AND p.seen > 0")};
}

Evidence compilingEvidence(const FindingText& text) {
    return lateGapsSeen(text, [](EvidenceQuery& query) { query.addFunctionsOf("seen", compilerFiles()); });
}

Evidence gilEvidence(const FindingText& text) {
    return lateGapsSeen(text, [](EvidenceQuery& query) { query.addStates("seen", {ThreadState::Gil}, false); });
}

/// Work that is captured in each step is also launched there to warm up, for which a graph is no remedy.
void putCapturesBeforeLaunches(const RunSummary&, std::vector<Finding>& findings) {
    const auto launches = std::ranges::find(findings, &launchBoundRule, &Finding::rule);
    std::stable_partition(launches, findings.end(),
                          [](const Finding& each) { return each.rule == &graphCapturesRule; });
}

bool isCapturing(const Contributor& each) { return each.name.idle.kind == CauseKind::CapturingGraph; }

Evidence captureEvidence(const FindingText& text) {
    EvidenceQuery query(text);
    query.addCaptures("captures");
    return {query.gaps("g.late AND p.captures > 0"), sumNs(text.worker(), isCapturing)};
}

}  // namespace

const Rule graphCapturesRule{
    .id = "graph_captures",
    .title = "CUDA graphs are captured in the steps",
    .finds = "The GPU waits for at least 3 % of the step while the program captures CUDA graphs.",
    .advice =
        "Capture a graph once for each shape and keep it: pad lengths and batches to a few sizes, and copy the inputs "
        "into buffers that stay. A graph that is used once costs more than its launches.",
    .find = [](RunFindings& run) { run.addKind(isCapturing); },
    .say =
        [](const FindingText& text) {
            return fmt::format("The GPU waits {} while CUDA graphs are captured and instantiated: mostly {}.{}",
                               text.time(), text.main(), text.place());
        },
    .evidence = captureEvidence,
    .order = putCapturesBeforeLaunches,
    .part = StepPart::LaunchBound,
};

const Rule compilingRule{
    .id = "compiling",
    .title = "The program compiles in its steps",
    .finds = "The GPU waits for at least 3 % of the step while the program compiles code.",
    .advice =
        "Compile once: constant shapes (pad, or torch.compile(dynamic=True)), no Python numbers that change in "
        "compiled code (pass them as tensors or arrays; JAX: no static arguments that change), a warm-up for each "
        "shape before the steps. TORCH_LOGS=recompiles or JAX_EXPLAIN_CACHE_MISSES=1 prints the reason.",
    // A program that compiles in its steps does so for new shapes or constants. The samples of one compilation show a
    // thread that runs, one that waits for the compiler's threads, and times between: all are one finding.
    .find = [](RunFindings& run) { run.addKind(isCompilation); },
    .say = sayCompiling,
    .evidence = compilingEvidence,
    .part = StepPart::LaunchBound,
};

const Rule gilWaitsRule{
    .id = "gil_waits",
    .title = "Another thread has the GIL",
    .finds =
        "The launching thread waits at least 10 % of the step for the GIL, held by a thread that launches nothing. "
        "Estimated from samples.",
    .advice =
        "Move the work of the other thread to another process (multiprocessing), or into code that releases the GIL "
        "(NumPy, C extensions), or do it less often. Fewer launches will not help.",
    .find = findGilWaits,
    .say = sayGilWaits,
    .evidence = gilEvidence,
    .part = StepPart::LaunchBound,
};

}  // namespace lanescope::explain
