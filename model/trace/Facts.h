// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/format/factNames.h"
#include "model/format/health.h"
#include "model/trace/fields.h"

namespace lanescope {

// Facts of a run, its processes and its GPUs, besides events. Missing facts are empty, nullopt or false. `forEachFact`
// lists each member once with its identifier in files and its label. Unknown facts are kept in `others`.

struct Property {
    std::string name;
    std::string value;
};

/// Format of the value of a fact.
enum class FactUnit : uint8_t {
    Plain,
    Bytes,
    CuptiVersion,  ///< 130001 is 13.0.1.
    One,           ///< Flag, stored as `facts::one` if set.
    Off,           ///< Flag, stored as `facts::off` if set.
};

struct FactName {
    std::string_view identifier;  ///< In files and in JSON.
    std::string_view shown;       ///< Text for people.
    FactUnit unit = FactUnit::Plain;
};

/// Sampling of GPU metrics on one GPU, identified by CUDA's number.
struct SampledGpuFacts {
    int64_t cudaDevice = 0;
    std::string lostSamples;  ///< "3 of 10000".
    std::string clock;        ///< Translation method of its clock.
};

struct SamplerFacts {
    /// Empty if the run had one host only. Contains the rank, file or number if several parts of a
    /// merged trace share a host.
    std::string host;
    std::string cost;
    std::string metricsCost;
    std::string nvmlIntervals;
    std::string gpmIntervals;
    std::string hostIntervals;
    std::string metricsHz;
    std::string threads;
    std::string threadStacks;
    std::string threadStacksTorn;
    std::vector<SampledGpuFacts> gpus = {};
};

/// Host of a run with its number in packed process ids.
struct HostName {
    int64_t number = 0;
    std::string name;
};

struct RunFacts {
    std::string commandLine;
    std::string workingDirectory;
    std::string homeDirectory;
    std::string host;
    std::string operatingSystem;
    std::string kernel;
    std::string cpu;
    std::optional<int64_t> cpuCount;
    /// Requested number of steps of a cut trace. Work after them is included to end the last step,
    /// and is no step itself.
    std::optional<int64_t> cutSteps;
    std::optional<int64_t> hostMemoryBytes;
    std::string driverVersion;
    std::string driverCudaVersion;
    std::string recorderVersion;
    std::string recordOptions;
    std::optional<int64_t> exitStatus;
    std::optional<int64_t> logBytesUnreadAtExit;  ///< Backlog of the collector.
    std::vector<HostName> hosts;
    std::vector<SamplerFacts> samplers;
    std::vector<Property> others;
};

struct ProcessFacts {
    std::string commandLine;
    std::string program;
    std::string processName;
    std::string host;
    std::string bootId;
    std::string visibleDevices;
    std::string agentVersion;
    std::string cuptiPath;
    std::optional<int64_t> cuptiVersion;
    std::optional<int64_t> localWorldSize;
    std::optional<int64_t> ncclProfilerInterface;
    std::optional<int64_t> endSignal;
    std::optional<int64_t> parentPid;
    std::optional<int64_t> clockErrorNs;  ///< In merged traces; untrusted, see `clockErrorNs`.
    bool isForked = false;
    bool isCudaOff = false;
    bool isNvtxOff = false;
    std::vector<Property> others;
};

/// Facts of a GPU of the machine, used by the run or not.
struct GpuFacts {
    int64_t gpu = 0;  ///< Number, as `Gpu::id`.
    std::optional<int64_t> pcieGeneration;
    std::optional<int64_t> pcieWidth;
    std::optional<int64_t> nvlinkCount;
    std::vector<Property> others;
};

/// Calls `visit(FactName, member)` for each fact that has a member. Members are texts, optional numbers and flags.
void forEachFact(Of<RunFacts> auto& s, auto&& visit) {
    visit(FactName{facts::commandLine, "Command"}, s.commandLine);
    visit(FactName{facts::workingDirectory, "Working folder"}, s.workingDirectory);
    visit(FactName{facts::homeDirectory, "Home folder"}, s.homeDirectory);
    visit(FactName{facts::host, "Host"}, s.host);
    visit(FactName{facts::operatingSystem, "Operating system"}, s.operatingSystem);
    visit(FactName{facts::kernel, "Kernel"}, s.kernel);
    visit(FactName{facts::cpu, "CPU"}, s.cpu);
    visit(FactName{facts::cpuCount, "CPUs"}, s.cpuCount);
    visit(FactName{facts::hostMemoryBytes, "Host memory", FactUnit::Bytes}, s.hostMemoryBytes);
    visit(FactName{facts::driverVersion, "CUDA driver"}, s.driverVersion);
    visit(FactName{facts::driverCudaVersion, "CUDA version of the driver"}, s.driverCudaVersion);
    visit(FactName{facts::lanescopeVersion, "Lanescope"}, s.recorderVersion);
    visit(FactName{facts::recordOptions, "Recording options"}, s.recordOptions);
    visit(FactName{facts::exitStatus, "Exit status"}, s.exitStatus);
    visit(FactName{facts::logBytesUnreadAtExit, "Recorded data read after the program ended", FactUnit::Bytes},
          s.logBytesUnreadAtExit);
    visit(FactName{facts::cutSteps, "Steps of the excerpt"}, s.cutSteps);
}
void forEachFact(Of<ProcessFacts> auto& s, auto&& visit) {
    visit(FactName{facts::commandLine, "Command"}, s.commandLine);
    visit(FactName{facts::program, "Program"}, s.program);
    visit(FactName{facts::processName, "Name"}, s.processName);
    visit(FactName{facts::host, "Host"}, s.host);
    visit(FactName{facts::bootId, "Boot"}, s.bootId);
    visit(FactName{facts::visibleDevices, "Visible GPUs"}, s.visibleDevices);
    visit(FactName{facts::agentVersion, "Agent"}, s.agentVersion);
    visit(FactName{facts::cuptiPath, "CUPTI library"}, s.cuptiPath);
    visit(FactName{facts::cuptiVersion, "CUPTI", FactUnit::CuptiVersion}, s.cuptiVersion);
    visit(FactName{facts::localWorldSize, "Ranks on the host"}, s.localWorldSize);
    visit(FactName{facts::ncclProfilerInterface, "NCCL profiler"}, s.ncclProfilerInterface);
    visit(FactName{facts::endSignal, "Ended by signal"}, s.endSignal);
    visit(FactName{facts::parentProcess, facts::parentProcess}, s.parentPid);
    visit(FactName{facts::clockErrorNs, facts::clockErrorNs}, s.clockErrorNs);
    visit(FactName{facts::forkedChild, "Forked", FactUnit::One}, s.isForked);
    visit(FactName{facts::cuda, "CUDA", FactUnit::Off}, s.isCudaOff);
    visit(FactName{facts::nvtx, "NVTX", FactUnit::Off}, s.isNvtxOff);
}
void forEachFact(Of<GpuFacts> auto& s, auto&& visit) {
    visit(FactName{facts::pcieGeneration, "PCIe generation"}, s.pcieGeneration);
    visit(FactName{facts::pcieWidth, "PCIe lanes"}, s.pcieWidth);
    visit(FactName{facts::nvlinkCount, "NVLinks"}, s.nvlinkCount);
}
void forEachFact(Of<SamplerFacts> auto& s, auto&& visit) {
    visit(FactName{facts::samplers, "Sampling cost (maximum rates)"}, s.cost);
    visit(FactName{facts::gpuMetricsSampler, "Metric sampler"}, s.metricsCost);
    visit(FactName{facts::samplerIntervals, "NVML readings"}, s.nvmlIntervals);
    visit(FactName{facts::samplerIntervalsGpm, "GPM readings"}, s.gpmIntervals);
    visit(FactName{facts::samplerIntervalsHost, "/proc readings"}, s.hostIntervals);
    visit(FactName{facts::gpuMetricsHz, "GPU metrics (Hz)"}, s.metricsHz);
    visit(FactName{facts::threadSampler, "Thread sampling cost"}, s.threads);
    visit(FactName{facts::threadStacksRead, "Thread stacks read"}, s.threadStacks);
    visit(FactName{facts::threadStacksTorn, "Thread stacks dropped as inconsistent"}, s.threadStacksTorn);
}
/// In files the GPU number is appended to the identifier: "gpuMetricsLost0".
void forEachFact(Of<SampledGpuFacts> auto& s, auto&& visit) {
    visit(FactName{facts::gpuMetricsLost, "GPU metrics lost"}, s.lostSamples);
    visit(FactName{facts::gpuMetricsClock, "Clock of GPU metrics"}, s.clock);
}

/// Returns the text of a fact in files, such as "130001", "off"; empty if absent.
std::string factText(const FactName& name, const std::string& value);
std::string factText(const FactName& name, const std::optional<int64_t>& value);
std::string factText(const FactName& name, bool value);

/// Parses a value from a file into a member. Returns false, and keeps the member, if the value is invalid.
bool storeFact(const FactName& name, std::string_view text, std::string& member);
bool storeFact(const FactName& name, std::string_view text, std::optional<int64_t>& member);
bool storeFact(const FactName& name, std::string_view text, bool& member);

/// Stores a fact from a file in its member, if that is still empty. Returns false if there is no
/// such member or the value is invalid.
bool takeNamedFact(auto& facts, std::string_view identifier, std::string_view text) {
    bool isTaken = false;
    forEachFact(facts, [&](const FactName& name, auto& member) {
        if (name.identifier == identifier) isTaken = storeFact(name, text, member);
    });
    return isTaken;
}

/// Loss or doubt: code, place and time for programs, and a sentence for the user. No code parses the sentence.
struct HealthNote {
    Severity severity = Severity::Info;
    HealthCode code = HealthCode::Unknown;
    std::string sentence = {};
    std::optional<int64_t> globalPid = {};  ///< Process id; nullopt for the whole run.
    std::optional<int64_t> timeNs = {};     ///< Nullopt if it has no time.
    std::optional<int64_t> count = {};      ///< Nullopt if not countable.
    std::string unknownCode = {};           ///< Identifier in the file, if `code` is `Unknown`.
    bool operator==(const HealthNote&) const = default;
};

inline std::string codeOf(const HealthNote& note) {
    return note.code == HealthCode::Unknown ? note.unknownCode : std::string(identifier(note.code));
}

/// Interval in which records of a process were lost.
struct Gap {
    Loss what = Loss::Unknown;  ///< May be a number without a name here.
    TimeRange range;
    int64_t count = 0;  ///< Number of lost records; 0 if unknown.
};

}  // namespace lanescope
