// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/LinkUse.h"

namespace lanescope {

/// How the GPUs of a trace are joined and what their links carried.
struct TopologyDescription {
    /// Numbers of all GPUs that the trace tells of, ascending.
    std::vector<int64_t> gpus;
    std::vector<LinkUse> uses;  ///< Refers to the trace.
    NvlinkVerdict verdict;
};

/// What happens in `range`, or in the whole trace. O(n log n) in copies, NCCL's calls and NVTX
/// ranges.
TopologyDescription describeTopology(const Trace& trace,
                                     std::optional<TimeRange> range = std::nullopt);

/// The GPU of that number, and the part of the machine that is near it; null if the trace does not
/// tell.
const Gpu* gpuNumbered(const Trace& trace, int64_t gpu);
const GpuAffinity* affinityOf(const Trace& trace, int64_t gpu);

/// The word for a connection in a matrix, as `nvidia-smi topo -m` has it: "NV18", "PIX", "SYS"; "?"
/// if the trace does not tell.
std::string wordFor(const GpuConnection* connection);
/// What such a word means: "18 NVLinks, bonded"; empty for one that nobody knows.
std::string meaningOfWord(std::string_view word);

/// A pair of GPUs, or all pairs of several, that are joined in one way.
struct LinkLine {
    std::string gpus;        ///< "GPU 0-GPU 1"; "between any two of GPU 0-7".
    std::string connection;  ///< "NVLink", "PCIe switch".
    int64_t nvlinks = 0;
    /// "NVLink, 18 links", "PCIe switch".
    std::string text() const;
};

/// How the GPUs are joined, each pair once; one line if all pairs of three or more are joined
/// alike. O(connections).
std::vector<LinkLine> linkLines(const Trace& trace);

}  // namespace lanescope
