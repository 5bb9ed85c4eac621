// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

struct RunSteps;

/// Source of the knowledge about a link's traffic.
enum class LinkEvidence : uint8_t {
    None,         ///< Unknown.
    Counters,     ///< The GPU's own counters.
    Copies,       ///< Memcpys from GPU to GPU.
    Collectives,  ///< NCCL's operations, by their rate.
};

/// Presence, state and use of NVLink.
struct NvlinkVerdict {
    enum class Use : uint8_t { Unknown, Absent, NotSeen, Used };
    Use use = Use::Unknown;
    LinkEvidence evidence = LinkEvidence::None;
    int32_t activeLinks = 0;  ///< Maximum of a GPU.
    /// Bytes sent by the GPUs: by counters, memcpys, or NCCL's operations on the bus as nccl-tests counts.
    int64_t bytes = 0;
    double bestGBps = 0;  ///< Highest rate behind the verdict; 0 if none.
    /// One for each fact: present, active, used, with the figures.
    std::vector<std::string> sentences;
    /// Bytes of a process in the median step; over any link if `use` is not `Used` and the evidence is not counters.
    std::optional<double> bytesPerStep;
    LinkEvidence stepEvidence = LinkEvidence::None;  ///< Evidence of `bytesPerStep`.
};

/// Judges by counters, else by copies and collectives too fast for PCIe. O(n log n) in copies, NCCL's calls, ranges.
NvlinkVerdict judgeNvlink(const Trace& trace, std::optional<TimeRange> range = std::nullopt);
/// Judges the time from the first of these steps to the end of the last.
NvlinkVerdict judgeNvlink(const Trace& trace, const RunSteps& steps);

/// "unknown", "absent", "not seen", "used".
std::string_view name(NvlinkVerdict::Use use);
/// "none", "counters", "copies", "collectives".
std::string_view name(LinkEvidence evidence);
/// For files and programs: "unknown", "absent", "not_seen", "used".
std::string_view identifier(NvlinkVerdict::Use use);
/// The same: "none", "counters", "copies", "collectives".
std::string_view identifier(LinkEvidence evidence);

}  // namespace lanescope
