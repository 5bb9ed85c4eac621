#include "app/cli/loadForCommand.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "app/cli/Command.h"
#include "model/values/formatValue.h"
#include "model/index/openTrace.h"
#include "model/trace/notesOf.h"

namespace lanescope {

namespace {

/// Set by Ctrl+C.
volatile std::sig_atomic_t wasInterrupted = 0;

using Clock = std::chrono::steady_clock;

/// A load shorter than this needs no line about it.
constexpr std::chrono::milliseconds patience{500};

/// One line on the terminal that is written over and over.
class ProgressLine {
  public:
    void show(double fraction, std::string_view what) {
        if (!isTerminal_ || Clock::now() - start_ < patience) return;
        const std::string line =
            fmt::format("\r\033[K{:3.0f} %  {}", 100 * fraction, printable(what));
        std::fputs(line.c_str(), stderr);
        isShown_ = true;
    }
    ~ProgressLine() {
        if (isShown_) std::fputs("\r\033[K", stderr);
    }

  private:
    const bool isTerminal_ = ::isatty(STDERR_FILENO) == 1;
    const Clock::time_point start_ = Clock::now();
    bool isShown_ = false;
};

}  // namespace

Result<TracePtr> loadForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    return openTrace(path, {}, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    });
}

Result<std::filesystem::path> indexForCommand(const std::filesystem::path& path) {
    ProgressLine line;
    return ensureIndex(path, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    });
}

void indexRecorded(const std::filesystem::path& trace) {
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(trace, error);
    if (error || bytes < OpenOptions().leastBytes) return;
    wasInterrupted = 0;
    const auto before = std::signal(SIGINT, [](int) { wasInterrupted = 1; });
    ProgressLine line;
    // Whoever opens the trace makes it otherwise.
    (void)ensureIndex(trace, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return wasInterrupted == 0;
    });
    if (before != SIG_ERR) std::signal(SIGINT, before);
}

void reportHealth(const Trace& trace) {
    for (const HealthNote& note : notesOf(trace))
        if (note.severity != Severity::Info)
            reportWarning(fmt::format("{}: {}", printable(trace.title), printable(shownText(note))));
}

}  // namespace lanescope
