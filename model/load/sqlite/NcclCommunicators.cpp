// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/NcclCommunicators.h"

#include "model/format/tables/Nccl.h"
#include "model/load/sqlite/TableReader.h"

namespace lanescope {

int32_t ncclRankFrom(int64_t value) {
    constexpr int64_t most = 1 << 24;
    return value >= 0 && value <= most ? static_cast<int32_t>(value) : -1;
}

void NcclCommunicators::read(LoadContext& context, FileStrings& strings) {
    constexpr const auto& table = tables::ncclCommunicators;
    TableReader reader(
        context, table,
        {table.globalPid, table.communicator, table.rank, table.rankCount, table.name},
        "NCCL communicators");
    while (reader.next()) {
        const int64_t hash = reader.integerOr(table.communicator, 0);
        if (hash == 0) continue;
        // One communicator may stand there twice: as its NVTX range and as its plugin told it.
        Communicator& known =
            communicators_[{reader.integerOr(table.globalPid, 0), static_cast<uint64_t>(hash)}];
        if (const int32_t rank = ncclRankFrom(reader.integerOr(table.rank, -1)); rank >= 0)
            known.rank = rank;
        if (const int32_t ranks = ncclRankFrom(reader.integerOr(table.rankCount, -1)); ranks > 0)
            known.rankCount = ranks;
        if (!reader.isNull(table.name)) known.name = strings.intern(reader.text(table.name));
    }
}

void NcclCommunicators::describe(int64_t globalPid, uint64_t communicator, NcclFacts& facts) const {
    const auto found = communicators_.find({globalPid, communicator});
    if (found == communicators_.end()) return;
    facts.rank = found->second.rank;
    facts.rankCount = found->second.rankCount;
    facts.communicatorName = found->second.name;
}

}  // namespace lanescope
