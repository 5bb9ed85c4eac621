// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Column.h"

namespace lanescope {

class Trace;

/// Links between API calls and the GPU work that they launched: the rows of each table sorted by
/// process and correlation, then by row. Rows without a correlation are omitted.
struct LaunchLinks {
    Column<uint32_t> calls;
    Column<uint32_t> kernels, memcpys, memsets, graphs;
};

/// Builds the links of sorted tables; incomplete if stopped. O(n log n).
LaunchLinks buildLaunchLinks(const Trace& trace, unsigned threads, const std::stop_token& stop = {});

/// Returns the first call with a correlation in a process, or an invalid reference. O(log n).
EventRef callOf(const Trace& trace, uint32_t process, uint32_t correlation);
/// Returns the GPU work with a correlation in a process, by kind and row. O(log n + results).
std::vector<EventRef> workOf(const Trace& trace, uint32_t process, uint32_t correlation);

/// Visits all GPU work that has a call, with the row of the call, in order of process, correlation,
/// kind and row; incomplete if stopped. O(n).
void forEachLaunch(const Trace& trace, const std::function<void(uint32_t call, EventRef work)>& visit,
                   const std::stop_token& stop = {});

/// Launching API call of each row of the tables of GPU work, `noIndex` if not recorded:
/// `forEachLaunch` for users of most rows.
struct LaunchRows {
    explicit LaunchRows(const Trace& trace);  ///< O(n).

    LargeVector<uint32_t> ofKernel, ofMemcpy, ofMemset, ofGraph;  ///< Rows of `ApiTable`.
};

}  // namespace lanescope
