// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildStacks.h"

#include <utility>
#include <vector>

#include "model/trace/isStopped.h"

namespace lanescope {

namespace {

/// What a process lends.
struct Lender {
    uint32_t thread = noIndex;  ///< Its main thread, if that has stacks; else any thread lends.
    uint32_t stack = noIndex;   ///< The last one.
};

std::vector<Lender> lendersOf(const Trace& trace, const std::stop_token& stop) {
    const ApiTable& calls = trace.apiCalls;
    std::vector<Lender> lenders(trace.processes.size());
    for (uint32_t row = 0; row < calls.size() && !isStopped(stop, row); ++row) {
        if (calls.stack[row] == noIndex) continue;
        const uint32_t thread = calls.thread[row];
        const uint32_t process = trace.threads[thread].process;
        if (trace.threads[thread].tid == trace.processes[process].pid)
            lenders[process].thread = thread;
    }
    return lenders;
}

}  // namespace

void buildStacks(Trace& trace, const std::stop_token& stop) {
    ApiTable& calls = trace.apiCalls;
    if (trace.stacks.size() == 0) return;
    std::vector<Lender> lenders = lendersOf(trace, stop);
    Column<uint32_t> stacks(calls.stack.memory());
    Column<uint8_t> areLent(calls.isStackLent.memory());
    for (uint32_t row = 0; row < calls.size(); ++row) {
        if (isStopped(stop, row)) return;
        const uint32_t thread = calls.thread[row], stack = calls.stack[row];
        Lender& lender = lenders[trace.threads[thread].process];
        const bool isLent = stack == noIndex && lender.stack != noIndex && lender.thread != thread;
        if (stack != noIndex && (lender.thread == noIndex || lender.thread == thread))
            lender.stack = stack;
        stacks.push_back(isLent ? lender.stack : stack);
        areLent.push_back(isLent ? 1 : 0);
    }
    calls.stack = std::move(stacks);
    calls.isStackLent = std::move(areLent);
}

}  // namespace lanescope
