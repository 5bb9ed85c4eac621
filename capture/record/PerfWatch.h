// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>

#include "capture/collector/Collector.h"
#include "capture/perf/PerfDrain.h"
#include "model/format/Result.h"

namespace lanescope::capture {

struct RecordOptions;

/// The kernel's perf events of what is recorded, where they are asked for, written into the run
/// folder.
class PerfWatch {
  public:
    /// Whether the system allows what `options` ask for; before anything is begun.
    static Result<void> check(const RecordOptions& options);
    /// Opens the events of `program`, which has not begun. Does nothing unless it is asked for.
    static Result<PerfWatch> open(const RecordOptions& options, pid_t program,
                                  const std::filesystem::path& runFolder);
    /// Begins to write, on a thread. Once the program runs.
    void start(Collector& collector);
    /// Takes what is left. Before the trace is finished.
    void end(Collector& collector);

  private:
    std::unique_ptr<PerfDrain> drain_;
};

}  // namespace lanescope::capture
