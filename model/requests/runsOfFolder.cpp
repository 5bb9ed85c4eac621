// SPDX-License-Identifier: Apache-2.0
#include "model/requests/runsOfFolder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "model/values/formatValue.h"

namespace lanescope {

using compare::RunSummary;

namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> tracesIn(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() == ".sqlite" && at->is_regular_file(ignored))
            files.push_back(at->path().string());
    }
    if (error) return fail("Cannot read the folder {}: {}.", printable(folder), error.message());
    std::sort(files.begin(), files.end());
    return files;
}

bool hasSteps(const RunSummary& run) {
    return !run.isEmpty() && std::all_of(run.workers.begin(), run.workers.end(),
                                         [](const auto& worker) { return !worker.steps.empty(); });
}

}  // namespace

bool areAlike(const RunSummary& run, const RunSummary& other) {
    const auto settingOf = [](const RunSummary& each) {
        const compare::SummaryFacts& facts = each.facts;
        return std::tie(facts.commandLine, facts.host, facts.gpuNames, facts.recordOptions);
    };
    return !run.facts.commandLine.empty() && !run.facts.host.empty() &&
           settingOf(run) == settingOf(other) && run.workers.size() == other.workers.size();
}

Result<FolderRuns> runsOfFolder(const std::string& folder, const RunSummary& like,
                                const CompareSelection& selection, const TraceOpener& open) {
    const Result<std::vector<std::string>> files = tracesIn(folder);
    if (!files) return fail(files.error());
    FolderRuns found;
    for (const std::string& file : *files) {
        Result<RunSummary> run = summarizeFile(file, selection, open);
        if (run && !run->facts.damage() && hasSteps(*run) && areAlike(*run, like))
            found.runs.push_back(std::move(*run));
        else
            ++found.others;
    }
    std::stable_sort(found.runs.begin(), found.runs.end(), [](const auto& a, const auto& b) {
        return a.facts.startUtcNs < b.facts.startUtcNs;
    });
    return found;
}

std::string othersClause(int64_t others) {
    if (others == 0) return {};
    return fmt::format("; {} damaged, or of another command, machine or way of recording",
                       others == 1 ? "one other trace there is"
                                   : fmt::format("{} other traces there are", others));
}

}  // namespace lanescope
