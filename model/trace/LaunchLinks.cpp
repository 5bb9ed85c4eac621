// SPDX-License-Identifier: Apache-2.0
#include "model/trace/LaunchLinks.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "model/trace/Trace.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

uint32_t processOf(const Trace& trace, const ApiTable& table, uint32_t row) {
    return trace.threads[table.thread[row]].process;
}

uint32_t processOf(const Trace& trace, const auto& table, uint32_t row) {
    return trace.streams[table.stream[row]].process;
}

/// Packs process and correlation into a number with the same order.
uint64_t keyOf(const Trace& trace, const auto& table, uint32_t row) {
    return uint64_t{processOf(trace, table, row)} << 32 | table.correlation[row];
}

Column<uint32_t> linksOf(const Trace& trace, const auto& table, const std::stop_token& stop) {
    // Rows of one process are nearly sorted; rows of several are not.
    LargeMemory* const memory = trace.memory.get();
    std::vector<LargeVector<uint64_t>> ofProcess(trace.processes.size(), LargeVector<uint64_t>(memory));
    for (uint32_t row = 0; row < table.size() && !isStopped(stop, row); ++row)
        if (const uint32_t correlation = table.correlation[row]; correlation != 0)
            ofProcess[processOf(trace, table, row)].push_back(uint64_t{correlation} << 32 | row);
    Column<uint32_t> rows(memory);
    for (LargeVector<uint64_t>& links : ofProcess) {
        if (stop.stop_requested()) break;
        if (!std::ranges::is_sorted(links)) std::ranges::sort(links);
        for (const uint64_t link : links) rows.push_back(static_cast<uint32_t>(link));
        links = LargeVector<uint64_t>();
    }
    return rows;
}

/// Returns the first link of a call, or of a later call.
size_t firstLink(const Trace& trace, const auto& table, const Column<uint32_t>& links, uint64_t key) {
    return *std::ranges::lower_bound(std::views::iota(size_t{0}, links.size()), key, {},
                                     [&](size_t link) { return keyOf(trace, table, links[link]); });
}

void addWork(const Trace& trace, const auto& table, const Column<uint32_t>& links, EventKind kind, uint64_t key,
             std::vector<EventRef>& work) {
    for (size_t link = firstLink(trace, table, links, key);
         link < links.size() && keyOf(trace, table, links[link]) == key; ++link)
        work.emplace_back(kind, links[link]);
}

/// Iterator over the links of one table.
class LinkWalk {
  public:
    /// `owner` is the column of threads or streams, and `processOf` has their processes.
    LinkWalk(const auto& table, const Column<uint32_t>& owner, const std::vector<uint32_t>& processOf,
             const Column<uint32_t>& links, EventKind kind)
        : kind_(kind),
          count_(links.size()),
          processOf_(processOf),
          links_(links),
          owner_(owner),
          correlation_(table.correlation) {
        update();
    }
    /// Larger than any other key at the end.
    uint64_t key() const { return current_; }
    EventRef event() const { return {kind_, row_}; }
    void next() {
        ++link_;
        update();
    }

  private:
    void update() {
        if (link_ >= count_) {
            current_ = UINT64_MAX;
            return;
        }
        row_ = links_[link_];
        current_ = uint64_t{processOf_[owner_[row_]]} << 32 | correlation_[row_];
    }

    const EventKind kind_;
    const size_t count_;
    const std::vector<uint32_t>& processOf_;
    ColumnReader<uint32_t> links_, owner_, correlation_;
    size_t link_ = 0;
    uint32_t row_ = 0;
    uint64_t current_ = 0;
};

std::vector<uint32_t> processesOf(const auto& owners) {
    return mapped(owners, [](const auto& owner) { return owner.process; });
}

}  // namespace

LaunchLinks buildLaunchLinks(const Trace& trace, unsigned threads, const std::stop_token& stop) {
    LaunchLinks links;
    runTasks(threads, {[&] { links.calls = linksOf(trace, trace.apiCalls, stop); },
                       [&] { links.kernels = linksOf(trace, trace.kernels, stop); },
                       [&] {
                           links.memcpys = linksOf(trace, trace.memcpys, stop);
                           links.memsets = linksOf(trace, trace.memsets, stop);
                           links.graphs = linksOf(trace, trace.graphs, stop);
                       }});
    return links;
}

EventRef callOf(const Trace& trace, uint32_t process, uint32_t correlation) {
    const Column<uint32_t>& calls = trace.links.calls;
    const uint64_t key = uint64_t{process} << 32 | correlation;
    const size_t link = firstLink(trace, trace.apiCalls, calls, key);
    if (link == calls.size() || keyOf(trace, trace.apiCalls, calls[link]) != key) return {};
    return {EventKind::Api, calls[link]};
}

std::vector<EventRef> workOf(const Trace& trace, uint32_t process, uint32_t correlation) {
    const uint64_t key = uint64_t{process} << 32 | correlation;
    const LaunchLinks& links = trace.links;
    std::vector<EventRef> work;
    addWork(trace, trace.kernels, links.kernels, EventKind::Kernel, key, work);
    addWork(trace, trace.memcpys, links.memcpys, EventKind::Memcpy, key, work);
    addWork(trace, trace.memsets, links.memsets, EventKind::Memset, key, work);
    addWork(trace, trace.graphs, links.graphs, EventKind::Graph, key, work);
    return work;
}

void forEachLaunch(const Trace& trace, const std::function<void(uint32_t call, EventRef work)>& visit,
                   const std::stop_token& stop) {
    const LaunchLinks& links = trace.links;
    const std::vector<uint32_t> ofThread = processesOf(trace.threads), ofStream = processesOf(trace.streams);
    LinkWalk call(trace.apiCalls, trace.apiCalls.thread, ofThread, links.calls, EventKind::Api);
    const auto walk = [&](const auto& table, const Column<uint32_t>& rows, EventKind kind) {
        return LinkWalk(table, table.stream, ofStream, rows, kind);
    };
    std::array works{
        walk(trace.kernels, links.kernels, EventKind::Kernel), walk(trace.memcpys, links.memcpys, EventKind::Memcpy),
        walk(trace.memsets, links.memsets, EventKind::Memset), walk(trace.graphs, links.graphs, EventKind::Graph)};
    for (size_t step = 0; !isStopped(stop, step); ++step) {
        LinkWalk& work = *std::ranges::min_element(works, {}, &LinkWalk::key);
        while (call.key() < work.key()) call.next();
        if (call.key() == UINT64_MAX || work.key() == UINT64_MAX) return;
        if (call.key() == work.key()) visit(call.event().row(), work.event());
        work.next();
    }
}

LaunchRows::LaunchRows(const Trace& trace)
    : ofKernel(trace.kernels.size(), noIndex, trace.memory.get()),
      ofMemcpy(trace.memcpys.size(), noIndex, trace.memory.get()),
      ofMemset(trace.memsets.size(), noIndex, trace.memory.get()),
      ofGraph(trace.graphs.size(), noIndex, trace.memory.get()) {
    forEachLaunch(trace, [this](uint32_t call, EventRef work) {
        if (work.kind() == EventKind::Kernel) ofKernel[work.row()] = call;
        if (work.kind() == EventKind::Memcpy) ofMemcpy[work.row()] = call;
        if (work.kind() == EventKind::Memset) ofMemset[work.row()] = call;
        if (work.kind() == EventKind::Graph) ofGraph[work.row()] = call;
    });
}

}  // namespace lanescope
