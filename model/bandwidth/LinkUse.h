#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bandwidth/linkPeaks.h"
#include "model/format/TimeRange.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// How it is known what a link carried.
enum class LinkEvidence : uint8_t {
    None,         ///< It cannot be told.
    Counters,     ///< The GPU's own counters.
    Copies,       ///< Memcpys from GPU to GPU.
    Collectives,  ///< NCCL's operations: how fast they were.
};

/// What went from one GPU to another.
struct LinkUse {
    int64_t gpu = noGpuId, peer = noGpuId;
    const GpuConnection* connection = nullptr;  ///< Null if the trace does not tell.
    int64_t copyBytes = 0;                      ///< Of memcpys.
    int64_t copyBusyNs = 0;                     ///< While at least one of them ran.
    int64_t copyCount = 0;
    double bestCopyGBps = 0;  ///< Of copies of at least 1 MiB; 0 if there were none.
    std::optional<CopyPeak> peak;

    std::optional<double> meanGBps() const;     ///< While busy.
    std::optional<double> peakPercent() const;  ///< Mean over peak.
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
    std::optional<double> bytesPerStep;  ///< Of a process, in the median step.
};

/// Every ordered pair of GPUs of which something is known, by GPU and peer. Only what happens in
/// `range` counts. O(copies + pairs^2).
std::vector<LinkUse> linkUse(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

/// Judges by counters where there are any, else by copies and collectives that were faster than
/// PCIe can be. O(n log n) in copies, NCCL's calls and NVTX ranges.
NvlinkVerdict judgeNvlink(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

std::string_view name(NvlinkVerdict::Use use);
std::string_view name(LinkEvidence evidence);

}  // namespace lanescope
