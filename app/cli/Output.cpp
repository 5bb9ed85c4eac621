// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "model/importers/TraceSource.h"
#include "model/text/formatValue.h"

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
    const std::string_view text = variable != nullptr ? variable : "";
    size_t columns = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || columns < minLineWidth ||
        columns > maxLineWidth)
        return std::nullopt;
    return columns;
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

}  // namespace lanescope::cli
