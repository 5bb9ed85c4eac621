// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lanescope::capture {

/// A GPU as the driver numbers it. Zero and empty mean that the driver did not say.
struct MachineGpu {
    int64_t index = 0;  ///< NVML's, as in nvidia-smi.
    std::string name;
    std::string uuid;  ///< "GPU-" and 32 hexadecimal digits in groups.
    std::string busLocation;
    int64_t memoryBytes = 0;
    int computeMajor = 0;
    int computeMinor = 0;
    int pcieGeneration = 0;
    int pcieWidth = 0;                 ///< Lanes.
    int nvlinkCount = 0;               ///< Links that are up, whoever is at the other end.
    int64_t nvlinkBytesPerSecond = 0;  ///< Of one link in one direction.
    int memoryClockMhz = 0;            ///< The greatest; data moves at each edge of it.
    int memoryBusBits = 0;
    std::string cpus;   ///< Processors near it: "0-31,64-95".
    int numaNode = -1;  ///< -1: unknown, or there is only one.
};

/// How two GPUs are joined.
struct MachineLink {
    int64_t gpu = 0;
    int64_t peer = 0;
    int nvlinkCount = 0;  ///< Direct links; through a switch, all links of `gpu`.
    /// "NVLink", "NVSwitch", "same board", "PCIe switch", "PCIe switches", "host bridge", "NUMA
    /// node", "system", "unknown".
    std::string connection;
    std::string abbreviation;  ///< As in nvidia-smi topo -m: "NV18", "PIX", "SYS"; empty: unknown.
};

/// What the driver tells about this machine.
struct Machine {
    std::string driverVersion;  ///< Empty without a driver.
    std::string cudaVersion;    ///< The newest CUDA the driver knows: "13.0".
    std::vector<MachineGpu> gpus;
    std::vector<MachineLink> links;
};

/// The machine that a run was recorded on, apart from its GPUs. What is unknown stays empty or 0.
struct HostFacts {
    std::string operatingSystem;  ///< "Debian GNU/Linux 12 (bookworm)".
    std::string kernel;           ///< "6.1.0-18-amd64".
    std::string cpu;              ///< "AMD EPYC 9354 32-Core Processor".
    int cpuCount = 0;             ///< Logical processors that the process may use.
    int64_t memoryBytes = 0;
};

/// Looks the facts up in /proc, /etc/os-release and the C library; a few file reads.
HostFacts queryHostFacts();

/// Asks the driver's management library (NVML) about this machine. Without a driver, or where it
/// refuses an answer, the machine comes back emptier; nothing fails. Takes some 10 ms with a
/// driver.
Machine queryMachine();

/// How much of the last second or so a GPU was busy, in percent; nothing where NVML does not tell.
/// By UUID, "GPU-...". Takes some 10 ms; any thread.
std::optional<unsigned> gpuUtilization(const std::string& uuid);

/// Lets this process have as many files open as it may. A program that it started before has its
/// limit from before. Nothing where that is refused.
void raiseFileLimit();

}  // namespace lanescope::capture
