// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/collector/Collector.h"
#include "capture/record/AgentEnvironment.h"
#include "model/format/Result.h"

namespace lanescope::capture {

struct RecordOptions {
    std::vector<std::string> commandLine;  ///< The program and its arguments.
    std::string outputPattern;             ///< Empty: the first free default name.
    bool overwrite = false;
    bool waitForAll = false;      ///< Until the last process of the run ends, not only the program.
    bool keepLogs = false;        ///< They stay anyway if not all of them could be read.
    bool killsAtEnd = false;      ///< SIGTERM once the last window is over; see `WindowOptions`.
    double counterHz = 10;        ///< How often counters are sampled; 0: not.
    double metricsHz = 0;         ///< The same for hardware counters of GPUs.
    double threadsHz = 100;       ///< How often threads are looked at; 0: not.
    double cpuSamplesHz = 0;      ///< Samples by perf events, with all switches of threads; 0: not.
    std::filesystem::path agent;  ///< Empty: ours.
    bool ncclPlugin = false;      ///< NCCL's own profiler interface beside its NVTX ranges.
    agent::AgentOptions agentOptions;
    ClosingSteps closing;  ///< What is done with the trace before it gets its name.
};

/// How a recording went. The program's status stands whatever became of the trace, also where no
/// memory was left.
struct RecordOutcome {
    int exitStatus = 0;
    std::string program;
    Result<CollectedRun> run;        ///< Or why there is no trace.
    std::filesystem::path keptLogs;  ///< Empty if the logs were removed.
    bool wasEndedByUs = false;       ///< It got SIGTERM because `killsAtEnd` was set.
};

/// What kept a program from being started: something of ours, or of the program itself.
enum class RefusalCause { Recording, NoProgram, ProgramCannotRun };

struct RecordRefusal {
    Error error;
    RefusalCause cause = RefusalCause::Recording;
    int signal = 0;  ///< That ended the program before it began; 0 if none did.
};

/// Runs a program under the agent and makes a trace of what its processes leave. Blocks until the
/// program has ended and the trace is written; call it on the main thread before any other is made.
Result<RecordOutcome, RecordRefusal> record(const RecordOptions& options);

}  // namespace lanescope::capture
