// SPDX-License-Identifier: Apache-2.0
#include "model/explain/StepGrid.h"

#include <algorithm>

#include "model/values/Statistics.h"

namespace lanescope::explain {

using namespace compare;

StepGrid::StepGrid(const RunSummary& run) {
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) numbers_.push_back(step.number);
    std::sort(numbers_.begin(), numbers_.end());
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
        std::stable_sort(row.entries.begin(), row.entries.end(),
                         [](const Entry& a, const Entry& b) { return a.column < b.column; });
        for (const OutlierStep& each : worker.outliers)
            if (const size_t column = columnOf(each.number); column < numbers_.size())
                row.odd.push_back(column);
        std::sort(row.odd.begin(), row.odd.end());
        std::vector<int64_t> walls;
        for (const StepSummary& step : worker.steps) walls.push_back(step.wallNs);
        row.medianNs = static_cast<int64_t>(medianOf(walls));
        rows_.push_back(std::move(row));
    }
}

size_t StepGrid::rowOf(uint32_t worker) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [worker](const Row& row) { return row.worker == worker; });
    return static_cast<size_t>(found - rows_.begin());
}

size_t StepGrid::columnOf(int64_t number) const {
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    return found != numbers_.end() && *found == number
               ? static_cast<size_t>(found - numbers_.begin())
               : numbers_.size();
}

std::vector<StepGrid::Entry>::const_iterator StepGrid::firstFrom(const Row& row, size_t column) {
    return std::partition_point(row.entries.begin(), row.entries.end(),
                                [column](const Entry& each) { return each.column < column; });
}

std::optional<StepPlace> StepGrid::at(size_t row, size_t column) const {
    const auto found = firstFrom(rows_[row], column);
    if (found == rows_[row].entries.end() || found->column != column) return std::nullopt;
    return StepPlace{rows_[row].worker, found->step};
}

std::optional<size_t> StepGrid::longestIn(size_t row, size_t first, size_t count) const {
    const Entry* longest = nullptr;
    for (auto each = firstFrom(rows_[row], first);
         each != rows_[row].entries.end() && each->column < first + count; ++each)
        if (longest == nullptr || each->wallNs > longest->wallNs) longest = &*each;
    return longest == nullptr ? std::nullopt : std::optional(longest->column);
}

bool StepGrid::isOdd(size_t row, size_t column) const {
    return std::binary_search(rows_[row].odd.begin(), rows_[row].odd.end(), column);
}

std::pair<size_t, size_t> StepGrid::columnsIn(size_t row, TimeRange range) const {
    const std::vector<Entry>& all = rows_[row].entries;
    const auto end = std::partition_point(
        all.begin(), all.end(), [&](const Entry& each) { return each.startNs < range.endNs; });
    // Steps do not overlap, so their ends are sorted, too.
    const auto first = std::partition_point(all.begin(), end, [&](const Entry& each) {
        return each.startNs + each.wallNs <= range.startNs;
    });
    if (first != end) return {first->column, (end - 1)->column + 1};
    const size_t next = end == all.end() ? numbers_.size() : end->column;
    return {next, next};
}

}  // namespace lanescope::explain
