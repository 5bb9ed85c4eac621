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

/// What the cheapest queries may use together before any of them is slowed down.
constexpr double shareOfCheapest = 0.5;
/// What is divided by where nothing is left.
constexpr double leastShare = 1e-9;

}  // namespace

size_t Pace::add(std::string name, int64_t wantedPeriodNs, double weight, int64_t slowestPeriodNs) {
    Query query;
    query.name = std::move(name);
    query.wantedNs = query.periodNs = std::max(wantedPeriodNs, turnNs_);
    query.slowestNs = std::max(query.wantedNs, slowestPeriodNs / turnNs_ * turnNs_);
    query.weight = weight;
    queries_.push_back(std::move(query));
    return queries_.size() - 1;
}

bool Pace::isDue(size_t query, int64_t nowNs) {
    Query& each = queries_[query];
    // A timer that comes a little early must not cost a whole turn.
    const int64_t turnNs = (nowNs + turnNs_ / 4) / turnNs_ * turnNs_;
    if (each.lastNs >= 0 && turnNs < each.lastNs + each.periodNs) return false;
    each.lastNs = turnNs;
    return true;
}

int64_t Pace::nextDueNs() const {
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const Query& each : queries_)
        nextNs = std::min(nextNs, each.lastNs < 0 ? 0 : each.lastNs + each.periodNs);
    return nextNs;
}

void Pace::begin() {
    begunNs_ = threadCpuNs();
}

void Pace::end(size_t query) {
    tell(query, threadCpuNs() - begunNs_);
}

void Pace::tell(size_t query, int64_t costNs) {
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
    const int64_t least = costs.front(), most = costs[static_cast<size_t>(count - 1)];
    query.isGuess = count == 1 || (count <= guessedCalls && most > 2 * least);
    query.costNs = query.isGuess ? least : costs[static_cast<size_t>(count / 2)];
}

void Pace::decide() {
    std::vector<Query*> judged;
    for (Query& each : queries_) {
        each.periodNs = each.wantedNs;
        if (each.costNs > 0) judged.push_back(&each);
    }
    std::sort(judged.begin(), judged.end(), [](const Query* left, const Query* right) {
        return left->wantedShare() < right->wantedShare();
    });
    double wanted = 0;
    for (const Query* each : judged) wanted += each->wantedShare();
    if (wanted <= shareOfCore_) return;
    double left = shareOfCore_;
    auto dear = judged.begin();
    for (; dear != judged.end(); ++dear) {
        if (left - (*dear)->wantedShare() < (1 - shareOfCheapest) * shareOfCore_) break;
        left -= (*dear)->wantedShare();
    }
    slowDown({dear, judged.end()}, left);
}

/// The periods with which the sum of weight times period is least while the cost is `share`.
void Pace::slowDown(std::vector<Query*> queries, double share) const {
    const auto rootOf = [](const Query* each) {
        return std::sqrt(static_cast<double>(each->costNs) / each->weight);
    };
    while (!queries.empty()) {
        double sum = 0;
        for (const Query* each : queries) sum += static_cast<double>(each->costNs) / rootOf(each);
        const double factor = sum / std::max(share, leastShare);
        const auto periodOf = [&](const Query* each) { return factor * rootOf(each); };
        // Nothing is made more often than it is wanted, nor more seldom than it may be; what that
        // leaves is for the others.
        auto fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
            return periodOf(each) > static_cast<double>(each->wantedNs);
        });
        const bool areWanted = fixed != queries.end();
        if (!areWanted)
            fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
                return periodOf(each) <= static_cast<double>(each->longestPeriodNs());
            });
        if (fixed == queries.end()) {
            for (Query* each : queries) {
                const double turns = std::ceil(periodOf(each) / static_cast<double>(turnNs_));
                each->periodNs =
                    std::min(static_cast<int64_t>(turns) * turnNs_, each->longestPeriodNs());
            }
            return;
        }
        for (auto each = fixed; each != queries.end(); ++each) {
            (*each)->periodNs = areWanted ? (*each)->wantedNs : (*each)->longestPeriodNs();
            share -= static_cast<double>((*each)->costNs) / static_cast<double>((*each)->periodNs);
        }
        queries.erase(fixed, queries.end());
    }
}

double Pace::plannedShare() const {
    double share = 0;
    for (const Query& each : queries_)
        share += static_cast<double>(each.costNs) / static_cast<double>(each.periodNs);
    return share;
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
