// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/Pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

/// Share that the cheapest queries may use together before any of them is slowed down.
constexpr double shareOfCheapest = 0.5;
/// Divisor if nothing is left.
constexpr double minShare = 1e-9;

}  // namespace

size_t Pace::add(std::string name, int64_t wantedPeriodNs, double weight, int64_t maxPeriodNs) {
    Query query;
    query.name = std::move(name);
    query.wantedNs = query.periodNs = std::max(wantedPeriodNs, turnNs_);
    query.maxNs = std::max(query.wantedNs, maxPeriodNs / turnNs_ * turnNs_);
    query.weight = weight;
    queries_.push_back(std::move(query));
    return queries_.size() - 1;
}

bool Pace::isDue(size_t query, int64_t nowNs) {
    Query& each = queries_[query];
    // A timer that fires a little early must not cost a whole turn.
    const int64_t turnNs = (nowNs + turnNs_ / 4) / turnNs_ * turnNs_;
    if (each.lastNs >= 0 && turnNs < each.lastNs + each.periodNs) return false;
    each.lastNs = turnNs;
    return true;
}

int64_t Pace::nextDueNs() const {
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const Query& each : queries_) nextNs = std::min(nextNs, each.lastNs < 0 ? 0 : each.lastNs + each.periodNs);
    return nextNs;
}

void Pace::begin() { begunNs_ = threadCpuNs(); }

void Pace::end(size_t query) { addCost(query, threadCpuNs() - begunNs_); }

void Pace::addCost(size_t query, int64_t costNs) {
    Query& each = queries_[query];
    const int64_t kept = each.calls++ - skippedCalls;
    if (kept >= 0) {
        each.costs[static_cast<size_t>(kept) % keptCosts] = std::max<int64_t>(costNs, 1);
        judge(each);
    }
    decide();
}

void Pace::judge(Query& query) const {
    std::array<int64_t, keptCosts> costs = query.costs;
    const int64_t count = std::min<int64_t>(query.calls - skippedCalls, keptCosts);
    std::sort(costs.begin(), costs.begin() + count);
    const int64_t minCostNs = costs.front(), maxCostNs = costs[static_cast<size_t>(count - 1)];
    query.isGuess = count == 1 || (count <= guessedCalls && maxCostNs > 2 * minCostNs);
    query.costNs = query.isGuess ? minCostNs : costs[static_cast<size_t>(count / 2)];
}

void Pace::decide() {
    std::vector<Query*> judged;
    for (Query& each : queries_) {
        each.periodNs = each.wantedNs;
        if (each.costNs > 0) judged.push_back(&each);
    }
    std::sort(judged.begin(), judged.end(),
              [](const Query* left, const Query* right) { return left->wantedShare() < right->wantedShare(); });
    double wanted = 0;
    for (const Query* each : judged) wanted += each->wantedShare();
    if (wanted <= shareOfCore_) return;
    double left = shareOfCore_;
    auto expensive = judged.begin();
    for (; expensive != judged.end(); ++expensive) {
        if (left - (*expensive)->wantedShare() < (1 - shareOfCheapest) * shareOfCore_) break;
        left -= (*expensive)->wantedShare();
    }
    slowDown({expensive, judged.end()}, left);
}

/// Sets the periods that minimize the sum of weight times period at the cost `share`.
void Pace::slowDown(std::vector<Query*> queries, double share) const {
    const auto rootOf = [](const Query* each) { return std::sqrt(static_cast<double>(each->costNs) / each->weight); };
    while (!queries.empty()) {
        double sum = 0;
        for (const Query* each : queries) sum += static_cast<double>(each->costNs) / rootOf(each);
        const double factor = sum / std::max(share, minShare);
        const auto periodOf = [&](const Query* each) { return factor * rootOf(each); };
        // Queries at their minimum or maximum period are fixed; the others share the rest.
        auto fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
            return periodOf(each) > static_cast<double>(each->wantedNs);
        });
        const bool areWanted = fixed != queries.end();
        if (!areWanted)
            fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
                return periodOf(each) <= static_cast<double>(each->periodLimitNs());
            });
        if (fixed == queries.end()) {
            for (Query* each : queries) {
                const double turns = std::ceil(periodOf(each) / static_cast<double>(turnNs_));
                each->periodNs = std::min(static_cast<int64_t>(turns) * turnNs_, each->periodLimitNs());
            }
            return;
        }
        for (auto each = fixed; each != queries.end(); ++each) {
            (*each)->periodNs = areWanted ? (*each)->wantedNs : (*each)->periodLimitNs();
            share -= static_cast<double>((*each)->costNs) / static_cast<double>((*each)->periodNs);
        }
        queries.erase(fixed, queries.end());
    }
}

std::string Pace::describe() const {
    std::string text;
    for (const Query& each : queries_) {
        if (each.calls == 0) continue;
        text += fmt::format("{}{} every ", text.empty() ? "" : ", ", each.name);
        if (each.periodNs < 1'000'000'000)
            text += fmt::format("{} ms", each.periodNs / 1'000'000);
        else
            text += fmt::format("{:.{}f} s", static_cast<double>(each.periodNs) / 1e9,
                                each.periodNs < 10'000'000'000 ? 1 : 0);
    }
    return text;
}

}  // namespace lanescope::capture
