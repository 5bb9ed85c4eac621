// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <vector>

#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

namespace {

struct Switch {
    int64_t timeNs;
    bool isIn;
};

void giveStates(TraceBuilder& builder, uint32_t thread, std::vector<Switch>& switches) {
    std::ranges::stable_sort(switches, {}, &Switch::timeNs);
    for (size_t at = 0; at + 1 < switches.size(); ++at) {
        const Switch &from = switches[at], &to = switches[at + 1];
        // Of two of a kind in a row one was lost.
        if (from.isIn == to.isIn) continue;
        builder.add<kinds::CpuState>(
            {.startNs = from.timeNs,
             .endNs = to.timeNs,
             .thread = thread,
             .state = from.isIn ? ThreadState::Running : ThreadState::Blocked,
             .source = StateSource::Scheduler,
             .cpuNs = from.isIn ? to.timeNs - from.timeNs : 0});
    }
}

}  // namespace

void readSchedule(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::scheduleEvents;
    TableReader reader(context, t, {t.start, t.isSchedIn, t.globalTid}, "switches of threads");
    if (!reader.hasTable()) return;
    std::map<uint32_t, std::vector<Switch>> switchesOf;
    forEachThreadRow(
        reader, t, directory.identities, Nameless::LeftOut, [&](uint32_t thread, TimeRange times) {
            switchesOf[thread].push_back({times.startNs, reader.integerOr(t.isSchedIn, 0) != 0});
        });
    for (auto& [thread, switches] : switchesOf) giveStates(context.builder(), thread, switches);
}

}  // namespace lanescope
