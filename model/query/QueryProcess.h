// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/query/TraceQuery.h"
#include "model/query/queryMessages.h"

namespace lanescope {

/// A `TraceQuery` in a process of its own, which is ended when the time of a query is over or
/// nobody wants its answer any more: some functions of SQLite take minutes and look at no clock.
/// Its memory is bounded by the system. The process stays for the next query, and one that was
/// ended begins anew with it. One thread at a time.
class QueryProcess {
  public:
    /// As `TraceQuery::open`. What is started is `program`, whose `main` begins with
    /// `isQueryProcess`; if that is empty, the program that is running. Errors also: no process can
    /// be started.
    static Result<QueryProcess> open(const std::filesystem::path& path,
                                     const LoadProgress& progress = {},
                                     const std::filesystem::path& program = {});
    QueryProcess(QueryProcess&& other) noexcept;
    QueryProcess& operator=(QueryProcess&& other) noexcept;
    ~QueryProcess();

    /// As `TraceQuery::run`. Takes no longer than a tenth more than `limits.time`, and the time
    /// that it takes to hand over the rows.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {},
                                        const QueryProgress& progress = {});
    /// As `TraceQuery::tables`, within the time of `QueryLimits`.
    Result<std::vector<QueryTable>> tables();
    /// What `TraceQuery::doubt` said with the last answer, a sentence; empty if nothing.
    const std::string& doubt() const { return doubt_; }

  private:
    using Clock = std::chrono::steady_clock;
    /// Looks now and then whether to go on.
    using GoesOn = std::function<bool()>;
    enum class Stop { None, Time, User, Ended };

    QueryProcess(std::filesystem::path path, std::filesystem::path program)
        : path_(std::move(path)), program_(std::move(program)) {}
    Result<void> start(const LoadProgress& progress);
    Result<void> spawn();
    void end();
    /// The message that comes next; nothing, and why in `stop_`, if none does.
    struct Message {
        QueryMessage kind = QueryMessage::Failed;
        std::string body;
    };
    std::optional<Message> receive(std::optional<Clock::time_point> deadline, const GoesOn& goesOn);
    bool receiveBytes(void* to, size_t bytes, std::optional<Clock::time_point> deadline,
                      const GoesOn& goesOn);
    std::optional<Message> ask(QueryMessage kind, const std::string& body,
                               std::chrono::milliseconds time, const GoesOn& goesOn);

    std::filesystem::path path_, program_;
    pid_t pid_ = -1;
    int socket_ = -1;
    Stop stop_ = Stop::None;
    std::string doubt_;
};

/// Whether a program was started by `QueryProcess`, by its words. It must then call `answerQueries`
/// and end, before it does anything else.
bool isQueryProcess(int argc, char** argv);
/// Answers until whoever asks has enough; the exit status. Needs one thread.
int answerQueries();

}  // namespace lanescope
