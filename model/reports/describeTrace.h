// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/NvlinkVerdict.h"
#include "model/bandwidth/LinkUse.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Connections of a trace's GPUs and the traffic of their links.
struct TopologyDescription {
    /// Numbers of all GPUs in the trace, ascending.
    std::vector<int64_t> gpus = {};
    std::vector<LinkUse> uses;  ///< Refers to the trace.
    NvlinkVerdict verdict;
};

/// Describes `range`, or the whole trace. O(n log n) in copies, NCCL's calls and NVTX ranges.
TopologyDescription describeTopology(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

/// Returns the GPU of that number, with its affinity; null if unknown.
const Gpu* gpuNumbered(const Trace& trace, int64_t gpu);
const GpuAffinity* affinityOf(const Trace& trace, int64_t gpu);

/// Returns a connection's abbreviation in a matrix, as in `nvidia-smi topo -m`: "NV18", "PIX", "SYS"; "?" if unknown.
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

/// Returns the connections of the GPUs, each pair once; one line for three or more that are all alike. O(connections).
std::vector<LinkLine> linkLines(const Trace& trace);

/// A GPU or a process: its title and its facts.
struct DescribedThing {
    std::string title;  ///< "GPU 0  NVIDIA H200, 132 SMs"; "PID 4242  python3, rank 0 of 4".
    std::vector<Property> facts;
};

/// Maximum memory of one kind used by one owner.
struct MemoryPeak {
    std::string name;   ///< Name of the counter: "Device memory".
    std::string owner;  ///< "GPU 0, process 4242 (python3)"; "host".
    std::optional<int64_t> gpu = {};
    std::optional<uint32_t> pid = {};
    int64_t bytes = 0;
    Property line = {};  ///< "GPU 0, process 4242 (python3): device memory", "12.3 GiB".
};

/// Facts of a trace in words for people. Texts are as in the file, so they may contain any character.
struct DescribedTrace {
    std::vector<Property> run;
    std::vector<DescribedThing> gpus = {};
    std::vector<DescribedThing> processes = {};
    std::vector<Property> counts = {};
    std::vector<MemoryPeak> memoryPeaks = {};
    std::vector<HealthNote> health = {};  ///< `healthNotesOf`; the sentences are for display.
};
/// Text for an empty `health`: third-party recorders may lose data without notice.
inline constexpr const char* nothingKnownLost = "No warnings.";

/// O(n log n) in facts, counters and notes.
DescribedTrace describeTrace(const Trace& trace);

/// Returns "13.0.1" for 130001, CUPTI's numbering from 13.0 on; older numbers are returned unchanged.
std::string cuptiVersionText(int64_t number);

// Returns the same facts with the names and values of the file, for programs. Those of a process include its rank.
std::vector<Property> propertiesOf(const RunFacts& facts);
std::vector<Property> propertiesOf(const Process& process);
std::vector<Property> propertiesOf(const GpuFacts& facts);

}  // namespace lanescope
