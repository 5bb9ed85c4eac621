// SPDX-License-Identifier: Apache-2.0
#include "model/explain/StepGrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

StepGrid::StepGrid(const RunSummary& run) {
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) numbers_.push_back(step.number);
    std::ranges::sort(numbers_);
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
    for (uint32_t index = 0; index < run.workers.size(); ++index) {
        const WorkerSummary& worker = run.workers[index];
        if (worker.steps.empty()) continue;
        Row row;
        row.worker = index;
        for (uint32_t step = 0; step < worker.steps.size(); ++step) {
            const StepSummary& each = worker.steps[step];
            row.entries.push_back({columnOf(each.number), step, each.startNs, each.wallNs});
            if (each.wallNs <= longestNs_) continue;
            longestNs_ = each.wallNs;
            slowestRow_ = rows_.size();
            slowestColumn_ = row.entries.back().column;
        }
        std::ranges::stable_sort(row.entries, {}, &Entry::column);
        for (const OutlierStep& each : worker.outliers)
            if (const size_t column = columnOf(each.number); column < numbers_.size()) row.odd.push_back(column);
        std::ranges::sort(row.odd);
        std::vector<int64_t> walls = worker.wallTimes();
        row.medianNs = static_cast<int64_t>(medianOf(walls));
        rows_.push_back(std::move(row));
    }
}

size_t StepGrid::rowOf(uint32_t worker) const {
    const auto found = std::ranges::find_if(rows_, [worker](const Row& row) { return row.worker == worker; });
    return static_cast<size_t>(found - rows_.begin());
}

size_t StepGrid::columnOf(int64_t number) const {
    const auto found = std::ranges::lower_bound(numbers_, number);
    return found != numbers_.end() && *found == number ? static_cast<size_t>(found - numbers_.begin())
                                                       : numbers_.size();
}

std::vector<StepGrid::Entry>::const_iterator StepGrid::firstFrom(const Row& row, size_t column) {
    return std::ranges::partition_point(row.entries, [column](const Entry& each) { return each.column < column; });
}

std::optional<StepPlace> StepGrid::at(size_t row, size_t column) const {
    const auto found = firstFrom(rows_[row], column);
    if (found == rows_[row].entries.end() || found->column != column) return std::nullopt;
    return StepPlace{rows_[row].worker, found->step};
}

std::optional<size_t> StepGrid::longestIn(size_t row, size_t first, size_t count) const {
    const Entry* longest = nullptr;
    for (auto each = firstFrom(rows_[row], first); each != rows_[row].entries.end() && each->column < first + count;
         ++each)
        if (longest == nullptr || each->wallNs > longest->wallNs) longest = &*each;
    return longest == nullptr ? std::nullopt : std::optional(longest->column);
}

bool StepGrid::isOdd(size_t row, size_t column) const {
    return std::binary_search(rows_[row].odd.begin(), rows_[row].odd.end(), column);
}

std::pair<size_t, size_t> StepGrid::columnsIn(size_t row, TimeRange range) const {
    const std::vector<Entry>& all = rows_[row].entries;
    const auto end = std::ranges::partition_point(all, [&](const Entry& each) { return each.startNs < range.endNs; });
    // Steps do not overlap, so their ends are sorted, too.
    const auto first = std::partition_point(
        all.begin(), end, [&](const Entry& each) { return each.startNs + each.wallNs <= range.startNs; });
    if (first != end) return {first->column, (end - 1)->column + 1};
    const size_t next = end == all.end() ? numbers_.size() : end->column;
    return {next, next};
}

namespace {

StepParts totalOf(const RunSummary& run) {
    StepParts all;
    for (const WorkerSummary& worker : run.workers) all += worker.totalParts();
    return all;
}

/// Returns "waiting for launches, 70.2 %".
std::string largestPartText(const StepSummary& step) {
    const std::vector<StepPart> parts = partsBySize(step.parts);
    if (parts.empty() || step.wallNs <= 0) return {};
    const double share = static_cast<double>(step.parts[parts.front()]) / static_cast<double>(step.wallNs);
    return fmt::format("{}, {} %", name(parts.front()), percentText(100 * share));
}

/// Returns by step number the wait of the rank that waits most for others.
std::map<int64_t, int64_t> maxWaits(const RunSummary& run) {
    std::map<int64_t, int64_t> longest;
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) {
            int64_t& ns = longest[step.number];
            ns = std::max(ns, step.parts[StepPart::WaitingForRanks]);
        }
    return longest;
}

constexpr double strongestQuantile = 0.99;  // quantile

template <class Visit>
void forEachStep(const RunSummary& run, Visit visit) {
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) visit(step);
}

}  // namespace

std::vector<StepPart> partsBySize(const StepParts& parts) {
    std::vector<StepPart> sorted;
    std::ranges::copy_if(allStepParts, std::back_inserter(sorted), [&](StepPart part) { return parts[part] > 0; });
    std::ranges::stable_sort(sorted, std::ranges::greater(), [&](StepPart each) { return parts[each]; });
    return sorted;
}

StepExcess excessOf(const RunSummary& run, StepPlace place) {
    const std::vector<StepSummary>& steps = run.workers[place.worker].steps;
    std::vector<int64_t> values(steps.size());
    const auto median = [&](auto valueOf) {
        std::ranges::transform(steps, values.begin(), valueOf);
        return static_cast<int64_t>(medianOf(values));
    };
    const StepSummary& step = steps[place.step];
    StepExcess excess;
    excess.ns = step.wallNs - median([](const StepSummary& each) { return each.wallNs; });
    const int64_t sign = excess.ns < 0 ? -1 : 1;
    for (const StepPart part : allStepParts) {
        const int64_t ns = step.parts[part] - median([part](const StepSummary& each) { return each.parts[part]; });
        if (sign * ns <= sign * excess.partNs) continue;
        excess.part = part;
        excess.partNs = ns;
    }
    return excess;
}

StepsTable stepsTable(const RunSummary& run) {
    StepsTable made;
    const StepGrid grid(run);
    size_t count = 0;
    for (uint32_t worker = 0; worker < run.workers.size(); ++worker)
        for (uint32_t step = 0; step < run.workers[worker].steps.size(); ++step) made.places.push_back({worker, step});
    count = made.places.size();
    const auto stepAt = [&run](StepPlace place) -> const StepSummary& {
        return run.workers[place.worker].steps[place.step];
    };
    std::ranges::stable_sort(made.places, std::ranges::greater(), [&](StepPlace each) { return stepAt(each).wallNs; });
    made.places.resize(std::min(count, maxStepRows));

    const std::vector<StepPart> parts = partsBySize(totalOf(run));
    const std::map<int64_t, int64_t> waits = maxWaits(run);
    const bool haveWaits =
        grid.rowCount() > 1 && std::ranges::any_of(waits, [](const auto& each) { return each.second > 0; });
    const auto mfuOf = [&run, &stepAt](StepPlace place) { return run.workers[place.worker].mfuOf(stepAt(place)); };
    const bool haveMfu = std::ranges::any_of(made.places, [&](StepPlace place) { return mfuOf(place).has_value(); });
    ReportTable& table = made.table;
    table.name = "steps";
    table.title = "Steps";
    const bool haveWorkers = grid.rowCount() > 1;
    const bool isWhole = run.source == StepSource::WholeRun;
    table.columns = {{"Step", isWhole ? Unit::Text : Unit::Identifier}};
    if (haveWorkers) table.columns.push_back({"Worker", Unit::Text});
    table.columns.push_back({"Time", Unit::Nanoseconds});
    table.columns.push_back({"vs. median", Unit::Nanoseconds});
    made.partsColumn = table.columns.size();
    table.columns.push_back({"Parts, largest first", Unit::Text});
    if (haveWaits) table.columns.push_back({"Late", Unit::Nanoseconds});
    if (haveMfu) table.columns.push_back({"MFU", Unit::Percent});
    for (const StepPart part : parts)
        table.columns.push_back({capitalized(std::string(name(part))), Unit::Nanoseconds});
    table.columns.push_back({"Start", Unit::Timestamp});
    std::vector<int64_t> medians(run.workers.size());
    for (size_t row = 0; row < grid.rowCount(); ++row) medians[grid.workerOf(row)] = grid.medianNs(row);
    for (const StepPlace place : made.places) {
        const StepSummary& step = stepAt(place);
        const int64_t medianNs = medians[place.worker];
        std::vector<Cell> row{isWhole ? Cell("whole run") : Cell(step.number)};
        if (haveWorkers) row.emplace_back(run.workers[place.worker].label());
        row.emplace_back(step.wallNs);
        row.emplace_back(step.wallNs - medianNs);
        row.emplace_back(largestPartText(step));
        if (haveWaits) row.emplace_back(waits.at(step.number) - step.parts[StepPart::WaitingForRanks]);
        if (haveMfu) {
            const std::optional<double> mfu = mfuOf(place);
            row.push_back(mfu ? Cell(100 * *mfu) : Cell());
        }
        for (const StepPart part : parts) row.emplace_back(step.parts[part]);
        row.emplace_back(step.startNs);
        table.rows.push_back(std::move(row));
    }
    if (count > made.places.size())
        table.notes.push_back(fmt::format("The {} longest of {} steps.",
                                          formatCount(static_cast<int64_t>(made.places.size())),
                                          formatCount(static_cast<int64_t>(count))));
    return made;
}

std::string name(const LensMeasure& measure) {
    switch (measure.kind) {
        case LensMeasure::Kind::OwnTime: return "time not spent waiting";
        case LensMeasure::Kind::Time: return "time";
        case LensMeasure::Kind::Part: break;
    }
    return std::string(analysis::name(measure.part));
}

int64_t valueOf(const StepSummary& step, const LensMeasure& measure) {
    switch (measure.kind) {
        case LensMeasure::Kind::OwnTime:
            return step.wallNs - step.parts[StepPart::WaitingForRanks] - step.parts[StepPart::ExposedCommunication];
        case LensMeasure::Kind::Time: return step.wallNs;
        case LensMeasure::Kind::Part: break;
    }
    return step.parts[measure.part];
}

std::vector<LensMeasure> measuresOf(const RunSummary& run) {
    std::vector<LensMeasure> measures{{LensMeasure::Kind::OwnTime, {}}, {LensMeasure::Kind::Time, {}}};
    for (const StepPart part : partsBySize(totalOf(run))) measures.push_back({LensMeasure::Kind::Part, part});
    return measures;
}

double LensScale::shareOf(int64_t ns) const {
    if (highNs <= lowNs) return 0;
    return std::clamp(static_cast<double>(ns - lowNs) / static_cast<double>(highNs - lowNs), 0.0, 1.0);
}

LensScale scaleOf(const RunSummary& run, const LensMeasure& measure) {
    std::vector<int64_t> values;
    forEachStep(run, [&](const StepSummary& step) { values.push_back(valueOf(step, measure)); });
    if (values.empty()) return {};
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(strongestQuantile * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    LensScale scale{*std::ranges::min_element(values), *at};
    // Few steps with a single outlier: else all would look alike.
    if (scale.highNs == scale.lowNs) scale.highNs = *std::ranges::max_element(values);
    return scale;
}

std::optional<TimeRange> steadySteps(const RunSummary& run) {
    const uint32_t critical = run.criticalWorker();
    if (critical == noIndex || run.source == StepSource::WholeRun) return std::nullopt;
    const std::vector<StepSummary>& steps = run.workers[critical].steps;
    std::vector<int64_t> wallNs = run.workers[critical].wallTimes();
    const double medianNs = medianOf(wallNs);
    const auto farOff = [&](size_t step) { return std::abs(static_cast<double>(steps[step].wallNs) - medianNs); };
    const size_t count = std::min(steadyStepCount, steps.size());
    double offNs = 0;
    for (size_t step = 0; step < count; ++step) offNs += farOff(step);
    double nearestNs = offNs;
    size_t best = 0;
    for (size_t first = 1; first + count <= steps.size(); ++first) {
        offNs += farOff(first + count - 1) - farOff(first - 1);
        // A tiny difference is equality: the sums are rounded.
        if (offNs >= nearestNs * (1 - 1e-9)) continue;
        nearestNs = offNs;
        best = first;
    }
    const StepSummary& last = steps[best + count - 1];
    const TimeRange range{steps[best].startNs, last.startNs + last.wallNs};
    return range.isEmpty() ? std::nullopt : std::optional(range);
}

}  // namespace lanescope::explain
