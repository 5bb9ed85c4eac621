#include "app/cli/summarizeFile.h"

#include "app/cli/loadForCommand.h"
#include "model/compare/storedSummary.h"
#include "model/format/Sqlite.h"

namespace lanescope {

namespace {

std::optional<RunSummary> storedSummary(const std::string& file) {
    // What cannot be opened here, as a compressed trace, is for the loader to read or to complain
    // of.
    const Result<Database> database = Database::openReadOnly(file);
    return database ? readRunSummary(*database) : std::nullopt;
}

}  // namespace

Result<RunSummary> summarizeFile(const std::string& file, const CompareSelection& selection) {
    if (selection.isDefault())
        if (std::optional<RunSummary> stored = storedSummary(file)) return std::move(*stored);
    const Result<TracePtr> trace = loadForCommand(file);
    if (!trace) return fail(trace.error());
    const Result<StepSelection> steps = stepSelectionFor(**trace, selection);
    if (!steps) return fail(steps.error());
    return summarizeRun(**trace, *steps);
}

}  // namespace lanescope
