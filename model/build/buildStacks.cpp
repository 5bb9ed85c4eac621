// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildStacks.h"

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "model/build/permute.h"
#include "model/trace/isStopped.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// What a process lends.
struct Lender {
    uint32_t thread = noIndex;  ///< Its main thread, if that has stacks; else any thread lends.
    uint32_t stack = noIndex;   ///< The last one.
};

/// The rows of a table that may have a stack, in order of time.
class Places {
  public:
    Places(const Column<int64_t>& timeNs, const Column<uint32_t>& thread, Column<uint32_t>& stack,
           Column<uint8_t>& isLent)
        : timeNs_(timeNs),
          thread_(thread),
          stack_(stack),
          isLent_(isLent),
          stacks_(stack.memory()),
          areLent_(isLent.memory()) {}

    bool isAtEnd() const { return row_ >= stack_.size(); }
    int64_t timeNs() const { return timeNs_[row_]; }

    void findLenders(const Trace& trace, std::vector<Lender>& lenders,
                     const std::stop_token& stop) const {
        for (uint32_t row = 0; row < stack_.size() && !isStopped(stop, row); ++row) {
            if (stack_[row] == noIndex) continue;
            const uint32_t process = trace.threads[thread_[row]].process;
            if (trace.threads[thread_[row]].tid == trace.processes[process].pid)
                lenders[process].thread = thread_[row];
        }
    }
    /// Looks at one row and goes on to the next.
    void take(const Trace& trace, std::vector<Lender>& lenders) {
        const uint32_t thread = thread_[row_], stack = stack_[row_];
        ++row_;
        Lender& lender = lenders[trace.threads[thread].process];
        const bool isLent = stack == noIndex && lender.stack != noIndex && lender.thread != thread;
        if (stack != noIndex && (lender.thread == noIndex || lender.thread == thread))
            lender.stack = stack;
        stacks_.push_back(isLent ? lender.stack : stack);
        areLent_.push_back(isLent ? 1 : 0);
    }
    void finish() {
        stack_ = std::move(stacks_);
        isLent_ = std::move(areLent_);
    }

  private:
    const Column<int64_t>& timeNs_;
    const Column<uint32_t>& thread_;
    Column<uint32_t>& stack_;
    Column<uint8_t>& isLent_;
    Column<uint32_t> stacks_;
    Column<uint8_t> areLent_;
    uint32_t row_ = 0;
};

/// One of several tables lends at a time: of those that are not at their end that which is behind,
/// of equal ones the first.
template <size_t count>
Places* nextOf(std::array<Places, count>& tables) {
    Places* next = nullptr;
    for (Places& table : tables)
        if (!table.isAtEnd() && (next == nullptr || table.timeNs() < next->timeNs())) next = &table;
    return next;
}

/// By process and number; of several that are called alike copies come first, then the latest.
void sortNodes(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    const auto keyOf = [&](uint32_t row) {
        return std::tuple(trace.threads[nodes.thread[row]].process, nodes.node[row],
                          nodes.original[row] == 0, ~row);
    };
    const RowOrder order = sortedOrder(
        nodes.size(), [&](uint32_t a, uint32_t b) { return keyOf(a) < keyOf(b); },
        nodes.node.memory(), stop);
    if (!order.empty())
        forEachField(nodes, [&]<class T>(Column<T>& column) { permute(column, order, stop); });
}

/// A node that is the copy of another was captured where that was.
void resolveCopies(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    constexpr int mostCopies = 64;  // of copies; nobody makes so many
    Column<uint32_t> stacks(nodes.stack.memory());
    Column<uint8_t> areLent(nodes.isStackLent.memory());
    for (uint32_t row = 0; row < nodes.size(); ++row) {
        if (isStopped(stop, row)) return;
        const uint32_t process = trace.threads[nodes.thread[row]].process;
        uint32_t at = graphNodeRow(trace, process, nodes.node[row]);
        for (int copies = 0; at != noIndex && nodes.original[at] != 0 && copies < mostCopies;
             ++copies)
            at = graphNodeRow(trace, process, nodes.original[at]);
        const bool isKnown = at != noIndex && nodes.original[at] == 0;
        stacks.push_back(isKnown ? nodes.stack[at] : noIndex);
        areLent.push_back(isKnown ? nodes.isStackLent[at] : uint8_t{0});
    }
    nodes.stack = std::move(stacks);
    nodes.isStackLent = std::move(areLent);
}

}  // namespace

void buildStacks(Trace& trace, const std::stop_token& stop) {
    GraphNodeTable& nodes = trace.graphNodes;
    if (trace.stacks.size() > 0) {
        std::vector<Lender> lenders(trace.processes.size());
        // A range is begun before what is called in it.
        std::array tables{
            Places(trace.nvtx.startNs, trace.nvtx.thread, trace.nvtx.stack, trace.nvtx.isStackLent),
            Places(trace.apiCalls.startNs, trace.apiCalls.thread, trace.apiCalls.stack,
                   trace.apiCalls.isStackLent),
            Places(nodes.timeNs, nodes.thread, nodes.stack, nodes.isStackLent)};
        for (const Places& table : tables) table.findLenders(trace, lenders, stop);
        size_t taken = 0;
        while (Places* const next = nextOf(tables)) {
            if (isStopped(stop, taken++)) return;
            next->take(trace, lenders);
        }
        for (Places& table : tables) table.finish();
    }
    sortNodes(trace, stop);
    resolveCopies(trace, stop);
}

}  // namespace lanescope
