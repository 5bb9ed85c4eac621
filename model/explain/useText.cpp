// SPDX-License-Identifier: Apache-2.0
#include "model/explain/useText.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/analysis/shownNumbers.h"
#include "model/explain/FindingText.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Minimum difference of HFU and MFU for both to be reported.
constexpr double minHfuDifference = 0.005;

/// Sum over workers, for means.
struct UseSum {
    double mfu = 0, hfu = 0, byCounters = 0, byShapes = 0, repeated = 0;
    size_t workers = 0, withCounters = 0, withShapes = 0;
    int64_t minSteps = INT64_MAX, countedSteps = 0, knownNs = 0;
    std::set<std::string> precisions;
    bool areMeasured = true, areCounted = true, isShared = false;

    void add(const ComputeUse& use, double share) {
        mfu += share;
        hfu += use.source() == MfuSource::Shapes ? use.hfu().value_or(share) : share;
        ++workers;
        minSteps = std::min(minSteps, use.steps());
        knownNs = std::max(knownNs, use.knownNs);
        precisions.insert(use.precision);
        areMeasured = areMeasured && use.measuredPerSecond > 0;
        areCounted = areCounted && use.source() == MfuSource::Shapes;
        isShared = isShared || use.isShared;
        if (const auto shapes = use.byShapes()) {
            byShapes += *shapes;
            repeated += use.hfu().value_or(*shapes) - *shapes;
            countedSteps = std::max(countedSteps, use.countedSteps);
            ++withShapes;
        }
        if (const auto counters = use.byCounters()) {
            byCounters += *counters;
            ++withCounters;
        }
    }
    double mean(double sum, size_t count) const { return sum / static_cast<double>(count); }
};

}  // namespace

std::string useClause(const RunSummary& run, const std::vector<WorkerParts>& workers) {
    UseSum sum;
    for (const WorkerParts& each : workers) {
        const ComputeUse& use = run.workers[each.worker].use;
        if (const auto share = use.mfu()) sum.add(use, *share);
    }
    if (sum.workers == 0) return {};
    const double mfu = sum.mean(sum.mfu, sum.workers), hfu = sum.mean(sum.hfu, sum.workers);
    if (mfu < minReportedMfu) return {};
    const std::string of =
        workers.size() > sum.workers ? fmt::format(" on {} of {} GPUs", sum.workers, workers.size()) : std::string();
    const std::string precision = sum.precisions.size() == 1 ? *sum.precisions.begin() + " " : std::string();
    // Counters include repeated operations, which some steps show.
    const bool isHfu =
        !sum.areCounted && sum.withShapes > 0 && sum.mean(sum.repeated, sum.withShapes) >= minHfuDifference;
    std::string text = fmt::format("{} {}{} of {} {}peak {}", isHfu ? "HFU" : "MFU", shareText(mfu), of,
                                   sum.areMeasured ? "the measured" : "the data sheet's", precision,
                                   sum.areCounted ? "by counted operations" : "by tensor activity");
    std::string more;
    if (sum.areCounted && hfu - mfu >= minHfuDifference)
        more = fmt::format("HFU {} with repeated ones", shareText(hfu));
    if (sum.areCounted && sum.withCounters > 0)
        more += fmt::format("{}{} by tensor activity", more.empty() ? "" : ", ",
                            shareText(sum.mean(sum.byCounters, sum.withCounters)));
    if (!sum.areCounted && sum.withShapes > 0)
        more = fmt::format("{}{} by operations counted in {} steps", isHfu ? "MFU " : "",
                           shareText(sum.mean(sum.byShapes, sum.withShapes)), sum.countedSteps);
    const bool isOfRun = sum.minSteps == 0 || run.source == StepSource::WholeRun;
    text += isOfRun ? fmt::format(", over {} of readings", timeText(static_cast<double>(sum.knownNs)))
                    : fmt::format(", over {} {}{}", sum.minSteps, identifier(run.kind), sum.minSteps == 1 ? "" : "s");
    if (!more.empty()) text += fmt::format(" ({})", more);
    if (sum.isShared && sum.withCounters > 0) text += ", other processes included";
    return text;
}

std::string useText(const ComputeUse& use) {
    const auto mfu = use.mfu();
    if (!mfu || *mfu < minReportedMfu) return {};
    const auto hfu = use.source() == MfuSource::Shapes ? use.hfu() : std::nullopt;
    return shareText(*mfu) + (hfu && *hfu - *mfu >= minHfuDifference ? ", HFU " + shareText(*hfu) : std::string());
}

}  // namespace lanescope::explain
