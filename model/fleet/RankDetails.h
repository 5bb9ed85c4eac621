// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/StepSelection.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/Trace.h"

namespace lanescope {
class Database;
}

namespace lanescope::fleet {

// Data of one rank for a comparison of many, in addition to its `RunSummary`. Workers are numbered
// as there, steps by their index among those of their worker. Times are those of the trace.

/// Machine and process of a worker.
struct RankPlace {
    uint32_t worker = 0;
    std::string host, bootId;  ///< Empty if unknown.
    std::optional<int> localRank, worldSize;
    std::string gpuUuid;
    TimeRange range;  ///< Range of its process.
};

/// The same time on two clocks of a worker's host.
struct ClockPair {
    uint32_t worker = 0;
    std::optional<int64_t> realtimeNs, monotonicNs;
};

struct RankCommunicator {
    uint32_t worker = 0;
    uint64_t id = 0;
    std::string name;
    int32_t rank = -1, rankCount = -1;  ///< -1 if NCCL did not report it.
    int64_t calls = 0;
};

/// An NCCL call of a worker.
struct RankCollective {
    uint32_t worker = 0;
    uint64_t communicator = 0;
    StringIndex operation = 0;
    int64_t place = 0;        ///< Index among those of its communicator.
    int64_t number = 0;       ///< Index among those of its operation.
    bool isNumbered = false;  ///< Numbered by NCCL, so that it is the same in all ranks.
    int64_t bytes = -1;       ///< -1 if unknown.
    uint32_t step = noIndex;
    TimeRange call = {};
    std::optional<TimeRange> gpu = {};
    uint32_t sharedBy = 1;
};

/// The kernels of one name in some steps of a worker.
struct StepKernels {
    uint32_t worker = 0;
    std::string name;  ///< Empty for all kernels not listed by name.
    uint32_t step = 0, steps = 1;
    int64_t count = 0, totalNs = 0, maxNs = 0;
};

/// A counter over all steps, of any GPU: one rank samples all of its machine.
struct CounterSummary {
    std::string key;
    std::optional<int64_t> gpuId = {};
    std::string gpuUuid = {};
    std::optional<int64_t> link = {};
    std::string device = {};
    double mean = 0, least = 0, greatest = 0;
};

struct RankDetails {
    std::vector<RankPlace> places;
    std::vector<ClockPair> clocks;
    std::vector<RankCommunicator> communicators;
    std::vector<RankCollective> collectives;  ///< By start; the first ones, at most `maxCollectives`.
    std::vector<StepKernels> kernels;
    std::vector<CounterSummary> counters;
};
inline constexpr size_t maxCollectives = 200'000;
/// Maximum number of listed kernel names of a worker: those that take longest.
inline constexpr size_t maxKernelNames = 64;
/// Maximum kernel rows of a worker; with more steps, a row covers several.
inline constexpr size_t maxKernelRows = 20'000;

/// Returns the details of each worker of `run`, which must be the summary of the trace; without
/// `clocks`. O(n log n) in NCCL's calls, O(n) in kernels. Fails as `findSteps` does. Any thread.
Result<RankDetails> rankDetails(const Trace& trace, const analysis::RunSummary& run);

/// Returns the rows of `LANESCOPE_CLOCKS` for each worker; empty if there is no such table.
std::vector<ClockPair> readClocks(const Database& database, const Trace& trace, const analysis::RunSummary& run);

/// Returns the number of the worker of `run` for this process on that GPU; `noIndex` if there is none.
uint32_t workerOf(const analysis::RunSummary& run, const Trace& trace, uint32_t process, uint32_t gpu);

/// Adds the kernels of a worker, by name and step. O(n) in all kernels of the trace.
void addKernels(const Trace& trace, const LaunchRows& launches, const WorkerSteps& steps, uint32_t worker,
                std::vector<StepKernels>& out);

/// Writes the details next to the summary of `analysis::writeRunSummary` in the same file, in one transaction. Adds the
/// clock's error, as the operating system estimates it, if `isHere`: the trace was just recorded on this machine.
Result<void> writeRankDetails(Database& database, const Trace& trace, const RankDetails& details, bool isHere);

inline constexpr const char* summaryExtension = ".lanescope-summary";
/// Returns the name of a summary file next to, or instead of, its trace: "run.lanescope-summary" for "run.sqlite".
std::filesystem::path summaryName(const std::filesystem::path& trace);

/// Writes the summary of a trace into a file of its own, whole or not at all, replacing an existing
/// one. Readable for its owner only, as traces are. One file, written once: a shared file system
/// sees one create, some writes, a link, a rename, and a sync of the file and of the folder.
Result<void> writeSummaryFile(const std::filesystem::path& path, const Trace& trace, const analysis::RunSummary& run,
                              const RankDetails& details, bool isHere);

}  // namespace lanescope::fleet
