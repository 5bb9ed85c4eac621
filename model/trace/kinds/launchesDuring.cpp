// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/launchesDuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/trace/kinds/eventFacts.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// More threads than these are told of together.
constexpr size_t mostThreads = 2;

std::string threadName(const Trace& trace, uint32_t thread) {
    const Thread& which = trace.threads[thread];
    return which.name.empty() ? fmt::format("thread {}", which.tid)
                              : fmt::format("thread {} ({})", which.tid, printable(which.name));
}

}  // namespace

std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during,
                                           uint32_t stream) {
    const ApiTable& calls = trace.apiCalls;
    const auto place = [&calls](int64_t timeNs) {
        return static_cast<uint32_t>(
            std::lower_bound(calls.startNs.begin(), calls.startNs.end(), timeNs) -
            calls.startNs.begin());
    };
    const uint32_t first = place(during.startNs), end = place(during.endNs);
    std::vector<ThreadLaunches> result;
    if (end <= first || end - first > mostCallsLookedAt) return result;
    const uint32_t process = trace.threads[thread].process;
    std::map<uint32_t, int64_t> countOf;
    for (uint32_t row = first; row < end; ++row) {
        if (trace.threads[calls.thread[row]].process != process || calls.correlation[row] == 0)
            continue;
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, row)))
            countOf[calls.thread[row]] +=
                stream == noIndex || streamOf(trace, work) == stream ? 1 : 0;
    }
    for (const auto& [each, count] : countOf)
        if (count > 0) result.push_back({each, count});
    std::stable_sort(result.begin(), result.end(), [thread](const auto& a, const auto& b) {
        if ((a.thread == thread) != (b.thread == thread)) return a.thread == thread;
        return a.count > b.count;
    });
    return result;
}

std::string launchesText(const Trace& trace, uint32_t thread,
                         const std::vector<ThreadLaunches>& launches) {
    if (launches.empty()) return {};
    const bool isOwn = launches.front().thread == thread;
    std::string text =
        fmt::format("{} by this thread", formatCount(isOwn ? launches.front().count : 0));
    int64_t others = 0;
    size_t told = 0;
    for (const ThreadLaunches& each : launches) {
        if (each.thread == thread) continue;
        if (told == mostThreads) {
            others += each.count;
            continue;
        }
        ++told;
        text += fmt::format(", {} by {}", formatCount(each.count), threadName(trace, each.thread));
    }
    if (others > 0) text += fmt::format(", {} by others", formatCount(others));
    return told > 0 ? text + " meanwhile" : text;
}

}  // namespace lanescope
