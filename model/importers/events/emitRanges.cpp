// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/format/checksums.h"
#include "model/format/ncclFunctions.h"
#include "model/importers/events/ForeignEvents.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/events/emitEvents.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

/// What PyTorch says of a collective operation, as NCCL would: `rank` is that of the process among
/// all, -1 if it is not known. The operation is empty for what moves no data ("wait", "barrier").
NcclRow ncclRowOf(const JsonCollective& said, int rank, TraceBuilder& builder);

namespace {

/// Whose elements are the bytes that a rank passes to NCCL.
enum class Counted : uint8_t { In, Out, InOfEach };

struct Operation {
    std::string_view word;  ///< What its names begin with, without '_'.
    std::string_view operation;
    Counted counted = Counted::In;
};
/// Of two words that a name begins with the longer comes first.
constexpr std::array operations{
    Operation{"allreduce", "AllReduce"},
    Operation{"allgather", "AllGather"},
    Operation{"reducescatter", "ReduceScatter", Counted::Out},
    Operation{"alltoallv", "AlltoAllv"},
    Operation{"alltoall", "AlltoAll", Counted::InOfEach},
    Operation{"broadcast", "Broadcast"},
    Operation{"reduce", "Reduce"},
    Operation{"gather", "Gather"},
    Operation{"scatter", "Scatter", Counted::Out},
    Operation{"send", "Send"},
    Operation{"recv", "Recv", Counted::Out},
};

const Operation* operationOf(std::string_view name) {
    std::string word;
    for (const char c : name)
        if (c != '_') word += c;
    for (const Operation& each : operations)
        if (word.starts_with(each.word)) return &each;
    return nullptr;
}

int32_t ncclRank(int64_t value) {
    constexpr int64_t most = 1 << 24;
    return value >= 0 && value <= most ? static_cast<int32_t>(value) : -1;
}

/// Where `rank` stands in "[0, 4]"; -1 if it does not, or the list was shortened.
int32_t placeOf(int rank, std::string_view ranks) {
    JsonCursor cursor(ranks);
    if (rank < 0 || !cursor.takes('[')) return -1;
    for (int32_t place = 0;; ++place) {
        JsonValue number;
        if (cursor.value(number) != JsonLook::Whole) return -1;
        const std::optional<int64_t> found = decimalOf(number.text, 0);
        if (!found) return -1;
        if (*found == rank) return place;
        if (!cursor.takes(',')) return -1;
    }
}

/// The same for all ranks of a group, so that their calls can be put together.
uint64_t communicatorOf(std::string_view group, std::string_view ranks) {
    Fnv1a hash;
    hash.add(group);
    hash.add(uint64_t{ranks.size()});
    hash.add(ranks);
    return hash.value();
}

}  // namespace

NcclRow ncclRowOf(const JsonCollective& said, int rank, TraceBuilder& builder) {
    NcclRow row;
    const Operation* const operation = operationOf(builder.text(said.operation));
    if (operation == nullptr) return row;
    row.operation = builder.intern(operation->operation);
    const std::string group(builder.text(said.group));
    const std::string ranks(builder.text(said.ranks));
    // What `lanescope export` wrote names the communicator itself.
    const std::optional<uint64_t> known = communicatorFrom(group);
    if (!group.empty() || !ranks.empty())
        row.communicator = known ? *known : communicatorOf(group, ranks);
    NcclFacts& facts = row.facts;
    const StringIndex name =
        builder.text(said.groupName).empty() && !known ? said.group : said.groupName;
    if (builder.text(name) != "undefined") facts.communicatorName = name;
    facts.rankCount = ncclRank(said.groupSize);
    facts.rank = placeOf(rank, ranks);
    facts.sequence = std::max<int64_t>(-1, said.sequence);
    if (operation->operation == "Send") facts.peer = ncclRank(said.destination);
    if (operation->operation == "Recv") facts.peer = ncclRank(said.source);
    facts.count = operation->counted == Counted::Out ? said.outElements : said.inElements;
    if (operation->counted == Counted::InOfEach)
        facts.count = said.groupSize > 0 ? said.inElements / said.groupSize : -1;
    facts.count = std::max<int64_t>(-1, facts.count);
    const std::string_view type = builder.text(said.datatype);
    for (const ElementType& each : elementTypes) {
        if (each.torch != type) continue;
        facts.datatype = builder.intern(each.nccl);
        constexpr int64_t mostElements = INT64_MAX / 16;
        if (facts.count >= 0 && facts.count < mostElements) row.bytes = facts.count * each.bytes;
        return row;
    }
    facts.datatype = said.datatype;
    return row;
}

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
