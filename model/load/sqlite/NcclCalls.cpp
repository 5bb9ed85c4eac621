// SPDX-License-Identifier: Apache-2.0
#include "model/load/sqlite/NcclCalls.h"

#include <algorithm>

#include "model/format/GlobalId.h"
#include "model/format/ncclFunctions.h"
#include "model/format/tables/Nccl.h"
#include "model/load/sqlite/TableReader.h"
#include "model/values/sortLarge.h"

namespace lanescope {

void NcclCalls::read(LoadContext& context, FileStrings& strings,
                     const NcclCommunicators& communicators) {
    constexpr const auto& table = tables::ncclOperations;
    TableReader reader(context, table,
                       {table.nvtxRow, table.operation, table.bytes, table.communicator, table.root,
                        table.peer, table.globalTid},
                       "NCCL calls");
    while (reader.next()) {
        const std::optional<int64_t> row = reader.integer(table.nvtxRow);
        if (!row) {
            reader.skipRow();
            continue;
        }
        NcclRow call;
        call.operation = strings.intern(ncclOperationName(reader.text(table.operation)));
        if (!reader.isNull(table.bytes)) call.bytes = reader.bytes(table.bytes);
        call.communicator = static_cast<uint64_t>(reader.integerOr(table.communicator, 0));
        call.facts.root = ncclRankFrom(reader.integerOr(table.root, -1));
        call.facts.peer = ncclRankFrom(reader.integerOr(table.peer, -1));
        communicators.describe(processOf(reader.integerOr(table.globalTid, 0)), call.communicator,
                               call.facts);
        calls_.push_back({*row, call});
    }
    sortLarge(calls_, [](const Call& a, const Call& b) { return a.fileRow < b.fileRow; });
}

void NcclCalls::addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const {
    // Of several that name one row the last counts.
    const auto after =
        std::upper_bound(calls_.begin(), calls_.end(), fileRow,
                         [](int64_t row, const Call& call) { return row < call.fileRow; });
    if (after != calls_.begin() && std::prev(after)->fileRow == fileRow)
        builder.nccl(range, std::prev(after)->says);
}

void NcclCalls::addByName(TraceBuilder& builder) {
    const StringIndex domain = builder.intern("NCCL");
    const NvtxTable& nvtx = builder.trace().nvtx;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.domain[row] != domain) continue;
        const std::string_view operation = ncclOperationOf(builder.text(nvtx.text[row]));
        if (operation.empty()) continue;
        builder.nccl({EventKind::Nvtx, row}, {.operation = builder.intern(operation)});
    }
}

}  // namespace lanescope
