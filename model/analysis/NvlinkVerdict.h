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

/// How it is known what a link carried.
enum class LinkEvidence : uint8_t {
    None,         ///< It cannot be told.
    Counters,     ///< The GPU's own counters.
    Copies,       ///< Memcpys from GPU to GPU.
    Collectives,  ///< NCCL's operations: how fast they were.
};

/// Whether NVLink is there, works, and carried something.
struct NvlinkVerdict {
    enum class Use : uint8_t { Unknown, Absent, NotSeen, Used };
    Use use = Use::Unknown;
    LinkEvidence evidence = LinkEvidence::None;
    int32_t activeLinks = 0;  ///< Most that one GPU has.
    /// Bytes that the GPUs sent: by their counters, by memcpys, or on the bus by NCCL's
    /// operations as nccl-tests count, whichever the evidence is.
    int64_t bytes = 0;
    double bestGBps = 0;  ///< Of what the verdict rests on; 0 if nothing.
    /// One for each fact: present, active, used, with the figures.
    std::vector<std::string> sentences;
    /// Of a process, in the median step; over whatever link if `use` is not `Used` and the
    /// evidence is not counters.
    std::optional<double> bytesPerStep;
    LinkEvidence stepEvidence = LinkEvidence::None;  ///< Of `bytesPerStep`.
};

/// Judges by counters where there are any, else by copies and collectives that were faster than
/// PCIe can be. O(n log n) in copies, NCCL's calls and NVTX ranges.
NvlinkVerdict judgeNvlink(const Trace& trace, std::optional<TimeRange> range = std::nullopt);
/// The same for the time from the first of these steps to the end of the last.
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
