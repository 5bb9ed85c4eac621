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

/// A `TraceQuery` in a separate process, which is killed when the time of a query is over or the
/// query is cancelled. Some functions of SQLite take minutes without checking the time. The system
/// bounds its memory. The process is reused by the next query, and restarted if it was killed. One
/// thread at a time.
class QueryProcess {
  public:
    /// Opens a trace like `TraceQuery::open`. Starts `program`, whose `main` must begin with
    /// `isQueryProcess`, or the running program if it is empty. Fails also if no process can be
    /// started.
    static Result<QueryProcess> open(const std::filesystem::path& path,
                                     const LoadProgress& progress = {},
                                     const std::filesystem::path& program = {});
    QueryProcess(QueryProcess&& other) noexcept;
    QueryProcess& operator=(QueryProcess&& other) noexcept;
    ~QueryProcess();

    /// Runs a query like `TraceQuery::run`. Takes at most 10 % more than `limits.time`, plus the
    /// time for transferring the rows.
    Result<QueryResult, QueryError> run(std::string_view sql, const QueryLimits& limits = {},
                                        const QueryProgress& progress = {});
    /// Returns the tables like `TraceQuery::tables`, within the time of `QueryLimits`.
    Result<std::vector<QueryTable>> tables();
    /// Returns `TraceQuery::doubt` of the last answer as a sentence, or an empty text.
    const std::string& doubt() const { return doubt_; }

  private:
    using Clock = std::chrono::steady_clock;
    /// Called at intervals. Returns false to cancel.
    using KeepGoing = std::function<bool()>;
    enum class Stop { None, Time, User, Ended };

    QueryProcess(std::filesystem::path path, std::filesystem::path program)
        : path_(std::move(path)), program_(std::move(program)) {}
    Result<void> start(const LoadProgress& progress);
    Result<void> spawn();
    void end();
    /// Returns the next message. Returns nullopt, with the reason in `stop_`, if none comes.
    struct Message {
        QueryMessage kind = QueryMessage::Failed;
        std::string body;
    };
    std::optional<Message> receive(std::optional<Clock::time_point> deadline,
                                   const KeepGoing& goesOn);
    bool receiveBytes(void* to, size_t bytes, std::optional<Clock::time_point> deadline,
                      const KeepGoing& goesOn);
    std::optional<Message> ask(QueryMessage kind, const std::string& body,
                               std::chrono::milliseconds time, const KeepGoing& goesOn);

    std::filesystem::path path_, program_;
    pid_t pid_ = -1;
    int socket_ = -1;
    Stop stop_ = Stop::None;
    std::string doubt_;
};

/// Returns true if the program was started by `QueryProcess`, judged by its arguments. It must then
/// call `serveQueries` and exit, before anything else.
bool isQueryProcess(int argc, char** argv);
/// Answers queries until the client closes the connection, and returns the exit status. Requires a
/// single thread.
int serveQueries();

}  // namespace lanescope
