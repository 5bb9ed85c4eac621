// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

// Names of facts in `LANESCOPE_PROPERTIES`, which logs share. What people read for them, and what
// their values mean, stands in `model/trace/Facts.h`. Names that hold what the fact is about are
// joined by the recorder and taken apart by the loader, both here.

namespace facts {
// Of a run; `commandLine` and `host` of a process, too.
inline constexpr std::string_view commandLine = "commandLine";
inline constexpr std::string_view workingDirectory = "workingDirectory";
inline constexpr std::string_view homeDirectory = "homeDirectory";
inline constexpr std::string_view host = "host";
inline constexpr std::string_view operatingSystem = "operatingSystem";
inline constexpr std::string_view kernel = "kernel";
inline constexpr std::string_view cpu = "cpu";
inline constexpr std::string_view cpuCount = "cpuCount";
inline constexpr std::string_view hostMemoryBytes = "hostMemoryBytes";
inline constexpr std::string_view driverVersion = "driverVersion";
inline constexpr std::string_view driverCudaVersion = "driverCudaVersion";
inline constexpr std::string_view lanescopeVersion = "lanescopeVersion";
inline constexpr std::string_view recordOptions = "recordOptions";
inline constexpr std::string_view exitStatus = "exitStatus";
inline constexpr std::string_view logBytesUnreadAtExit = "logBytesUnreadAtExit";
inline constexpr std::string_view cutSteps = "cutSteps";
// Of a process.
inline constexpr std::string_view program = "program";
inline constexpr std::string_view processName = "processName";
inline constexpr std::string_view bootId = "bootId";
inline constexpr std::string_view visibleDevices = "visibleDevices";
inline constexpr std::string_view agentVersion = "agentVersion";
inline constexpr std::string_view cuptiPath = "cuptiPath";
inline constexpr std::string_view cuptiVersion = "cuptiVersion";
inline constexpr std::string_view rank = "rank";
inline constexpr std::string_view localRank = "localRank";
inline constexpr std::string_view worldSize = "worldSize";
inline constexpr std::string_view localWorldSize = "localWorldSize";
inline constexpr std::string_view ncclProfilerInterface = "ncclProfilerInterface";
inline constexpr std::string_view endSignal = "endSignal";
inline constexpr std::string_view forkedChild = "forkedChild";
/// The number of the process that started one, where that was recorded, too.
inline constexpr std::string_view parentProcess = "parentProcess";
inline constexpr std::string_view cuda = "cuda";
inline constexpr std::string_view nvtx = "nvtx";
// Of a GPU.
inline constexpr std::string_view pcieGeneration = "pcieGeneration";
inline constexpr std::string_view pcieWidth = "pcieWidth";
inline constexpr std::string_view nvlinkCount = "nvlinkCount";
// Of samplers; the last two with the number of a GPU behind them.
inline constexpr std::string_view samplers = "samplers";
inline constexpr std::string_view gpuMetricsSampler = "gpuMetricsSampler";
inline constexpr std::string_view samplerIntervals = "samplerIntervals";
inline constexpr std::string_view samplerIntervalsGpm = "samplerIntervalsGpm";
inline constexpr std::string_view samplerIntervalsHost = "samplerIntervalsHost";
inline constexpr std::string_view threadSampler = "threadSampler";
inline constexpr std::string_view threadStacksRead = "threadStacksRead";
inline constexpr std::string_view threadStacksTorn = "threadStacksTorn";
inline constexpr std::string_view gpuMetricsHz = "gpuMetricsHz";
inline constexpr std::string_view gpuMetricsLost = "gpuMetricsLost";
inline constexpr std::string_view gpuMetricsClock = "gpuMetricsClock";
/// What a flag says where it is set.
inline constexpr std::string_view one = "1", off = "off";
}  // namespace facts

/// A name, and what it was joined with.
template <class Subject>
struct FactOf {
    Subject subject{};
    std::string_view name;
};

/// "gpu0.pcieWidth": a fact of the GPU of that number.
std::string gpuFactName(int64_t gpu, std::string_view name);
std::optional<FactOf<int64_t>> splitGpuFact(std::string_view text);

/// "box samplers": a fact of one of several hosts. Names hold no space, so the last one parts them.
std::string hostFactName(std::string_view host, std::string_view name);
std::optional<FactOf<std::string_view>> splitHostFact(std::string_view text);

/// "gpuMetricsLost0", "host1": one of several facts that are called alike.
std::string numberedFactName(std::string_view name, int64_t number);
std::optional<FactOf<int64_t>> splitNumberedFact(std::string_view text);

/// Whether the driver calls a slice of a GPU so: "NVIDIA H200 MIG 1g.18gb".
constexpr bool isMigName(std::string_view gpuName) {
    return gpuName.find(" MIG ") != std::string_view::npos;
}

/// Bytes a second that so many lanes of a PCIe generation carry in one direction, after the line
/// code and before the headers of packets; 0 for a generation that is not known, and for a number
/// of lanes that no slot has.
int64_t pcieBytesPerSecond(int generation, int lanes);

}  // namespace lanescope
