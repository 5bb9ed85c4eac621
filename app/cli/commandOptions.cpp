// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commandOptions.h"

#include <fmt/format.h>

#include <array>
#include <functional>

#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"
#include "model/analysis/StepSelection.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/trace/healthNotes.h"

namespace lanescope::cli {

Result<TracePtr> loadForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    const std::optional<LiveTrace> live = liveTraceAt(path);
    if (live && path == live->partial && stateOf(*live) == LiveState::Recording)
        return loadLiveTrace(*live, std::ref(line));
    return openTrace(path, {}, std::ref(line));
}

Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    return ensureIndex(path, std::ref(line));
}

void reportTraceWarnings(const Trace& trace) {
    for (const HealthNote& note : healthNotesOf(trace))
        if (note.severity != Severity::Info) reportWarning(fmt::format("{}: {}", trace.title, shownText(note)));
}

void addStepRange(CLI::App& command, CompareSelection& selection) {
    command
        .add_option("--range", selection.range,
                    "NVTX ranges that mark the steps; # matches any number: \"step #\" (default: detected)")
        ->type_name("NAME");
}

void addStepOptions(CLI::App& command, CompareSelection& selection) {
    addStepRange(command, selection);
    help::addParsed(command, "--steps", "A-B", parseStepNumbers, selection.numbers,
                    "Only steps A to B of each run, by number: 5-20, or 7");
}

void addFormat(CLI::App& command, std::string& format, const std::vector<std::string>& words) {
    help::acceptOneOf(command.add_option("-f,--format", format, "Output format"), words);
}

void addOutputFile(CLI::App& command, std::string& path) {
    help::acceptOutputPath(command.add_option("-o,--output", path, "Output file (default: stdout)"), "FILE");
}

MergeOptions MergeArguments::options() const {
    MergeOptions options;
    options.cut = cut;
    constexpr std::array methods{ClockMethod::BaseTime, ClockMethod::Collectives, ClockMethod::Steps,
                                 ClockMethod::Start};
    for (const ClockMethod each : methods)
        if (identifier(each) == method) options.method = each;
    return options;
}

Result<std::vector<std::filesystem::path>> filesToRead(const std::vector<std::string>& words) {
    std::vector<std::filesystem::path> twins;
    auto files = filesMeantBy(words, &twins);
    for (const std::filesystem::path& twin : twins)
        reportWarning(
            fmt::format("{}: skipped, its unpacked copy is open. Name this file to open both.", twin.string()));
    return files;
}

void addMergeOptions(CLI::App& command, MergeArguments& words) {
    help::acceptOneOf(
        command.add_option(
            "--align", words.method,
            "How to synchronize the clocks of several hosts. collectives: by common collectives; steps: by steps of "
            "the same number; base-time: by the start time in each file; start: by the first event of each file; auto: "
            "nothing on one host, else the first of these that covers all files"),
        {"auto", "collectives", "steps", "base-time", "start"});
    help::addParsed(command, "--ranks", "LIST", parseRanks, words.cut.ranks, "Only these ranks: 0,17,517 or 0-7");
    help::addParsed(command, "--steps", "A-B", parseStepNumbers, words.cut.steps,
                    "Only steps A to B, by number, and the next one, which ends the last: 120-124, or 7");
}

Result<std::filesystem::path> mergeForCommand(const std::vector<std::filesystem::path>& files,
                                              const MergeArguments& words) {
    ProgressLine line;
    return openableMerge(files, words.options(), std::ref(line));
}

}  // namespace lanescope::cli
