// SPDX-License-Identifier: Apache-2.0
#include "model/compare/ComparisonView.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "model/analysis/GpuWork.h"
#include "model/analysis/IdleCauses.h"
#include "model/compare/answer.h"
#include "model/compare/judgeRuns.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::compare {

using namespace analysis;
namespace {

/// Step and time of a piece of GPU work.
struct Piece {
    size_t step;
    int64_t startNs, endNs;
};

/// Returns the worker's process and GPU in its trace; `noIndex` if missing.
WorkerId workerOf(const InstanceSide& side) {
    WorkerId worker{noIndex, noIndex, noIndex};
    for (uint32_t process = 0; process < side.trace.processes.size(); ++process)
        if (side.trace.processes[process].pid == side.worker.pid) worker.process = process;
    for (uint32_t gpu = 0; gpu < side.trace.gpus.size(); ++gpu)
        if (side.trace.gpus[gpu].id == side.worker.gpuId) worker.gpu = gpu;
    return worker;
}

/// Returns the pieces of one contributor, by start, in the compared steps. If there are none on
/// that path, those of that name on any path: a name may match across different paths.
std::vector<Piece> piecesOf(const InstanceSide& side, const InstanceQuery& query, const ContributorName& name,
                            const std::string& path) {
    std::vector<Piece> pieces, onOtherPaths;
    const WorkerId worker = workerOf(side);
    const Result<RunSteps> run = findSteps(side.trace, side.selection);
    if (name.empty() || !run) return pieces;
    const auto steps = std::ranges::find_if(run->workers, [&worker](const WorkerSteps& each) {
        return each.process == worker.process && each.gpu == worker.gpu;
    });
    if (steps == run->workers.end()) return pieces;
    const RunContext context(side.trace, *run);
    ContributorTable table;
    const WorkList work = workOf(context, analysis::workerOf(*steps), table);
    for (WorkList::Reader reader(work); !reader.isAtEnd(); reader.next()) {
        const GpuWork& each = *reader;
        const Contributor& contributor = table.contributors()[each.contributor];
        if (contributor.kind != query.kind || contributor.name != name) continue;
        const uint32_t step = steps->stepOf(each.startNs, launchedNs(context, each));
        if (step == noIndex) continue;
        (contributor.path == path ? pieces : onOtherPaths).push_back({step, each.startNs, each.endNs});
    }
    std::vector<Piece>& found = pieces.empty() ? onOtherPaths : pieces;
    // A copy for the next step may run before the last of this one.
    std::ranges::stable_sort(found, {}, &Piece::step);
    return std::move(found);
}

/// Returns the row of `table` with exactly this time on the GPU of the worker.
EventRef eventIn(const Trace& trace, const auto& table, EventKind kind, const WorkerId& worker, const Piece& piece) {
    auto at = std::ranges::lower_bound(table.startNs, piece.startNs);
    for (; at != table.startNs.end() && *at == piece.startNs; ++at) {
        const auto row = static_cast<uint32_t>(at - table.startNs.begin());
        const Stream& stream = trace.streams[table.stream[row]];
        if (table.endNs[row] == piece.endNs && stream.process == worker.process && stream.gpu == worker.gpu)
            return EventRef(kind, row);
    }
    return {};
}

EventRef eventOf(const InstanceSide& side, ContributorKind kind, const Piece* piece) {
    if (!piece) return {};
    const WorkerId worker = workerOf(side);
    switch (kind) {
        case ContributorKind::Copy: return eventIn(side.trace, side.trace.memcpys, EventKind::Memcpy, worker, *piece);
        case ContributorKind::Memset: return eventIn(side.trace, side.trace.memsets, EventKind::Memset, worker, *piece);
        case ContributorKind::Kernel:
        case ContributorKind::Collective:
            return eventIn(side.trace, side.trace.kernels, EventKind::Kernel, worker, *piece);
        case ContributorKind::Graph: return eventIn(side.trace, side.trace.graphs, EventKind::Graph, worker, *piece);
        case ContributorKind::Idle:
        case ContributorKind::Others: break;
    }
    return {};
}

WorstInstance worstStep(const InstanceSide& baseline, const InstanceSide& candidate, StepPart part) {
    WorstInstance worst;
    const size_t count = std::min(baseline.worker.steps.size(), candidate.worker.steps.size());
    for (size_t step = 0; step < count; ++step) {
        const int64_t lostNs = candidate.worker.steps[step].parts[part] - baseline.worker.steps[step].parts[part];
        if (!worst.isFound || lostNs > worst.lostNs) worst = {.step = step, .lostNs = lostNs, .isFound = true};
    }
    return worst;
}

TimeRange rangeOf(const StepSummary& step) { return {step.startNs, step.startNs + step.wallNs}; }

/// Returns the longest gap in a step with the wanted first cause: by part, name and path, or less of these.
const IdleGap* longestGap(const IdleGaps& gaps, size_t worker, TimeRange step, const InstanceQuery& query,
                          const ContributorName& name, const std::string& path) {
    const IdleGap* longest = nullptr;
    std::pair<int, int64_t> best{0, 0};
    for (const IdleGap& gap : gaps.gapsOf(worker)) {
        const TimeRange inside = gap.range.intersected(step);
        if (inside.isEmpty()) continue;
        for (const GapCause& cause : gaps.whyIdle(worker, inside)) {
            if (cause.part != query.part) continue;
            const bool isNamed = cause.name == name || cause.name.idle.withoutState() == name.idle;
            const int likeness = cause.path != path ? 1 : !isNamed ? 2 : 3;
            const std::pair own(likeness, cause.ns);
            if (own <= best) continue;
            best = own;
            longest = &gap;
        }
    }
    return longest;
}

/// Finds the gap of `query` in one step of a run.
void addGap(const InstanceSide& side, size_t step, const InstanceQuery& query, const ContributorName& name,
            const std::string& path, EventRef& event, TimeRange& range) {
    if (name.empty() || step >= side.worker.steps.size()) return;
    const Result<IdleGaps> gaps = IdleGaps::of(side.trace, side.selection);
    if (!gaps) return;
    const WorkerId wanted = workerOf(side);
    for (size_t worker = 0; worker < gaps->workerCount(); ++worker) {
        if (gaps->processOf(worker) != wanted.process || gaps->gpuOf(worker) != wanted.gpu) continue;
        const IdleGap* gap = longestGap(*gaps, worker, rangeOf(side.worker.steps[step]), query, name, path);
        if (!gap) return;
        event = gap->next;
        range = gap->range;
    }
}

WorstInstance worstIdle(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query) {
    WorstInstance worst = worstStep(baseline, candidate, query.part);
    if (!worst.isFound || query.kind != ContributorKind::Idle) return worst;
    addGap(baseline, worst.step, query, query.baselineName, query.baselinePath, worst.baseline, worst.baselineGap);
    addGap(candidate, worst.step, query, query.candidateName, query.candidatePath, worst.candidate, worst.candidateGap);
    return worst;
}

/// Returns the longest kernel, copy or memset of the worker that begins within `range`.
EventRef longestWork(const InstanceSide& side, TimeRange range) {
    EventRef longest;
    int64_t longestNs = -1;
    const auto search = [&](const auto& table, EventKind kind) {
        const auto first = std::ranges::lower_bound(table.startNs, range.startNs);
        for (auto at = first; at != table.startNs.end() && *at < range.endNs; ++at) {
            const auto row = static_cast<uint32_t>(at - table.startNs.begin());
            const Stream& stream = side.trace.streams[table.stream[row]];
            const int64_t ns = table.endNs[row] - table.startNs[row];
            if (ns <= longestNs || stream.gpu >= side.trace.gpus.size() ||
                stream.process >= side.trace.processes.size() || side.trace.gpus[stream.gpu].id != side.worker.gpuId ||
                side.trace.processes[stream.process].pid != side.worker.pid)
                continue;
            longestNs = ns;
            longest = EventRef(kind, row);
        }
    };
    search(side.trace.kernels, EventKind::Kernel);
    search(side.trace.memcpys, EventKind::Memcpy);
    search(side.trace.memsets, EventKind::Memset);
    search(side.trace.graphs, EventKind::Graph);
    return longest;
}

EvidenceSide stepOf(const InstanceSide& side, size_t step) {
    if (step >= side.worker.steps.size()) return {};
    const TimeRange range = rangeOf(side.worker.steps[step]);
    return {step, range, longestWork(side, range)};
}

EvidenceSide medianStep(const InstanceSide& side) {
    const std::vector<int64_t> wallNs = side.worker.wallTimes();
    if (wallNs.empty()) return {};
    const double median = quantileOf(wallNs, 0.5);
    const auto nearest = std::ranges::min_element(
        wallNs, {}, [&](int64_t each) { return std::abs(static_cast<double>(each) - median); });
    return stepOf(side, static_cast<size_t>(nearest - wallNs.begin()));
}

Evidence evidenceOfCause(const InstanceQuery& query, const InstanceSide& baseline, const InstanceSide& candidate) {
    const WorstInstance worst = worstInstance(baseline, candidate, query);
    if (!worst.isFound) return {};
    const auto sideOf = [&](const InstanceSide& side, EventRef event, TimeRange gap) {
        if (!event.isValid()) {
            EvidenceSide there = stepOf(side, worst.step);
            there.event = {};  // this run has nothing like it
            return there;
        }
        return EvidenceSide{worst.step, gap.durationNs() > 0 ? gap : side.trace.rangeOf(event), event};
    };
    return {sideOf(baseline, worst.baseline, worst.baselineGap),
            sideOf(candidate, worst.candidate, worst.candidateGap)};
}

Evidence evidenceOfStep(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate) {
    const std::vector<StepSummary>& steps = (clause.isCandidate ? candidate : baseline).worker.steps;
    for (size_t step = 0; step < steps.size(); ++step)
        if (steps[step].number == clause.number) return {stepOf(baseline, step), stepOf(candidate, step)};
    return {};
}

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

/// Returns a side of a difference; without numbers if the difference is `unless`.
RowSide sideOf(const ContributorDifference& difference, MatchKind unless, const ContributorShare& share) {
    return difference.match == unless ? RowSide{} : RowSide{share.exposedNs, {}, &share};
}

/// Returns a row of something that every run has, if only for no time.
ComparisonRow rowOf(std::string_view name, std::optional<StepPart> part, int64_t baselineNs, size_t candidateCount) {
    ComparisonRow row{.part = part, .name = std::string(name)};
    row.baseline.ns = baselineNs;
    row.candidates.resize(candidateCount);
    row.lead.part = part;
    return row;
}

ComparisonRow rowOf(const ContributorDifference& difference, size_t candidateCount) {
    ComparisonRow row{.part = difference.part,
                      .kind = difference.kind,
                      .match = difference.match,
                      .path = difference.path,
                      .name = difference.name().text(),
                      .baseline = sideOf(difference, MatchKind::OnlyCandidate, difference.baseline)};
    row.candidates.resize(candidateCount);
    row.lead = leadTo(difference);
    return row;
}

void addCandidate(const ContributorDifference& difference, size_t candidate, ComparisonRow& row) {
    row.candidates[candidate] = sideOf(difference, MatchKind::OnlyBaseline, difference.candidate);
    row.candidates[candidate].lostNs = difference.lostNs();
    if (difference.match == MatchKind::OnlyBaseline) return;
    if (row.match == MatchKind::OnlyBaseline) row.match = difference.match;
    if (difference.match != MatchKind::SamePosition) return;
    row.match = difference.match;
    row.name = difference.candidate.name.text();
    row.formerName = difference.baseline.name.text();
}

}  // namespace

WorstInstance worstInstance(const InstanceSide& baseline, const InstanceSide& candidate, const InstanceQuery& query) {
    if (query.kind == ContributorKind::Idle || query.kind == ContributorKind::Others)
        return worstIdle(baseline, candidate, query);
    const std::vector<Piece> before = piecesOf(baseline, query, query.baselineName, query.baselinePath);
    const std::vector<Piece> after = piecesOf(candidate, query, query.candidateName, query.candidatePath);
    WorstInstance worst;
    const Piece* worstBefore = nullptr;
    const Piece* worstAfter = nullptr;
    const auto consider = [&](const Piece* a, const Piece* b) {
        const int64_t lostNs = (b ? b->endNs - b->startNs : 0) - (a ? a->endNs - a->startNs : 0);
        if (worst.isFound && lostNs <= worst.lostNs) return;
        worst = {.step = b ? b->step : a->step, .lostNs = lostNs, .isFound = true};
        worstBefore = a;
        worstAfter = b;
    };
    size_t i = 0, j = 0;
    while (i < before.size() || j < after.size()) {
        const bool hasBefore = i < before.size() && (j == after.size() || before[i].step <= after[j].step);
        const bool hasAfter = j < after.size() && (i == before.size() || after[j].step <= before[i].step);
        consider(hasBefore ? &before[i] : nullptr, hasAfter ? &after[j] : nullptr);
        i += hasBefore ? 1 : 0;
        j += hasAfter ? 1 : 0;
    }
    worst.baseline = eventOf(baseline, query.kind, worstBefore);
    worst.candidate = eventOf(candidate, query.kind, worstAfter);
    return worst;
}

std::string_view identifier(ClauseKind kind) { return enumText(kind, {"words", "step", "cause", "single"}); }

Evidence evidenceOf(const Clause& clause, const InstanceSide& baseline, const InstanceSide& candidate) {
    if (clause.kind == ClauseKind::Step) return {medianStep(baseline), medianStep(candidate)};
    if (clause.kind == ClauseKind::Single) return evidenceOfStep(clause, baseline, candidate);
    if (clause.query) return evidenceOfCause(*clause.query, baseline, candidate);
    return {};
}

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
