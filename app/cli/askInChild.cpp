// SPDX-License-Identifier: Apache-2.0
#include "app/cli/askInChild.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <optional>
#include <string_view>

#include "app/cli/Command.h"
#include "model/system/process.h"

namespace lanescope::cli {

namespace {

using Clock = std::chrono::steady_clock;

// What the child says, each a byte at the beginning of what follows it.
constexpr char hasBegun = 'b', hasEnded = 'e', isAnswer = 'a', isFailure = 'f';

void writeAll(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(to, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;  // nobody reads any more
        bytes.remove_prefix(static_cast<size_t>(written));
    }
}

[[noreturn]] void answerAsChild(int to, const Asking& asking) {
    // Whoever asked may be ended in a way that it cannot pass on.
    system::endWithParent();
    try {
        const auto tell = [to](char what) { writeAll(to, {&what, 1}); };
        const Result<Answer> answer = asking([&] { tell(hasBegun); }, [&] { tell(hasEnded); });
        if (answer) {
            writeAll(to, fmt::format("{}{}\n", isAnswer, answer->warning.size()));
            writeAll(to, answer->warning);
            writeAll(to, answer->text);
        } else {
            writeAll(to, isFailure + answer.error().sentence);
        }
    } catch (const std::exception&) {
        writeAll(to, "fThere is not enough memory for this query.");
    }
    ::_exit(exitOk);
}

/// What the child says, as it comes.
class Listener {
  public:
    Listener(int from, std::chrono::milliseconds time) : from_(from), time_(time) {}

    /// Listens until the child ends. False if its time was over before.
    bool listen() {
        std::array<char, 65536> part;
        for (;;) {
            pollfd waited{from_, POLLIN, 0};
            const int ready = ::poll(&waited, 1, leftMs());
            if (ready < 0 && errno == EINTR) continue;
            if (ready == 0) return false;
            const ssize_t got = ::read(from_, part.data(), part.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return true;
            take({part.data(), static_cast<size_t>(got)});
        }
    }

    /// Nothing if the child did not come to an end.
    std::optional<Result<Answer>> answer() const {
        if (said_.empty()) return std::nullopt;
        const std::string_view rest = std::string_view(said_).substr(1);
        if (said_[0] == isFailure) return fail({std::string(rest)});
        size_t length = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
        const auto from = static_cast<size_t>(end - rest.data()) + 1;
        if (error != std::errc() || from > rest.size() || length > rest.size() - from)
            return std::nullopt;
        return Answer{std::string(rest.substr(from + length)),
                      std::string(rest.substr(from, length))};
    }

  private:
    /// -1 as long as no time is counted.
    int leftMs() const {
        if (!deadline_) return -1;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(*deadline_ - Clock::now());
        return static_cast<int>(std::max<int64_t>(0, left.count() + 1));
    }

    void take(std::string_view bytes) {
        while (said_.empty() && !bytes.empty() && (bytes[0] == hasBegun || bytes[0] == hasEnded)) {
            // A query that looks at the clock itself is to end by itself.
            deadline_.reset();
            if (bytes[0] == hasBegun) deadline_ = Clock::now() + time_ + time_ / 20;
            bytes.remove_prefix(1);
        }
        if (!bytes.empty()) deadline_.reset();
        said_ += bytes;
    }

    const int from_;
    const std::chrono::milliseconds time_;
    std::optional<Clock::time_point> deadline_;
    std::string said_;
};

}  // namespace

Result<Answer> askInChild(std::chrono::milliseconds time, const Asking& asking) {
    std::array<int, 2> pipe{};
    if (!system::openPipe(pipe)) return asking([] {}, [] {});
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipe[0]);
        answerAsChild(pipe[1], asking);
    }
    ::close(pipe[1]);
    if (child < 0) {
        ::close(pipe[0]);
        return asking([] {}, [] {});
    }
    Listener listener(pipe[0], time);
    const bool isInTime = listener.listen();
    ::close(pipe[0]);
    if (!isInTime) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!isInTime)
        return fail("The query was stopped after {:.3g} s: ask for less, or allow more time.",
                    static_cast<double>(time.count()) / 1000);
    if (auto answer = listener.answer(); answer && WIFEXITED(status)) return std::move(*answer);
    return fail("The query was ended from outside, as it is where memory runs out.");
}

}  // namespace lanescope::cli
