// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/CounterSeries.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Keys of the computed counters (`CounterSeries::key`).
inline constexpr std::string_view nvlinkSentKey = "nvlink.tx";
inline constexpr std::string_view nvlinkReceivedKey = "nvlink.rx";
/// Prefix of the keys of counters that are computed from events.
inline constexpr std::string_view computedPrefix = "computed.";
inline constexpr std::string_view collectivesKey = "computed.collectives";
inline constexpr std::string_view peerCopiesSentKey = "computed.peerCopies.tx";
inline constexpr std::string_view peerCopiesReceivedKey = "computed.peerCopies.rx";

/// Added by `addMfuCounters`.
inline constexpr std::string_view mfuKey = "computed.mfu";

/// Adds counters computed from other counters and events, by GPU:
/// - total sent and received by its NVLinks (unknown while one of them is),
/// - bytes per second of NCCL's operations on the bus, each spread evenly over its time on the GPU,
/// - bytes per second of memcpys to and from other GPUs.
/// The tables must be sorted, and NCCL's work known. O(n log n) in samples and operations. If
/// stopped, counters are missing.
void buildLinkCounters(Trace& trace, const std::stop_token& stop);

/// Counters of both directions of a link or device, which share a track: the upper one (sent, read)
/// grows upwards, the lower one (received, written) downwards.
struct CounterPairs {
    std::vector<uint32_t> lowerOf;  ///< By counter; `noIndex` except for upper ones.
    std::vector<uint32_t> upperOf;  ///< By counter; `noIndex` except for lower ones.
};

/// O(n log n).
CounterPairs counterPairs(const std::vector<CounterSeries>& counters);
/// Returns `upperOf` of a single counter. O(n).
uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter);

/// Returns true if values in this unit are means since the previous reading, so they have no finer
/// resolution. Other values, such as clock rates, are momentary readings.
bool isMean(CounterUnit unit);

/// Limit of a mean's interval in ns up to which it counts as a momentary value and a peak.
inline constexpr int64_t maxMomentaryNs = 250'000'000;

/// Returns the interval over which value number `sample` is a mean (`CounterSeries::isMeanOfInterval`), if that is too
/// long for a momentary value. Nullopt for other values and for an idle counter. O(1).
std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample);

/// Returns the interval also for shorter readings that cover more than half of the visible
/// `shownNs`, because the lane then shows no shape.
std::optional<int64_t> meanOver(const CounterSeries& counter, uint32_t sample, int64_t shownNs);

/// Returns true if the counter had that value momentarily within `range`, not only as a long mean. O(n).
bool isMomentary(const CounterSeries& counter, TimeRange range, double value);

/// Returns the first value in effect after `timeNs`; `size()` if none is. O(log n).
uint32_t firstInEffectAfter(const CounterSeries& counter, int64_t timeNs);

/// Returns the resolution of the display: the smaller of the median time between readings and the
/// mean sampling interval. 0 for fewer than two readings. O(n).
int64_t medianReadingNs(const CounterSeries& counter);

/// Returns the maximum within a range: "peak 98.7 %"; "mean 13.3 % over 4.1 s" if it is a long
/// mean; "unknown" without values. O(n).
std::string peakText(const CounterSeries& counter, TimeRange within);
/// Returns the short form: "98.7 %", "13.3 % over 4.1 s".
std::string shortPeakText(const CounterSeries& counter, TimeRange within);

/// Meaning of sampled numbers. The enumerators' numbers are the file's (`LANESCOPE_COUNTERS`).
enum class CounterMeaning : uint8_t {
    Gauge = 0,       ///< In effect from its time on.
    Cumulative = 1,  ///< Ever growing; only differences are meaningful.
    Average = 2,     ///< Mean of the interval that ends at its time.
    Amount = 3,      ///< Amount within the interval that ends at its time.
};

struct CounterSamples {
    CounterMeaning meaning = CounterMeaning::Gauge;
    CounterUnit unit = CounterUnit::Count;
    int wrapBits = 0;                      ///< For a cumulative counter that wraps at 2^wrapBits; 0 if unknown.
    int64_t intervalNs = 0;                ///< Sampling interval; 0 if unknown.
    LargeVector<int64_t> timesNs = {};     ///< In any order; of equal times the last one counts.
    LargeVector<long double> values = {};  ///< Exact to 2^63; NaN means unknown.
};

/// Counter for display: each value is in effect until the next.
struct CounterValues {
    CounterUnit unit = CounterUnit::Count;
    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
    int64_t endNs = 0;
    int64_t wrapCount = 0;   ///< Number of wrap-arounds of a cumulative counter.
    int64_t resetCount = 0;  ///< Number of decreases without a wrap-around, each of which leaves an interval unknown.
};

/// Values of a counter in order of time, while they are collected.
struct CollectedValues {
    explicit CollectedValues(LargeMemory* memory) : timesNs(memory), values(memory) {}
    void add(int64_t timeNs, double value) {
        timesNs.push_back(timeNs);
        values.push_back(value);
    }

    LargeVector<int64_t> timesNs;
    LargeVector<double> values;
};

/// Converts samples to values. Uses the memory of the samples. O(n), O(n log n) if they are not in order.
/// - Gauges stay unchanged. The last one is in effect for a sampling interval or the typical
///   distance of samples; an unknown last value ends the counter.
/// - Cumulative counters and amounts become rates: bytes become bytes per second, joules become
///   watts.
/// - Averages begin where their interval begins.
/// - An interval with an unknown end point, or a decrease without a wrap-around, is unknown: a rate
///   is never negative or infinite.
CounterValues counterValues(CounterSamples samples);

/// Returns samples for a file from which `counterValues` restores the series: means over their intervals, or gauges. A
/// gauge that ends early, such as a cut one, gets a final unknown sample. O(n).
CounterSamples samplesOf(const CounterSeries& series);

}  // namespace lanescope
