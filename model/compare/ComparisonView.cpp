// SPDX-License-Identifier: Apache-2.0
#include "model/compare/ComparisonView.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "model/compare/answer.h"
#include "model/compare/judgeRuns.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

constexpr size_t maxStepBars = 1000;

StepBars::Bar barOf(const std::vector<int64_t>& wallNs, size_t first, size_t count) {
    std::vector<int64_t> some(wallNs.begin() + static_cast<ptrdiff_t>(first),
                              wallNs.begin() + static_cast<ptrdiff_t>(first + count));
    std::ranges::sort(some);
    return {first, count, some.front(), some[some.size() / 2], some.back()};
}

StepBars::Run runOf(const StepBarsOf& given, size_t stepsPerBar) {
    StepBars::Run run;
    run.steps = given.steps;
    run.band = given.band;
    if (!given.worker) return run;
    for (const StepSummary& step : given.worker->steps) {
        run.numbers.push_back(step.number);
        run.names.push_back(step.name.empty() ? fmt::format("step {}", step.number) : step.name);
        run.wallNs.push_back(step.wallNs);
    }
    for (size_t first = 0; first < run.wallNs.size(); first += stepsPerBar)
        run.bars.push_back(barOf(run.wallNs, first, std::min(stepsPerBar, run.wallNs.size() - first)));
    const std::vector<StepSummary>& steps = given.worker->steps;
    for (const OutlierStep& outlier : given.worker->outliers) {
        const auto at =
            std::ranges::find_if(steps, [&](const StepSummary& step) { return step.startNs == outlier.startNs; });
        if (at != steps.end()) run.marks.push_back({static_cast<size_t>(at - steps.begin()), outlier});
    }
    return run;
}

constexpr int64_t minShareDivisor = 100;  ///< One part in so many of all changes.

const ContributorShare* shareOf(const ContributorDifference& difference, MatchKind unless,
                                const ContributorShare& share) {
    return difference.match == unless ? nullptr : &share;
}

RowSide sideOf(const ContributorShare* share) { return share ? RowSide{share->exposedNs, {}, share} : RowSide{}; }

/// Returns a row of something that every run has, if only for no time.
ComparisonRow rowOf(std::string_view name, std::optional<StepPart> part, int64_t baselineNs, size_t candidateCount) {
    ComparisonRow row;
    row.part = part;
    row.name = name;
    row.baseline.ns = baselineNs;
    row.candidates.resize(candidateCount);
    row.lead.part = part;
    return row;
}

ComparisonRow rowOf(const ContributorDifference& difference, size_t candidateCount) {
    ComparisonRow row;
    row.part = difference.part;
    row.kind = difference.kind;
    row.match = difference.match;
    row.path = difference.path;
    row.name = difference.name().text();
    row.baseline = sideOf(shareOf(difference, MatchKind::OnlyCandidate, difference.baseline));
    row.candidates.resize(candidateCount);
    row.lead = leadTo(difference);
    return row;
}

void addCandidate(const ContributorDifference& difference, size_t candidate, ComparisonRow& row) {
    row.candidates[candidate] = sideOf(shareOf(difference, MatchKind::OnlyBaseline, difference.candidate));
    row.candidates[candidate].lostNs = difference.lostNs();
    if (difference.match == MatchKind::OnlyBaseline) return;
    if (row.match == MatchKind::OnlyBaseline) row.match = difference.match;
    if (difference.match != MatchKind::SamePosition) return;
    row.match = difference.match;
    row.name = difference.candidate.name.text();
    row.formerName = difference.baseline.name.text();
}

}  // namespace

RunBand runBand(std::span<const WorkerSummary* const> workers) {
    RunBand band;
    for (const WorkerSummary* worker : workers) {
        const double medianNs = stepsOf(*worker).medianNs;
        band.lowestNs = band.runs == 0 ? medianNs : std::min(band.lowestNs, medianNs);
        band.highestNs = std::max(band.highestNs, medianNs);
        ++band.runs;
    }
    return band;
}

StepBars stepBars(std::span<const StepBarsOf> runs) {
    StepBars bars;
    for (const StepBarsOf& run : runs)
        if (run.worker) bars.stepCount = std::max(bars.stepCount, run.worker->steps.size());
    bars.stepsPerBar = std::max<size_t>(1, (bars.stepCount + maxStepBars - 1) / maxStepBars);
    for (const StepBarsOf& run : runs) bars.runs.push_back(runOf(run, bars.stepsPerBar));
    return bars;
}

int64_t WaterfallBars::lowestNs() const {
    int64_t lowest = std::min(baselineNs, candidateNs);
    for (const Bar& bar : bars) lowest = std::min(lowest, bar.toNs);
    return lowest;
}

int64_t WaterfallBars::highestNs() const {
    int64_t highest = std::max(baselineNs, candidateNs);
    for (const Bar& bar : bars) highest = std::max(highest, bar.toNs);
    return highest;
}

WaterfallBars waterfallBars(const WorkerComparison& pair, size_t maxBars) {
    std::vector<PartDifference> changed;
    int64_t allNs = 0;
    for (const PartDifference& part : pair.parts) {
        if (part.lostNs() == 0) continue;
        changed.push_back(part);
        allNs += std::abs(part.lostNs());
    }
    std::ranges::stable_sort(changed, std::ranges::greater(), [](const auto& each) { return std::abs(each.lostNs()); });
    size_t shown = 0;
    while (shown < std::min(changed.size(), maxBars) && std::abs(changed[shown].lostNs()) * minShareDivisor >= allNs)
        ++shown;
    if (shown + 1 == changed.size()) ++shown;  // a single part is not combined

    WaterfallBars waterfall{pair.baseline.meanNs, pair.candidate.meanNs, {}, pair.scale};
    int64_t levelNs = pair.baseline.meanNs;
    for (size_t index = 0; index < shown; ++index) {
        const int64_t toNs = levelNs + changed[index].lostNs();
        waterfall.bars.push_back({std::string(name(changed[index].part)), changed[index].part, levelNs, toNs});
        levelNs = toNs;
    }
    if (levelNs != pair.candidate.meanNs)
        waterfall.bars.push_back(
            {fmt::format("{} other parts", changed.size() - shown), std::nullopt, levelNs, pair.candidate.meanNs});
    return waterfall;
}

RowLead leadTo(const ContributorDifference& contributor) { return {queryOf(contributor), contributor.part}; }

int64_t ComparisonRow::maxAbsoluteLossNs() const {
    int64_t greatest = 0;
    for (const RowSide& side : candidates)
        if (std::abs(side.lostNs.value_or(0)) > std::abs(greatest)) greatest = *side.lostNs;
    return greatest;
}

const ContributorShare* ComparisonRow::onlyShare() const {
    if (match == MatchKind::OnlyBaseline) return baseline.share;
    if (match != MatchKind::OnlyCandidate) return nullptr;
    const auto side = std::ranges::find_if(candidates, [](const RowSide& each) { return each.share != nullptr; });
    return side == candidates.end() ? nullptr : side->share;
}

std::vector<ComparisonRow> partRows(const ComparisonView& view, bool hasAll) {
    std::vector<ComparisonRow> rows;
    for (const PartDifference& part : view.first().parts)
        rows.push_back(rowOf(analysis::name(part.part), part.part, part.baselineNs, view.candidates.size()));
    for (size_t column = 0; column < view.candidates.size(); ++column) {
        const WorkerComparison* pair = view.candidates[column].pair;
        for (size_t part = 0; pair && part < std::min(rows.size(), pair->parts.size()); ++part)
            rows[part].candidates[column] = {pair->parts[part].candidateNs, pair->parts[part].lostNs()};
    }
    std::erase_if(rows, [hasAll](const ComparisonRow& row) {
        return !hasAll && row.baseline.ns == 0 &&
               std::ranges::all_of(row.candidates, [](const RowSide& side) { return side.ns.value_or(0) == 0; });
    });
    return rows;
}

ComparisonRow stepRow(const ComparisonView& view) {
    ComparisonRow row = rowOf("step", std::nullopt, view.first().baseline.meanNs, view.candidates.size());
    for (size_t column = 0; column < view.candidates.size(); ++column)
        if (const WorkerComparison* pair = view.candidates[column].pair)
            row.candidates[column] = {pair->candidate.meanNs, pair->lostNs()};
    return row;
}

std::vector<ComparisonRow> contributorRows(const ComparisonView& view, std::optional<PartGroup> group) {
    using Key = std::tuple<StepPart, ContributorKind, std::string_view, const ContributorName&, bool>;
    std::map<Key, size_t> places;
    std::vector<ComparisonRow> rows;
    for (size_t column = 0; column < view.candidates.size(); ++column) {
        const WorkerComparison* pair = view.candidates[column].pair;
        if (!pair) continue;
        for (const ContributorDifference& each : pair->contributors) {
            if (group && groupOf(each.part) != *group) continue;
            const bool isNew = each.match == MatchKind::OnlyCandidate;
            const Key key{each.part, each.kind, each.path, isNew ? each.candidate.name : each.baseline.name, isNew};
            const auto place = places.try_emplace(key, rows.size()).first;
            if (place->second == rows.size()) rows.push_back(rowOf(each, view.candidates.size()));
            addCandidate(each, column, rows[place->second]);
        }
    }
    return rows;
}

std::vector<ComparisonRow> unmatchedRows(const ComparisonView& view, bool isOfBaseline) {
    std::vector<ComparisonRow> rows = contributorRows(view);
    const MatchKind wanted = isOfBaseline ? MatchKind::OnlyBaseline : MatchKind::OnlyCandidate;
    std::erase_if(rows, [wanted](const ComparisonRow& row) {
        return row.match != wanted || isIdle(*row.part) || row.kind == ContributorKind::Others;
    });
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [](const auto& each) { return std::abs(each.maxAbsoluteLossNs()); });
    return rows;
}

std::vector<ComparisonRow> rangeRows(const ComparisonView& view, bool isByPart) {
    using Key = std::pair<std::string_view, std::optional<StepPart>>;
    std::map<Key, size_t> places;
    std::vector<ComparisonRow> rows;
    for (size_t column = 0; column < view.candidates.size(); ++column) {
        const WorkerComparison* pair = view.candidates[column].pair;
        if (!pair) continue;
        std::map<size_t, int64_t> baselineNs;  // the same against every candidate, so set, not added
        for (const RangeDifference& range : pair->ranges) {
            if (range.path.empty() && !isByPart) continue;
            const std::optional<StepPart> part = isByPart ? std::optional(range.part) : std::nullopt;
            const auto place = places.try_emplace(Key{range.path, part}, rows.size()).first;
            if (place->second == rows.size()) {
                rows.push_back(rowOf(range.path, part, 0, view.candidates.size()));
                rows.back().path = range.path;
            }
            RowSide& side = rows[place->second].candidates[column];
            side.ns = side.ns.value_or(0) + range.candidateNs;
            baselineNs[place->second] += range.baselineNs;
        }
        for (const auto& [row, ns] : baselineNs) rows[row].baseline.ns = ns;
    }
    for (ComparisonRow& row : rows) {
        for (size_t column = 0; column < row.candidates.size(); ++column) {
            if (!view.candidates[column].pair) continue;
            RowSide& side = row.candidates[column];
            side.ns = side.ns.value_or(0);
            side.lostNs = *side.ns - *row.baseline.ns;
        }
        // The contributor of that range with the largest loss represents it.
        const ContributorDifference* worst = nullptr;
        for (const ContributorDifference& each : view.first().contributors)
            if (each.path == row.path && (!row.part || each.part == *row.part) &&
                (!worst || each.lostNs() > worst->lostNs()))
                worst = &each;
        if (worst) row.lead = leadTo(*worst);
    }
    return rows;
}

void keepLargestChanges(std::vector<ComparisonRow>& rows, size_t top, bool keepsUnchanged) {
    if (top > 0 && !keepsUnchanged)
        std::erase_if(rows, [](const ComparisonRow& row) { return row.maxAbsoluteLossNs() == 0; });
    if (top > 0 && rows.size() > top) {
        std::ranges::stable_sort(rows, std::ranges::greater(),
                                 [](const auto& each) { return std::abs(each.maxAbsoluteLossNs()); });
        rows.erase(rows.begin() + static_cast<ptrdiff_t>(top), rows.end());
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& each) { return each.maxAbsoluteLossNs(); });
}

bool hasBandwidth(PartGroup group) { return group == PartGroup::Collectives || group == PartGroup::Copies; }

}  // namespace lanescope::compare
