// SPDX-License-Identifier: Apache-2.0
#include "model/compare/LaunchingCalls.h"

#include <utility>

namespace lanescope::compare {

LaunchingCalls::LaunchingCalls(const Trace& trace)
    : LaunchRows(trace), callsOf(trace.threads.size()) {
    std::vector<Stretches> calls(trace.threads.size(), Stretches(trace.memory.get()));
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        calls[trace.apiCalls.thread[row]].push_back(
            {trace.apiCalls.startNs[row], trace.apiCalls.endNs[row], trace.apiCalls.name[row]});
    for (size_t thread = 0; thread < calls.size(); ++thread)
        callsOf[thread] = withoutOverlaps(std::move(calls[thread]));
}

}  // namespace lanescope::compare
