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

/// Which threads were ever seen in PyTorch's loader.
std::vector<bool> threadsSeenLoading(const Trace& trace) {
    std::vector<bool> isSeen(trace.threads.size());
    const CpuStateTable& states = trace.cpuStates;
    if (states.size() == 0) return isSeen;
    const std::vector<bool> isOfLoader = stacksOfLoader(trace);
    for (uint32_t row = 0; row < states.size(); ++row)
        if (states.stack[row] < isOfLoader.size() && isOfLoader[states.stack[row]])
            isSeen[states.thread[row]] = true;
    return isSeen;
}

/// For which processes each one works: those that started it, also by way of others, but not by way
/// of another rank than they are: what that one started serves it.
class Starters {
  public:
    explicit Starters(const Trace& trace) : trace_(trace), parents_(startedBy(trace)) {}

    std::vector<uint32_t> of(uint32_t process) const {
        // A file may say that two have started each other.
        constexpr size_t mostGenerations = 16;
        std::vector<uint32_t> line{process}, starters;
        for (uint32_t at = parents_[process]; at != noIndex && line.size() <= mostGenerations &&
                                              std::ranges::find(line, at) == line.end();
             at = parents_[at]) {
            const std::optional<int> rank = trace_.processes[at].rank;
            const bool isOfOther = std::ranges::any_of(line, [&](uint32_t each) {
                const std::optional<int>& other = trace_.processes[each].rank;
                return rank && other && *rank != *other;
            });
            if (!isOfOther) starters.push_back(at);
            line.push_back(at);
        }
        return starters;
    }

  private:
    const Trace& trace_;
    const std::vector<uint32_t> parents_;
};

}  // namespace

LoaderThreads::LoaderThreads(const Trace& trace)
    : started_(trace.processes.size()), own_(trace.processes.size()) {
    const Starters starters(trace);
    const std::vector<bool> isSeen = threadsSeenLoading(trace);
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        const Thread& each = trace.threads[thread];
        const bool isNamed = isDataLoadingName(each.name);
        if (isNamed) own_[each.process].push_back(thread);
        if (!isNamed && !isSeen[thread]) continue;
        for (const uint32_t process : starters.of(each.process))
            started_[process].push_back(thread);
    }
}

LoaderTimes loaderTimes(const StatesOfThreads& states, std::span<const uint32_t> loaders,
                        std::span<const TimeRange> steps) {
    LoaderTimes all;
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
