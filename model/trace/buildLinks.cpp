#include "model/trace/buildLinks.h"

#include <algorithm>
#include <vector>

namespace lanescope {

namespace {

bool isSorted(const LinkTable& links) {
    for (size_t row = 1; row < links.size(); ++row)
        if (links[row] < links[row - 1]) return false;
    return true;
}

void sortLinks(LinkTable& links) {
    if (isSorted(links)) return;
    std::vector<Link> sorted(links.begin(), links.end());
    links = LinkTable();
    std::sort(sorted.begin(), sorted.end());
    for (const Link& link : sorted) links.push_back(link);
}

template <class Table>
void addWork(Trace& trace, const Table& table, EventKind kind) {
    for (uint32_t row = 0; row < table.size(); ++row)
        if (const uint32_t correlation = table.correlation[row]; correlation != 0)
            trace.workLinks.push_back(
                {trace.streams[table.stream[row]].process, correlation, EventRef(kind, row)});
}

}  // namespace

void buildLinks(Trace& trace) {
    trace.callLinks = LinkTable();
    const ApiTable& calls = trace.apiCalls;
    for (uint32_t row = 0; row < calls.size(); ++row)
        if (const uint32_t correlation = calls.correlation[row]; correlation != 0)
            trace.callLinks.push_back({trace.threads[calls.thread[row]].process, correlation,
                                       EventRef(EventKind::Api, row)});
    sortLinks(trace.callLinks);

    trace.workLinks = LinkTable();
    addWork(trace, trace.kernels, EventKind::Kernel);
    addWork(trace, trace.memcpys, EventKind::Memcpy);
    addWork(trace, trace.memsets, EventKind::Memset);
    addWork(trace, trace.graphs, EventKind::Graph);
    sortLinks(trace.workLinks);
}

}  // namespace lanescope
