// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"

namespace lanescope {

// What a trace says about the links of its machine. GPUs stand here by the number they are called
// by (`Gpu::id`): a file may tell of the links of GPUs that the run did not use.

/// Stands for "no GPU" where the number of one is asked for.
inline constexpr int64_t noGpuId = -1;

/// What a peak is of.
enum class LinkKind : uint8_t {
    Pcie,      ///< Between a GPU and its host, or between GPUs that no NVLink joins.
    NvLink,    ///< Between two GPUs, or from a GPU to its switches.
    Dram,      ///< The GPU's own memory: bytes read and bytes written together.
    HostCopy,  ///< A memcpy between host memory of one kind and a GPU, as measured.
};

/// Which way bytes go, seen from the GPU.
enum class LinkDirection : uint8_t {
    Unknown,   ///< Either way alike, or both together.
    Transmit,  ///< Away from the GPU: DtoH.
    Receive,   ///< Into the GPU: HtoD.
};

/// Who says how fast a link can be.
enum class PeakOrigin : uint8_t {
    Nominal,   ///< Lanes times rate, links times rate: what no copy quite reaches.
    Measured,  ///< By `lanescope doctor --measure` on this machine.
};

/// How fast a link can be.
struct LinkPeak {
    LinkKind kind = LinkKind::Pcie;
    int64_t gpu = noGpuId;
    int64_t peer = noGpuId;  ///< The other GPU, where it is about a pair.
    LinkDirection direction = LinkDirection::Unknown;
    MemoryKind memory = MemoryKind::Unknown;       ///< Of the host, of a `HostCopy`.
    int64_t bytesPerSecond = 0;                    ///< Above 0.
    int32_t links = 0, generation = 0, width = 0;  ///< 0 where they do not apply.
    PeakOrigin origin = PeakOrigin::Nominal;
    bool operator==(const LinkPeak&) const = default;
};

/// How one GPU is joined to another.
struct GpuConnection {
    int64_t gpu = noGpuId;
    int64_t peer = noGpuId;
    int32_t nvlinks = 0;       ///< 0: joined by PCIe only.
    std::string name;          ///< "NVLink", "NVSwitch", "PCIe switch".
    std::string abbreviation;  ///< As nvidia-smi has it: "NV18", "PIX", "SYS".
    bool operator==(const GpuConnection&) const = default;
};

/// The processors that a GPU is near to.
struct GpuAffinity {
    int64_t gpu = noGpuId;
    std::string cpus;       ///< "0-23,48-71".
    int32_t numaNode = -1;  ///< -1 if unknown.
    bool operator==(const GpuAffinity&) const = default;
};

/// One instance of an NVTX range at whose start and end the counters of links were read.
struct SampledRange {
    std::string name;
    int64_t occurrence = 0;  ///< Which of the name in its process, from 0; of all, also in a cut.
    int64_t globalPid = 0;   ///< 0 if unknown.
    TimeRange range;
    /// In which counters were read for its start and for its end; empty if unknown.
    TimeRange startReading, endReading;
    bool operator==(const SampledRange&) const = default;
};

/// Memory of a GPU that a process held at some moment.
struct GpuProcessUse {
    int64_t timeNs = 0;
    int64_t gpu = noGpuId;
    int64_t pid = 0;
    std::string name;
    int64_t bytes = -1;     ///< -1 if unknown.
    double smPercent = -1;  ///< Below 0 if unknown.
    bool operator==(const GpuProcessUse&) const = default;
};

struct Interconnect {
    std::vector<LinkPeak> peaks;
    std::vector<GpuConnection> connections;   ///< Either way, by GPU and peer.
    std::vector<GpuAffinity> affinities;      ///< By GPU.
    std::vector<SampledRange> sampledRanges;  ///< By start.
    std::vector<GpuProcessUse> gpuProcesses;  ///< By time.
    bool operator==(const Interconnect&) const = default;
};

}  // namespace lanescope
