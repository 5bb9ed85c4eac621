// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::capture {

// State of the processes of a run that makes no progress. Times are those of events (`clocks.h`); 0 is unknown.
// A line of Python is "/srv/train.py:12 step", the form of `pythonLine`.

/// An NCCL operation that a process has entered.
struct NcclPlace {
    std::string operation;  ///< "AllReduce"; empty: none.
    std::string datatype;   ///< "float32".
    int64_t sequence = -1;  ///< Earlier operations of this function in the communicator; -1: unknown.
    int64_t count = 0;
    int64_t bytes = -1;  ///< -1: unknown.
    int32_t root = -1, peer = -1;
    uint32_t thread = 0;
    int64_t begunNs = 0;
    int64_t endedNs = 0;  ///< The call returned, or NCCL passed the operation to the GPU.
    std::string line;     ///< Innermost own line of Python.
};

struct CommunicatorPlace {
    uint64_t hash = 0;
    std::string name;
    int32_t rank = -1, rankCount = 0;
    NcclPlace call;                            ///< Last call of the program.
    bool hasTask = true;                       ///< NCCL has begun the operation of that call.
    std::vector<NcclPlace> operations;         ///< Last operations that NCCL began, oldest first.
    std::map<std::string, int64_t> sequences;  ///< Sequence of the last operation of each function.
};

/// Oldest launch without finished GPU work.
struct OpenLaunch {
    int64_t launchedNs = 0;  ///< 0: there is none.
    std::string api, line;
    std::string kernel;    ///< Without types; empty unless earlier launches of the line always ran this kernel.
    bool isGraph = false;  ///< `kernel` is a CUDA graph, which may contain collectives.
    uint32_t thread = 0;
};

struct ThreadPlace {
    uint32_t id = 0;
    std::string name;
    std::string state = "unknown";  ///< Identifier of a `ThreadState`.
    std::string call;               ///< System call in which it sleeps.
    int64_t sinceNs = 0;            ///< Time of the first sample at this place.
    bool holdsGil = false;
    uint32_t gilHolder = 0;          ///< Thread that holds the GIL for which it waits.
    uint32_t pipePeer = 0;           ///< Process at the other end of the pipe for which it waits.
    bool hasNoPeer = false;          ///< No other process has the other end of that pipe.
    std::vector<std::string> stack;  ///< Lines of Python, innermost first.
};

struct ProcessState {
    uint32_t pid = 0;
    int64_t rank = -1, worldSize = 0;
    std::string host, program;
    std::string startTicks;  ///< Start in the kernel's ticks, to distinguish processes of one number.
    bool isAlive = true;
    bool isStopped = false;  ///< By a signal or a debugger.
    std::string end;         ///< Manner of its end, for example "signal 9"; empty: unknown.
    int64_t atNs = 0;        ///< Time of this state.
    int64_t lastEventNs = 0, lastGpuEndNs = 0;
    bool recordsLaunches = true;  ///< Its calls of CUDA and its GPU work are recorded.
    OpenLaunch launch;
    std::vector<CommunicatorPlace> communicators;
    std::vector<ThreadPlace> threads;    ///< Main thread first.
    std::vector<ProcessState> children;  ///< Descendants without logs, such as data loaders.
};

struct HangReport {
    int64_t atNs = 0, quietNs = 0;  ///< Time of the report, and time without progress.
    std::vector<ProcessState> processes;
};

/// Returns the text without control characters and invalid UTF-8, as all texts of a report are.
std::string cleaned(std::string_view text);

/// Returns "/srv/train.py:12 step"; the function alone without a file.
std::string pythonLine(std::string_view function, std::string_view file, int64_t line);

/// Returns the innermost line outside of libraries, else the innermost line; empty without lines.
std::string ownLine(const std::vector<std::string>& stack);

/// Returns one sentence with the reason of the hang as far as it is known: rank, collective, line.
std::string hangSentence(const HangReport& report);

/// Returns one page: the sentence, the communicators, the processes. Without control characters but line feeds.
std::string hangText(const HangReport& report);
std::string hangJson(const HangReport& report);

/// Maximum size of a report's JSON.
inline constexpr uint64_t maxHangJsonBytes = uint64_t{32} << 20;

/// Reads the output of `hangJson`. Accepts any bytes. Fails with a sentence that begins with `name`.
Result<HangReport> readHangJson(std::string_view json, std::string_view name);

/// Joins the reports of several hosts. The latest state of each rank wins. Skips reports of an earlier hang.
HangReport joined(const std::vector<HangReport>& reports);

}  // namespace lanescope::capture
