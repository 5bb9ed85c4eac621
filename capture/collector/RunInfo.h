// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/machine/Machine.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// What `record` knows of a run before its processes say anything. Kept beside the logs, so that
/// they can be recovered later and elsewhere. Holds no environment: there may be secrets in it.
struct RunInfo {
    int64_t startRealtimeNs = 0;   ///< Time 0 of the trace, in the time of events.
    int64_t startMonotonicNs = 0;  ///< CLOCK_MONOTONIC at the same moment.
    std::vector<std::string> commandLine;
    std::string workingDirectory;
    std::string homeDirectory;  ///< Of who recorded; empty if not known.
    std::string host;
    std::string version;      ///< Of Lanescope.
    std::string options;      ///< What was asked of the agent, as it stands in its environment.
    bool recordsCuda = true;  ///< False if CUDA activity was not asked for.
    /// If `record` itself is one of a launcher's processes, which of how many; else -1 and 0.
    int64_t rank = -1, worldSize = 0;
    HostFacts hostFacts;
    Machine machine;

    /// Writes it to `path`, readable by its owner only.
    Result<void> save(const std::filesystem::path& path) const;
    /// Reads what `save` wrote; fields that are missing or of another type keep their defaults.
    /// Fails for anything but a regular file of at most 16 MiB that holds a JSON object.
    static Result<RunInfo> load(const std::filesystem::path& path);
};

/// The file in a run folder that holds its `RunInfo`.
inline constexpr const char* runInfoFileName = "session.json";
/// The same with the machine, which is known only when the program already runs.
inline constexpr const char* runInfoWithMachineFileName = "machine.json";

}  // namespace lanescope::capture
