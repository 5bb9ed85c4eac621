// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sample/SampleLog.h"
#include "capture/sample/Sampler.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// Options of one sampler process. `lanescope record` passes them to a child as words.
struct SamplerOptions {
    std::filesystem::path runFolder;  ///< Folder of its log.
    std::string host;                 ///< For the log's name.
    pid_t recorder = 0;               ///< Ancestor of the recorded processes.
    double counterHz = 0;             ///< NVML, /proc and, if `usesGpm`, GPM; 0: none of them.
    bool usesGpm = false;
    double metricsHz = 0;      ///< CUPTI PM sampling, or GPM in its place; 0: off.
    std::string program = {};  ///< The recorded program, whose Python may have a CUPTI.
    std::string session;       ///< Of the run folder; see `log::LogFolder`.
    /// `log::eventOffsetNs` of the recorder, so that samples have the time of events.
    int64_t eventOffsetNs = 0;
    int64_t ringNs = 0;  ///< Whole seconds; 0: the log is no ring.
    uint64_t ringBytes = 0;

    std::vector<std::string> words() const;
    static Result<SamplerOptions> fromWords(const std::vector<std::string>& words);
};

/// First word of the command line that makes this program a sampler.
inline constexpr std::string_view samplerCommand = "__sample";

/// Returns the existing folders in which Python's packages keep a CUPTI, those of `program`'s Python first. Searches
/// next to the interpreter (the program itself or named by its "#!" line), in PYTHONPATH, in the active virtual or
/// Conda environment, next to the first python3 in PATH, and in ~/.local. Runs nothing. Any thread that may call
/// getenv.
std::vector<std::filesystem::path> pythonCuptiFolders(const std::string& program);

/// Factory of a sampler of the GPUs' hardware counters at `hz` samples per second, whose `sample`
/// is called each `takePeriodNs`. Searches CUPTI in `folders` too. Its calls may crash.
using MakeMetricsSampler = std::function<std::unique_ptr<Sampler>(SampleLog& log, double hz, int64_t takePeriodNs,
                                                                  std::vector<std::filesystem::path> folders)>;

/// Runs a sampler process: samples until standard input, which the recorder keeps open, ends, then
/// writes its last record and exits. Never prints, never returns. `makeMetricsSampler` is empty in
/// a program built without CUPTI; the log reports that if GPU metrics are requested.
[[noreturn]] void runSampler(const SamplerOptions& options, const MakeMetricsSampler& makeMetricsSampler);

}  // namespace lanescope::capture
