// SPDX-License-Identifier: Apache-2.0
#include "model/compare/ComparisonTable.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/analysis/shownNumbers.h"
#include "model/compare/answer.h"
#include "model/text/formatValue.h"
#include "model/text/kernelNames.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

enum class Owner : uint8_t { Row, Baseline, Candidate };

struct FieldEntry {
    std::string_view name;
    Form form;
    Owner owner;
    Cell (*of)(const ContributorShare& share) = nullptr;  ///< Value of a contributor.
};

Cell totalOf(const ContributorShare& share) { return share.totalNs; }

Cell countOf(const ContributorShare& share) { return share.count; }

Cell sizeOf(const ContributorShare& share) { return share.bytes; }

Cell rateOf(const ContributorShare& share) {
    return share.gigabytesPerSecond > 0 ? Cell(share.gigabytesPerSecond) : Cell();
}

Cell nameOf(const ContributorShare& share) { return share.name.text(); }

/// In the order of the enumeration.
constexpr std::array fieldEntries{
    FieldEntry{"Part", Form::Text, Owner::Row},
    FieldEntry{"Kind", Form::Text, Owner::Row},
    FieldEntry{"Match", Form::Text, Owner::Row},
    FieldEntry{"Name", Form::Text, Owner::Row},
    FieldEntry{"Range", Form::Text, Owner::Row},
    FieldEntry{"", Form::StepTime, Owner::Baseline},
    FieldEntry{"", Form::StepTime, Owner::Candidate},
    FieldEntry{"Diff", Form::StepLoss, Owner::Candidate},
    FieldEntry{"Diff", Form::StepLoss, Owner::Candidate},
    FieldEntry{"Change", Form::Change, Owner::Candidate},
    FieldEntry{"Share", Form::Percent, Owner::Baseline},
    FieldEntry{"Share", Form::Percent, Owner::Candidate},
    FieldEntry{"Total", Form::Time, Owner::Baseline, totalOf},
    FieldEntry{"Total", Form::Time, Owner::Candidate, totalOf},
    FieldEntry{"Count", Form::Count, Owner::Baseline, countOf},
    FieldEntry{"Count", Form::Count, Owner::Candidate, countOf},
    FieldEntry{"Size", Form::Size, Owner::Baseline, sizeOf},
    FieldEntry{"Size", Form::Size, Owner::Candidate, sizeOf},
    FieldEntry{"Rate", Form::Rate, Owner::Baseline, rateOf},
    FieldEntry{"Rate", Form::Rate, Owner::Candidate, rateOf},
    FieldEntry{"Name", Form::Text, Owner::Baseline, nameOf},
    FieldEntry{"Name", Form::Text, Owner::Candidate, nameOf},
    FieldEntry{"Count", Form::Count, Owner::Row, countOf},
    FieldEntry{"Time", Form::Time, Owner::Row, totalOf},
};
static_assert(fieldEntries.size() == static_cast<size_t>(Field::OnlyTotal) + 1);
// The fields that `cellOf` reads from the contributor.
static_assert(std::all_of(fieldEntries.begin() + static_cast<size_t>(Field::BaselineTotal), fieldEntries.end(),
                          [](const FieldEntry& each) { return each.of; }));

const FieldEntry& entryOf(Field field) { return fieldEntries[static_cast<size_t>(field)]; }

Cell share(std::optional<int64_t> ns, int64_t stepNs) {
    if (!ns || stepNs <= 0) return {};
    return 100.0 * static_cast<double>(*ns) / static_cast<double>(stepNs);
}

Cell orNothing(std::optional<int64_t> ns) { return ns ? Cell(*ns) : Cell(); }

std::string wordFor(auto value, Wording wording) {
    return std::string(wording == Wording::Programs ? identifier(value) : name(value));
}

Cell cellOf(const ComparisonView& view, const ComparisonRow& row, Field field, size_t candidate, Wording wording) {
    const RowSide& side = row.candidates[candidate];
    if (const FieldEntry& entry = entryOf(field); entry.of != nullptr) {
        const ContributorShare* only = entry.owner == Owner::Baseline    ? row.baseline.share
                                       : entry.owner == Owner::Candidate ? side.share
                                                                         : row.onlyShare();
        return only ? entry.of(*only) : Cell();
    }
    switch (field) {
        case Field::Part: return row.part ? wordFor(*row.part, wording) : row.name;
        case Field::Kind: return wordFor(row.kind, wording);
        case Field::Match: return wordFor(row.match, wording);
        case Field::Name: return row.name;
        case Field::Range:
            // Only a range's row has no name of its own.
            return row.name.empty() && wording != Wording::Programs ? "(outside of any range)" : row.path;
        case Field::Baseline: return orNothing(row.baseline.ns);
        case Field::Candidate: return orNothing(side.ns);
        case Field::Lost:
        case Field::OtherLost: return orNothing(side.lostNs);
        case Field::Change: return side.lostNs ? share(side.lostNs, row.baseline.ns.value_or(0)) : Cell();
        case Field::BaselineShare: return share(row.baseline.ns, view.first().baseline.meanNs);
        case Field::CandidateShare:
            return share(side.ns,
                         view.candidates[candidate].pair ? view.candidates[candidate].pair->candidate.meanNs : 0);
        default: return {};
    }
}

std::string headingOf(const ComparisonView& view, Field field, size_t candidate, Wording wording) {
    const FieldEntry& entry = entryOf(field);
    const std::string& heading = view.candidates[candidate].heading;
    const std::string what(entry.name);
    switch (field) {
        case Field::Baseline: return "Baseline";
        case Field::Candidate: return wording == Wording::Programs ? "Candidate Time" : heading;
        case Field::OtherLost: return "Diff: " + heading;
        case Field::Lost: return view.isSingle() || wording != Wording::Narrow ? what : heading + " lost";
        default: break;
    }
    if (entry.owner == Owner::Row || field == Field::Change) return what;
    const std::string run = entry.owner == Owner::Baseline ? "Baseline" : "Candidate";
    // The unit below distinguishes it from the times.
    if (wording == Wording::Narrow && entry.form == Form::Rate) return entry.owner == Owner::Baseline ? run : heading;
    return run + " " + what;
}

struct Place {
    Field field;
    size_t candidate;
};

/// Returns the field and candidate of each column.
std::vector<Place> placesOf(const ComparisonView& view, const Layout& layout, Wording wording) {
    std::vector<Place> places;
    for (const std::vector<Field>& group : layout) {
        const Field first = group.front();
        const bool isOfCandidates = entryOf(first).owner == Owner::Candidate;
        const size_t from = first == Field::OtherLost ? 1 : 0;
        const bool isOfAll = wording == Wording::Narrow || first == Field::OtherLost;
        const size_t to = isOfCandidates && isOfAll ? view.candidates.size() : 1;
        for (size_t candidate = from; candidate < to; ++candidate)
            for (const Field field : group) places.push_back({field, candidate});
    }
    return places;
}

struct FormEntry {
    Unit unit = Unit::Text;                       ///< Unit of the plain numbers.
    std::string_view shared = {};                 ///< Unit shown once for all of a column.
    std::string (*text)(double value) = nullptr;  ///< Text without that unit; null for the text of `unit`.
};

/// In the order of the enumeration. Times of the mean step have the scale of the comparison.
constexpr std::array formEntries{
    FormEntry{Unit::Text},
    FormEntry{Unit::Nanoseconds},
    FormEntry{Unit::Nanoseconds},
    FormEntry{Unit::Nanoseconds, {}, timeText},
    FormEntry{Unit::Nanoseconds, {}, timeDifferenceText},
    FormEntry{Unit::Percent, "%", percentText},
    FormEntry{Unit::Percent, "%", percentDifferenceText},
    FormEntry{Unit::GigabytesPerSecond, "GB/s", rateText},
    FormEntry{Unit::Count, {}, countText},
    FormEntry{Unit::Bytes},
    FormEntry{Unit::Identifier},
};
static_assert(formEntries.size() == static_cast<size_t>(Form::Number) + 1);

const FormEntry& entryOf(Form form) { return formEntries[static_cast<size_t>(form)]; }

std::string textOf(std::string_view text) { return std::string(text); }

/// Returns the part that grew most, or an empty cell.
Cell partWithLargestLoss(const StepParts& before, const StepParts& after) {
    size_t worst = 0;
    for (size_t part = 1; part < stepPartCount; ++part)
        if (after.ns[part] - before.ns[part] > after.ns[worst] - before.ns[worst]) worst = part;
    if (after.ns[worst] <= before.ns[worst]) return {};
    return textOf(name(static_cast<StepPart>(worst)));
}

}  // namespace

void ComparisonTable::add(std::vector<Cell> row, RowLead lead) {
    rows.push_back(std::move(row));
    leads.push_back(std::move(lead));
}

bool ComparisonTable::isLoss(size_t column) const {
    return columns[column].form == Form::StepLoss || columns[column].form == Form::Loss;
}

std::string_view ComparisonTable::unitOf(size_t column) const {
    const Form form = columns[column].form;
    return form == Form::StepTime || form == Form::StepLoss ? scale.unit : entryOf(form).shared;
}

std::string ComparisonTable::number(size_t row, size_t column) const {
    const Cell& cell = rows[row][column];
    if (std::holds_alternative<std::monostate>(cell)) return {};
    const double value = numberIn(cell).value_or(0);
    const Form form = columns[column].form;
    if (form == Form::StepTime) return scale.number(std::llround(value));
    if (form == Form::StepLoss) return scale.difference(std::llround(value));
    const FormEntry& entry = entryOf(form);
    return entry.text ? entry.text(value) : formatCell(cell, entry.unit);
}

std::string ComparisonTable::text(size_t row, size_t column) const {
    std::string text = number(row, column);
    const std::string_view unit = unitOf(column);
    if (!text.empty() && !unit.empty()) text.append(" ").append(unit);
    return text;
}

ReportTable ComparisonTable::asReport() const {
    ReportTable table{.name = name};
    for (const ComparisonColumn& column : columns) table.columns.push_back({column.name, entryOf(column.form).unit});
    table.rows = rows;
    return table;
}

ComparisonTable ComparisonTable::withColumns(std::initializer_list<size_t> wanted) const {
    ComparisonTable table{.name = name, .scale = scale};
    for (const size_t column : wanted) table.columns.push_back(columns[column]);
    for (size_t row = 0; row < rows.size(); ++row) {
        std::vector<Cell> cells = mapped(wanted, [&](size_t column) { return rows[row][column]; });
        table.add(std::move(cells), leads[row]);
    }
    return table;
}

ComparisonTable tableOf(const ComparisonView& view, std::span<const ComparisonRow> rows, const Layout& layout,
                        Wording wording) {
    ComparisonTable table{.scale = view.scale()};
    const std::vector<Place> places = placesOf(view, layout, wording);
    for (const Place& place : places)
        table.columns.push_back(
            {headingOf(view, place.field, place.candidate, wording), entryOf(place.field).form, place.field});
    for (const ComparisonRow& row : rows) {
        std::vector<Cell> cells;
        for (const Place& place : places) cells.push_back(cellOf(view, row, place.field, place.candidate, wording));
        table.add(std::move(cells), row.lead);
    }
    return table;
}

ComparisonTable outlierTable(const RunComparison& comparison, Wording wording, const WorkerSummary* baseline,
                             const WorkerSummary* candidate) {
    const auto contributorOf = [&](const OutlierStep& step) {
        return wording == Wording::Narrow ? textOf(withoutParameters(step.contributor.text()))
                                          : step.contributor.text();
    };
    ComparisonTable table{.name = "outliers",
                          .columns = {{"Run", Form::Text},
                                      {"Worker", Form::Text},
                                      {"Step", Form::Number},
                                      {"Name", Form::Text},
                                      {"Duration", Form::Time},
                                      {"Above Median", Form::Loss},
                                      {"Part", Form::Text},
                                      {"Part Excess", Form::Loss},
                                      {"Largest Cause", Form::Text, Field::Name},
                                      {"Range", Form::Text, Field::Range}}};
    for (const RunOutlier& outlier : comparison.outliers) {
        const OutlierStep& step = outlier.step;
        RowLead lead;
        const WorkerSummary* worker = outlier.isCandidate ? candidate : baseline;
        for (size_t index = 0; worker && index < worker->steps.size(); ++index)
            if (worker->steps[index].number == step.number && worker->steps[index].startNs == step.startNs)
                lead.step = static_cast<int>(index);
        table.add({textOf(outlier.isCandidate ? "candidate" : "baseline"), outlier.worker, step.number, step.name,
                   step.wallNs, step.excessNs, wordFor(step.part, wording), step.partExcessNs, contributorOf(step),
                   step.path},
                  std::move(lead));
    }
    return table;
}

/// Returns "41.2 %"; empty if unknown.
std::string shareText(const std::optional<double>& share) {
    return share ? percentText(100 * *share) + " %" : std::string();
}

ComparisonTable workerTable(const RunComparison& comparison) {
    ComparisonTable table{.name = "workers",
                          .columns = {{"Baseline", Form::Text},
                                      {"Candidate", Form::Text},
                                      {"Baseline Steps", Form::Count},
                                      {"Candidate Steps", Form::Count},
                                      {"Baseline Median", Form::Time},
                                      {"Candidate Median", Form::Time},
                                      {"Change", Form::Change},
                                      {"p", Form::Text},
                                      {"Baseline MFU", Form::Text},
                                      {"Candidate MFU", Form::Text},
                                      {"Outcome", Form::Text}}};
    for (const WorkerComparison& pair : comparison.workers)
        table.add({pair.baselineLabel, pair.candidateLabel, pair.baseline.count, pair.candidate.count,
                   pair.baseline.medianNs, pair.candidate.medianNs, pair.claim.percent, pValueText(pair.claim.pValue),
                   shareText(pair.baselineMfu), shareText(pair.candidateMfu), textOf(name(pair.claim.outcome))});
    return table;
}

ComparisonTable judgedTable(const WorkerComparison& pair) {
    ComparisonTable table{.name = "judged",
                          .columns = {{"Judged", Form::Text},
                                      {"Baseline", Form::Time},
                                      {"Diff", Form::Loss},
                                      {"Low", Form::Loss},
                                      {"High", Form::Loss},
                                      {"p", Form::Text},
                                      {"Certain", Form::Text}}};
    for (const QuantityClaim& claim : pair.quantities) {
        const bool isPart = claim.kind == QuantityKind::Part;
        RowLead lead;
        if (isPart)
            lead.part = claim.part;
        else if (const ContributorDifference* idle = findLargestIdleChange(pair, claim))
            lead = leadTo(*idle);
        table.add({isPart ? textOf(name(claim.part)) : "idle in " + claim.path, claim.baselineNs, claim.differenceNs,
                   claim.lowNs, claim.highNs, pValueText(claim.adjustedPValue), textOf(claim.isCertain ? "yes" : "no")},
                  std::move(lead));
    }
    return table;
}

ComparisonTable stepTable(const WorkerSummary& baseline, const WorkerSummary& candidate) {
    ComparisonTable table{.name = "steps",
                          .columns = {{"Step", Form::Number},
                                      {"Name", Form::Text},
                                      {"Baseline", Form::Time},
                                      {"Candidate", Form::Time},
                                      {"Diff", Form::Loss},
                                      {"Diff in All", Form::Loss},
                                      {"Largest Diff in", Form::Text}}};
    const std::vector<StepDifference> steps = stepDifferences(baseline, candidate);
    for (size_t index = 0; index < steps.size(); ++index) {
        const StepDifference& step = steps[index];
        RowLead lead{.step = static_cast<int>(index)};
        table.add({step.number, step.name, step.baselineNs, step.candidateNs, step.lostNs(), step.lostInAllNs,
                   partWithLargestLoss(baseline.steps[index].parts, candidate.steps[index].parts)},
                  std::move(lead));
    }
    return table;
}

ComparisonTable pathTable(const WorkerComparison& pair) {
    ComparisonTable table{.name = "path",
                          .scale = pair.scale,
                          .columns = {{"Part", Form::Text},
                                      {"Name", Form::Text},
                                      {"Line", Form::Text},
                                      {"Process", Form::Text},
                                      {"Baseline", Form::StepTime, Field::Baseline},
                                      {"Candidate", Form::StepTime, Field::Candidate},
                                      {"Diff", Form::StepLoss, Field::Lost}}};
    for (const PathDifference& each : pair.path)
        table.add({std::string(name(each.part.part)), std::string(each.part.shownName()), each.part.line,
                   each.part.rank ? each.part.process() : std::string(), orNothing(each.baselineNs),
                   orNothing(each.candidateNs), each.lostNs()});
    return table;
}

ComparisonTable pathChangeTable(const WorkerComparison& pair, size_t top) {
    ComparisonTable table = pathTable(pair).withColumns({6, 4, 5, 0, 3, 2, 1});
    size_t shown = 0;
    while (shown < pair.path.size() && std::abs(pair.path[shown].lostNs()) >= pair.baseline.meanNs / 100) ++shown;
    if (top > 0) shown = std::min(shown, top);
    table.rows.resize(shown);
    table.leads.resize(shown);
    return table;
}

ComparisonTable counterTable(std::span<const CounterDifference> counters) {
    ComparisonTable table{.name = "counters",
                          .columns = {{"Name", Form::Text},
                                      {"Of", Form::Text},
                                      {"Baseline Mean", Form::Text},
                                      {"Candidate Mean", Form::Text},
                                      {"Change", Form::Change},
                                      {"Baseline Greatest", Form::Text},
                                      {"Candidate Greatest", Form::Text}}};
    for (const CounterDifference& each : counters) {
        RowLead lead{.baselineEvent = each.baseline.highest, .candidateEvent = each.candidate.highest};
        table.add({each.name, each.owner, formatCounter(each.baseline.mean, each.unit),
                   formatCounter(each.candidate.mean, each.unit), each.changePercent(),
                   formatCounter(each.baseline.maximum, each.unit), formatCounter(each.candidate.maximum, each.unit)},
                  std::move(lead));
    }
    return table;
}

}  // namespace lanescope::compare
