// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sql/SqlSource.h"

namespace lanescope::views {

Result<void> SqlPanel::Source::open() {
    if (query_) return {};
    auto opened =
        QueryProcess::open(path_, [this](double, std::string_view) { return !isStopped_.load(); });
    if (!opened) return fail(opened.error());
    query_.emplace(std::move(*opened));
    return {};
}

Result<std::vector<QueryTable>> SqlPanel::Source::tables() {
    const std::lock_guard lock(mutex_);
    if (auto opened = open(); !opened) return fail(opened.error());
    auto found = query_->tables();
    letGo();
    return found;
}

Result<QueryResult, QueryError> SqlPanel::Source::run(const std::string& sql,
                                                      const QueryLimits& limits) {
    const std::lock_guard lock(mutex_);
    if (auto opened = open(); !opened)
        return tl::unexpected(QueryError{opened.error().sentence, std::nullopt});
    auto result =
        query_->run(sql, limits, [this](std::chrono::milliseconds) { return !isStopped_.load(); });
    letGo();
    return result;
}

}  // namespace lanescope::views
