#include "model/load/NcclCalls.h"

#include <algorithm>
#include <array>

#include "model/format/GlobalId.h"
#include "model/format/tables/Nccl.h"
#include "model/load/TableReader.h"

namespace lanescope {

std::string_view ncclOperation(std::string_view rangeName) {
    static constexpr std::array<std::string_view, 11> operations{
        "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Bcast",  "Reduce",
        "Send",      "Recv",      "AlltoAll",      "Gather",    "Scatter"};
    if (!rangeName.starts_with("nccl")) return {};
    const std::string_view name = rangeName.substr(4);
    return std::find(operations.begin(), operations.end(), name) != operations.end()
               ? name
               : std::string_view();
}

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
        const int64_t bytes = reader.isNull(table.bytes) ? -1 : reader.bytes(table.bytes);
        Call call{strings.intern(reader.text(table.operation)),
                  bytes,
                  static_cast<uint64_t>(reader.integerOr(table.communicator, 0)),
                  {}};
        call.facts.root = ncclRankFrom(reader.integerOr(table.root, -1));
        call.facts.peer = ncclRankFrom(reader.integerOr(table.peer, -1));
        communicators.describe(processOf(reader.integerOr(table.globalTid, 0)), call.communicator,
                               call.facts);
        calls_[*row] = call;
    }
}

void NcclCalls::addListed(int64_t fileRow, uint32_t nvtx, NcclTable& nccl) const {
    const auto found = calls_.find(fileRow);
    if (found == calls_.end()) return;
    nccl.nvtx.push_back(nvtx);
    nccl.operation.push_back(found->second.operation);
    nccl.bytes.push_back(found->second.bytes);
    nccl.communicator.push_back(found->second.communicator);
    nccl.facts.push_back(found->second.facts);
}

void NcclCalls::addByName(const NvtxTable& nvtx, StringTable& strings, NcclTable& nccl) {
    const StringIndex domain = strings.intern("NCCL");
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
        if (nvtx.domain[row] != domain) continue;
        const std::string operation(ncclOperation(strings.at(nvtx.text[row])));
        if (operation.empty()) continue;
        nccl.nvtx.push_back(row);
        nccl.operation.push_back(strings.intern(operation));
        nccl.bytes.push_back(-1);
        nccl.communicator.push_back(0);
        nccl.facts.push_back(NcclFacts());
    }
}

}  // namespace lanescope
