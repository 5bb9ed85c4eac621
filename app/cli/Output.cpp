// SPDX-License-Identifier: Apache-2.0
#include "app/cli/Output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "model/importers/TraceSource.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

void say(std::string_view sentence) {
    // Not fmt::print: it throws where stderr is closed.
    std::fputs(fmt::format("lanescope: {}\n", printable(sentence)).c_str(), stderr);
}

int reportFailure(const Error& error) {
    say(error.sentence);
    return exitFailed;
}

int sayOutOfMemory() {
    std::fputs("lanescope: No memory is left.\n", stderr);
    return exitFailed;
}

void reportWarning(std::string_view sentence) {
    say(fmt::format("warning: {}", sentence));
}

namespace {

/// Work shorter than this needs no line about it.
constexpr std::chrono::milliseconds patience{500};

}  // namespace

ProgressLine::ProgressLine() : isTerminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (isShown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(double fraction, std::string_view what) {
    if (!isTerminal_ || std::chrono::steady_clock::now() - start_ < patience) return;
    const std::string line = fmt::format("\r\033[K{:3.0f} %  {}", 100 * fraction, printable(what));
    std::fputs(line.c_str(), stderr);
    isShown_ = true;
}

namespace {

/// Text that is held back until all of it is known to be sound; of more each part is.
constexpr size_t mostHeld = size_t{64} << 20;

/// Nobody reads narrower lines.
constexpr size_t fewestColumns = 20;

/// What COLUMNS says, if that makes sense.
std::optional<size_t> askedColumns() {
    constexpr size_t most = 10'000;
    const char* const variable = std::getenv("COLUMNS");
    const std::string_view text = variable != nullptr ? variable : "";
    size_t columns = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() ||
        columns < fewestColumns || columns > most)
        return std::nullopt;
    return columns;
}

}  // namespace

Result<Output> Output::open(const std::optional<std::filesystem::path>& path,
                            const std::vector<std::filesystem::path>& inputs) {
    if (!path) return Output(OutputFile::standardOutput(), true);
    if (const Result<void> other = checkIsNoInput(*path, inputs); !other)
        return fail(other.error());
    if (const Result<void> report = checkIsNoTrace(*path); !report) return fail(report.error());
    // What a trace holds, command lines among it, may be nobody else's business: so it is the
    // owner's file.
    Result<OutputFile> file = OutputFile::open(*path);
    if (!file) return fail(file.error());
    return Output(std::move(*file), false);
}

void Output::write(std::string_view text) {
    if (!isSound_) return file_.write(text);
    held_ += text;
    if (held_.size() > mostHeld) release();
}

void Output::release() {
    if (sound_ && isSound_) sound_ = isSound_();
    if (sound_) file_.write(held_);
    held_.clear();
}

Result<void> Output::close() {
    release();
    if (!sound_) return sound_;
    return file_.close();
}

bool Output::isTerminal() const {
    return isStdout_ && ::isatty(STDOUT_FILENO) == 1;
}

size_t Output::lineWidth() const {
    winsize size{};
    if (isTerminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return std::max<size_t>(size.ws_col, fewestColumns);
    return askedColumns().value_or(usualLineWidth);
}

}  // namespace lanescope::cli
