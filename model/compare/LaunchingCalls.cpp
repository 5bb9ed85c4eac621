// SPDX-License-Identifier: Apache-2.0
#include "model/compare/LaunchingCalls.h"

#include <utility>

namespace lanescope::compare {

LaunchingCalls::LaunchingCalls(const Trace& trace)
    : ofKernel(trace.kernels.size(), noIndex, trace.memory.get()),
      ofMemcpy(trace.memcpys.size(), noIndex, trace.memory.get()),
      ofMemset(trace.memsets.size(), noIndex, trace.memory.get()),
      ofGraph(trace.graphs.size(), noIndex, trace.memory.get()),
      callsOf(trace.threads.size()) {
    forEachLaunch(trace, [this](uint32_t call, EventRef work) {
        if (work.kind() == EventKind::Kernel) ofKernel[work.row()] = call;
        if (work.kind() == EventKind::Memcpy) ofMemcpy[work.row()] = call;
        if (work.kind() == EventKind::Memset) ofMemset[work.row()] = call;
        if (work.kind() == EventKind::Graph) ofGraph[work.row()] = call;
    });
    std::vector<Stretches> calls(trace.threads.size(), Stretches(trace.memory.get()));
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        calls[trace.apiCalls.thread[row]].push_back(
            {trace.apiCalls.startNs[row], trace.apiCalls.endNs[row], trace.apiCalls.name[row]});
    for (size_t thread = 0; thread < calls.size(); ++thread)
        callsOf[thread] = withoutOverlaps(std::move(calls[thread]));
}

}  // namespace lanescope::compare
