// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

void readThreadStates(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::threadStates;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalTid, t.state, t.callchainId, t.cpuNs, t.delayNs,
                        t.callId, t.holderTid, t.holderCallchainId},
                       "thread states");
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(t.start, t.end);
        if (!times) continue;
        const std::optional<int64_t> tid = reader.integer(t.globalTid);
        const uint32_t thread =
            tid ? directory.identities.thread(*tid) : directory.identities.unnamedThread();
        if (thread == noIndex) {
            reader.skipRow();
            continue;
        }
        const std::optional<int64_t> holder = reader.integer(t.holderTid);
        context.builder().add<kinds::CpuState>(
            {.startNs = times->startNs,
             .endNs = times->endNs,
             .thread = thread,
             .state = threadStateFrom(reader.integerOr(t.state, 0)),
             .cpuNs = reader.integerOr(t.cpuNs, 0),
             .delayNs = reader.integerOr(t.delayNs, 0),
             .call = reader.string(t.callId, directory.strings).value_or(0),
             .stack = directory.stackOf(reader.integer(t.callchainId)),
             .holder = holder ? directory.identities.thread(*holder) : noIndex,
             .holderStack = directory.stackOf(reader.integer(t.holderCallchainId))});
    }
    reader.countAs(kinds::CpuState::plural);
}

}  // namespace lanescope
