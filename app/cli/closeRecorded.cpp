// SPDX-License-Identifier: Apache-2.0
#include "app/cli/closeRecorded.h"

#include <array>
#include <csignal>
#include <memory>
#include <optional>

#include "app/cli/Command.h"
#include "app/cli/ProgressLine.h"
#include "app/cli/TraceClosing.h"
#include "model/format/PageSeal.h"

namespace lanescope::cli {

namespace {

/// Set by Ctrl+C and SIGTERM. A handler reaches no object.
volatile std::sig_atomic_t wasInterrupted = 0;

/// Takes the signals that ask a program to end, as long as it lives.
class SignalTaker {
  public:
    SignalTaker() {
        struct sigaction action {};
        action.sa_handler = [](int) { wasInterrupted = 1; };
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (size_t index = 0; index < numbers.size(); ++index) {
            sigaction(numbers[index], nullptr, &before_[index]);
            if (before_[index].sa_handler != SIG_IGN) sigaction(numbers[index], &action, nullptr);
        }
    }
    ~SignalTaker() {
        for (size_t index = 0; index < numbers.size(); ++index)
            sigaction(numbers[index], &before_[index], nullptr);
    }
    SignalTaker(const SignalTaker&) = delete;
    SignalTaker& operator=(const SignalTaker&) = delete;

  private:
    static constexpr std::array<int, 2> numbers{SIGINT, SIGTERM};
    std::array<struct sigaction, numbers.size()> before_{};
};

/// One recording on its way to its name.
class Closing {
  public:
    Closing() { wasInterrupted = 0; }

    /// What went wrong in the last step. The first is done again by the second where it could not
    /// read the trace, as on a file system that lets nobody read along.
    const std::optional<Error>& problem() const { return problem_; }

    template <class Step>
    void run(Step step) {
        if (wasInterrupted != 0) return;
        const SignalTaker taker;
        const Result<void> done = step(closing_);
        problem_.reset();
        if (!done && wasInterrupted == 0) problem_ = done.error();
    }

  private:
    std::optional<Error> problem_;
    ProgressLine line_;
    TraceClosing closing_{[this](double fraction, std::string_view what) {
        line_.show(fraction, what);
        return wasInterrupted == 0;
    }};
};

}  // namespace

capture::ClosingSteps closeRecorded(const std::filesystem::path& summaries) {
    // Not before there is something to close, since the line counts the time from then.
    const auto closing = std::make_shared<std::unique_ptr<Closing>>();
    const auto begun = [closing]() -> Closing& {
        if (!*closing) *closing = std::make_unique<Closing>();
        return **closing;
    };
    capture::ClosingSteps steps;
    steps.add = [begun](Database& database) {
        begun().run([&](TraceClosing& trace) { return trace.storeSummary(database); });
    };
    steps.settled = [begun, closing, summaries](const std::filesystem::path& file,
                                                const std::filesystem::path& name) {
        // Also of a recording that is wanted no longer than this: it is the last that is written.
        const Result<void> sealed = sealPages(file);
        if (!summaries.empty())
            begun().run(
                [&](TraceClosing& trace) { return trace.writeSummary(file, name, summaries); });
        const std::optional<Error> ofSummary = summaries.empty() ? std::nullopt : begun().problem();
        begun().run([&](TraceClosing& trace) { return trace.writeIndex(file, name); });
        const std::optional<Error> problem = begun().problem();
        closing->reset();  // and with it the line
        if (ofSummary) reportWarning(ofSummary->sentence);
        if (problem) reportWarning(problem->sentence);
        if (!sealed) reportWarning(sealed.error().sentence);
    };
    return steps;
}

}  // namespace lanescope::cli
