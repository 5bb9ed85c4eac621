// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "capture/perf/perfAttributes.h"
#include "capture/record/Recorder.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// The options of `lanescope record`, also those of `bench` that apply to each run.
class RecordArguments {
  public:
    /// Adds the options to `command`; they are set by its parse. Must outlive it.
    void addTo(CLI::App& command);
    /// Adds the same options without those for the trace name, its use, and the program.
    void addRecordingOptions(CLI::App& command);
    /// Adds only the options for data and the agent. `nccl` and `graphs` are defaults.
    void addDataOptions(CLI::App& command, const std::string& nccl, const std::string& graphs);
    /// Returns the options. Fails with a sentence if two contradict each other or one requires another.
    Result<capture::RecordOptions> options() const;
    /// Returns the folder for a summary at the end of a recording; empty for none.
    const std::string& summaries() const { return summaries_; }
    /// Returns the number of traces, each of a separate run.
    int repeats() const { return repeats_; }

  private:
    void addWhat(CLI::App& command);
    void addSamplers(CLI::App& command);
    void addWhen(CLI::App& command);
    Result<agent::WindowOptions> windows() const;

    capture::RecordOptions options_;
    std::string summaries_, agent_, wait_ = "main", api_ = "filtered", graphs_ = "node", nccl_ = "nvtx";
    std::string delay_, duration_, range_, steps_, stepRange_, kill_ = "no", cpuSamples_ = "no";
    double cpuSamplesHz_ = capture::defaultPerfHz;
    bool noSample_ = false, noThreads_ = false;
    uint64_t reserveBytes_ = agent::defaultReserve;
    int repeats_ = 1;
};

}  // namespace lanescope::cli
