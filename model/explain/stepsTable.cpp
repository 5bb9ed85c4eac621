// SPDX-License-Identifier: Apache-2.0
#include "model/explain/stepsTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/values/formatValue.h"

namespace lanescope::explain {

using namespace compare;

namespace {

std::vector<StepPart> partsOf(const RunSummary& run) {
    StepParts all;
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps)
            for (size_t part = 0; part < stepPartCount; ++part) all.ns[part] |= step.parts.ns[part];
    std::vector<StepPart> parts;
    for (size_t part = 0; part < stepPartCount; ++part)
        if (all.ns[part] != 0) parts.push_back(static_cast<StepPart>(part));
    return parts;
}

std::string columnName(StepPart part) {
    std::string text(name(part));
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
    return text;
}

/// By the number of a step, what the rank that waits most for others waits.
std::map<int64_t, int64_t> longestWaits(const RunSummary& run) {
    std::map<int64_t, int64_t> longest;
    for (const WorkerSummary& worker : run.workers)
        for (const StepSummary& step : worker.steps) {
            int64_t& ns = longest[step.number];
            ns = std::max(ns, step.parts[StepPart::WaitingForRanks]);
        }
    return longest;
}

}  // namespace

StepsTable stepsTable(const RunSummary& run) {
    StepsTable made;
    const StepGrid grid(run);
    size_t count = 0;
    for (uint32_t worker = 0; worker < run.workers.size(); ++worker)
        for (uint32_t step = 0; step < run.workers[worker].steps.size(); ++step)
            made.places.push_back({worker, step});
    count = made.places.size();
    const auto stepAt = [&run](StepPlace place) -> const StepSummary& {
        return run.workers[place.worker].steps[place.step];
    };
    std::stable_sort(made.places.begin(), made.places.end(),
                     [&](StepPlace a, StepPlace b) { return stepAt(a).wallNs > stepAt(b).wallNs; });
    made.places.resize(std::min(count, mostStepRows));

    const std::vector<StepPart> parts = partsOf(run);
    const std::map<int64_t, int64_t> waits = longestWaits(run);
    const bool haveWaits =
        grid.rowCount() > 1 &&
        std::any_of(waits.begin(), waits.end(), [](const auto& each) { return each.second > 0; });
    ReportTable& table = made.table;
    table.name = "steps";
    table.title = "Steps";
    table.columns = {{"Step", Unit::Identifier},
                     {"Worker", Unit::Text},
                     {"Start", Unit::Timestamp},
                     {"Time", Unit::Nanoseconds},
                     {"Over Median", Unit::Nanoseconds}};
    if (haveWaits) table.columns.push_back({"Late", Unit::Nanoseconds});
    for (const StepPart part : parts)
        table.columns.push_back({columnName(part), Unit::Nanoseconds});
    std::vector<int64_t> medians(run.workers.size());
    for (size_t row = 0; row < grid.rowCount(); ++row)
        medians[grid.workerOf(row)] = grid.medianNs(row);
    for (const StepPlace place : made.places) {
        const StepSummary& step = stepAt(place);
        const int64_t medianNs = medians[place.worker];
        std::vector<Cell> row{step.number, run.workers[place.worker].label(), step.startNs,
                              step.wallNs, step.wallNs - medianNs};
        if (haveWaits)
            row.emplace_back(waits.at(step.number) - step.parts[StepPart::WaitingForRanks]);
        for (const StepPart part : parts) row.emplace_back(step.parts[part]);
        table.rows.push_back(std::move(row));
    }
    if (count > made.places.size())
        table.notes.push_back(fmt::format("The {} longest of {} steps.",
                                          formatCount(static_cast<int64_t>(made.places.size())),
                                          formatCount(static_cast<int64_t>(count))));
    return made;
}

}  // namespace lanescope::explain
