// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/record/SamplerProcess.h"

namespace lanescope::capture {

struct RecordOptions;

/// The sampler processes of a run: one for NVML, GPM and the host, and another for hardware
/// counters, where a crash in CUPTI takes only itself. Of several recordings that a launcher
/// started on a host only that of the first local rank samples.
class RunSamplers {
  public:
    /// Makes the pipe through which agents tell of chosen ranges. Before the program begins.
    static void prepare(const RecordOptions& options, const std::filesystem::path& runFolder);
    /// Starts those that `options` ask for; waits for nothing.
    RunSamplers(const RecordOptions& options, const std::filesystem::path& runFolder);

    /// Living descendants of this process that are not samplers.
    std::vector<pid_t> others() const;
    /// Whether there are any; cheap without samplers.
    bool areNotAlone() const;
    /// Ends them and waits at most two seconds. Call it before the last poll; what went wrong goes
    /// into the trace's health.
    void end(Collector& collector);

  private:
    void start(const std::filesystem::path& runFolder, const RecordOptions& options);
    void startOne(const SamplerOptions& options);

    std::vector<SamplerProcess> processes_;
    std::string problem_;
    std::string otherRank_;  ///< Not empty: another recording of this host samples.
};

}  // namespace lanescope::capture
