// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/trace/Interconnect.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Reference rate of a copy.
struct CopyPeak {
    double gigabytesPerSecond = 0;  ///< Rate of copied bytes; above 0.
    PeakOrigin origin = PeakOrigin::Nominal;
    LinkKind link = LinkKind::Pcie;
};

/// Returns the bytes per second of a copy at the peak of its link, or nullopt if unknown:
/// - PCIe between host and GPU; a measured peak counts for its kind of host memory only;
/// - NVLink or else PCIe between two GPUs;
/// - half of the bandwidth of the GPU's memory within a GPU, as each byte is read and written.
///
/// Measured peaks take precedence over nominal ones. `gpu` and `peer` are numbers of GPUs
/// (`Gpu::id`); the copy goes from `gpu` to `peer` if there are two. O(peaks).
std::optional<CopyPeak> peakOfCopy(const Trace& trace, MemcpyKind kind, MemoryKind hostMemory, int64_t gpu,
                                   int64_t peer = noGpuId);
/// Returns the peak of a memset, which only writes.
std::optional<CopyPeak> peakOfMemset(const Trace& trace, int64_t gpu);

/// Returns the peak of PCIe, or of a GPU's NVLinks, in one direction; to all its peers if `peer` is `noGpuId`.
std::optional<CopyPeak> peakOfPcie(const Trace& trace, int64_t gpu);
std::optional<CopyPeak> peakOfNvlink(const Trace& trace, int64_t gpu, int64_t peer = noGpuId);

/// Returns the connection from one GPU to another; null if unknown. O(connections).
const GpuConnection* connectionOf(const Trace& trace, int64_t gpu, int64_t peer);

/// Returns the nominal bytes per second of NVLinks of that compute capability in one direction; 0 if unknown.
double nominalNvlinkBytesPerSecond(int computeMajor, int links);

/// Returns the number of active NVLinks of the GPU, to any peer; 0 if none or unknown.
int32_t nvlinksOf(const Trace& trace, int64_t gpu);

/// Returns true for a slice of a GPU (MIG): it has memory and copy engines of its own, and no link to other GPUs.
bool isMigDevice(const Gpu& gpu);

/// "measured", "nominal".
std::string_view name(PeakOrigin origin);

}  // namespace lanescope
