// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "app/help/HelpFormatter.h"
#include "model/analysis/StepSelection.h"
#include "model/format/parseNumber.h"
#include "model/importers/TraceSource.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/text/formatValue.h"
#include "model/trace/healthNotes.h"

namespace lanescope::cli {

void printMessage(std::string_view sentence) {
    // Not fmt::print: it throws if stderr is closed.
    std::fputs(fmt::format("lanescope: {}\n", printable(sentence)).c_str(), stderr);
}

int reportFailure(const Error& error, int status) {
    printMessage(error.sentence);
    return status;
}

int statusOf(const Result<int>& status) { return status ? *status : reportFailure(status.error()); }

int statusOf(const Result<void>& done) { return done ? exitOk : reportFailure(done.error()); }

int reportOutOfMemory() {
    std::fputs("lanescope: Out of memory.\n", stderr);
    return exitFailed;
}

void reportWarning(std::string_view sentence) { reportNote(Severity::Warning, sentence); }

void reportNote(Severity severity, std::string_view sentence) {
    printMessage(fmt::format("{}: {}", identifier(severity), sentence));
}

namespace {

/// Shorter work needs no progress line.
constexpr std::chrono::milliseconds patience{500};

/// Max text buffered until the source is checked; beyond this each part is checked.
constexpr size_t maxPendingBytes = size_t{64} << 20;

/// Minimum width of a line in columns, because narrower lines are unreadable.
constexpr size_t minLineWidth = 20;

/// Returns the value of COLUMNS if it is valid.
std::optional<size_t> columnsFromEnvironment() {
    constexpr size_t maxLineWidth = 10'000;
    const char* const variable = std::getenv("COLUMNS");
    const auto columns = parseNumber<size_t>(variable != nullptr ? variable : "");
    return columns && *columns >= minLineWidth && *columns <= maxLineWidth ? columns : std::nullopt;
}

}  // namespace

ProgressLine::ProgressLine() : isTerminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (isShown_) std::fputs("\r\033[K", stderr);
}

bool ProgressLine::operator()(double fraction, std::string_view what) {
    if (!isTerminal_ || std::chrono::steady_clock::now() - start_ < patience) return true;
    const std::string line = fmt::format("\r\033[K{:3.0f} %  {}", 100 * fraction, printable(what));
    std::fputs(line.c_str(), stderr);
    isShown_ = true;
    return true;
}

Result<Output> Output::open(const std::filesystem::path& path, const std::vector<std::filesystem::path>& inputs) {
    if (path.empty()) return Output(OutputFile::standardOutput(), true);
    if (const Result<void> other = checkIsNoInput(path, inputs); !other) return fail(other.error());
    if (const Result<void> report = checkNotTrace(path); !report) return fail(report.error());
    // A trace may contain confidential data such as command lines: only the owner can read the file.
    Result<OutputFile> file = OutputFile::open(path);
    if (!file) return fail(file.error());
    return Output(std::move(*file), false);
}

void Output::write(std::string_view text) {
    if (!isSound_) return file_.write(text);
    pending_ += text;
    if (pending_.size() > maxPendingBytes) release();
}

void Output::release() {
    if (sound_ && isSound_) sound_ = isSound_();
    if (sound_) file_.write(pending_);
    pending_.clear();
}

Result<void> Output::close() {
    release();
    if (!sound_) return sound_;
    return file_.close();
}

bool Output::isTerminal() const { return isStdout_ && ::isatty(STDOUT_FILENO) == 1; }

size_t Output::lineWidth() const {
    winsize size{};
    if (isTerminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::max<size_t>(size.ws_col, minLineWidth);
    return columnsFromEnvironment().value_or(defaultLineWidth);
}

Result<void> printOutput(std::string_view text) {
    Result<Output> output = Output::open();
    output->write(text);
    return output->close();
}

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
    help::addValue(command, "--range", "NAME", selection.range,
                   "NVTX ranges that mark the steps; # matches any number: \"step #\" (default: detected)");
}

void addStepOptions(CLI::App& command, CompareSelection& selection) {
    addStepRange(command, selection);
    help::addParsed(command, "--steps", "A-B", parseStepNumbers, selection.numbers,
                    "Only steps A to B of each run, by number: 5-20, or 7");
}

void addFormat(CLI::App& command, std::string& format, const std::vector<std::string>& words) {
    help::addOneOf(command, "-f,--format", words, format, "Output format");
}

void addOutputFile(CLI::App& command, std::string& path) {
    help::addOutputPath(command, "-o,--output", "FILE", path, "Output file (default: stdout)");
}

MergeOptions MergeArguments::options() const {
    MergeOptions options{.cut = cut};
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
    help::addOneOf(
        command, "--align", {"auto", "collectives", "steps", "base-time", "start"}, words.method,
        "How to synchronize the clocks of several hosts. collectives: by common collectives; steps: by steps of "
        "the same number; base-time: by the start time in each file; start: by the first event of each file; auto: "
        "off on one host, else the first of these that covers all files");
    help::addParsed(command, "--ranks", "LIST", parseRanks, words.cut.ranks, "Only these ranks: 0,17,517 or 0-7");
    help::addParsed(command, "--steps", "A-B", parseStepNumbers, words.cut.steps,
                    "Only steps A to B, by number, and the step after B, which ends B: 120-124, or 7");
}

Result<std::filesystem::path> mergeForCommand(const std::vector<std::filesystem::path>& files,
                                              const MergeArguments& words) {
    ProgressLine line;
    return openableMerge(files, words.options(), std::ref(line));
}

}  // namespace lanescope::cli
