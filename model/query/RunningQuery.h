// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

#include "model/query/TraceQuery.h"

struct sqlite3_stmt;

namespace lanescope {

/// The execution of one statement within limits. Used once, by `TraceQuery`.
class RunningQuery {
  public:
    RunningQuery(sqlite3* database, const QueryLimits& limits, const QueryProgress& progress);
    RunningQuery(const RunningQuery&) = delete;
    RunningQuery& operator=(const RunningQuery&) = delete;
    ~RunningQuery();

    Result<QueryResult, QueryError> run(std::string_view sql);

  private:
    using Clock = std::chrono::steady_clock;
    enum class Stop { None, Time, Memory, User };

    static int tick(void* self);
    bool goesOn();
    Result<void, QueryError> prepare(std::string_view sql);
    Result<void, QueryError> checkTail(const char* tail, const char* end) const;
    Result<void, QueryError> collect(std::string_view sql, QueryResult& result);
    QueryError failure(int code, const std::string& refusal = {}) const;
    std::chrono::milliseconds elapsed() const;

    sqlite3* database_;
    const QueryLimits& limits_;
    const QueryProgress& progress_;
    sqlite3_stmt* statement_ = nullptr;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point nextReport_ = begun_;
    int64_t bytesBefore_ = 0;
    Stop stop_ = Stop::None;
};

}  // namespace lanescope
