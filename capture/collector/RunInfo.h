// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/machine/Machine.h"
#include "model/format/Result.h"
#include "model/format/files.h"

namespace lanescope::capture {

/// Facts that `record` has about a run before its processes report any. Stored next to the logs, so that they can be
/// recovered later and elsewhere. Contains no environment, which may contain secrets.
struct RunInfo {
    int64_t startRealtimeNs = 0;   ///< Time 0 of the trace, in the time of events.
    int64_t startMonotonicNs = 0;  ///< CLOCK_MONOTONIC at the same time.
    std::vector<std::string> commandLine;
    std::string workingDirectory;
    std::string homeDirectory;  ///< Home of the recording user; empty if unknown.
    std::string host;
    std::string version;      ///< Version of Lanescope.
    std::string roofsFile;    ///< File of `doctor --measure -o`; empty: the default one, if it exists.
    std::string options;      ///< The agent's options, as in its environment.
    bool goesOn = false;      ///< The trace is made while the run goes on, of what is there.
    bool recordsCuda = true;  ///< False if CUDA activity was not requested.
    /// Rank and world size of `record` itself if a launcher started it; else -1 and 0.
    int64_t rank = -1, worldSize = 0;
    HostFacts hostFacts;
    Machine machine;

    /// Writes it to a new file of the folder, readable by its owner only.
    Result<void> save(const Folder& folder, const std::string& name) const;
    /// Reads a file of `save`; missing fields and fields of another type keep their defaults. Fails
    /// for anything but a regular file of at most 16 MiB that contains a JSON object.
    static Result<RunInfo> load(const Folder& folder, const std::string& name);
};

/// Name of the file with the `RunInfo` in a run folder.
inline constexpr const char* runInfoFileName = "session.json";
/// Name of the file that also has the machine, which is available only after the program has started.
inline constexpr const char* runInfoWithMachineFileName = "machine.json";

}  // namespace lanescope::capture
