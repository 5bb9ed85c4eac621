#include "views/compare/comparisonTables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "model/compare/stepDifferences.h"

namespace lanescope {
namespace {

Cell text(std::string_view value) {
    return std::string(value);
}

Cell rate(double gigabytesPerSecond) {
    Cell cell;
    if (gigabytesPerSecond > 0) cell = gigabytesPerSecond;
    return cell;
}

Cell count(double value) {
    Cell cell = value;
    if (value == std::floor(value)) cell = static_cast<int64_t>(value);
    return cell;
}

/// The pair of another candidate whose baseline worker is the one that is shown.
const WorkerComparison* samePairOf(const ComparedPair& shown, size_t candidate) {
    for (const WorkerComparison& pair : shown.runs.comparisons[candidate].workers)
        if (pair.baselineWorker == shown.workers().baselineWorker) return &pair;
    return nullptr;
}

/// Calls `visit` with each pair that stands in a column of its own.
template <class Visit>
void forEachOther(const ComparedPair& shown, Visit visit) {
    for (size_t candidate = 0; candidate < shown.runs.candidates.size(); ++candidate)
        if (candidate != shown.candidate)
            visit(shown.runs.candidates[candidate].trace->title, samePairOf(shown, candidate));
}

void addOtherColumns(const ComparedPair& shown, ReportTable& table) {
    forEachOther(shown, [&](const std::string& title, const WorkerComparison*) {
        table.columns.push_back({"Lost: " + title, Unit::Nanoseconds});
    });
}

using ContributorKey = std::tuple<StepPart, ContributorKind, std::string, std::string>;
using LostByKey = std::map<ContributorKey, int64_t>;

/// Contributors are the same if the baseline calls them so; what only a candidate has goes by its
/// own name.
ContributorKey keyOf(const ContributorDifference& each) {
    const std::string& name = each.baseline.name.empty() ? each.candidate.name : each.baseline.name;
    return {each.part, each.kind, name, each.path};
}

std::vector<LostByKey> lostByOthers(const ComparedPair& shown) {
    std::vector<LostByKey> all;
    forEachOther(shown, [&](const std::string&, const WorkerComparison* pair) {
        LostByKey& lost = all.emplace_back();
        if (!pair) return;
        for (const ContributorDifference& each : pair->contributors)
            lost[keyOf(each)] += each.lostNs();
    });
    return all;
}

InstanceQuery queryOf(const ContributorDifference& each) {
    InstanceQuery query;
    query.part = each.part;
    query.kind = each.kind;
    if (each.match != MatchKind::OnlyCandidate) {
        query.baselineName = each.baseline.name;
        query.baselinePath = each.path;
    }
    if (each.match != MatchKind::OnlyBaseline) {
        query.candidateName = each.candidate.name;
        query.candidatePath = each.path;
    }
    return query;
}

bool isUnmatched(MatchKind match) {
    return match == MatchKind::OnlyBaseline || match == MatchKind::OnlyCandidate;
}

}  // namespace

CompareTable partRows(const ComparedPair& shown) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_parts";
    table.title = "Parts";
    table.columns = {{"Part", Unit::Text},
                     {"Baseline", Unit::Nanoseconds},
                     {"Candidate", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds},
                     {"Of the Baseline Step", Unit::Percent},
                     {"Of the Candidate Step", Unit::Percent}};
    addOtherColumns(shown, table);
    const WorkerComparison& pair = shown.workers();
    const auto share = [](int64_t partNs, int64_t stepNs) -> Cell {
        Cell cell;
        if (stepNs > 0) cell = 100.0 * double(partNs) / double(stepNs);
        return cell;
    };
    for (size_t index = 0; index < pair.parts.size(); ++index) {
        const PartDifference& part = pair.parts[index];
        if (part.baselineNs == 0 && part.candidateNs == 0) continue;
        std::vector<Cell> row = {text(name(part.part)),
                                 part.baselineNs,
                                 part.candidateNs,
                                 part.lostNs(),
                                 share(part.baselineNs, pair.baseline.meanNs),
                                 share(part.candidateNs, pair.candidate.meanNs)};
        forEachOther(shown, [&](const std::string&, const WorkerComparison* other) {
            Cell& lost = row.emplace_back();
            if (other && index < other->parts.size()) lost = other->parts[index].lostNs();
        });
        table.rows.push_back(std::move(row));
        CompareRow lead;
        lead.part = part.part;
        result.rows.push_back(std::move(lead));
    }
    return result;
}

CompareTable contributorRows(const ComparedPair& shown, const std::vector<ContributorKind>& kinds) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_contributors";
    table.title = "Contributors";
    const bool hasRates = std::any_of(kinds.begin(), kinds.end(), [](ContributorKind kind) {
        return kind == ContributorKind::Copy || kind == ContributorKind::Collective;
    });
    table.columns = {{"Part", Unit::Text},
                     {"Name", Unit::Text},
                     {"Within", Unit::Text},
                     {"Lost", Unit::Nanoseconds},
                     {"Baseline", Unit::Nanoseconds},
                     {"Candidate", Unit::Nanoseconds}};
    if (hasRates) {
        table.columns.push_back({"Bytes", Unit::Bytes});
        table.columns.push_back({"Baseline Rate", Unit::GigabytesPerSecond});
        table.columns.push_back({"Candidate Rate", Unit::GigabytesPerSecond});
    }
    table.columns.push_back({"Baseline Count", Unit::Count});
    table.columns.push_back({"Candidate Count", Unit::Count});
    table.columns.push_back({"Match", Unit::Text});
    addOtherColumns(shown, table);
    const std::vector<LostByKey> others = lostByOthers(shown);
    for (const ContributorDifference& each : shown.workers().contributors) {
        if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), each.kind) == kinds.end())
            continue;
        std::vector<Cell> row = {text(name(each.part)),   text(each.name()),
                                 text(each.path),         each.lostNs(),
                                 each.baseline.exposedNs, each.candidate.exposedNs};
        if (hasRates) {
            row.push_back(std::max(each.baseline.bytes, each.candidate.bytes));
            row.push_back(rate(each.baseline.gigabytesPerSecond));
            row.push_back(rate(each.candidate.gigabytesPerSecond));
        }
        row.push_back(count(each.baseline.count));
        row.push_back(count(each.candidate.count));
        row.push_back(text(name(each.match)));
        for (const LostByKey& lost : others) {
            const auto known = lost.find(keyOf(each));
            Cell& cell = row.emplace_back();
            if (known != lost.end()) cell = known->second;
        }
        table.rows.push_back(std::move(row));
        result.rows.push_back({queryOf(each), each.part, -1, {}, {}});
    }
    return result;
}

CompareTable rangeRows(const ComparedPair& shown) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_ranges";
    table.title = "Ranges";
    table.columns = {{"Range", Unit::Text},
                     {"Part", Unit::Text},
                     {"Baseline", Unit::Nanoseconds},
                     {"Candidate", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds}};
    addOtherColumns(shown, table);
    for (const RangeDifference& each : shown.workers().ranges) {
        std::vector<Cell> row = {text(each.path.empty() ? "(outside of any range)" : each.path),
                                 text(name(each.part)), each.baselineNs, each.candidateNs,
                                 each.lostNs()};
        forEachOther(shown, [&](const std::string&, const WorkerComparison* other) {
            Cell lost;
            for (size_t i = 0; other && i < other->ranges.size(); ++i) {
                const RangeDifference& range = other->ranges[i];
                if (range.path == each.path && range.part == each.part) lost = range.lostNs();
            }
            row.push_back(lost);
        });
        table.rows.push_back(std::move(row));
        // The contributor of that range that lost most stands for it.
        const ContributorDifference* worst = nullptr;
        for (const ContributorDifference& contributor : shown.workers().contributors) {
            if (contributor.path != each.path || contributor.part != each.part) continue;
            if (!worst || contributor.lostNs() > worst->lostNs()) worst = &contributor;
        }
        result.rows.push_back(
            {worst ? std::optional(queryOf(*worst)) : std::nullopt, each.part, -1, {}, {}});
    }
    return result;
}

CompareTable unmatchedRows(const ComparedPair& shown) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_unmatched";
    table.title = "Unmatched";
    table.columns = {{"Match", Unit::Text},       {"Part", Unit::Text},
                     {"Kind", Unit::Text},        {"Name", Unit::Text},
                     {"Within", Unit::Text},      {"Count", Unit::Count},
                     {"Time", Unit::Nanoseconds}, {"Lost", Unit::Nanoseconds}};
    for (const ContributorDifference& each : shown.workers().contributors) {
        if (!isUnmatched(each.match)) continue;
        const ContributorShare& side =
            each.match == MatchKind::OnlyBaseline ? each.baseline : each.candidate;
        table.rows.push_back({text(name(each.match)), text(name(each.part)), text(name(each.kind)),
                              text(side.name), text(each.path), count(side.count), side.exposedNs,
                              each.lostNs()});
        result.rows.push_back({queryOf(each), each.part, -1, {}, {}});
    }
    return result;
}

CompareTable stepRows(const ComparedPair& shown) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_steps";
    table.title = "Steps";
    table.columns = {{"Step", Unit::Identifier},      {"Name", Unit::Text},
                     {"Baseline", Unit::Nanoseconds}, {"Candidate", Unit::Nanoseconds},
                     {"Lost", Unit::Nanoseconds},     {"Lost in All", Unit::Nanoseconds},
                     {"Most Lost in", Unit::Text}};
    const WorkerComparison& pair = shown.workers();
    const auto& before = shown.runs.baseline.summary.workers[pair.baselineWorker];
    const auto& after =
        shown.runs.candidates[shown.candidate].summary.workers[pair.candidateWorker];
    const std::vector<StepDifference> steps = stepDifferences(before, after);
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepParts& old = before.steps[index].parts;
        const StepParts& now = after.steps[index].parts;
        size_t worst = 0;
        for (size_t part = 1; part < stepPartCount; ++part)
            if (now.ns[part] - old.ns[part] > now.ns[worst] - old.ns[worst]) worst = part;
        const bool isLost = now.ns[worst] > old.ns[worst];
        const StepDifference& step = steps[index];
        table.rows.push_back({step.number, text(step.name), step.baselineNs, step.candidateNs,
                              step.lostNs(), step.lostInAllNs, Cell()});
        if (isLost) table.rows.back().back() = text(name(static_cast<StepPart>(worst)));
        result.rows.push_back({std::nullopt, std::nullopt, int(index), {}, {}});
    }
    return result;
}

CompareTable outlierRows(const ComparedPair& shown) {
    CompareTable result;
    const RunComparison& comparison = shown.runs.comparisons[shown.candidate];
    result.table = outliersTable(comparison);
    result.table.title = "Outliers";
    result.rows.resize(result.table.rows.size());
    const WorkerComparison& pair = shown.workers();
    for (size_t row = 0; row < std::min(result.rows.size(), comparison.outliers.size()); ++row) {
        const RunOutlier& outlier = comparison.outliers[row];
        const RunSummary& run = outlier.isCandidate ? shown.runs.candidates[shown.candidate].summary
                                                    : shown.runs.baseline.summary;
        const auto& steps =
            run.workers[outlier.isCandidate ? pair.candidateWorker : pair.baselineWorker].steps;
        for (size_t step = 0; step < steps.size(); ++step)
            if (steps[step].number == outlier.step.number) result.rows[row].step = int(step);
    }
    return result;
}

CompareTable counterRows(const ComparedPair& shown) {
    CompareTable result;
    ReportTable& table = result.table;
    table.name = "compare_counters";
    table.title = "Counters";
    table.columns = {{"Name", Unit::Text},
                     {"Of", Unit::Text},
                     {"Baseline Mean", Unit::Text},
                     {"Candidate Mean", Unit::Text},
                     {"Change", Unit::Percent},
                     {"Baseline Greatest", Unit::Text},
                     {"Candidate Greatest", Unit::Text}};
    for (const CounterDifference& each : shown.runs.counters[shown.candidate]) {
        const auto value = [&each](double amount) -> Cell {
            return formatCounter(amount, each.unit);
        };
        table.rows.push_back({text(each.name), text(each.owner), value(each.baseline.mean),
                              value(each.candidate.mean), each.changePercent(),
                              value(each.baseline.maximum), value(each.candidate.maximum)});
        CompareRow lead;
        lead.baselineEvent = each.baseline.highest;
        lead.candidateEvent = each.candidate.highest;
        result.rows.push_back(std::move(lead));
    }
    return result;
}

CompareTable workerRows(const ComparedPair& shown) {
    CompareTable result;
    result.table = workersTable(shown.runs.comparisons[shown.candidate]);
    result.table.title = "Workers";
    result.rows.resize(result.table.rows.size());
    return result;
}

}  // namespace lanescope
