// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/Memory.h"
#include "model/format/TimeRange.h"

namespace lanescope {

// Links and measured rates of the machine. GPUs are identified by `Gpu::id`, because a file may describe links of GPUs
// that the run did not use.

/// GPU number that means "none".
inline constexpr int64_t noGpuId = -1;

enum class LinkKind : uint8_t {
    Pcie,      ///< Between a GPU and its host, or between GPUs without NVLink.
    NvLink,    ///< Between two GPUs, or from a GPU to its switches.
    Dram,      ///< Memory of the GPU: bytes read and written together.
    HostCopy,  ///< Measured memcpy between host memory of one kind and a GPU.
};

/// Returns the name of a kind in files.
constexpr std::string_view identifier(LinkKind kind) {
    switch (kind) {
        case LinkKind::NvLink: return "nvlink";
        case LinkKind::Dram: return "dram";
        case LinkKind::HostCopy: return "host-copy";
        case LinkKind::Pcie: break;
    }
    return "pcie";
}

/// Direction of bytes, seen from the GPU.
enum class LinkDirection : uint8_t {
    Unknown,   ///< Each direction alike, or both together.
    Transmit,  ///< From the GPU: DtoH.
    Receive,   ///< To the GPU: HtoD.
};

enum class PeakOrigin : uint8_t {
    Nominal,   ///< Lanes times rate, or links times rate; copies do not quite reach it.
    Measured,  ///< By `lanescope doctor --measure` on this machine.
};

struct LinkPeak {
    LinkKind kind = LinkKind::Pcie;
    int64_t gpu = noGpuId;
    int64_t peer = noGpuId;  ///< Other GPU of a pair.
    LinkDirection direction = LinkDirection::Unknown;
    MemoryKind memory = MemoryKind::Unknown;       ///< Host memory of a `HostCopy`.
    int64_t bytesPerSecond = 0;                    ///< Above 0.
    int32_t links = 0, generation = 0, width = 0;  ///< 0 if not applicable.
    PeakOrigin origin = PeakOrigin::Nominal;
    bool operator==(const LinkPeak&) const = default;
};

/// Operation whose highest rate was measured.
enum class RoofKind : uint8_t {
    Gemm,  ///< Matrix product; floating-point operations.
    Dram,  ///< Memory of the GPU; bytes.
};

/// Highest rate of a GPU, measured by `lanescope doctor --measure`.
struct Roof {
    RoofKind kind = RoofKind::Gemm;
    int64_t gpu = noGpuId;
    std::string operation;        ///< "bf16", "fp8" ...; "read", "write", "copy" of memory.
    int64_t m = 0, n = 0, k = 0;  ///< Size of the product.
    int64_t perSecond = 0;        ///< Operations or bytes; above 0.
    int64_t smClockHz = 0;        ///< 0 if unknown, also below.
    int64_t powerMilliwatts = 0;
    int64_t temperature = 0;  ///< Degrees Celsius.
    std::string software;
    bool operator==(const Roof&) const = default;
};

struct GpuConnection {
    int64_t gpu = noGpuId;
    int64_t peer = noGpuId;
    int32_t nvlinks = 0;            ///< 0: connected by PCIe only.
    std::string name = {};          ///< "NVLink", "NVSwitch", "PCIe switch".
    std::string abbreviation = {};  ///< As in nvidia-smi: "NV18", "PIX", "SYS".
    bool operator==(const GpuConnection&) const = default;
};

/// Processors near a GPU.
struct GpuAffinity {
    int64_t gpu = noGpuId;
    std::string cpus;       ///< "0-23,48-71".
    int32_t numaNode = -1;  ///< -1 if unknown.
    bool operator==(const GpuAffinity&) const = default;
};

/// Instance of an NVTX range at whose start and end the link counters were read.
struct SampledRange {
    std::string name;
    int64_t occurrence =
        0;  ///< Number among the ranges of that name in its process, from 0; in a cut it counts the whole run.
    int64_t globalPid = 0;  ///< 0 if unknown.
    TimeRange range;
    /// Intervals of the readings at start and end; empty if unknown.
    TimeRange startReading, endReading;
    bool operator==(const SampledRange&) const = default;
};

/// GPU memory of a process at a point in time.
struct GpuProcessUse {
    int64_t timeNs = 0;
    int64_t gpu = noGpuId;
    int64_t pid = 0;
    std::string name;
    int64_t bytes = -1;     ///< -1 if unknown.
    double smPercent = -1;  ///< Negative if unknown.
    bool operator==(const GpuProcessUse&) const = default;
};

struct Interconnect {
    std::vector<LinkPeak> peaks;
    std::vector<Roof> roofs;
    std::vector<GpuConnection> connections;   ///< Both directions, sorted by GPU and peer.
    std::vector<GpuAffinity> affinities;      ///< Sorted by GPU.
    std::vector<SampledRange> sampledRanges;  ///< Sorted by start.
    std::vector<GpuProcessUse> gpuProcesses;  ///< Sorted by time.
    bool operator==(const Interconnect&) const = default;
};

}  // namespace lanescope
