// SPDX-License-Identifier: Apache-2.0
#include "model/explain/hostTime.h"

#include <map>
#include <optional>
#include <string_view>

#include "model/compare/StateWords.h"

namespace lanescope::explain {

using namespace compare;

bool isHostWaiting(const Contributor& each) {
    if (each.part != StepPart::LaunchBound || each.kind != ContributorKind::Idle) return false;
    const std::optional<ThreadState> state = stateTold(each.name);
    return state && (isWaiting(*state) || *state == ThreadState::Runnable);
}

int64_t provedWaitNs(const Contributor& each) {
    return isHostWaiting(each) ? 0 : each.waitedNs;
}

int64_t ranNs(const Contributor& each) {
    return isHostWaiting(each) ? 0 : each.exposedNs - each.waitedNs;
}

std::string hostWorkPlace(const WorkerSummary& worker) {
    // With the thread: it may be another than the one that is named first.
    constexpr std::string_view on = " on ", at = " at ";
    std::map<std::string_view, int64_t> spentAt;
    std::string_view most;
    for (const Contributor& each : worker.contributors) {
        if (each.workedNs <= 0) continue;
        std::string_view name = withoutState(each.name);
        const size_t from = name.find(on);
        if (from == std::string_view::npos || name.find(at, from) == std::string_view::npos)
            continue;
        name.remove_prefix(from + 1);
        int64_t& ns = spentAt[name];
        ns += each.workedNs;
        if (most.empty() || ns > spentAt[most]) most = name;
    }
    return std::string(most);
}

}  // namespace lanescope::explain
