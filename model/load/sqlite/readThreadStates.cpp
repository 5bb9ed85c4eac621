// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/ExactStates.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

LooksOfThreads readThreadStates(LoadContext& context, FileDirectory& directory) {
    const bool isScheduled = context.database().hasTable(tables::scheduleEvents.tableName());
    LooksOfThreads looks;
    constexpr const auto& t = tables::threadStates;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalTid, t.state, t.callchainId, t.cpuNs, t.delayNs,
                        t.callId, t.holderTid, t.holderCallchainId},
                       "thread states");
    const auto take = [&](uint32_t thread, TimeRange times) {
        const std::optional<int64_t> holder = reader.integer(t.holderTid);
        const kinds::CpuState::Row row{
            .startNs = times.startNs,
            .endNs = times.endNs,
            .thread = thread,
            .state = threadStateFrom(reader.integerOr(t.state, 0)),
            .cpuNs = reader.integerOr(t.cpuNs, 0),
            .delayNs = reader.integerOr(t.delayNs, 0),
            .call = reader.string(t.callId, directory.strings).value_or(0),
            .stack = directory.stackOf(reader.integer(t.callchainId)),
            .holder = holder ? directory.identities.thread(*holder) : noIndex,
            .holderStack = directory.stackOf(reader.integer(t.holderCallchainId))};
        if (isScheduled)
            looks[thread].push_back(row);
        else
            context.builder().add<kinds::CpuState>(row);
    };
    forEachThreadRow(reader, t, directory.identities, Nameless::Kept, take);
    reader.countAs(kinds::CpuState::plural);
    return looks;
}

}  // namespace lanescope
