// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// A GPU or a process: its title and its facts.
struct DescribedThing {
    std::string title;  ///< "GPU 0  NVIDIA H200, 132 SMs"; "PID 4242  python3, rank 0 of 4".
    std::vector<Property> facts;
};

/// Maximum memory of one kind used by one owner.
struct MemoryPeak {
    std::string name;   ///< Name of the counter: "Device memory".
    std::string owner;  ///< "GPU 0, process 4242 (python3)"; "host".
    std::optional<int64_t> gpu;
    std::optional<uint32_t> pid;
    int64_t bytes = 0;
    Property line;  ///< "GPU 0, process 4242 (python3): device memory", "12.3 GiB".
};

/// Facts of a trace in words for people. Texts are as in the file, so they may contain any character.
struct DescribedTrace {
    std::vector<Property> run;
    std::vector<DescribedThing> gpus;
    std::vector<DescribedThing> processes;
    std::vector<Property> counts;
    std::vector<MemoryPeak> memoryPeaks;
    std::vector<HealthNote> health;  ///< `healthNotesOf`; the sentences are for display.
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
