// SPDX-License-Identifier: Apache-2.0
#include "model/build/ThreadLanes.h"

#include <algorithm>
#include <map>

#include "model/trace/RowsByOwner.h"
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

/// What one thread did, while it is dealt out to lanes.
struct ThreadWork {
    explicit ThreadWork(LargeMemory* memory) : calls(Packing::Nested, memory) {}

    LaneBuilder calls;
    std::map<StringIndex, DomainWork> domains;
    uint64_t count = 0;
};

/// Takes the calls and ranges of a thread at a time: what is being made takes far more memory than
/// what comes of it, and a file may name many threads.
class ThreadCollector {
  public:
    ThreadCollector(const Trace& trace, const std::stop_token& stop)
        : trace_(trace),
          stop_(stop),
          calls_(trace.apiCalls.thread, trace.threads.size(), stop),
          ranges_(trace.nvtx.thread, trace.threads.size(), stop),
          category_(trace.strings.size()),
          isKnown_(trace.strings.size()),
          isNccl_(trace.nvtx.size()) {
        for (const uint32_t row : trace.nccl.nvtx) isNccl_[row] = true;
    }

    ThreadWork workOf(uint32_t thread) {
        ThreadWork work(trace_.memory.get());
        for (const uint32_t row : calls_.of(thread))
            if (!isStopped(stop_, row)) takeCall(row, work);
        for (const uint32_t row : ranges_.of(thread))
            if (!isStopped(stop_, row)) takeRange(row, work);
        return work;
    }

  private:
    void takeCall(uint32_t row, ThreadWork& work) {
        const ApiTable& calls = trace_.apiCalls;
        const StringIndex name = calls.name[row];
        if (!isKnown_[name]) {
            category_[name] = apiCategory(trace_.strings.at(name));
            isKnown_[name] = true;
        }
        work.calls.add(calls.startNs[row], calls.endNs[row], name, EventRef(EventKind::Api, row),
                       category_[name]);
        ++work.count;
    }
    void takeRange(uint32_t row, ThreadWork& work) {
        const NvtxTable& nvtx = trace_.nvtx;
        DomainWork& domain =
            work.domains.try_emplace(nvtx.domain[row], trace_.memory.get()).first->second;
        LaneBuilder& builder =
            nvtx.style[row] == NvtxStyle::StartEnd ? domain.loose : domain.nested;
        builder.add(nvtx.startNs[row], nvtx.endNs[row], nvtx.text[row],
                    EventRef(EventKind::Nvtx, row),
                    isNccl_[row] ? SliceCategory::NcclCall : SliceCategory::Nvtx);
        ++domain.count;
        ++work.count;
    }

    const Trace& trace_;
    const std::stop_token& stop_;
    RowsByOwner calls_, ranges_;
    std::vector<SliceCategory> category_;  ///< By name.
    std::vector<bool> isKnown_, isNccl_;
};

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

ThreadLanes lanesOf(const Trace& trace, ThreadWork work, Rare<StateLanes> states, StringIndex busy,
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
    if (lanes.count == 0 && !lanes.states->running.empty())
        lanes.busy = std::move(lanes.states.edit().running);
    else
        lanes.busy.push_back(unionOf(all, busy, SliceCategory::Busy, stop));
    return lanes;
}

}  // namespace

std::vector<ThreadLanes> collectThreadLanes(const Trace& trace, const StateNames& names,
                                            StringIndex busy, const std::stop_token& stop) {
    ThreadCollector collector(trace, stop);
    const RowsByOwner states(trace.cpuStates.thread, trace.threads.size(), stop);
    std::vector<ThreadLanes> lanes;
    lanes.reserve(trace.threads.size());
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
        Rare<StateLanes> ofStates;
        if (const auto rows = states.of(thread); !rows.empty())
            ofStates = stateLanes(trace, rows, names, busy, stop);
        lanes.push_back(lanesOf(trace, collector.workOf(thread), std::move(ofStates), busy, stop));
    }
    return lanes;
}

}  // namespace lanescope
