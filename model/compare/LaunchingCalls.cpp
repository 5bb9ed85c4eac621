#include "model/compare/LaunchingCalls.h"

#include <utility>

namespace lanescope {

LaunchingCalls::LaunchingCalls(const Trace& trace)
    : ofKernel(trace.kernels.size(), noIndex),
      ofMemcpy(trace.memcpys.size(), noIndex),
      ofMemset(trace.memsets.size(), noIndex),
      ofGraph(trace.graphs.size(), noIndex),
      callsOf(trace.threads.size()) {
    // Both lists of links are sorted alike, so one pass joins them.
    auto call = trace.callLinks.begin();
    for (const Trace::Link work : trace.workLinks) {
        while (call != trace.callLinks.end() && (*call).isOfEarlierCall(work)) ++call;
        if (call == trace.callLinks.end()) break;
        if (work.isOfEarlierCall(*call)) continue;
        const uint32_t row = (*call).event.row();
        if (work.event.kind() == EventKind::Kernel) ofKernel[work.event.row()] = row;
        if (work.event.kind() == EventKind::Memcpy) ofMemcpy[work.event.row()] = row;
        if (work.event.kind() == EventKind::Memset) ofMemset[work.event.row()] = row;
        if (work.event.kind() == EventKind::Graph) ofGraph[work.event.row()] = row;
    }
    std::vector<std::vector<Stretch>> calls(trace.threads.size());
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        calls[trace.apiCalls.thread[row]].push_back(
            {trace.apiCalls.startNs[row], trace.apiCalls.endNs[row], trace.apiCalls.name[row]});
    for (size_t thread = 0; thread < calls.size(); ++thread)
        callsOf[thread] = withoutOverlaps(std::move(calls[thread]));
}

}  // namespace lanescope
