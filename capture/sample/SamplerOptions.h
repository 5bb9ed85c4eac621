// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace lanescope::capture
