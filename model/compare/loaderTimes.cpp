// SPDX-License-Identifier: Apache-2.0
#include "model/compare/loaderTimes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/compare/RangePaths.h"
#include "model/trace/stacks.h"
#include "model/trace/startedBy.h"
#include "model/values/Statistics.h"

namespace lanescope::compare {

namespace {

/// Which stacks have a frame of PyTorch's loader.
std::vector<bool> stacksOfLoader(const Trace& trace) {
    std::vector<bool> isOfLoader(trace.stacks.size());
    for (uint32_t stack = 0; stack < isOfLoader.size(); ++stack) {
        const uint32_t outer = outerStack(trace, stack);
        const std::string_view file = trace.strings.at(trace.stacks.file[stack]);
        isOfLoader[stack] = (outer != noIndex && isOfLoader[outer]) ||
                            file.find("/torch/utils/data/") != std::string_view::npos;
    }
    return isOfLoader;
}

/// Which processes were started by that one, also by way of others, but not of another rank: what
/// that one started serves it.
std::vector<bool> descendantsOf(const Trace& trace, uint32_t process) {
    const std::vector<uint32_t> parents = startedBy(trace);
    const std::optional<int> rank = trace.processes[process].rank;
    std::vector<bool> isBelow(parents.size());
    for (uint32_t each = 0; each < parents.size(); ++each) {
        // A file may say that two have started each other.
        constexpr int mostGenerations = 16;
        uint32_t at = each;
        for (int generation = 0; generation <= mostGenerations && at != noIndex; ++generation) {
            if (at == process) {
                isBelow[each] = each != process;
                break;
            }
            const std::optional<int> other = trace.processes[at].rank;
            if (rank && other && *rank != *other) break;
            at = parents[at];
        }
    }
    return isBelow;
}

/// The loaders of a process.
std::vector<uint32_t> loadersOf(const Trace& trace, uint32_t process) {
    const std::vector<bool> isBelow = descendantsOf(trace, process);
    std::vector<bool> wasLoading(trace.threads.size());
    if (std::ranges::find(isBelow, true) != isBelow.end()) {
        const std::vector<bool> isOfLoader = stacksOfLoader(trace);
        const CpuStateTable& states = trace.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row)
            if (states.stack[row] < isOfLoader.size() && isOfLoader[states.stack[row]])
                wasLoading[states.thread[row]] = true;
    }
    std::vector<uint32_t> loaders, own;
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        const Thread& each = trace.threads[thread];
        const bool isNamed = isDataLoadingName(each.name);
        if (isBelow[each.process] && (isNamed || wasLoading[thread])) loaders.push_back(thread);
        if (each.process == process && isNamed) own.push_back(thread);
    }
    return loaders.empty() ? own : loaders;
}

}  // namespace

LoaderTimes loaderTimes(const Trace& trace, const StatesOfThreads& states, uint32_t process,
                        std::span<const TimeRange> steps) {
    LoaderTimes all;
    if (trace.cpuStates.size() == 0 || steps.empty()) return all;
    const std::vector<uint32_t> loaders = loadersOf(trace, process);
    if (loaders.empty()) return all;
    // A file may say of each that it did the same for as long as times are.
    const auto add = [](int64_t& sum, int64_t ns) { sum = saturatingSum(sum, ns); };
    for (const uint32_t thread : loaders) {
        if (states.isEmpty(thread)) continue;
        LoaderTimes one;
        for (const TimeRange& step : steps) {
            const ThreadTimes times = states.during(thread, step);
            one.knownNs += times.knownNs() - times.of(ThreadState::Unknown);
            one.ranNs += times.of(ThreadState::Running);
            one.noCoreNs += times.of(ThreadState::Runnable);
            one.inputNs += times.of(ThreadState::Poll) + times.of(ThreadState::Disk);
        }
        if (one.knownNs == 0) continue;
        ++all.threads;
        add(all.knownNs, one.knownNs);
        add(all.ranNs, one.ranNs);
        add(all.noCoreNs, one.noCoreNs);
        add(all.inputNs, one.inputNs);
    }
    return all;
}

}  // namespace lanescope::compare
