// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string_view>

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

}  // namespace lanescope
