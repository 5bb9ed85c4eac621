// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "model/build/ThreadLanes.h"
#include "model/trace/isStopped.h"
#include "model/trace/kinds/CpuState.h"
#include "model/trace/stacks.h"

namespace lanescope {

namespace {

/// A thread of which no stack is known for so long left the functions in which it was.
constexpr int64_t longestHoleNs = 50'000'000;
/// Importing a package of Python alone takes more than a hundred; recorded are 256 of a stack.
constexpr size_t deepestDrawn = 256;
/// A thread that ran for less in all did nothing that is worth a track.
constexpr int64_t shortestWorkNs = 1'000'000;

/// The functions in which one thread was, as they come; those of a stack that begins as the one
/// before did go on.
class Flame {
  public:
    explicit Flame(LargeMemory* memory) : memory_(memory) {}

    void take(const Trace& trace, uint32_t row) {
        const CpuStateTable& states = trace.cpuStates;
        const uint32_t stack = states.stack[row];
        const int64_t startNs = states.startNs[row];
        if (stack == noIndex) return;
        if (!open_.empty() && startNs - endNs_ > longestHoleNs) closeFrom(0);
        frames_ = framesOf(trace, stack);
        std::reverse(frames_.begin(), frames_.end());
        if (states.source[row] == StateSource::Samples)
            keepOuter(trace);
        else
            frames_.insert(frames_.begin(), outer_.begin(), outer_.end());
        size_t same = 0;
        while (same < std::min(frames_.size(), open_.size()) &&
               isSame(trace, open_[same].frame, frames_[same]))
            ++same;
        // What goes on does so through a hole; what ends did before it.
        closeFrom(same);
        for (size_t depth = same; depth < frames_.size(); ++depth)
            open_.push_back({frames_[depth], row, std::max(startNs, endNs_)});
        endNs_ = std::max(endNs_, states.endNs[row]);
        trace_ = &trace;
    }

    std::vector<Lane> build() {
        closeFrom(0);
        return std::move(lanes_);
    }
    uint32_t droppedCount() const { return dropped_; }

  private:
    struct Open {
        uint32_t frame, row;
        int64_t startNs;
    };

    static bool isSame(const Trace& trace, uint32_t a, uint32_t b) {
        const StackTable& stacks = trace.stacks;
        return a == b ||
               (stacks.function[a] == stacks.function[b] && stacks.file[a] == stacks.file[b]);
    }

    /// Looks tell what is written in Python, samples also what called that: it does so still where
    /// the thread waits, which no sample tells.
    void keepOuter(const Trace& trace) {
        const auto python = std::ranges::find_if(
            frames_, [&](uint32_t frame) { return trace.stacks.line[frame] > 0; });
        if (python != frames_.end()) outer_.assign(frames_.begin(), python);
    }

    void closeFrom(size_t depth) {
        for (size_t at = depth; at < open_.size(); ++at) {
            if (at >= deepestDrawn) {
                ++dropped_;
                continue;
            }
            while (at >= lanes_.size()) lanes_.emplace_back(memory_);
            const Open& open = open_[at];
            appendSlice(lanes_[at], open.startNs, std::max(endNs_, open.startNs),
                        trace_->stacks.function[open.frame],
                        EventRef(EventKind::CpuState, open.row), SliceCategory::CpuFrame);
        }
        if (depth < open_.size()) open_.resize(depth);
    }

    LargeMemory* memory_;
    const Trace* trace_ = nullptr;
    std::vector<Open> open_;  ///< The outermost first.
    std::vector<uint32_t> frames_;
    std::vector<uint32_t> outer_;  ///< Of the latest sample in Python, what called that.
    std::vector<Lane> lanes_;
    int64_t endNs_ = INT64_MIN;
    uint32_t dropped_ = 0;
};

struct StateWork {
    explicit StateWork(LargeMemory* memory)
        : states(Packing::Compact, memory),
          calls(Packing::Nested, memory),
          running(Packing::Compact, memory),
          flame(memory) {}

    LaneBuilder states, calls, running;
    Flame flame;
    int64_t ranNs = 0;
    bool hasStack = false;
};

void take(const Trace& trace, uint32_t row, const StateNames& names, StringIndex busy,
          StateWork& work) {
    const CpuStateTable& states = trace.cpuStates;
    const int64_t startNs = states.startNs[row], endNs = states.endNs[row];
    const StateSource source = states.source[row];
    const EventRef event(EventKind::CpuState, row);
    const bool runs = states.state[row] == ThreadState::Running;
    if (source == StateSource::Calls) {
        work.calls.add(startNs, endNs, states.call[row], event,
                       kinds::CpuState::categoryOf(trace, row));
        work.ranNs = shortestWorkNs;
    } else if (source != StateSource::Samples) {
        work.states.add(startNs, endNs, names.of(states.state[row], isMixed(trace, row)), event,
                        kinds::CpuState::categoryOf(trace, row));
        work.ranNs += states.cpuNs[row];
    } else {
        work.ranNs = shortestWorkNs;
    }
    if (runs) work.running.add(startNs, endNs, busy, EventRef(), SliceCategory::Busy);
    // A call's own stack is told within it.
    if (source != StateSource::Calls) work.hasStack = work.hasStack || states.stack[row] != noIndex;
}

/// Where a thread was sampled while it ran, samples tell where it was then, and looks where it
/// waited.
void takeStacks(const Trace& trace, std::span<const uint32_t> rows, Flame& flame) {
    const CpuStateTable& states = trace.cpuStates;
    const bool isSampled = std::ranges::any_of(
        rows, [&](uint32_t row) { return states.source[row] == StateSource::Samples; });
    std::vector<uint32_t> taken;
    for (const uint32_t row : rows) {
        const StateSource source = states.source[row];
        if (source != StateSource::Calls &&
            (!isSampled || source == StateSource::Samples || isWaiting(states.state[row])))
            taken.push_back(row);
    }
    if (isSampled)
        std::ranges::stable_sort(taken, {}, [&](uint32_t row) { return states.startNs[row]; });
    for (const uint32_t row : taken) flame.take(trace, row);
}

}  // namespace

StateNames::StateNames(Trace& trace) {
    if (trace.cpuStates.size() == 0) return;
    for (size_t state = 0; state < threadStateCount; ++state)
        for (const bool isMixed : {false, true})
            names_[state * 2 + (isMixed ? 1 : 0)] =
                trace.strings.intern(stateText(static_cast<ThreadState>(state), isMixed));
}

StateLanes stateLanes(const Trace& trace, std::span<const uint32_t> rows, const StateNames& names,
                      StringIndex busy, const std::stop_token& stop) {
    StateWork work(trace.memory.get());
    for (const uint32_t row : rows)
        if (!isStopped(stop, row)) take(trace, row, names, busy, work);
    if (!stop.stop_requested()) takeStacks(trace, rows, work.flame);
    StateLanes lanes;
    lanes.isWorthShowing = work.hasStack || work.ranNs >= shortestWorkNs;
    lanes.states = work.states.build();
    for (Lane& lane : work.calls.build()) lanes.states.push_back(std::move(lane));
    lanes.droppedCalls = work.states.droppedCount() + work.calls.droppedCount();
    lanes.stacks = work.flame.build();
    lanes.droppedFrames = work.flame.droppedCount();
    lanes.running = work.running.build();
    if (lanes.running.size() > 1) lanes.running.resize(1);
    return lanes;
}

}  // namespace lanescope
