// SPDX-License-Identifier: Apache-2.0
#include "model/query/QueryProcess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "model/query/queryMessages.h"
#include "model/system/system.h"

namespace lanescope {

namespace {

/// Time between two checks for cancellation.
constexpr std::chrono::milliseconds checkInterval{50};
/// Opening may take as long as decompression, whose progress is reported.
constexpr std::chrono::hours timeToOpen{24};

void closeIfOpen(int& file) {
    if (file >= 0) ::close(file);
    file = -1;
}

/// Starts the program. It inherits nothing but the socket: output goes to /dev/null, signals have
/// their defaults.
int spawnWith(const char* program, int socket, pid_t& pid) {
    char name[] = "lanescope", word[] = "--answer-queries";
    std::array<char*, 3> words{name, word, nullptr};
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    const int problem =
        ::posix_spawn(&pid, program, &files, &attributes, words.data(), system::environment());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return problem;
}

}  // namespace

Result<QueryProcess> QueryProcess::open(const std::filesystem::path& path,
                                        const LoadProgress& progress,
                                        const std::filesystem::path& program) {
    QueryProcess process(path, program.empty() ? system::programToRestart() : program);
    if (auto started = process.start(progress); !started) return fail(started.error());
    return process;
}

QueryProcess::QueryProcess(QueryProcess&& other) noexcept
    : path_(std::move(other.path_)),
      program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      doubt_(std::move(other.doubt_)) {}

QueryProcess& QueryProcess::operator=(QueryProcess&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(program_, other.program_);
    std::swap(pid_, other.pid_);
    std::swap(socket_, other.socket_);
    std::swap(doubt_, other.doubt_);
    return *this;
}

QueryProcess::~QueryProcess() {
    end();
}

Result<void> QueryProcess::spawn() {
    std::array<int, 2> ends{};
    if (!system::openSockets(ends))
        return fail("No process could be started for a query: {}.", std::strerror(errno));
    const int problem = spawnWith(program_.c_str(), ends[1], pid_);
    ::close(ends[1]);
    if (problem != 0) {
        ::close(ends[0]);
        pid_ = -1;
        return fail("No process could be started for a query: {}.", std::strerror(problem));
    }
    socket_ = ends[0];
    return {};
}

Result<void> QueryProcess::start(const LoadProgress& progress) {
    if (socket_ >= 0) return {};
    if (auto spawned = spawn(); !spawned) return spawned;
    double fraction = 0;
    std::string what;
    const auto goesOn = [&] { return !progress || progress(fraction, what); };
    auto message = ask(QueryMessage::Open, path_.string(), timeToOpen, goesOn);
    while (message && message->kind == QueryMessage::Progress) {
        QueryReader reader(message->body);
        fraction = static_cast<double>(reader.number()) / 1e6;
        what = reader.text();
        message = receive(Clock::now() + timeToOpen, goesOn);
    }
    if (message && message->kind == QueryMessage::Opened) return {};
    const bool isRefused =
        message && message->kind == QueryMessage::Failed && !message->body.empty();
    end();
    if (isRefused) return fail({errorIn(message->body).sentence});
    if (stop_ == Stop::User) return fail("Opening {} was cancelled.", path_.string());
    return fail("{} could not be opened for queries: the process that did so ended.",
                path_.string());
}

/// Closes the socket, which ends a waiting process, and kills a busy one.
void QueryProcess::end() {
    closeIfOpen(socket_);
    if (pid_ <= 0) return;
    // Unless other code in this program has waited for all children. The number may then belong to
    // another process.
    if (::waitpid(pid_, nullptr, WNOHANG) == 0) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    pid_ = -1;
}

bool QueryProcess::receiveBytes(void* to, size_t bytes, std::optional<Clock::time_point> deadline,
                                const KeepGoing& goesOn) {
    for (size_t done = 0; done < bytes;) {
        auto wait = checkInterval;
        if (deadline) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now());
            wait = std::clamp(left + std::chrono::milliseconds(1), std::chrono::milliseconds(0),
                              checkInterval);
        }
        pollfd waited{socket_, POLLIN, 0};
        const int ready = ::poll(&waited, 1, static_cast<int>(wait.count()));
        if (ready < 0 && errno != EINTR) return stop_ = Stop::Ended, false;
        if (ready <= 0) {
            if (deadline && Clock::now() >= *deadline) return stop_ = Stop::Time, false;
            if (goesOn && !goesOn()) return stop_ = Stop::User, false;
            continue;
        }
        const ssize_t got = ::recv(socket_, static_cast<char*>(to) + done, bytes - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return stop_ = Stop::Ended, false;
        done += static_cast<size_t>(got);
    }
    return true;
}

std::optional<QueryProcess::Message> QueryProcess::receive(
    std::optional<Clock::time_point> deadline, const KeepGoing& goesOn) {
    stop_ = Stop::None;
    QueryHeader header;
    if (!receiveBytes(&header, sizeof header, deadline, goesOn)) return std::nullopt;
    Message message{header.kind, {}};
    // In parts, so that a wrong length cannot cause a large allocation.
    constexpr uint64_t part = 1 << 20;
    while (message.body.size() < header.bytes) {
        const size_t before = message.body.size();
        message.body.resize(before + std::min<uint64_t>(part, header.bytes - before));
        if (!receiveBytes(message.body.data() + before, message.body.size() - before, deadline,
                          goesOn))
            return std::nullopt;
    }
    return message;
}

std::optional<QueryProcess::Message> QueryProcess::ask(QueryMessage kind, const std::string& body,
                                                       std::chrono::milliseconds time,
                                                       const KeepGoing& goesOn) {
    if (!sendMessage(socket_, kind, body)) {
        stop_ = Stop::Ended;
        return std::nullopt;
    }
    return receive(Clock::now() + time, goesOn);
}

Result<QueryResult, QueryError> QueryProcess::run(std::string_view sql, const QueryLimits& limits,
                                                  const QueryProgress& progress) {
    const auto failed = [](std::string sentence) {
        return tl::unexpected(QueryError{std::move(sentence), std::nullopt});
    };
    if (auto started = start({}); !started) return failed(started.error().sentence);
    const std::string request = bodyOf(QueryRequest{std::string(sql), limits});
    const Clock::time_point begun = Clock::now();
    const KeepGoing goesOn = [&] {
        return !progress || progress(std::chrono::duration_cast<std::chrono::milliseconds>(
                                Clock::now() - begun));
    };
    // A query that checks the time itself should end by itself.
    auto message = ask(QueryMessage::Query, request, limits.time + limits.time / 20, goesOn);
    if (message && message->kind == QueryMessage::Decided) message = receive(std::nullopt, goesOn);
    if (message && message->kind == QueryMessage::Failed)
        return tl::unexpected(errorIn(message->body));
    if (message && message->kind == QueryMessage::Answer) {
        if (auto answer = answerIn(message->body)) {
            doubt_ = std::move(answer->doubt);
            return std::move(answer->result);
        }
    }
    end();
    if (stop_ == Stop::User) return failed("The query was stopped.");
    if (stop_ == Stop::Time)
        return failed(
            fmt::format("The query was stopped after {:.3g} s: ask for less, or allow "
                        "more time.",
                        static_cast<double>(limits.time.count()) / 1000));
    return failed("The query was ended from outside, as it is where memory runs out.");
}

Result<std::vector<QueryTable>> QueryProcess::tables() {
    if (auto started = start({}); !started) return fail(started.error());
    const auto message = ask(QueryMessage::Tables, {}, QueryLimits().time * 2, {});
    if (message && message->kind == QueryMessage::Failed)
        return fail({errorIn(message->body).sentence});
    if (message && message->kind == QueryMessage::TablesFound) {
        if (auto tables = tablesIn(message->body)) return std::move(*tables);
    }
    end();
    return fail("The tables of {} could not be read: the process that did so ended.",
                path_.string());
}

}  // namespace lanescope

// A sanitizer reserves more memory than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LANESCOPE_HAS_SHADOW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LANESCOPE_HAS_SHADOW
#endif
#endif

namespace lanescope {

namespace {

constexpr std::string_view processOption = "--answer-queries";
constexpr uint64_t maxRequestBytes = 1 << 20;
constexpr std::chrono::milliseconds answerInterval{100};

bool receiveAll(void* to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t got =
            ::recv(STDIN_FILENO, static_cast<char*>(to) + done, bytes - done, MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

/// Sets limits as a last resort. The client kills this process earlier, and SQLite counts its own
/// memory.
void limitBySystem(const QueryLimits& limits) {
    const int64_t ms = limits.time.count() + limits.time.count() / 10 + 1000;
    const itimerval once{{0, 0}, {ms / 1000, static_cast<suseconds_t>(ms % 1000 * 1000)}};
    ::setitimer(ITIMER_REAL, &once, nullptr);
#ifndef LANESCOPE_HAS_SHADOW
    // The result is then serialized.
    constexpr uint64_t spare = uint64_t{64} << 20;
    system::limitFurtherMemory(static_cast<uint64_t>(limits.workingBytes) +
                               4 * static_cast<uint64_t>(limits.resultBytes) + spare);
#endif
}

void endLimitOfTime() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
}

class Answering {
  public:
    bool answerNext() {
        QueryHeader header;
        if (!receiveAll(&header, sizeof header) || header.bytes > maxRequestBytes) return false;
        std::string body(header.bytes, '\0');
        if (!receiveAll(body.data(), body.size())) return false;
        switch (header.kind) {
            case QueryMessage::Open:
                return open(body);
            case QueryMessage::Tables:
                return query_ && tables();
            case QueryMessage::Query:
                return query_ && run(body);
            default:
                return false;
        }
    }

  private:
    static bool refuse(const QueryError& error) {
        return sendMessage(STDIN_FILENO, QueryMessage::Failed, bodyOf(error));
    }

    bool open(const std::string& path) {
        auto next = std::chrono::steady_clock::now();
        auto opened = TraceQuery::open(path, [&](double fraction, std::string_view what) {
            const auto now = std::chrono::steady_clock::now();
            if (now < next) return true;
            next = now + answerInterval;
            QueryWriter writer;
            writer.number(static_cast<int64_t>(fraction * 1e6));
            writer.text(what);
            return sendMessage(STDIN_FILENO, QueryMessage::Progress, writer.bytes());
        });
        if (!opened) return refuse({opened.error().sentence, std::nullopt});
        query_.emplace(std::move(*opened));
        return sendMessage(STDIN_FILENO, QueryMessage::Opened, {});
    }

    bool tables() {
        const auto found = query_->tables();
        if (!found) return refuse({found.error().sentence, std::nullopt});
        return sendMessage(STDIN_FILENO, QueryMessage::TablesFound, bodyOf(*found));
    }

    bool run(const std::string& body) {
        const auto request = requestIn(body);
        if (!request) return false;
        limitBySystem(request->limits);
        auto found = query_->run(request->sql, request->limits);
        endLimitOfTime();
        if (!sendMessage(STDIN_FILENO, QueryMessage::Decided, {})) return false;
        if (!found) return refuse(found.error());
        const auto doubt = query_->doubt();
        std::string written =
            bodyOf(QueryAnswer{std::move(*found), doubt ? doubt->sentence : std::string()});
        return sendMessage(STDIN_FILENO, QueryMessage::Answer, written);
    }

    std::optional<TraceQuery> query_;
};

}  // namespace

bool isQueryProcess(int argc, char** argv) {
    return argc == 2 && argv[1] == processOption;
}

int serveQueries() {
    try {
        Answering answering;
        while (answering.answerNext()) {
        }
    } catch (const std::bad_alloc&) {
        (void)sendMessage(STDIN_FILENO, QueryMessage::Failed, {});
    }
    // Memory of a query is never used again.
    ::_exit(0);
}

}  // namespace lanescope
