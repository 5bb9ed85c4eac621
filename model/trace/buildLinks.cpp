#include "model/trace/buildLinks.h"

#include <algorithm>

namespace lanescope {

namespace {

void sortLinks(std::vector<Trace::Link>& links) {
    if (!std::is_sorted(links.begin(), links.end())) std::sort(links.begin(), links.end());
}

template <class Table>
void addWork(Trace& trace, const Table& table, EventKind kind) {
    for (uint32_t row = 0; row < table.size(); ++row)
        if (table.correlation[row] != 0)
            trace.workLinks.push_back({trace.streams[table.stream[row]].process,
                                       table.correlation[row], EventRef(kind, row)});
}

}  // namespace

void buildLinks(Trace& trace) {
    trace.callLinks.clear();
    trace.callLinks.reserve(trace.apiCalls.size());
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        if (trace.apiCalls.correlation[row] != 0)
            trace.callLinks.push_back({trace.threads[trace.apiCalls.thread[row]].process,
                                       trace.apiCalls.correlation[row],
                                       EventRef(EventKind::Api, row)});
    sortLinks(trace.callLinks);

    trace.workLinks.clear();
    trace.workLinks.reserve(size_t{trace.kernels.size()} + trace.memcpys.size() +
                            trace.memsets.size() + trace.graphs.size());
    addWork(trace, trace.kernels, EventKind::Kernel);
    addWork(trace, trace.memcpys, EventKind::Memcpy);
    addWork(trace, trace.memsets, EventKind::Memset);
    addWork(trace, trace.graphs, EventKind::Graph);
    sortLinks(trace.workLinks);
}

}  // namespace lanescope
