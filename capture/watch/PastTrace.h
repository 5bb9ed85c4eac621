// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "capture/collector/RunInfo.h"
#include "model/format/Result.h"
#include "model/format/Subprocess.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// Trace in the making of the logs that a ring still has. Their files are linked into a folder of its own, so that they
/// stay, and `lanescope recover` makes the trace in a process of its own. One thread.
class PastTrace {
  public:
    /// Links the present files of the run folder `logs` into a new folder next to it; without `withPast` only the
    /// latest file of each log. `info` is that of the run; `goesOn` as in it.
    static Result<PastTrace> begin(const Folder& logs, const RunInfo& info, std::filesystem::path trace, bool withPast,
                                   bool goesOn);
    PastTrace(PastTrace&&) = default;
    /// Removes the links.
    ~PastTrace();

    /// Links files that have appeared since.
    void extend(const Folder& logs);
    /// Starts the making of the trace by the command `recover` of that program.
    void make(const std::filesystem::path& program);
    bool isBeingMade() const { return recover_.has_value(); }
    /// Returns true once the trace is complete, false once it has failed, and nullopt before. `mayWait` waits.
    std::optional<bool> outcome(bool mayWait = false);
    const std::filesystem::path& trace() const { return trace_; }

  private:
    PastTrace(Folder links, std::filesystem::path trace)
        : links_(std::make_unique<Folder>(std::move(links))), trace_(std::move(trace)) {}

    std::unique_ptr<Folder> links_;
    std::filesystem::path trace_;
    std::set<std::string> linked_;  ///< And skipped files.
    std::optional<Subprocess> recover_;
    size_t count_ = 0;
};

}  // namespace lanescope::capture
