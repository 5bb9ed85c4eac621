// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/format/tables/ThreadStates.h"
#include "model/load/sqlite/CallchainStacks.h"
#include "model/load/sqlite/ThreadRows.h"
#include "model/trace/kinds/CpuState.h"

namespace lanescope {

namespace {

/// For what a thread waits in a function of the system's libraries, by what its name holds.
ThreadState reasonOf(std::string_view name) {
    using enum ThreadState;
    constexpr auto reasons = std::to_array<std::pair<std::string_view, ThreadState>>(
        {{"waitpid", Child}, {"waitid", Child},   {"wait4", Child}, {"sleep", Sleep},
         {"mutex", Lock},    {"cond_", Lock},     {"rwlock", Lock}, {"sem_", Lock},
         {"barrier", Lock},  {"pthread_", Lock},  {"futex", Lock},  {"ioctl", Device},
         {"fsync", Disk},    {"fdatasync", Disk}, {"sync", Disk},   {"open", Disk},
         {"poll", Poll},     {"select", Poll},    {"read", Poll},   {"write", Poll},
         {"recv", Poll},     {"send", Poll},      {"accept", Poll}, {"connect", Poll}});
    for (const auto& [part, reason] : reasons)
        if (name.find(part) != std::string_view::npos) return reason;
    return Blocked;
}

}  // namespace

void readSystemCalls(LoadContext& context, FileDirectory& directory) {
    constexpr const auto& t = tables::systemCalls;
    TableReader reader(context, t, {t.start, t.end, t.globalTid, t.nameId, t.callchainId},
                       "calls of the operating system");
    if (!reader.hasTable()) return;
    const CallchainStacks stacks(context, directory, tables::systemCallchains);
    std::unordered_map<StringIndex, ThreadState> reasons;
    const auto take = [&](uint32_t thread, TimeRange times) {
        const StringIndex name = reader.string(t.nameId, directory.strings).value_or(0);
        const auto [reason, isNew] = reasons.try_emplace(name, ThreadState::Blocked);
        if (isNew) reason->second = reasonOf(directory.strings.text(name));
        context.builder().add<kinds::CpuState>(
            {.startNs = times.startNs,
             .endNs = times.endNs,
             .thread = thread,
             .state = reason->second,
             .source = StateSource::Calls,
             .call = name,
             .stack = stacks.of(reader.integerOr(t.callchainId, -1))});
    };
    forEachThreadRow(reader, t, directory.identities, Nameless::LeftOut, take);
}

}  // namespace lanescope
