// SPDX-License-Identifier: Apache-2.0
#include "model/flame/threadFlame.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "model/flame/StackPlaces.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/mixedState.h"

namespace lanescope {

namespace {

std::string processName(const Process& process) {
    return process.rank
               ? fmt::format("{} (rank {}, PID {})", process.name, *process.rank, process.pid)
               : fmt::format("{} (PID {})", process.name, process.pid);
}

std::string threadName(const Thread& thread) {
    return thread.name.empty() ? fmt::format("thread {}", thread.tid)
                               : fmt::format("{} (TID {})", thread.name, thread.tid);
}

}  // namespace

FlameTree makeThreadFlame(const Trace& trace, FlameBase base, std::optional<TimeRange> range) {
    FlameTree tree;
    const CpuStateTable& states = trace.cpuStates;
    std::vector<bool> isSampled(trace.threads.size(), false);
    for (uint32_t row = 0; row < states.size(); ++row)
        if (states.source[row] == StateSource::Samples) isSampled[states.thread[row]] = true;
    std::vector<std::unique_ptr<StackPlaces>> places(trace.threads.size());
    for (uint32_t row = 0; row < states.size(); ++row) {
        const StateSource source = states.source[row];
        const uint32_t number = states.thread[row];
        // Calls stand in what looks tell; where a thread ran samples tell better.
        if (source == StateSource::Calls) continue;
        if (isSampled[number] && source != StateSource::Samples && !isWaiting(states.state[row]))
            continue;
        TimeRange times{states.startNs[row], states.endNs[row]};
        if (range) times = times.intersected(*range);
        if (times.durationNs() <= 0) continue;
        if (!places[number]) {
            const Thread& thread = trace.threads[number];
            const uint32_t process =
                tree.child(0, tree.nameNumber(processName(trace.processes[thread.process])),
                           {.kind = FrameKind::Thread});
            places[number] = std::make_unique<StackPlaces>(
                trace, base, tree,
                tree.child(process, tree.nameNumber(threadName(thread)),
                           {.kind = FrameKind::Thread}));
        }
        uint32_t place = places[number]->of(states.stack[row]);
        const bool mixed = isMixed(trace, row);
        if (states.state[row] != ThreadState::Running || mixed)
            place = tree.child(
                place, tree.nameNumber(fmt::format("[{}]", stateText(states.state[row], mixed))),
                {.kind = FrameKind::Work, .category = kinds::CpuState::categoryOf(trace, row)});
        tree.addTime(place, times.durationNs());
    }
    tree.arrange();
    return tree;
}

}  // namespace lanescope
