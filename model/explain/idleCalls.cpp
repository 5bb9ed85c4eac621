// SPDX-License-Identifier: Apache-2.0
#include "model/explain/idleCalls.h"

#include <string_view>

namespace lanescope::explain {

using namespace compare;

namespace {

/// Idle while the CPU was in a call that has `word` in its name and returns when the work is done.
bool isInWaitingCall(const Contributor& each, std::string_view word) {
    const auto has = [&](std::string_view part) { return each.name.find(part) != each.name.npos; };
    return each.kind == ContributorKind::Idle && each.name.starts_with("in cu") && has(word) &&
           !has("Async") && !has("Graph");
}

}  // namespace

bool isAllocation(const Contributor& each) {
    return each.trait == ContributorTrait::Allocation;
}

bool isSynchronousCopy(const Contributor& each) {
    return isInWaitingCall(each, "Memcpy");
}

bool isSynchronousMemset(const Contributor& each) {
    return isInWaitingCall(each, "Memset");
}

bool isPageable(const Contributor& each) {
    return each.trait == ContributorTrait::Pageable;
}

bool isInPageableCopy(const Contributor& each) {
    return isPageable(each) && each.kind == ContributorKind::Idle;
}

}  // namespace lanescope::explain
