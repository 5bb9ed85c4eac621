// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "capture/sample/SampleLog.h"
#include "capture/sample/SamplerThread.h"

namespace lanescope::capture {

struct RecordOptions;

/// Looks at the threads of what is recorded, on a thread of `record` itself, which takes no
/// signals; what it sees goes into a log in the run folder. See `ThreadSampler`.
class ThreadWatch {
  public:
    /// Begins unless `options` say not to.
    ThreadWatch(const RecordOptions& options, const std::filesystem::path& runFolder);
    ~ThreadWatch();

    /// Ends the log. Call it before the last poll.
    void end();

  private:
    /// Asks the thread to end. False if there is none (any more), or if it hangs and has to be
    /// left.
    bool hasEnded();

    std::unique_ptr<SampleLog> log_;
    std::unique_ptr<SamplerThread> thread_;
};

}  // namespace lanescope::capture
