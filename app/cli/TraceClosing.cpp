// SPDX-License-Identifier: Apache-2.0
#include "app/cli/TraceClosing.h"

#include <system_error>

#include "model/analysis/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/index/openTrace.h"

namespace lanescope::cli {

namespace {

// The progress after the load step.
constexpr double afterLoad = 0.75;
constexpr double afterSummary = 0.9;

}  // namespace

Result<void> TraceClosing::load(const std::filesystem::path& file) {
    LoadOptions options = options_;
    options.memory = std::make_shared<LargeMemory>(std::filesystem::absolute(file).parent_path());
    Result<TracePtr> trace = loadTrace(file, partOf(progress_, 0, afterLoad), options);
    if (!trace) return fail(trace.error());
    trace_ = std::move(*trace);
    return {};
}

Result<void> TraceClosing::sumUp(const Database& database) {
    const auto report = [this](double fraction) {
        return !progress_ || progress_(afterLoad + fraction * (afterSummary - afterLoad), "summarizing the steps");
    };
    Result<analysis::RunSummary> summary = analysis::summarizeRun(*trace_, {}, report);
    if (!summary) return fail(summary.error());
    Result<fleet::RankDetails> details = fleet::rankDetails(*trace_, *summary);
    if (!details) return fail(details.error());
    details->clocks = fleet::readClocks(database, *trace_, *summary);
    summary_ = std::move(*summary);
    details_ = std::move(*details);
    return {};
}

Result<void> TraceClosing::storeSummary(Database& database) {
    if (auto loaded = load(database.path()); !loaded) return loaded;
    if (auto announced = announceSeal(database); !announced) return announced;
    if (auto summed = sumUp(database); !summed) return summed;
    if (summary_.isEmpty()) return {};
    if (auto written = analysis::writeRunSummary(database, summary_); !written) return written;
    return fleet::writeRankDetails(database, *trace_, *details_, true);
}

Result<void> TraceClosing::writeSummary(const std::filesystem::path& file, const std::filesystem::path& name,
                                        const std::filesystem::path& folder) {
    if (!trace_)
        if (auto loaded = load(file); !loaded) return loaded;
    if (!details_) {
        const Result<Database> database = Database::openReadOnly(file);
        if (!database) return fail(database.error());
        if (auto summed = sumUp(*database); !summed) return summed;
    }
    if (summary_.isEmpty())
        return fail("{}: no summary was written to {}, because the run has no GPU activity. The trace is complete.",
                    name.string(), folder.string());
    return fleet::writeSummaryFile(folder / fleet::summaryName(name), *trace_, summary_, *details_, true);
}

Result<void> TraceClosing::writeIndex(const std::filesystem::path& file, const std::filesystem::path& name) {
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(file, error);
    if (error) return fail("Cannot read {}: {}.", file.string(), error.message());
    if (bytes < OpenOptions().minBytes) return {};
    if (!trace_)
        if (auto loaded = load(file); !loaded) return loaded;
    const TracePtr trace = std::move(trace_);
    return writeIndexFor(*trace, file, name, partOf(progress_, afterSummary, 1));
}

}  // namespace lanescope::cli
