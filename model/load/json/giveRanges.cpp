// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "model/load/json/giveEvents.h"
#include "model/load/json/ncclOfTorch.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"
#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

kinds::Nvtx::Row rowOf(const JsonSlice& slice, int64_t zeroNs, uint32_t thread,
                       StringIndex domain) {
    kinds::Nvtx::Row row;
    row.startNs = slice.startNs - zeroNs;
    row.endNs = row.startNs + std::max<int64_t>(0, slice.durationNs);
    row.text = slice.name;
    row.domain = domain;
    row.thread = thread;
    if (slice.durationNs == JsonSlice::mark) row.style = NvtxStyle::Mark;
    return row;
}

void givePlain(JsonGiving& giving, JsonEventKind kind, std::string_view domainName) {
    const StringIndex domain = giving.builder.intern(domainName);
    giving.events.slices(kind).consume([&](const JsonSlice& slice) {
        giving.builder.add<kinds::Nvtx>(
            rowOf(slice, giving.zeroNs, giving.identities.thread(slice.thread), domain));
    });
}

void giveOperators(JsonGiving& giving) {
    const StringIndex domain = giving.builder.intern(operatorDomain);
    const auto& collectives = giving.events.collectives;
    auto next = collectives.begin();
    auto& sequences = giving.events.sequences;
    size_t nextSequence = 0;
    uint64_t number = 0;
    giving.events.slices(JsonEventKind::Operator).consume([&](const JsonSlice& slice) {
        kinds::Nvtx::Row row =
            rowOf(slice, giving.zeroNs, giving.identities.thread(slice.thread), domain);
        row.payload = slice.extra;
        const EventRef range = giving.builder.add<kinds::Nvtx>(row);
        if (next != collectives.end() && next->slice == number) {
            const NcclRow call = ncclRowOf(*next, giving.rank, giving.builder);
            if (call.operation != 0 && range.isValid()) giving.builder.nccl(range, call);
            ++next;
        }
        for (; nextSequence < sequences.size() && sequences[nextSequence].slice == number;
             ++nextSequence)
            sequences[nextSequence].slice = range.isValid() ? range.row() : noIndex;
        ++number;
    });
}

/// Makes ranges of edges: of those of one thread the last begun ends first, others are joined by
/// what they say.
class EdgeJoiner {
  public:
    EdgeJoiner(JsonGiving& giving, JsonFindings& findings) : giving_(giving), findings_(findings) {}

    void take(const JsonEdge& edge) {
        const bool isLoose = edge.phase == 'b' || edge.phase == 'e';
        std::vector<JsonEdge>& open =
            isLoose ? loose_[{edge.category, edge.id, edge.name}] : nested_[edge.thread];
        if (edge.phase == 'B' || edge.phase == 'b') {
            open.push_back(edge);
        } else if (open.empty()) {
            ++findings_.edgesWithoutOther;
        } else {
            give(open.back(), edge.timeNs, false);
            open.pop_back();
        }
    }
    void finish() {
        for (const auto& each : nested_) giveOpen(each.second);
        for (const auto& each : loose_) giveOpen(each.second);
    }

  private:
    void giveOpen(const std::vector<JsonEdge>& open) {
        for (const JsonEdge& each : open) give(each, each.timeNs, true);
    }
    void give(const JsonEdge& begin, int64_t endNs, bool isOpen) {
        kinds::Nvtx::Row row;
        row.startNs = begin.timeNs - giving_.zeroNs;
        row.endNs = endNs - giving_.zeroNs;
        row.text = begin.name;
        row.domain = begin.category;
        row.thread = giving_.identities.thread(begin.thread);
        row.style = begin.phase == 'b' ? NvtxStyle::StartEnd : NvtxStyle::PushPop;
        row.isOpen = isOpen;
        giving_.builder.add<kinds::Nvtx>(row);
    }

    JsonGiving& giving_;
    JsonFindings& findings_;
    std::map<uint32_t, std::vector<JsonEdge>> nested_;  ///< By thread.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<JsonEdge>> loose_;
};

}  // namespace

void giveCalls(JsonGiving& giving) {
    for (const JsonEventKind kind : {JsonEventKind::RuntimeCall, JsonEventKind::DriverCall})
        giving.events.slices(kind).consume([&](const JsonSlice& slice) {
            const int64_t startNs = slice.startNs - giving.zeroNs;
            giving.builder.add<kinds::Api>({.startNs = startNs,
                                            .endNs = startNs + slice.durationNs,
                                            .name = slice.name,
                                            .thread = giving.identities.thread(slice.thread),
                                            .correlation = slice.extra,
                                            .isDriver = kind == JsonEventKind::DriverCall});
        });
}

void giveRanges(JsonGiving& giving, JsonFindings& findings) {
    givePlain(giving, JsonEventKind::Annotation, annotationDomain);
    const NvtxTable& ranges = giving.builder.trace().nvtx;
    const uint32_t firstOperator = ranges.size();
    giveOperators(giving);
    giveBackwards(giving, findings, firstOperator, ranges.size());
    givePlain(giving, JsonEventKind::Python, pythonDomain);
    giving.events.slices(JsonEventKind::Other).consume([&](const JsonSlice& slice) {
        giving.builder.add<kinds::Nvtx>(
            rowOf(slice, giving.zeroNs, giving.identities.thread(slice.thread), slice.category));
    });
    // Elsewhere the annotations of the CPU are moved to the GPU, by the work that they launch.
    const StringIndex domain = giving.builder.intern(gpuAnnotationDomain);
    const bool isAlone = giving.builder.trace().apiCalls.size() == 0;
    giving.events.slices(JsonEventKind::GpuAnnotation).consume([&](const JsonSlice& slice) {
        if (!isAlone) return;
        giving.builder.add<kinds::Nvtx>(
            rowOf(slice, giving.zeroNs, giving.identities.threadOfPlace(slice.extra), domain));
    });
}

void giveEdges(JsonGiving& giving, JsonFindings& findings) {
    LargeVector<JsonEdge> edges(giving.builder.memory());
    giving.events.edges.consume([&](const JsonEdge& edge) { edges.push_back(edge); });
    sortLarge(edges, [](const JsonEdge& a, const JsonEdge& b) { return a.timeNs < b.timeNs; });
    EdgeJoiner joiner(giving, findings);
    for (const JsonEdge& edge : edges) joiner.take(edge);
    joiner.finish();
}

}  // namespace lanescope
