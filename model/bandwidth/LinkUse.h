// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/format/TimeRange.h"
#include "model/trace/CounterSeries.h"
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

/// Integral of a counter of rates or shares over a range of time.
struct CounterIntegral {
    double amount = 0;    ///< Value times seconds: bytes for bytes per second, joules for watts.
    int64_t knownNs = 0;  ///< Time with a known value.
    int64_t wholeNs = 0;  ///< The whole range.
    double maximum = 0;   ///< Maximum of the known values.
    /// The longest interval between two samples, also beyond the range, in which the counter changed.
    int64_t longestIntervalNs = 0;
    /// No value holds across either end: for a cumulative counter, the amount is the difference of two readings.
    bool isExact = false;
    /// The counter was read too rarely for this range, so nothing is known.
    bool isUnread = false;

    bool hasValue() const { return knownNs > 0; }
    bool isComplete() const { return knownNs == wholeNs && wholeNs > 0; }
    /// Returns the mean of the known part.
    double mean() const { return knownNs > 0 ? amount * 1e9 / static_cast<double>(knownNs) : 0; }
};

/// Returns the integral over `range`; the value is constant between two samples. A counter of rates or shares is
/// unknown (`isUnread`) if such an interval is longer: it is no evidence. O(log n + samples in range).
CounterIntegral integralOf(const CounterSeries& series, TimeRange range);

/// Returns the integral of a range at whose ends the counter was read on purpose, in `startReading` and `endReading`:
/// between their nearest values, if within 10 ms of the ends or a fiftieth of it; else as above. Empty for none.
CounterIntegral integralBetween(const CounterSeries& series, TimeRange range, TimeRange startReading,
                                TimeRange endReading);

/// Traffic from one GPU to another.
struct LinkUse {
    int64_t gpu = noGpuId, peer = noGpuId;
    const GpuConnection* connection = nullptr;  ///< Null if unknown.
    int64_t copyBytes = 0;                      ///< Bytes of memcpys.
    int64_t copyBusyNs = 0;                     ///< Time in which at least one of them ran.
    int64_t copyCount = 0;
    double bestCopyGBps = 0;  ///< Best rate of copies of at least 1 MiB; 0 if there were none.
    std::optional<CopyPeak> peak;
    EventRef largest;  ///< Its copy with most bytes; the first of several.
    EventRef slowest;  ///< Its copy of at least 1 MiB with the lowest rate.

    std::optional<double> meanGBps() const;     ///< Returns the mean while busy.
    std::optional<double> peakPercent() const;  ///< Returns mean over peak.
};

/// Returns the ordered pairs of GPUs with known traffic in `range` or connection, by GPU and peer. O(copies + pairs^2).
std::vector<LinkUse> linkUse(const Trace& trace, std::optional<TimeRange> range = std::nullopt);

}  // namespace lanescope
