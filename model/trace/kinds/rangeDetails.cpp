// SPDX-License-Identifier: Apache-2.0
#include "model/trace/kinds/rangeDetails.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// Limit of threads that are listed singly; more are summed.
constexpr size_t maxListedThreads = 2;

std::string threadName(const Trace& trace, uint32_t thread) {
    const Thread& which = trace.threads[thread];
    return which.name.empty() ? fmt::format("thread {}", which.tid)
                              : fmt::format("thread {} ({})", which.tid, printable(which.name));
}

}  // namespace

std::vector<ThreadLaunches> launchesDuring(const Trace& trace, uint32_t thread, TimeRange during, uint32_t stream) {
    const ApiTable& calls = trace.apiCalls;
    const auto place = [&calls](int64_t timeNs) {
        return static_cast<uint32_t>(std::lower_bound(calls.startNs.begin(), calls.startNs.end(), timeNs) -
                                     calls.startNs.begin());
    };
    const uint32_t first = place(during.startNs), end = place(during.endNs);
    std::vector<ThreadLaunches> result;
    if (end <= first || end - first > maxScannedCalls) return result;
    const uint32_t process = trace.threads[thread].process;
    std::map<uint32_t, int64_t> countOf;
    for (uint32_t row = first; row < end; ++row) {
        if (trace.threads[calls.thread[row]].process != process || calls.correlation[row] == 0) continue;
        for (const EventRef work : trace.launchedWork(EventRef(EventKind::Api, row)))
            countOf[calls.thread[row]] += stream == noIndex || streamOf(trace, work) == stream ? 1 : 0;
    }
    for (const auto& [each, count] : countOf)
        if (count > 0) result.push_back({each, count});
    std::stable_sort(result.begin(), result.end(), [thread](const auto& a, const auto& b) {
        if ((a.thread == thread) != (b.thread == thread)) return a.thread == thread;
        return a.count > b.count;
    });
    return result;
}

std::string launchesText(const Trace& trace, uint32_t thread, const std::vector<ThreadLaunches>& launches) {
    if (launches.empty()) return {};
    const bool isOwn = launches.front().thread == thread;
    std::string text = fmt::format("{} by this thread", formatCount(isOwn ? launches.front().count : 0));
    int64_t others = 0;
    size_t told = 0;
    for (const ThreadLaunches& each : launches) {
        if (each.thread == thread) continue;
        if (told == maxListedThreads) {
            others += each.count;
            continue;
        }
        ++told;
        text += fmt::format(", {} by {}", formatCount(each.count), threadName(trace, each.thread));
    }
    if (others > 0) text += fmt::format(", {} by others", formatCount(others));
    return told > 0 ? text + " meanwhile" : text;
}

namespace {

std::string communicatorText(const Trace& trace, uint32_t row) {
    const uint64_t hash = trace.nccl.communicator[row];
    const std::string name(trace.strings.at(trace.nccl.facts[row].communicatorName));
    if (hash == 0) return name;
    return name.empty() ? communicatorId(hash) : fmt::format("{} ({})", name, communicatorId(hash));
}

std::string rankText(const NcclFacts& facts) {
    if (facts.rank < 0) return {};
    return facts.rankCount < 0 ? fmt::format("{}", facts.rank) : fmt::format("{} of {}", facts.rank, facts.rankCount);
}

/// "RING, SIMPLE".
std::string algorithmText(const Trace& trace, const NcclFacts& facts) {
    std::string text(trace.strings.at(facts.algorithm));
    const std::string_view protocol = trace.strings.at(facts.protocol);
    if (!text.empty() && !protocol.empty()) text += ", ";
    return text.append(protocol);
}

std::string elementsText(const Trace& trace, const NcclFacts& facts) {
    const std::string_view type = trace.strings.at(facts.datatype);
    if (facts.count < 0) return std::string(type);
    return fmt::format("{} {}", formatCount(facts.count), type);
}

std::string numberText(int64_t number) { return number < 0 ? std::string() : fmt::format("{}", number); }

}  // namespace

uint32_t ncclCallOfRange(const Trace& trace, uint32_t nvtx) {
    const Column<uint32_t>& rows = trace.nccl.nvtx;
    const auto found = std::lower_bound(rows.begin(), rows.end(), nvtx);
    if (found == rows.end() || *found != nvtx) return noIndex;
    return static_cast<uint32_t>(found - rows.begin());
}

NcclLaunch launchOfNcclCall(const Trace& trace, uint32_t row) {
    const NcclFacts facts = trace.nccl.facts[row];
    if (facts.launchThread != noIndex) return {facts.launchThread, facts.launch};
    const uint32_t nvtx = trace.nccl.nvtx[row];
    return {trace.nvtx.thread[nvtx], {trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]}};
}

/// Limit of calls between a call's begin and its launch; groups are smaller.
constexpr uint32_t maxCallsBefore = 4096;

uint32_t ncclCallOfWork(const Trace& trace, EventRef work) {
    const EventRef call = trace.launchingCall(work);
    if (!call.isValid()) return noIndex;
    const uint32_t thread = trace.apiCalls.thread[call.row()];
    const int64_t callNs = trace.apiCalls.startNs[call.row()];
    // Rows are sorted by the begin of the calls, and no call launches before its begin.
    const Column<uint32_t>& rangeOf = trace.nccl.nvtx;
    const auto firstAfter = std::partition_point(rangeOf.begin(), rangeOf.end(),
                                                 [&](uint32_t nvtx) { return trace.nvtx.startNs[nvtx] <= callNs; });
    const auto end = static_cast<uint32_t>(firstAfter - rangeOf.begin());
    for (uint32_t row = end - std::min(end, maxCallsBefore); row < end; ++row) {
        const NcclLaunch launch = launchOfNcclCall(trace, row);
        if (thread == launch.thread && callNs >= launch.during.startNs && callNs < launch.during.endNs) return row;
    }
    return noIndex;
}

std::string payloadText(const Trace& trace, uint32_t nvtx) {
    const std::string_view payload = trace.strings.at(trace.nvtx.payload[nvtx]);
    const bool isNcclDomain = trace.strings.at(trace.nvtx.domain[nvtx]) == ncclDomain;
    return isNcclDomain ? withCommunicatorIds(payload) : std::string(payload);
}

std::vector<Property> describeNcclCall(const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    std::vector<Property> lines;
    const auto add = [&lines](std::string name, std::string value) {
        if (!value.empty()) lines.push_back({std::move(name), std::move(value)});
    };
    add("NCCL operation", std::string(trace.strings.at(trace.nccl.operation[row])));
    if (trace.nccl.bytes[row] >= 0) add("Message size", formatBytes(trace.nccl.bytes[row]));
    add("Elements", elementsText(trace, facts));
    add("Algorithm", algorithmText(trace, facts));
    add("Channels", numberText(facts.channels));
    add("Warps per channel", numberText(facts.warps));
    add("Sequence number", numberText(facts.sequence));
    add("Root", numberText(facts.root));
    add("Peer", numberText(facts.peer));
    add("Communicator", communicatorText(trace, row));
    add("NCCL rank", rankText(facts));
    if (facts.isCaptured) add("Captured", "into a CUDA graph");
    if (facts.operationCount == 0) return lines;
    add("Time on the GPU", formatDuration(facts.gpu.durationNs()));
    if (facts.waitedNs >= 0) {
        add("Waited for other ranks", formatDuration(facts.waitedNs));
        add("Moved data", formatDuration(facts.moving().durationNs()));
    }
    if (facts.sharedBy > 1) add("Kernel shared by", fmt::format("{} NCCL operations", facts.sharedBy));
    if (const std::optional<NcclRate> rate = ncclRate(trace, row)) {
        add("Alg bandwidth", fmt::format("{:.2f} GB/s", rate->algorithmGBps()));
        add("Bus bandwidth", fmt::format("{:.2f} GB/s", rate->busGBps()));
    }
    return lines;
}

}  // namespace lanescope
