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
#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/events/emitEvents.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/collectives.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

/// Returns PyTorch's description of a collective operation in terms of NCCL. `rank` is the rank of
/// the process, or -1 if unknown. The operation is empty if no data is moved ("wait", "barrier").
NcclRow ncclRowOf(const ImportedCollective& collective, int rank, TraceBuilder& builder);

namespace {

/// The element count that determines the bytes which a rank passes to NCCL.
enum class Counted : uint8_t { In, Out, InOfEach };

struct Operation {
    std::string_view word;  ///< The beginning of its names, without '_'.
    std::string_view operation;
    Counted counted = Counted::In;
};
/// If one name begins with two of these words, the longer one comes first.
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
    constexpr int64_t maxRank = 1 << 24;
    return value >= 0 && value <= maxRank ? static_cast<int32_t>(value) : -1;
}

/// Returns the position of `rank` in "[0, 4]", or -1 if it is missing or the list was shortened.
int32_t placeOf(int rank, std::string_view ranks) {
    JsonCursor cursor(ranks);
    if (rank < 0 || !cursor.takes('[')) return -1;
    for (int32_t place = 0;; ++place) {
        JsonValue number;
        if (cursor.value(number) != JsonStatus::Complete) return -1;
        const std::optional<int64_t> found = decimalOf(number.text, 0);
        if (!found) return -1;
        if (*found == rank) return place;
        if (!cursor.takes(',')) return -1;
    }
}

/// Returns an id that is equal for all ranks of a group, so that their calls can be matched.
uint64_t communicatorOf(std::string_view group, std::string_view ranks) {
    Fnv1a hash;
    hash.add(group);
    hash.add(uint64_t{ranks.size()});
    hash.add(ranks);
    return hash.value();
}

kinds::Nvtx::Row rowOf(const ImportedSlice& slice, int64_t zeroNs, uint32_t thread, StringIndex domain) {
    kinds::Nvtx::Row row;
    row.startNs = slice.startNs - zeroNs;
    row.endNs = row.startNs + std::max<int64_t>(0, slice.durationNs);
    row.text = slice.name;
    row.domain = domain;
    row.thread = thread;
    if (slice.durationNs == ImportedSlice::mark) row.style = NvtxStyle::Mark;
    return row;
}

void emitPlain(EmitContext& output, ImportedEventKind kind, std::string_view domainName) {
    const StringIndex domain = output.builder.intern(domainName);
    output.events.slices(kind).consume([&](const ImportedSlice& slice) {
        output.builder.add<kinds::Nvtx>(rowOf(slice, output.zeroNs, output.identities.thread(slice.thread), domain));
    });
}

void emitOperators(EmitContext& output) {
    const StringIndex domain = output.builder.intern(operatorDomain);
    const auto& collectives = output.events.collectives;
    auto next = collectives.begin();
    auto& sequences = output.events.sequences;
    size_t nextSequence = 0;
    uint64_t number = 0;
    output.events.slices(ImportedEventKind::Operator).consume([&](const ImportedSlice& slice) {
        kinds::Nvtx::Row row = rowOf(slice, output.zeroNs, output.identities.thread(slice.thread), domain);
        row.payload = slice.extra;
        const EventRef range = output.builder.add<kinds::Nvtx>(row);
        if (next != collectives.end() && next->slice == number) {
            const NcclRow call = ncclRowOf(*next, output.rank, output.builder);
            if (call.operation != 0 && range.isValid()) output.builder.nccl(range, call);
            ++next;
        }
        for (; nextSequence < sequences.size() && sequences[nextSequence].slice == number; ++nextSequence)
            sequences[nextSequence].slice = range.isValid() ? range.row() : noIndex;
        ++number;
    });
}

/// Makes ranges of separate ends. On one thread the last begun range ends first, others are matched by their id.
class EdgeConnector {
  public:
    EdgeConnector(EmitContext& output, EmitFindings& findings) : output_(output), findings_(findings) {}

    void take(const ImportedEdge& edge) {
        const bool isLoose = edge.phase == 'b' || edge.phase == 'e';
        std::vector<ImportedEdge>& open = isLoose ? loose_[{edge.category, edge.id, edge.name}] : nested_[edge.thread];
        if (edge.phase == 'B' || edge.phase == 'b') {
            open.push_back(edge);
        } else if (open.empty()) {
            ++findings_.unmatchedEdges;
        } else {
            emitRange(open.back(), edge.timeNs, false);
            open.pop_back();
        }
    }
    void finish() {
        for (const auto& each : nested_) emitOpen(each.second);
        for (const auto& each : loose_) emitOpen(each.second);
    }

  private:
    void emitOpen(const std::vector<ImportedEdge>& open) {
        for (const ImportedEdge& each : open) emitRange(each, each.timeNs, true);
    }
    void emitRange(const ImportedEdge& begin, int64_t endNs, bool isOpen) {
        output_.builder.add<kinds::Nvtx>({begin.timeNs - output_.zeroNs, endNs - output_.zeroNs},
                                         {.text = begin.name,
                                          .domain = begin.category,
                                          .thread = output_.identities.thread(begin.thread),
                                          .style = begin.phase == 'b' ? NvtxStyle::StartEnd : NvtxStyle::PushPop,
                                          .isOpen = isOpen});
    }

    EmitContext& output_;
    EmitFindings& findings_;
    std::map<uint32_t, std::vector<ImportedEdge>> nested_;  ///< By thread.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<ImportedEdge>> loose_;
};

}  // namespace

NcclRow ncclRowOf(const ImportedCollective& collective, int rank, TraceBuilder& builder) {
    NcclRow row;
    const Operation* const operation = operationOf(builder.text(collective.operation));
    if (operation == nullptr) return row;
    row.operation = builder.intern(operation->operation);
    const std::string group(builder.text(collective.group));
    const std::string ranks(builder.text(collective.ranks));
    // Files of `lanescope export` contain the communicator.
    const std::optional<uint64_t> known = communicatorFrom(group);
    if (!group.empty() || !ranks.empty()) row.communicator = known ? *known : communicatorOf(group, ranks);
    NcclFacts& facts = row.facts;
    const StringIndex name =
        builder.text(collective.groupName).empty() && !known ? collective.group : collective.groupName;
    if (builder.text(name) != "undefined") facts.communicatorName = name;
    facts.rankCount = ncclRank(collective.groupSize);
    facts.rank = placeOf(rank, ranks);
    facts.sequence = std::max<int64_t>(-1, collective.sequence);
    if (operation->operation == "Send") facts.peer = ncclRank(collective.destination);
    if (operation->operation == "Recv") facts.peer = ncclRank(collective.source);
    facts.count = operation->counted == Counted::Out ? collective.outElements : collective.inElements;
    if (operation->counted == Counted::InOfEach)
        facts.count = collective.groupSize > 0 ? collective.inElements / collective.groupSize : -1;
    facts.count = std::max<int64_t>(-1, facts.count);
    const std::string_view type = builder.text(collective.datatype);
    for (const ElementType& each : elementTypes) {
        if (each.torch != type) continue;
        facts.datatype = builder.intern(each.nccl);
        constexpr int64_t maxElements = INT64_MAX / 16;
        if (facts.count >= 0 && facts.count < maxElements) row.bytes = facts.count * each.bytes;
        return row;
    }
    facts.datatype = collective.datatype;
    return row;
}

void emitCalls(EmitContext& output) {
    for (const ImportedEventKind kind : {ImportedEventKind::RuntimeCall, ImportedEventKind::DriverCall})
        output.events.slices(kind).consume([&](const ImportedSlice& slice) {
            const int64_t startNs = slice.startNs - output.zeroNs;
            output.builder.add<kinds::Api>({startNs, startNs + slice.durationNs},
                                           {.name = slice.name,
                                            .thread = output.identities.thread(slice.thread),
                                            .correlation = slice.extra,
                                            .isDriver = kind == ImportedEventKind::DriverCall});
        });
}

void emitRanges(EmitContext& output, EmitFindings& findings) {
    emitPlain(output, ImportedEventKind::Annotation, annotationDomain);
    const NvtxTable& ranges = output.builder.trace().nvtx;
    const uint32_t firstOperator = ranges.size();
    emitOperators(output);
    emitBackwards(output, findings, firstOperator, ranges.size());
    emitPlain(output, ImportedEventKind::Python, pythonDomain);
    output.events.slices(ImportedEventKind::Other).consume([&](const ImportedSlice& slice) {
        output.builder.add<kinds::Nvtx>(
            rowOf(slice, output.zeroNs, output.identities.thread(slice.thread), slice.category));
    });
    // In files with calls, annotations of the CPU are projected onto the GPU by the work that they launch.
    const StringIndex domain = output.builder.intern(gpuAnnotationDomain);
    const bool isAlone = output.builder.trace().apiCalls.size() == 0;
    output.events.slices(ImportedEventKind::GpuAnnotation).consume([&](const ImportedSlice& slice) {
        if (!isAlone) return;
        output.builder.add<kinds::Nvtx>(
            rowOf(slice, output.zeroNs, output.identities.threadOfPlace(slice.extra), domain));
    });
}

void emitEdges(EmitContext& output, EmitFindings& findings) {
    LargeVector<ImportedEdge> edges(output.builder.memory());
    output.events.edges.consume([&](const ImportedEdge& edge) { edges.push_back(edge); });
    sortLarge(edges, [](const ImportedEdge& a, const ImportedEdge& b) { return a.timeNs < b.timeNs; });
    EdgeConnector joiner(output, findings);
    for (const ImportedEdge& edge : edges) joiner.take(edge);
    joiner.finish();
}

}  // namespace lanescope
