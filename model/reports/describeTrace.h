// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// A GPU, or a process: one line that names it, and facts under it.
struct DescribedThing {
    std::string title;  ///< "GPU 0  NVIDIA H200, 132 SMs"; "PID 4242  python3, rank 0 of 4".
    std::vector<Property> facts;
};

/// The most memory of one kind that one owner had in use.
struct MemoryPeak {
    std::string name;   ///< Of the counter: "Device memory".
    std::string owner;  ///< "GPU 0, process 4242 (python3)"; "host".
    std::optional<int64_t> gpu;
    std::optional<uint32_t> pid;
    int64_t bytes = 0;
    Property line;  ///< "GPU 0, process 4242 (python3): device memory", "12.3 GiB".
};

/// What a trace says of itself, in words for people. Texts are as the file has them, so they may
/// hold any character.
struct DescribedTrace {
    std::vector<Property> run;
    std::vector<DescribedThing> gpus;
    std::vector<DescribedThing> processes;
    std::vector<Property> counts;
    std::vector<MemoryPeak> memoryPeaks;
    std::vector<HealthNote> health;  ///< `notesOf`; the sentences are what to show.
};
/// What to say where `health` is empty: other recorders may lose without a word.
inline constexpr const char* nothingKnownLost = "Nothing that this file knows of.";

/// O(n log n) in facts, counters and notes.
DescribedTrace describeTrace(const Trace& trace);

/// "13.0.1" of 130001, as CUPTI counts from 13.0 on; older numbers say little and stay.
std::string cuptiVersionText(int64_t number);

// The same facts under the names and with the values that files have, for programs. Those of a
// process include its rank.
std::vector<Property> propertiesOf(const RunFacts& facts);
std::vector<Property> propertiesOf(const Process& process);
std::vector<Property> propertiesOf(const GpuFacts& facts);

}  // namespace lanescope
