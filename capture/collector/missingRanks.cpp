// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/missingRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lanescope::capture {

namespace {

constexpr const char* reason =
    "used neither CUDA nor NVTX, ended within moments, or lacked the environment of this run";
/// A world that is larger is a mistake in somebody's environment.
constexpr int64_t largestWorld = 1'000'000;
constexpr size_t mostRangesNamed = 8;

/// "2, 3, 5 to 7" of the numbers below `size` that are not in `present`.
std::string listOfMissing(const std::set<int64_t>& present, int64_t size) {
    std::string list;
    size_t named = 0;
    for (int64_t rank = 0; rank < size; ++rank) {
        if (present.contains(rank)) continue;
        int64_t last = rank;
        while (last + 1 < size && !present.contains(last + 1)) ++last;
        if (!list.empty()) list += ", ";
        if (++named > mostRangesNamed) return list + "...";
        list += last == rank       ? fmt::format("{}", rank)
                : last == rank + 1 ? fmt::format("{}, {}", rank, last)
                                   : fmt::format("{} to {}", rank, last);
        rank = last;
    }
    return list;
}

}  // namespace

std::optional<std::string> missingRanksSentence(const std::vector<RankFacts>& present) {
    // A launcher inside another gives two worlds; the one with the most ranks is the training.
    std::map<int64_t, std::set<int64_t>> ranksOfWorld;
    for (const RankFacts& each : present)
        if (each.worldSize > 1 && each.worldSize <= largestWorld && each.rank < each.worldSize)
            ranksOfWorld[each.worldSize].insert(each.rank);
    const auto world = std::max_element(
        ranksOfWorld.begin(), ranksOfWorld.end(),
        [](const auto& one, const auto& two) { return one.second.size() < two.second.size(); });
    if (world == ranksOfWorld.end()) return std::nullopt;
    const auto& [size, ranks] = *world;
    const auto found = static_cast<int64_t>(ranks.size());
    if (found >= size) return std::nullopt;

    // Ranks of other hosts are not expected here.
    std::map<std::string, int64_t> sizeOfHost;
    bool isLocalSizeKnown = true;
    for (const RankFacts& each : present) {
        if (each.worldSize != size) continue;
        if (each.localWorldSize)
            sizeOfHost[each.host] = *each.localWorldSize;
        else
            isLocalSizeKnown = false;
    }
    int64_t expected = 0;
    for (const auto& [host, localSize] : sizeOfHost) expected += localSize;
    if (!isLocalSizeKnown || expected <= 0 || expected >= size) {
        const bool isOne = size - found == 1;
        return fmt::format("{} {} of {} left no record: {} {}.", isOne ? "Rank" : "Ranks",
                           listOfMissing(ranks, size), size, isOne ? "it" : "they", reason);
    }
    if (found >= expected) return std::nullopt;
    return fmt::format("Only {} of the {} ranks that ran here left a record.", found, expected);
}

}  // namespace lanescope::capture
