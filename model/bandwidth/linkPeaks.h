// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/trace/Interconnect.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// What a copy can be compared with.
struct CopyPeak {
    double gigabytesPerSecond = 0;  ///< Of copied bytes; above 0.
    PeakOrigin origin = PeakOrigin::Nominal;
    LinkKind link = LinkKind::Pcie;
};

/// The bytes of a copy a second at the peak of the link that carries it: PCIe for copies between
/// host and GPU, of which a measured one counts for its kind of host memory only; NVLink or else
/// PCIe between two GPUs; half of what the GPU's memory moves for a copy within a GPU, as each byte
/// is read and written. Measured peaks win over nominal ones. Nothing where the trace does not
/// tell. `gpu` and `peer` are numbers of GPUs (`Gpu::id`); the copy goes from `gpu` to `peer` if
/// there are two. O(peaks).
std::optional<CopyPeak> peakOfCopy(const Trace& trace, MemcpyKind kind, MemoryKind hostMemory,
                                   int64_t gpu, int64_t peer = noGpuId);
/// The same for a memset, which only writes.
std::optional<CopyPeak> peakOfMemset(const Trace& trace, int64_t gpu);

/// PCIe of one direction; NVLink of one direction of a GPU, to all its peers together if `peer` is
/// `noGpuId`.
std::optional<CopyPeak> peakOfPcie(const Trace& trace, int64_t gpu);
std::optional<CopyPeak> peakOfNvlink(const Trace& trace, int64_t gpu, int64_t peer = noGpuId);

/// The connection from one GPU to another; null if the trace does not tell. O(connections).
const GpuConnection* connectionOf(const Trace& trace, int64_t gpu, int64_t peer);

/// What so many NVLinks of a GPU of that compute capability can carry in one direction, in bytes a
/// second; 0 for what is not known.
double nominalNvlinkBytesPerSecond(int computeMajor, int links);

/// NVLinks of the GPU that are up, whoever is at the other end; 0 if none or unknown.
int32_t nvlinksOf(const Trace& trace, int64_t gpu);

/// A slice of a GPU (MIG): it has memory and copy engines of its own, and no link to other GPUs.
bool isMigDevice(const Gpu& gpu);

/// "measured", "nominal".
std::string_view name(PeakOrigin origin);

}  // namespace lanescope
