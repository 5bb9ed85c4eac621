// SPDX-License-Identifier: Apache-2.0
#include "model/fleet/FleetReport.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "model/values/formatValue.h"

namespace lanescope::fleet {

namespace {

constexpr size_t mostSampled = 1 << 18;

/// Some of the values that are known, evenly chosen, sorted.
std::vector<float> sampleOf(const FleetReport& report, Measure measure, bool isSigned) {
    const size_t cells = report.ranks.size() * report.steps.size();
    const size_t every = cells / mostSampled + 1;
    std::vector<float> values;
    for (size_t cell = 0; cell < cells; cell += every) {
        const float value =
            report.valueOf(measure, cell / report.steps.size(), cell % report.steps.size());
        if (!std::isnan(value)) values.push_back(isSigned ? std::abs(value) : value);
    }
    std::sort(values.begin(), values.end());
    return values;
}

float quantile(const std::vector<float>& sorted, double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

std::string name(Measure measure) {
    switch (measure) {
        case Measure::Late:
            return "own time against its role";
        case Measure::OwnTime:
            return "own time";
        case Measure::Waiting:
            return "waiting and communication";
        case Measure::Time:
            return "time of the step";
        case Measure::Compute:
            return "kernels";
        case Measure::Copies:
            return "copies that nothing hides";
        case Measure::Loading:
            return "waiting for the next batch";
        case Measure::Launching:
            break;
    }
    return "GPU idle for its CPU";
}

float FleetReport::valueOf(Measure measure, size_t row, size_t column) const {
    const size_t cell = row * steps.size() + column;
    switch (measure) {
        case Measure::Late:
            return against_[cell];
        case Measure::OwnTime:
            return wall_[cell] - communication_[cell];
        case Measure::Waiting:
            return communication_[cell];
        case Measure::Time:
            return wall_[cell];
        case Measure::Compute:
            return compute_[cell];
        case Measure::Copies:
            return copies_[cell];
        case Measure::Loading:
            return loading_[cell];
        case Measure::Launching:
            break;
    }
    const float rest =
        wall_[cell] - communication_[cell] - compute_[cell] - copies_[cell] - loading_[cell];
    return std::isnan(rest) ? rest : std::max(rest, 0.0F);
}

float FleetReport::lateNs(size_t row, size_t column) const {
    const float against = valueOf(Measure::Late, row, column);
    return against <= -1 ? unknown
                         : valueOf(Measure::OwnTime, row, column) * against / (1 + against);
}

std::optional<size_t> FleetReport::rowOf(int64_t rank) const {
    const auto found =
        std::lower_bound(ranks.begin(), ranks.end(), rank,
                         [](const ReportRank& each, int64_t number) { return each.rank < number; });
    if (found == ranks.end() || found->rank != rank) return std::nullopt;
    return static_cast<size_t>(found - ranks.begin());
}

std::pair<size_t, size_t> FleetReport::columnsOf(StepRange range) const {
    const auto first = std::lower_bound(steps.begin(), steps.end(), range.first);
    const auto end = std::upper_bound(first, steps.end(), range.last);
    return {static_cast<size_t>(first - steps.begin()), static_cast<size_t>(end - steps.begin())};
}

float MapScale::shareOf(float value) const {
    if (std::isnan(value)) return value;
    if (high <= low) return 0;
    if (low < 0) return std::clamp(value / static_cast<float>(high), -1.0F, 1.0F);
    return std::clamp(static_cast<float>((value - low) / (high - low)), 0.0F, 1.0F);
}

MapScale scaleOf(const FleetReport& report, Measure measure) {
    constexpr double strongestFrom = 0.995, spreads = 6, least = 0.02, most = 0.25;
    const bool isSigned = measure == Measure::Late;
    const std::vector<float> values = sampleOf(report, measure, isSigned);
    if (values.empty()) return {};
    if (isSigned) {
        // From a median absolute deviation to a standard deviation.
        const double spread = 1.4826 * quantile(values, 0.5);
        const double full =
            std::clamp(std::max(spreads * spread, double{quantile(values, 0.99)}), least, most);
        return {-full, full};
    }
    MapScale scale{quantile(values, 0.005), quantile(values, strongestFrom)};
    if (scale.high <= scale.low) scale = {values.front(), values.back()};
    return scale;
}

OrderedRows ordered(const FleetReport& report, RowOrder order) {
    OrderedRows made;
    made.rows.resize(report.ranks.size());
    std::iota(made.rows.begin(), made.rows.end(), 0U);
    if (order == RowOrder::Rank) return made;
    const auto of = [&report](uint32_t row) -> const ReportRank& { return report.ranks[row]; };
    const auto label = [&](uint32_t row) -> const std::string& {
        return order == RowOrder::Machine ? of(row).machine : of(row).role;
    };
    std::stable_sort(made.rows.begin(), made.rows.end(), [&](uint32_t a, uint32_t b) {
        if (order == RowOrder::Lost) return of(a).lostNs > of(b).lostNs;
        return label(a) < label(b);
    });
    for (size_t place = 0; order != RowOrder::Lost && place < made.rows.size(); ++place) {
        const std::string& text = label(made.rows[place]);
        if (made.groups.empty() || made.groups.back().label != text)
            made.groups.push_back({text, place, 0});
        ++made.groups.back().count;
    }
    return made;
}

TellingPart tellingPart(const ReportFinding& finding) {
    TellingPart part{finding.shownRanks.empty() ? finding.ranks : finding.shownRanks,
                     finding.steps};
    if (part.ranks.size() > mostShown) part.ranks.resize(mostShown);
    if (part.steps && part.steps->last - part.steps->first >= mostShownSteps)
        part.steps->last = part.steps->first + mostShownSteps - 1;
    return part;
}

Measure measureOf(const ReportFinding& finding) {
    if (finding.kind == "link") return Measure::Waiting;
    if (finding.kind != "rank" && finding.kind != "host") return Measure::Late;
    if (finding.what == "copies") return Measure::Copies;
    if (finding.what == "loading") return Measure::Loading;
    return finding.what == "launching" ? Measure::Launching : Measure::Late;
}

std::optional<TellingPart> tellingPart(const FleetReport& report) {
    for (const ReportFinding& finding : report.findings)
        if (const TellingPart part = tellingPart(finding);
            std::any_of(part.ranks.begin(), part.ranks.end(),
                        [&](int64_t rank) { return report.rowOf(rank).has_value(); }))
            return part;
    return std::nullopt;
}

}  // namespace lanescope::fleet
