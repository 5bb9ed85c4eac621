// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lanescope::capture {

/// A GPU by the driver's number. Zero and empty mean that the driver did not report the value.
struct MachineGpu {
    int64_t index = 0;  ///< NVML's number, as in nvidia-smi.
    std::string name = {};
    std::string uuid = {};  ///< "GPU-" and 32 hexadecimal digits in groups.
    std::string busLocation = {};
    int64_t memoryBytes = 0;
    int computeMajor = 0;
    int computeMinor = 0;
    int pcieGeneration = 0;
    int pcieWidth = 0;                 ///< Lanes.
    int nvlinkCount = 0;               ///< Active links to any device.
    int64_t nvlinkBytesPerSecond = 0;  ///< Rate of one link in one direction.
    int memoryClockMhz = 0;            ///< Maximum clock; memory transfers on both clock edges.
    int memoryBusBits = 0;
    std::string cpus = {};  ///< Processors near it: "0-31,64-95".
    int numaNode = -1;      ///< -1: unknown, or there is only one.
};

/// Connection of two GPUs.
struct MachineLink {
    int64_t gpu = 0;
    int64_t peer = 0;
    int nvlinkCount = 0;  ///< Direct links; through a switch, all links of `gpu`.
    /// "NVLink", "NVSwitch", "same board", "PCIe switch", "PCIe switches", "host bridge", "NUMA
    /// node", "system", "unknown".
    std::string connection;
    std::string abbreviation;  ///< As in nvidia-smi topo -m: "NV18", "PIX", "SYS"; empty: unknown.
};

/// Facts about this machine from the driver.
struct Machine {
    std::string driverVersion;  ///< Empty without a driver.
    std::string cudaVersion;    ///< Newest CUDA version that the driver supports: "13.0".
    std::vector<MachineGpu> gpus;
    std::vector<MachineLink> links;
};

/// The machine of a recording, except its GPUs. Unknown values are empty or 0.
struct HostFacts {
    std::string operatingSystem;  ///< "Debian GNU/Linux 12 (bookworm)".
    std::string kernel = {};      ///< "6.1.0-18-amd64".
    std::string cpu;              ///< "AMD EPYC 9354 32-Core Processor".
    int cpuCount = 0;             ///< Logical processors that the process may use.
    int64_t memoryBytes = 0;
};

/// Reads the facts from /proc, /etc/os-release and the C library; a few file reads.
HostFacts queryHostFacts();

/// Queries the driver's management library (NVML) about this machine. Without a driver, or for
/// refused queries, values stay empty; nothing fails. Takes some 10 ms with a driver.
Machine queryMachine();

/// Returns the GPU's utilization over about the last second, in percent, by UUID, "GPU-...";
/// nullopt if NVML does not report it. Takes some 10 ms; any thread.
std::optional<unsigned> gpuUtilization(const std::string& uuid);

/// State of a GPU at one time; 0 for values that the driver does not report.
struct GpuState {
    int64_t smClockMhz = 0;
    int64_t powerMilliwatts = 0;  ///< Mean of about the last second on most GPUs.
    int64_t temperature = 0;      ///< Degrees Celsius.
};
/// Reads the state of the GPU with this UUID, "GPU-...". Takes some 10 ms the first time; any thread. NVML stays open.
GpuState gpuState(const std::string& uuid);

/// Returns "GPU-01234567-89ab-...", in the driver's format.
std::string formatGpuUuid(std::span<const uint8_t, 16> uuid);

/// Raises this process's limit of open files to the maximum allowed. Processes started earlier keep
/// their limit. Does nothing if refused.
void raiseFileLimit();

}  // namespace lanescope::capture
