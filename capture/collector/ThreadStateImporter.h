// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "capture/collector/ProcessContext.h"
#include "capture/log/Records.h"
#include "capture/log/ThreadRecords.h"

namespace lanescope::capture {

/// Writes what the recorder saw threads do, and what only it knows of processes and threads. One
/// thread.
class ThreadStateImporter {
  public:
    explicit ThreadStateImporter(ProcessContext& context) : context_(context) {}

    void add(const log::WatchedProcessRecord& record);
    void add(const log::WatchedThreadRecord& record);
    void add(const log::ThreadRunRecord& record);

    /// At the end: processes that did something here and have no log, and names of threads.
    /// `logged` are the processes that the trace has by their own logs.
    void finish(const std::set<int64_t>& logged);
    /// When the latest thing ended that was seen, in the log's time.
    int64_t latestNs() const { return latestNs_; }
    /// How many states were written.
    int64_t count() const { return count_; }

  private:
    ProcessContext& context_;
    struct Watched {
        std::string program;
        uint32_t parent = 0;  ///< 0: not known.
    };
    std::map<uint32_t, Watched> processes_;                       ///< By process id.
    std::map<std::pair<uint32_t, uint32_t>, std::string> names_;  ///< By process and thread.
    std::set<std::pair<uint32_t, uint32_t>> seen_;  ///< Threads that something was written of.
    int64_t latestNs_ = 0, count_ = 0;
};

}  // namespace lanescope::capture
