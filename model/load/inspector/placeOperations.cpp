// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/placeOperations.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

auto ownerOf(const InspectorOperation& one) {
    return std::tie(one.of.host, one.of.pid, one.of.communicator, one.of.rank);
}

/// Numbers count within a communicator and a name; the same one is told twice by no sound file.
bool isBefore(const InspectorOperation& a, const InspectorOperation& b) {
    return std::tuple(ownerOf(a), a.operation, a.sequence, a.of.writtenNs) <
           std::tuple(ownerOf(b), b.operation, b.sequence, b.of.writtenNs);
}

/// Whether it says when it ran. The kernel of one that says only when it was called began then or
/// later, which nobody may take for the truth.
bool isTimed(InspectorOperation& one) {
    if (one.kernelNs || (one.call && one.timing == InspectorTiming::CollectiveCpu)) return true;
    one.isAtWriting = true;
    if (one.call) one.kernelNs = one.call->startNs;
    return one.call.has_value();
}

/// Lays the operations of one rank before each other, from the last to the first.
void layBackwards(std::span<InspectorOperation*> untimed) {
    // What was written down before a later one had ended by then, too.
    std::vector<std::pair<int64_t, InspectorOperation*>> ends;
    int64_t byNs = std::numeric_limits<int64_t>::max();
    for (size_t index = untimed.size(); index-- > 0;) {
        InspectorOperation* const one = untimed[index];
        const bool isLastOfName =
            index + 1 == untimed.size() || untimed[index + 1]->operation != one->operation;
        byNs = isLastOfName ? one->of.writtenNs : std::min(byNs, one->of.writtenNs);
        ends.emplace_back(byNs, one);
    }
    std::stable_sort(ends.begin(), ends.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const auto& [endNs, one] : ends) {
        // Durations that nobody vouches for would sum up to more than there are times.
        const int64_t startNs = std::max<int64_t>(0, std::min(endNs, nextNs) - one->durationNs);
        one->call = TimeRange{startNs, startNs + one->durationNs};
        one->kernelNs = startNs;
        nextNs = startNs;
    }
}

}  // namespace

void forEachRank(std::span<const InspectorOperation> operations,
                 const std::function<void(std::span<const InspectorOperation>)>& visit) {
    while (!operations.empty()) {
        const auto end = std::find_if(operations.begin(), operations.end(), [&](const auto& each) {
            return ownerOf(each) != ownerOf(operations.front());
        });
        const auto count = static_cast<size_t>(end - operations.begin());
        visit(operations.first(count));
        operations = operations.subspan(count);
    }
}

void placeOperations(LargeVector<InspectorOperation>& operations) {
    sortLarge(operations, isBefore);
    std::vector<InspectorOperation*> untimed;
    for (size_t index = 0; index < operations.size(); ++index) {
        if (!isTimed(operations[index])) untimed.push_back(&operations[index]);
        const bool isLast = index + 1 == operations.size() ||
                            ownerOf(operations[index + 1]) != ownerOf(operations[index]);
        if (!isLast) continue;
        layBackwards(untimed);
        untimed.clear();
    }
}

}  // namespace lanescope
