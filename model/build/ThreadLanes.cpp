// SPDX-License-Identifier: Apache-2.0
#include "model/build/ThreadLanes.h"

#include <algorithm>
#include <map>

#include "model/trace/categories.h"
#include "model/trace/isStopped.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// Ranges started and ended by handle may overlap in any way, so they get lanes of their own below
/// the nested ones.
struct DomainWork {
    explicit DomainWork(LargeMemory* memory)
        : nested(Packing::Nested, memory), loose(Packing::Compact, memory) {}

    LaneBuilder nested, loose;
    uint32_t count = 0;
};

struct ThreadWork {
    explicit ThreadWork(LargeMemory* memory) : calls(Packing::Nested, memory) {}

    LaneBuilder calls;
    std::map<StringIndex, DomainWork> domains;
    uint64_t count = 0;
};

void collectCalls(const Trace& trace, std::vector<ThreadWork>& threads,
                  const std::stop_token& stop) {
    std::vector<SliceCategory> category(trace.strings.size());
    std::vector<bool> isKnown(trace.strings.size());
    const ApiTable& calls = trace.apiCalls;
    for (uint32_t row = 0; row < calls.size() && !isStopped(stop, row); ++row) {
        const StringIndex name = calls.name[row];
        if (!isKnown[name]) {
            category[name] = apiCategory(trace.strings.at(name));
            isKnown[name] = true;
        }
        ThreadWork& thread = threads[calls.thread[row]];
        thread.calls.add(calls.startNs[row], calls.endNs[row], name, EventRef(EventKind::Api, row),
                         category[name]);
        ++thread.count;
    }
}

void collectRanges(const Trace& trace, std::vector<ThreadWork>& threads,
                   const std::stop_token& stop) {
    const NvtxTable& nvtx = trace.nvtx;
    std::vector<bool> isNccl(nvtx.size());
    for (const uint32_t row : trace.nccl.nvtx) isNccl[row] = true;
    for (uint32_t row = 0; row < nvtx.size() && !isStopped(stop, row); ++row) {
        ThreadWork& thread = threads[nvtx.thread[row]];
        DomainWork& domain =
            thread.domains.try_emplace(nvtx.domain[row], trace.memory.get()).first->second;
        LaneBuilder& builder =
            nvtx.style[row] == NvtxStyle::StartEnd ? domain.loose : domain.nested;
        builder.add(nvtx.startNs[row], nvtx.endNs[row], nvtx.text[row],
                    EventRef(EventKind::Nvtx, row),
                    isNccl[row] ? SliceCategory::NcclCall : SliceCategory::Nvtx);
        ++domain.count;
        ++thread.count;
    }
}

/// What the program says of itself stands above the code that it ran.
int placeOf(std::string_view domain) {
    if (domain == pythonDomain) return 2;
    return domain == operatorDomain ? 1 : 0;
}

DomainLanes lanesOf(StringIndex domain, DomainWork& work) {
    DomainLanes lanes;
    lanes.domain = domain;
    lanes.lanes = work.nested.build();
    for (Lane& lane : work.loose.build()) lanes.lanes.push_back(std::move(lane));
    lanes.droppedCount = work.nested.droppedCount() + work.loose.droppedCount();
    return lanes;
}

ThreadLanes lanesOf(const Trace& trace, ThreadWork work, StateLanes states, StringIndex busy,
                    const std::stop_token& stop) {
    ThreadLanes lanes;
    lanes.count = work.count;
    std::vector<StringIndex> domains;
    for (const auto& [domain, ranges] : work.domains) domains.push_back(domain);
    std::stable_sort(domains.begin(), domains.end(), [&](StringIndex a, StringIndex b) {
        if ((a == 0) != (b == 0)) return a == 0;
        const int placeOfA = placeOf(trace.strings.at(a));
        const int placeOfB = placeOf(trace.strings.at(b));
        if (placeOfA != placeOfB) return placeOfA < placeOfB;
        return work.domains.at(a).count > work.domains.at(b).count;
    });
    for (const StringIndex domain : domains)
        lanes.domains.push_back(lanesOf(domain, work.domains.at(domain)));
    lanes.calls = work.calls.build();
    lanes.droppedCalls = work.calls.droppedCount();
    lanes.states = std::move(states);
    std::vector<const Lane*> all;
    if (!lanes.calls.empty())
        for (const Lane& lane : lanes.calls) all.push_back(&lane);
    else if (!lanes.domains.empty())
        for (const Lane& lane : lanes.domains.back().lanes) all.push_back(&lane);
    // Of a thread that called nothing it shows when it ran.
    if (lanes.count == 0 && !lanes.states.running.empty())
        lanes.busy = std::move(lanes.states.running);
    else
        lanes.busy.push_back(unionOf(all, busy, SliceCategory::Busy, stop));
    return lanes;
}

}  // namespace

std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names,
                                            StringIndex busy, const std::stop_token& stop) {
    std::vector<ThreadWork> work;
    work.reserve(trace.threads.size());
    for (size_t thread = 0; thread < trace.threads.size(); ++thread)
        work.emplace_back(trace.memory.get());
    collectCalls(trace, work, stop);
    collectRanges(trace, work, stop);
    std::vector<ThreadLanes> lanes;
    lanes.reserve(work.size());
    std::vector<StateLanes> states = collectStateLanes(trace, names, busy, stop);
    states.resize(work.size());
    for (size_t thread = 0; thread < work.size(); ++thread)
        lanes.push_back(
            lanesOf(trace, std::move(work[thread]), std::move(states[thread]), busy, stop));
    return lanes;
}

}  // namespace lanescope
