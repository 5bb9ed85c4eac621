// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/LinkUse.h"

namespace lanescope {

/// Connections of a trace's GPUs and the traffic of their links.
struct TopologyDescription {
    /// Numbers of all GPUs in the trace, ascending.
    std::vector<int64_t> gpus;
    std::vector<LinkUse> uses;  ///< Refers to the trace.
    NvlinkVerdict verdict;
};

/// Describes `range`, or the whole trace. O(n log n) in copies, NCCL's calls and NVTX ranges.
TopologyDescription describeTopology(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

/// Returns the GPU of that number, with its affinity; null if unknown.
const Gpu* gpuNumbered(const Trace& trace, int64_t gpu);
const GpuAffinity* affinityOf(const Trace& trace, int64_t gpu);

/// Returns the abbreviation of a connection in a matrix, as in `nvidia-smi topo -m`: "NV18", "PIX",
/// "SYS"; "?" if unknown.
std::string wordFor(const GpuConnection* connection);
/// Returns the meaning of such an abbreviation: "18 NVLinks, bonded"; empty if unknown.
std::string meaningOfWord(std::string_view word);

/// A pair of GPUs, or all pairs of several, with one kind of connection.
struct LinkLine {
    std::string gpus;        ///< "GPU 0-GPU 1"; "between any two of GPU 0-7".
    std::string connection;  ///< "NVLink", "PCIe switch".
    int64_t nvlinks = 0;
    /// "NVLink, 18 links", "PCIe switch".
    std::string text() const;
};

/// Returns the connections of the GPUs, each pair once; one line if all pairs of three or more are
/// equal. O(connections).
std::vector<LinkLine> linkLines(const Trace& trace);

}  // namespace lanescope
