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

/// What one sampler process is to do. `lanescope record` gives it to a child as words.
struct SamplerOptions {
    std::filesystem::path runFolder;  ///< Where its log goes.
    std::string host;                 ///< For the log's name.
    pid_t recorder = 0;               ///< Below which the recorded processes are.
    double counterHz = 0;             ///< NVML, /proc and, if `usesGpm`, GPM; 0: none of them.
    bool usesGpm = false;
    double metricsHz = 0;  ///< CUPTI PM sampling, or GPM in its place; 0: not.
    std::string program;   ///< That is recorded: its Python may have a CUPTI.
    /// `log::eventOffsetNs` of the recorder, so that samples have the time of events.
    int64_t eventOffsetNs = 0;

    std::vector<std::string> words() const;
    static Result<SamplerOptions> fromWords(const std::vector<std::string>& words);
};

/// The first word of the command line that makes this program a sampler.
inline constexpr std::string_view samplerCommand = "__sample";

/// Folders in which Python's packages keep a CUPTI, those of the Python that `program` is or is run
/// by first: beside an interpreter that is named, that its first line names ("#!"), of the virtual
/// or Conda environment in force, and of the first python3 in PATH. Only folders that are there.
/// Nothing is run; reads some folders. Any thread that may call getenv.
std::vector<std::filesystem::path> pythonCuptiFolders(const std::string& program);

/// Makes a sampler of the GPUs' hardware counters, at `hz` samples a second, whose `sample` is
/// called each `takePeriodNs`. CUPTI is looked for in `folders`, too. What it calls may crash.
using MakeMetricsSampler = std::function<std::unique_ptr<Sampler>(
    SampleLog& log, double hz, int64_t takePeriodNs, std::vector<std::filesystem::path> folders)>;

/// The whole of a sampler process: samples until standard input ends, which the recorder holds
/// open, then writes its last record and leaves. Never prints, never returns. `makeMetricsSampler`
/// is empty in a program that was built without CUPTI; the log says so where GPU metrics are asked
/// for.
[[noreturn]] void runSampler(const SamplerOptions& options,
                             const MakeMetricsSampler& makeMetricsSampler);

}  // namespace lanescope::capture
