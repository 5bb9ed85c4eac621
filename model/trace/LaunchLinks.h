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

/// What joins API calls and the GPU work that they launched: the rows of each table in order of
/// process and correlation, of equal ones in order of the table. Rows without a correlation are
/// left out.
struct LaunchLinks {
    Column<uint32_t> calls;
    Column<uint32_t> kernels, memcpys, memsets, graphs;
};

/// The links of the tables of a trace, which must be sorted; not all of them if stopped. O(n log
/// n).
LaunchLinks buildLaunchLinks(const Trace& trace, unsigned threads,
                             const std::stop_token& stop = {});

/// The first call with a correlation in a process, or invalid. O(log n).
EventRef callOf(const Trace& trace, uint32_t process, uint32_t correlation);
/// The GPU work with a correlation in a process, by kind and row. O(log n) and the number of them.
std::vector<EventRef> workOf(const Trace& trace, uint32_t process, uint32_t correlation);

/// Visits all GPU work that has a call, with the row of that call: in order of process,
/// correlation, kind and row; not all if stopped. O(n).
void forEachLaunch(const Trace& trace,
                   const std::function<void(uint32_t call, EventRef work)>& visit,
                   const std::stop_token& stop = {});

/// Which API call launched each row of the tables of GPU work, `noIndex` where the call is not
/// recorded: `forEachLaunch` for who asks for most rows.
struct LaunchRows {
    explicit LaunchRows(const Trace& trace);  ///< O(n).

    LargeVector<uint32_t> ofKernel, ofMemcpy, ofMemset, ofGraph;  ///< Rows of `ApiTable`.
};

}  // namespace lanescope
