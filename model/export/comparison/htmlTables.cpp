#include "model/export/comparison/htmlTables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "model/export/comparison/DurationScale.h"
#include "model/export/comparison/HtmlTable.h"
#include "model/export/comparison/comparisonSentences.h"
#include "model/export/comparison/htmlText.h"
#include "model/values/formatValue.h"
#include "model/values/kernelName.h"

namespace lanescope {

namespace {

using Columns = std::vector<HtmlTable::Column>;

bool isSingle(const ComparisonReport& report) {
    return report.candidates.size() == 1;
}

void addTime(HtmlTable& table, const DurationScale& scale, int64_t ns) {
    table.number(scale.number(ns), static_cast<double>(ns));
}

/// A loss in colour if it is at least a fiftieth of the greatest of its table.
void addLoss(HtmlTable& table, const DurationScale& scale, int64_t ns, int64_t greatestNs) {
    table.number(scale.difference(ns), static_cast<double>(ns),
                 lossKind(ns, std::max(scale.quantumNs(), std::abs(greatestNs) / 50)));
}

template <class Row>
int64_t greatestLossOf(const std::vector<Row>& rows) {
    int64_t greatest = 0;
    for (const Row& row : rows) greatest = std::max(greatest, std::abs(row.greatestLossNs));
    return greatest;
}

/// Columns of a list: its losses, its times, its bandwidths, its name.
Columns listColumns(const ComparisonReport& report, const CandidateGroup& group,
                    const DurationScale& scale, bool hasRate, std::string_view heading) {
    Columns columns;
    const std::string unit(scale.unit);
    for (const size_t candidate : group.candidates)
        columns.push_back(
            {isSingle(report) ? "Lost" : candidateColumn(report, candidate) + " lost", unit, true});
    columns.push_back({"Baseline", unit, true, true});
    for (const size_t candidate : group.candidates)
        columns.push_back({candidateColumn(report, candidate), unit, true});
    if (hasRate) {
        columns.push_back({"Baseline", "GB/s", true, true});
        for (const size_t candidate : group.candidates)
            columns.push_back({candidateColumn(report, candidate), "GB/s", true});
    }
    columns.push_back({std::string(heading), {}, false, true});
    return columns;
}

void addRate(HtmlTable& table, const ContributorShare* share) {
    if (!share || share->gigabytesPerSecond <= 0) {
        table.nothing();
        return;
    }
    table.number(rateText(share), share->gigabytesPerSecond);
}

/// The candidate's side, or null where it has none.
const ContributorShare* candidateShare(const ContributorDifference* difference) {
    const bool isThere = difference && difference->match != MatchKind::OnlyBaseline;
    return isThere ? &difference->candidate : nullptr;
}

std::string countChange(const ContributorRow& row) {
    const ContributorShare* candidate =
        row.candidates.size() == 1 ? candidateShare(row.candidates[0]) : nullptr;
    const auto count = [](double number) { return withThousands(fmt::format("{:.4g}", number)); };
    if (!row.baseline || !candidate) return {};
    if (count(row.baseline->count) == count(candidate->count))
        return fmt::format("{} a step", count(candidate->count));
    return fmt::format("{} a step, was {}", count(candidate->count), count(row.baseline->count));
}

/// What stands under a name: where it is, how often, what it was called before.
std::string belowName(const ContributorRow& row) {
    std::string below;
    const auto add = [&below](std::string text) {
        if (text.empty()) return;
        below += (below.empty() ? "" : " \u00b7 ") + text;
    };
    add(std::string(row.path));
    add(countChange(row));
    if (!row.formerName.empty()) add(fmt::format("was {}", withoutParameters(row.formerName)));
    return below;
}

}  // namespace

std::string candidateHeading(const ComparisonReport& report, size_t candidate) {
    if (isSingle(report)) return "Candidate";
    return htmlEscaped(
        fmt::format("[{}] {}", candidate + 1, report.candidates[candidate].summary.facts.title));
}

std::string partsTableHtml(const ComparisonReport& report, const CandidateGroup& group) {
    int64_t greatest = pairOf(report, group.candidates.front()).baseline.meanNs;
    for (const size_t candidate : group.candidates)
        greatest = std::max(greatest, pairOf(report, candidate).candidate.meanNs);
    const DurationScale scale = DurationScale::fitting(greatest);
    const std::string unit(scale.unit);
    Columns columns{{"Part of the mean step"}, {"Baseline", unit, true}};
    for (const size_t candidate : group.candidates) {
        columns.push_back({candidateColumn(report, candidate), unit, true, true});
        columns.push_back({"Lost", unit, true});
        columns.push_back({"Lost", "%", true});
    }
    HtmlTable table(columns, "", false);
    int64_t greatestLoss = 0;
    const auto addRow = [&](std::string_view title, int64_t baselineNs,
                            const std::vector<int64_t>& candidateNs) {
        table.beginRow();
        table.text(title);
        addTime(table, scale, baselineNs);
        for (const int64_t ns : candidateNs) {
            addTime(table, scale, ns);
            addLoss(table, scale, ns - baselineNs, greatestLoss);
            if (baselineNs == 0)
                table.nothing();
            else
                table.number(percentDifference(baselineNs, ns),
                             static_cast<double>(ns - baselineNs));
        }
    };
    const std::vector<PartRow> rows = partRows(report, group, scale.quantumNs());
    for (const PartRow& row : rows)
        for (const int64_t ns : row.candidateNs)
            greatestLoss = std::max(greatestLoss, std::abs(ns - row.baselineNs));
    int64_t baselineSum = 0;
    std::vector<int64_t> candidateSums(group.candidates.size());
    for (const PartRow& row : rows) {
        addRow(name(row.part), row.baselineNs, row.candidateNs);
        baselineSum += row.baselineNs;
        for (size_t column = 0; column < candidateSums.size(); ++column)
            candidateSums[column] += row.candidateNs[column];
    }
    table.beginFoot();
    addRow("step", baselineSum, candidateSums);
    return std::move(table).html();
}

std::string contributorsHtml(const ComparisonReport& report, const CandidateGroup& group,
                             ContributorList list) {
    const std::vector<ContributorRow> rows = contributorRows(report, group, list, report.top);
    if (rows.empty()) return {};
    int64_t greatest = 0;
    for (const ContributorRow& row : rows) {
        if (row.baseline) greatest = std::max(greatest, row.baseline->exposedNs);
        greatest = std::max(greatest, std::abs(row.greatestLossNs));
    }
    const DurationScale scale = DurationScale::fitting(greatest);
    HtmlTable table(listColumns(report, group, scale, hasBandwidth(list), "Name"), "");
    for (const ContributorRow& row : rows) {
        table.beginRow();
        for (const ContributorDifference* difference : row.candidates) {
            if (difference)
                addLoss(table, scale, difference->lostNs(), greatestLossOf(rows));
            else
                table.nothing();
        }
        if (row.baseline)
            addTime(table, scale, row.baseline->exposedNs);
        else
            table.nothing();
        for (const ContributorDifference* difference : row.candidates) {
            if (const ContributorShare* share = candidateShare(difference))
                addTime(table, scale, share->exposedNs);
            else
                table.nothing();
        }
        if (hasBandwidth(list)) {
            addRate(table, row.baseline);
            for (const ContributorDifference* difference : row.candidates)
                addRate(table, candidateShare(difference));
        }
        std::vector<std::string_view> tags;
        if (list == ContributorList::Idle) tags.push_back(name(row.part));
        if (row.isOnlyBaseline) tags.push_back("gone");
        if (row.isOnlyCandidate) tags.push_back("new");
        if (!row.formerName.empty()) tags.push_back("renamed");
        table.name(withoutParameters(row.name), belowName(row), tags);
    }
    return fmt::format("<h3>{}</h3>\n", htmlEscaped(titleOf(list))) + std::move(table).html();
}

std::string rangesHtml(const ComparisonReport& report, const CandidateGroup& group) {
    const std::vector<RangeRow> rows = rangeRows(report, group, report.top);
    if (rows.empty()) return {};
    int64_t greatest = 0;
    for (const RangeRow& row : rows)
        greatest = std::max({greatest, row.baselineNs, std::abs(row.greatestLossNs)});
    const DurationScale scale = DurationScale::fitting(greatest);
    HtmlTable table(listColumns(report, group, scale, false, "Range"), "");
    for (const RangeRow& row : rows) {
        table.beginRow();
        for (const int64_t ns : row.candidateNs)
            addLoss(table, scale, ns - row.baselineNs, greatestLossOf(rows));
        addTime(table, scale, row.baselineNs);
        for (const int64_t ns : row.candidateNs) addTime(table, scale, ns);
        table.name(row.path);
    }
    return "<h3>NVTX ranges</h3>\n" + std::move(table).html();
}

}  // namespace lanescope
