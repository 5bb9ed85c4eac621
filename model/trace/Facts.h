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

// What a file says of a run, its processes and its GPUs beside events. Members that the file does
// not fill are empty, nothing or false. `forEachFact` names each member once: what files call it
// and what people do. What no member is for is kept in `others`.

/// A name and a value, as a file or a page has them.
struct Property {
    std::string name;
    std::string value;
};

/// How the value of a fact is to be read.
enum class FactUnit : uint8_t {
    Plain,
    Bytes,
    CuptiVersion,  ///< 130001 is 13.0.1.
    One,           ///< A flag: files say `facts::one` where it is set.
    Off,           ///< A flag: files say `facts::off` where it is set.
};

struct FactName {
    std::string_view identifier;  ///< In files and in JSON.
    std::string_view shown;       ///< For people.
    FactUnit unit = FactUnit::Plain;
};

/// How a sampler of GPU metrics fared with one GPU, by CUDA's number of it.
struct SampledGpuFacts {
    int64_t cudaDevice = 0;
    std::string lostSamples;  ///< "3 of 10000".
    std::string clock;        ///< How its clock was translated.
};

/// The samplers of one host.
struct SamplerFacts {
    /// Empty where the run had one host only; of a merged trace with its rank, file or number where
    /// several parts are of one host.
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

/// One of several hosts of a run, by the number that packed process ids hold.
struct HostName {
    int64_t number = 0;
    std::string name;
};

/// The run and the machine it was recorded on.
struct RunFacts {
    std::string commandLine;
    std::string workingDirectory;
    std::string homeDirectory;
    std::string host;
    std::string operatingSystem;
    std::string kernel;
    std::string cpu;
    std::optional<int64_t> cpuCount;
    /// How many steps were asked for of a trace that was cut: what comes behind them is there to
    /// end the last, and is no step.
    std::optional<int64_t> cutSteps;
    std::optional<int64_t> hostMemoryBytes;
    std::string driverVersion;
    std::string driverCudaVersion;
    std::string recorderVersion;
    std::string recordOptions;
    std::optional<int64_t> exitStatus;
    std::optional<int64_t> logBytesUnreadAtExit;  ///< The collector's backlog.
    std::vector<HostName> hosts;
    std::vector<SamplerFacts> samplers;
    std::vector<Property> others;
};

/// A recorded process; its rank and how it ended stand in `Process`.
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
    bool isForked = false;
    bool isCudaOff = false;
    bool isNvtxOff = false;
    std::vector<Property> others;
};

/// A GPU of the machine, whether the run used it or not.
struct GpuFacts {
    int64_t gpu = 0;  ///< Its number, as `Gpu::id`.
    std::optional<int64_t> pcieGeneration;
    std::optional<int64_t> pcieWidth;
    std::optional<int64_t> nvlinkCount;
    std::vector<Property> others;
};

/// `visit(FactName, member)` for each fact with a member of its own. Members are texts, numbers
/// that may be nothing, and flags.
template <Of<RunFacts> S, class V>
void forEachFact(S& s, V&& visit) {
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
    visit(FactName{facts::driverCudaVersion, "CUDA of the driver"}, s.driverCudaVersion);
    visit(FactName{facts::lanescopeVersion, "Recorder"}, s.recorderVersion);
    visit(FactName{facts::recordOptions, "Recorded with"}, s.recordOptions);
    visit(FactName{facts::exitStatus, "Exit status"}, s.exitStatus);
    visit(FactName{facts::logBytesUnreadAtExit, "Unread logs at exit", FactUnit::Bytes},
          s.logBytesUnreadAtExit);
    visit(FactName{facts::cutSteps, "Steps cut out"}, s.cutSteps);
}
template <Of<ProcessFacts> S, class V>
void forEachFact(S& s, V&& visit) {
    visit(FactName{facts::commandLine, "Command"}, s.commandLine);
    visit(FactName{facts::program, "Program"}, s.program);
    visit(FactName{facts::processName, "Name"}, s.processName);
    visit(FactName{facts::host, "Host"}, s.host);
    visit(FactName{facts::bootId, "Boot"}, s.bootId);
    visit(FactName{facts::visibleDevices, "Visible GPUs"}, s.visibleDevices);
    visit(FactName{facts::agentVersion, "Agent"}, s.agentVersion);
    visit(FactName{facts::cuptiPath, "CUPTI from"}, s.cuptiPath);
    visit(FactName{facts::cuptiVersion, "CUPTI", FactUnit::CuptiVersion}, s.cuptiVersion);
    visit(FactName{facts::localWorldSize, "Ranks on its host"}, s.localWorldSize);
    visit(FactName{facts::ncclProfilerInterface, "NCCL profiler"}, s.ncclProfilerInterface);
    visit(FactName{facts::endSignal, "Ended by signal"}, s.endSignal);
    visit(FactName{facts::forkedChild, "Forked", FactUnit::One}, s.isForked);
    visit(FactName{facts::cuda, "CUDA", FactUnit::Off}, s.isCudaOff);
    visit(FactName{facts::nvtx, "NVTX", FactUnit::Off}, s.isNvtxOff);
}
template <Of<GpuFacts> S, class V>
void forEachFact(S& s, V&& visit) {
    visit(FactName{facts::pcieGeneration, "PCIe generation"}, s.pcieGeneration);
    visit(FactName{facts::pcieWidth, "PCIe lanes"}, s.pcieWidth);
    visit(FactName{facts::nvlinkCount, "NVLinks"}, s.nvlinkCount);
}
template <Of<SamplerFacts> S, class V>
void forEachFact(S& s, V&& visit) {
    visit(FactName{facts::samplers, "Samplers"}, s.cost);
    visit(FactName{facts::gpuMetricsSampler, "Metric sampler"}, s.metricsCost);
    visit(FactName{facts::samplerIntervals, "NVML was read"}, s.nvmlIntervals);
    visit(FactName{facts::samplerIntervalsGpm, "GPM was read"}, s.gpmIntervals);
    visit(FactName{facts::samplerIntervalsHost, "/proc was read"}, s.hostIntervals);
    visit(FactName{facts::gpuMetricsHz, "GPU metrics (Hz)"}, s.metricsHz);
    visit(FactName{facts::threadSampler, "Threads"}, s.threads);
    visit(FactName{facts::threadStacksRead, "Stacks of threads"}, s.threadStacks);
    visit(FactName{facts::threadStacksTorn, "Torn of these"}, s.threadStacksTorn);
}
/// In files with the number of the GPU behind the identifier: "gpuMetricsLost0".
template <Of<SampledGpuFacts> S, class V>
void forEachFact(S& s, V&& visit) {
    visit(FactName{facts::gpuMetricsLost, "GPU metrics lost"}, s.lostSamples);
    visit(FactName{facts::gpuMetricsClock, "Clock of GPU metrics"}, s.clock);
}

/// What a file says of the fact: "130001", "off"; empty where it says nothing.
std::string factText(const FactName& name, const std::string& value);
std::string factText(const FactName& name, const std::optional<int64_t>& value);
std::string factText(const FactName& name, bool value);

/// Takes a value of a file into a member; false, and the member stays, for what makes no sense
/// there.
bool takeFact(const FactName& name, std::string_view text, std::string& member);
bool takeFact(const FactName& name, std::string_view text, std::optional<int64_t>& member);
bool takeFact(const FactName& name, std::string_view text, bool& member);

/// Takes a fact of a file into the member that is called so, if it has none yet; false if there is
/// no such member or the value makes no sense in it.
template <class Facts>
bool takeNamedFact(Facts& facts, std::string_view identifier, std::string_view text) {
    bool isTaken = false;
    forEachFact(facts, [&](const FactName& name, auto& member) {
        if (name.identifier == identifier) isTaken = takeFact(name, text, member);
    });
    return isTaken;
}

/// One thing that was lost or is doubtful: what, where and when for programs, and a sentence for
/// the user. Nobody reads the sentence but the user.
struct HealthNote {
    Severity severity = Severity::Info;
    HealthCode code = HealthCode::Unknown;
    std::string sentence;
    std::optional<int64_t> globalPid = {};  ///< Of the process; nothing for the whole run.
    std::optional<int64_t> timeNs = {};     ///< When; nothing if it has no moment.
    std::optional<int64_t> count = {};      ///< How many; nothing if not countable.
    std::string unknownCode = {};           ///< What the file calls it, if `code` is `Unknown`.
    bool operator==(const HealthNote&) const = default;
};

/// The identifier of the note's code, known or not.
inline std::string codeOf(const HealthNote& note) {
    return note.code == HealthCode::Unknown ? note.unknownCode : std::string(identifier(note.code));
}

/// A stretch in which something of a process was lost.
struct Gap {
    Loss what = Loss::Unknown;  ///< May be a number that this program has no name for.
    TimeRange range;
    int64_t count = 0;  ///< How many were lost; 0 if unknown.
};

}  // namespace lanescope
