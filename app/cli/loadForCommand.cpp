#include "app/cli/loadForCommand.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "app/cli/Command.h"
#include "model/export/formatValue.h"
#include "model/load/loadTrace.h"

namespace lanescope {

namespace {

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
    return loadTrace(path, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    });
}

void reportHealth(const Trace& trace) {
    for (const HealthNote& note : trace.health)
        if (note.severity != Severity::Info)
            reportWarning(fmt::format("{}: {}", printable(trace.title), printable(note.sentence)));
}

}  // namespace lanescope
