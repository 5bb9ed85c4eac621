// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/perf/perfAttributes.h"
#include "capture/record/Recorder.h"
#include "model/format/Result.h"

namespace lanescope::cli {

/// The options of `lanescope record` as its command line gives them; those of `bench`, too, that
/// say what is recorded of each run.
class RecordArguments {
  public:
    /// Adds the options to `command`; they are filled in when it parses. Outlive it.
    void addTo(CLI::App& command);
    /// The same without those that name the trace, or say what becomes of it, and the program.
    void addWhatIsRecorded(CLI::App& command);
    /// What they ask for. Fails with a sentence if two of them contradict each other or one needs
    /// another.
    Result<capture::RecordOptions> options() const;
    /// The folder that a summary goes to when a recording is closed; empty: none does.
    const std::string& summaries() const { return summaries_; }
    /// So many traces are asked for, each of a run of its own.
    int repeats() const { return repeats_; }

  private:
    void addWhat(CLI::App& command);
    void addSamplers(CLI::App& command);
    void addWhen(CLI::App& command);
    Result<agent::WindowOptions> windows() const;

    capture::RecordOptions options_;
    std::string summaries_, agent_, wait_ = "main", api_ = "filtered", graphs_ = "node",
                                    nccl_ = "nvtx";
    std::string delay_, duration_, range_, steps_, stepRange_, kill_ = "no", cpuSamples_ = "no";
    double cpuSamplesHz_ = capture::usualPerfHz;
    bool noCuda_ = false, noNvtx_ = false, noSample_ = false, noThreads_ = false;
    uint64_t maximumBytes_ = 0, reserveBytes_ = agent::usualReserve;
    int repeats_ = 1;
};

}  // namespace lanescope::cli
