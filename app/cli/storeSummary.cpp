#include "app/cli/storeSummary.h"

#include <system_error>

#include "model/compare/storedSummary.h"
#include "model/format/Sqlite.h"
#include "model/load/loadTrace.h"

namespace lanescope {

namespace {

/// Some millions of events.
constexpr uintmax_t largestTrace = uintmax_t{256} << 20;

Result<RunSummary> summaryOf(const std::filesystem::path& path) {
    const Result<TracePtr> trace = loadTrace(path);
    if (!trace) return fail(trace.error());
    return summarizeRun(**trace);
}

Result<void> addTo(const std::filesystem::path& copy, const RunSummary& summary) {
    Result<Database> database = Database::openForWriting(copy);
    if (!database) return fail(database.error());
    return writeRunSummary(*database, summary);
}

}  // namespace

Result<void> storeSummary(const std::filesystem::path& trace) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(trace, error);
    if (error || size > largestTrace) return {};
    const Result<RunSummary> summary = summaryOf(trace);
    if (!summary) return fail(summary.error());
    if (summary->isEmpty()) return {};
    const std::filesystem::path copy = trace.string() + ".partial";
    std::filesystem::copy_file(trace, copy, std::filesystem::copy_options::overwrite_existing,
                               error);
    Result<void> result;
    if (error) result = fail("Cannot copy {}: {}.", trace.string(), error.message());
    if (result) result = addTo(copy, *summary);
    if (result) std::filesystem::rename(copy, trace, error);
    if (result && error) result = fail("Cannot replace {}: {}.", trace.string(), error.message());
    if (!result) std::filesystem::remove(copy, error);
    return result;
}

}  // namespace lanescope
