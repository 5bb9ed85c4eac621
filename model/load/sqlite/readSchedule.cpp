// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/ExactStates.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/load/sqlite/readers.h"

namespace lanescope {

CoreTimes readSchedule(LoadContext& context, FileDirectory& directory, LooksOfThreads looks) {
    constexpr const auto& t = tables::scheduleEvents;
    TableReader reader(context, t, {t.start, t.isSchedIn, t.globalTid, t.isPreempted},
                       "switches of threads");
    std::map<uint32_t, std::vector<ThreadSwitch>> switchesOf;
    if (reader.hasTable())
        forEachThreadRow(
            reader, t, directory.identities, Nameless::LeftOut,
            [&](uint32_t thread, TimeRange times) {
                switchesOf[thread].push_back({times.startNs, reader.integerOr(t.isSchedIn, 0) != 0,
                                              reader.integerOr(t.isPreempted, 0) != 0});
            });
    reader.countAs("thread switches");
    for (const auto& [thread, rows] : looks) switchesOf.try_emplace(thread);
    CoreTimes onCore;
    for (auto& [thread, switches] : switchesOf) {
        for (const auto& row : exactStates(thread, std::move(looks[thread]), switches)) {
            if (row.source == StateSource::Scheduler && row.state == ThreadState::Running)
                onCore[thread].push_back({row.startNs, row.endNs});
            context.builder().add<kinds::CpuState>(row);
        }
        switches = {};
    }
    return onCore;
}

}  // namespace lanescope
