// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/query/QueryProcess.h"
#include "views/sql/SqlPanel.h"

namespace lanescope::views {

/// Opens its file when it is first asked. Asked from worker threads, one at a time; stopped from
/// any thread.
struct SqlPanel::Source {
  public:
    explicit Source(std::filesystem::path path)
        : path_(std::move(path)), isBeingWritten_(path_.extension() == ".partial") {}

    Result<std::vector<QueryTable>> tables();
    Result<QueryResult, QueryError> run(const std::string& sql, const QueryLimits& limits);
    /// Ends what runs now, and everything that is asked until `goOn`.
    void stop() { isStopped_ = true; }
    void goOn() { isStopped_ = false; }

  private:
    Result<void> open();
    /// Closes a file that somebody is writing, who may want it for himself.
    void letGo() {
        if (isBeingWritten_) query_.reset();
    }

    std::filesystem::path path_;
    bool isBeingWritten_;
    std::atomic<bool> isStopped_ = false;
    std::mutex mutex_;
    std::optional<QueryProcess> query_;
};

}  // namespace lanescope::views
