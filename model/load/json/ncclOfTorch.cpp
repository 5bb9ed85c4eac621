// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/ncclOfTorch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/format/Fnv1a.h"
#include "model/format/ncclFunctions.h"
#include "model/load/json/JsonCursor.h"
#include "model/load/json/decimalOf.h"
#include "model/trace/communicatorId.h"
#include "model/trace/torchNames.h"

namespace lanescope {

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

}  // namespace lanescope
