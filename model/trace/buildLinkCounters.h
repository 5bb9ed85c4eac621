// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// Keys of the counters that are made here (`CounterSeries::key`).
inline constexpr std::string_view nvlinkSentKey = "nvlink.tx";
inline constexpr std::string_view nvlinkReceivedKey = "nvlink.rx";
inline constexpr std::string_view collectivesKey = "computed.collectives";
inline constexpr std::string_view peerCopiesSentKey = "computed.peerCopies.tx";
inline constexpr std::string_view peerCopiesReceivedKey = "computed.peerCopies.rx";

/// Adds counters that follow from others and from events, by GPU: what all its NVLinks together
/// send and receive (unknown while one of them is), the bytes a second that NCCL's operations put
/// on the bus, each spread evenly over its time on the GPU, and those of memcpys to other GPUs and
/// from them, like the counters of links by direction. The tables must be sorted and NCCL's work
/// known. O(n log n) in samples and operations.
/// Stopped, it leaves counters out.
void buildLinkCounters(Trace& trace, const std::stop_token& stop);

}  // namespace lanescope
