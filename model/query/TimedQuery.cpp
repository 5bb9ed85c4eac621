// SPDX-License-Identifier: Apache-2.0
#include "model/query/TimedQuery.h"

#include <algorithm>
#include <future>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace lanescope {

namespace {

using std::chrono::milliseconds;

/// Time between two checks for cancellation.
constexpr milliseconds checkInterval{50};
/// Time for a cancelled query to end by itself, which keeps its file open for the next one.
constexpr milliseconds stopTime{200};

}  // namespace

Result<TimedQuery> TimedQuery::open(const std::filesystem::path& path, const LoadProgress& progress) {
    TimedQuery query(path);
    if (auto opened = query.openIfClosed(progress); !opened) return fail(opened.error());
    return query;
}

Result<void> TimedQuery::openIfClosed(const LoadProgress& progress) {
    if (query_) return {};
    Result<TraceQuery> opened = TraceQuery::open(path_, progress);
    if (!opened) return fail(opened.error());
    query_ = std::make_shared<const TraceQuery>(std::move(*opened));
    return {};
}

Result<QueryResult, QueryError> TimedQuery::run(std::string_view sql, const QueryLimits& limits,
                                                const QueryProgress& progress) {
    using Clock = std::chrono::steady_clock;
    if (auto opened = openIfClosed({}); !opened)
        return tl::unexpected(QueryError{opened.error().sentence, std::nullopt});
    const Clock::time_point begun = Clock::now();
    // A query that checks the time itself should end by itself.
    Clock::time_point deadline = begun + limits.time + limits.time / 20;
    bool isWanted = true;
    try {
        // The task owns whatever an abandoned query uses.
        std::packaged_task<Result<QueryResult, QueryError>()> task(
            [query = query_, text = std::string(sql), limits] { return query->run(text, limits); });
        auto answer = task.get_future();
        std::thread(std::move(task)).detach();
        while (answer.wait_until(std::min(deadline, Clock::now() + checkInterval)) != std::future_status::ready) {
            const Clock::time_point now = Clock::now();
            if (now >= deadline) {
                query_->interrupt();
                query_.reset();
                return tl::unexpected(isWanted ? timeError(limits) : stopError());
            }
            if (isWanted && progress && !progress(std::chrono::duration_cast<milliseconds>(now - begun))) {
                isWanted = false;
                deadline = std::min(deadline, now + stopTime);
            }
            // Again each time, since SQLite forgets an interrupt before its first step.
            if (!isWanted) query_->interrupt();
        }
        if (!isWanted) return tl::unexpected(stopError());
        return answer.get();
    } catch (const std::bad_alloc&) {
        return tl::unexpected(memoryError());
    } catch (const std::system_error& error) {
        return tl::unexpected(
            QueryError{fmt::format("No thread could be started for a query: {}.", error.what()), std::nullopt});
    }
}

Result<std::vector<QueryTable>> TimedQuery::tables() {
    if (auto opened = openIfClosed({}); !opened) return fail(opened.error());
    return query_->tables();
}

std::string TimedQuery::doubt() const {
    const std::optional<FileDoubt> found = query_ ? query_->doubt() : std::nullopt;
    return found ? found->sentence : std::string();
}

}  // namespace lanescope
