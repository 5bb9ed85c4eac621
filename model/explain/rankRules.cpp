// SPDX-License-Identifier: Apache-2.0
// Rules about differences between ranks and about their exchange of data.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/explain/FindingText.h"
#include "model/explain/RunFindings.h"
#include "model/explain/findingQueries.h"
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
    const std::string what = text.what();
    // The name of idle time already contains its place.
    const bool isIdle = text.finding().contributor.isIdle();
    return fmt::format("The other ranks wait and exchange data for at least {} more than {}, which comes last{}.",
                       text.time(), text.worker().label(),
                       what.empty() ? ""
                                    : ", mostly because of more time " + std::string(isIdle ? "" : "in ") + what +
                                          text.where()) +
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
        "NVLink connects these GPUs but carried nothing: for {} they do nothing but exchange data, over something "
        "slower, mostly in {}.",
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
        "NVLink connects the GPUs but carries nothing, while they only exchange data for at least 3 % of the step.",
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

}  // namespace lanescope::explain
