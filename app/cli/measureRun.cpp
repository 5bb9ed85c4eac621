// SPDX-License-Identifier: Apache-2.0
#include "app/cli/measureRun.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "app/cli/Output.h"
#include "app/cli/recordRun.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/RunFolder.h"
#include "model/analysis/shownNumbers.h"
#include "model/compare/judgeRuns.h"
#include "model/format/files.h"
#include "model/pages/makeComparison.h"
#include "model/system/system.h"

namespace lanescope::cli {

using namespace analysis;
using namespace compare;

namespace {

std::vector<std::string> ownEnvironment() {
    std::vector<std::string> entries;
    for (char** entry = system::environment(); *entry != nullptr; ++entry) entries.emplace_back(*entry);
    return entries;
}

RunEnd runWithoutAgent(const std::vector<std::string>& program) {
    const auto file = capture::findProgram(program.front());
    if (!file) return {exitFailed, false, file.error().error.sentence};
    auto child = capture::ChildProcess::fork(*file, program, ownEnvironment());
    if (!child) return {exitFailed, false, child.error().sentence};
    if (const auto begun = child->begin({}); !begun) return {exitFailed, false, begun.error().error.sentence};
    return {child->wait(), false, {}};
}

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Returns the reason to reject a run; empty if it is valid.
std::string problemOf(const RecordSupervisor& supervisor, const RunEnd& end, const std::string& name,
                      const std::filesystem::path& log) {
    if (supervisor.received() != 0) return fmt::format("{} was interrupted, so it does not count.", name);
    if (!end.problem.empty()) return fmt::format("{} failed: {}", name, firstLine(end.problem));
    if (end.exitStatus == 0 || end.wasEndedByUs) return {};
    return fmt::format("{}: exit status {}. Nothing to compare. Its output is in {}.", name, end.exitStatus,
                       log.string());
}

/// Removes the files of a run, except for its log.
void removeTrace(const std::filesystem::path& trace) {
    const std::string name = trace.filename().string();
    const Result<Folder> folder = Folder::open(trace.parent_path());
    if (!folder) return;
    for (const std::string& each : folder->names())
        if (each.starts_with(name) || each.starts_with("." + name)) static_cast<void>(folder->removeAll(each));
}

Result<RunSummary> summaryOf(const std::string& name, const std::filesystem::path& trace,
                             const CompareSelection& selection) {
    Result<RunSummary> summary = summarizeFile(trace.string(), selection, loadForCommand);
    if (!summary) return summary;
    const uint32_t critical = summary->criticalWorker();
    if (summary->isEmpty() || critical == noIndex)
        return fail("{}: no GPU activity was recorded. Nothing to compare.", name);
    const StepDistribution steps = stepsOf(summary->workers[critical]);
    printMessage(fmt::format("{}: median step {}, of {}.", name, timeText(steps.medianNs), steps.count));
    return summary;
}

}  // namespace

Result<RunsFolder> RunsFolder::make(const std::string& folder, std::string_view purpose) {
    RunsFolder made;
    std::error_code error;
    if (const Result<void> place = folder.empty() ? checkDefaultPlace() : Result<void>(); !place)
        return fail(place.error());
    for (int number = 1; folder.empty(); ++number) {
        made.path_ = fmt::format("lanescope-{}-{}", purpose, number);
        if (::mkdir(made.path_.c_str(), 0700) == 0) return made;
        if (errno != EEXIST) return fail("Cannot make {}: {}.", made.path_.string(), std::strerror(errno));
    }
    made.path_ = folder;
    if (const Result<void> created = makePrivateFolders(made.path_); !created) return fail(created.error());
    if (!std::filesystem::is_empty(made.path_, error) || error)
        return fail("{}: the folder is not empty. Choose another with -o.", folder);
    // It may be a link to a folder on another disk.
    if (const std::filesystem::path real = std::filesystem::canonical(made.path_, error);
        !error && std::filesystem::is_symlink(made.path_, error))
        made.path_ = real;
    return made;
}

Result<RunSummary> measureRun(RecordSupervisor& supervisor, capture::RecordOptions options, const std::string& name,
                              const RunFiles& files, const CompareSelection& selection) {
    options.outputPattern = capture::patternOf(files.trace.string());
    options.closing = closeRecorded();
    const bool mayRun = supervisor.received() == 0;  // A signal may come between two runs.
    const std::string problem =
        problemOf(supervisor, mayRun ? supervisor.record(options, files.log) : RunEnd{}, name, files.log);
    Result<RunSummary> summary = problem.empty() ? summaryOf(name, files.trace, selection) : fail("{}", problem);
    if (!summary) removeTrace(files.trace);
    return summary;
}

Result<void> runUnrecorded(RecordSupervisor& supervisor, const std::vector<std::string>& program,
                           const std::string& name, const std::filesystem::path& log) {
    const RunEnd end =
        supervisor.received() == 0 ? supervisor.runInChild(log, [&] { return runWithoutAgent(program); }) : RunEnd{};
    const std::string problem = problemOf(supervisor, end, name, log);
    return problem.empty() ? Result<void>() : fail("{}", problem);
}

}  // namespace lanescope::cli
