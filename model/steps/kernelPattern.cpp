// SPDX-License-Identifier: Apache-2.0
#include "model/steps/kernelPattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "model/trace/categories.h"
#include "model/values/Statistics.h"
#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

constexpr size_t fewestRepetitions = 3;
/// Two pieces that hold the same few kernels come about by chance, or in a loop within a step.
constexpr size_t fewestOfShort = 5, shortPiece = 20;
constexpr double smallestAlikeShare = 0.7;
constexpr double alikeTolerance = 0.1;
constexpr double coveredShare = 0.5;
constexpr double lengthTolerance = 0.05;

/// Stands for what is launched: a name, or the number of a graph.
using Key = uint64_t;
constexpr Key graphBit = Key{1} << 63;

/// Kernels and graphs of one worker by start.
struct Sequence {
    struct Item {
        int64_t startNs, endNs;
        Key key;
    };

    explicit Sequence(LargeMemory* memory) : items(memory), sums(memory) {}

    LargeVector<Item> items;
    LargeVector<uint64_t> sums;  ///< `sums[i]` mixes the first `i` keys, whatever their order.
    std::unordered_map<Key, LargeVector<uint32_t>> places;  ///< By key.
};

/// Spreads the bits of a number (the finalizer of MurmurHash3), so that sums tell bags apart.
uint64_t mixed(uint64_t bits) {
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    bits ^= bits >> 33;
    bits *= 0xc4ceb9fe1a85ec53ULL;
    return bits ^ (bits >> 33);
}

LargeVector<Sequence::Item> itemsOf(const Trace& trace, const WorkRows::OfWorker& rows) {
    LargeVector<Sequence::Item> items(trace.memory.get());
    for (const uint32_t row : rows.kernels) {
        const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
        if (kernelCategory(trace.strings.at(config.shortName)) != SliceCategory::NcclKernel)
            items.push_back(
                {trace.kernels.startNs[row], trace.kernels.endNs[row], config.demangledName});
    }
    for (const uint32_t row : rows.graphs)
        items.push_back({trace.graphs.startNs[row], trace.graphs.endNs[row],
                         graphBit | static_cast<Key>(trace.graphs.graph[row])});
    sortLarge(items, [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
    return items;
}

/// Of the last of `items`, from number `first` on.
Sequence sequenceFrom(const LargeVector<Sequence::Item>& items, size_t first) {
    LargeMemory* const memory = items.get_allocator().memory();
    Sequence sequence(memory);
    sequence.sums.push_back(0);
    for (size_t index = first; index < items.size(); ++index) {
        const Key key = items[index].key;
        sequence.places.try_emplace(key, memory)
            .first->second.push_back(static_cast<uint32_t>(sequence.items.size()));
        sequence.items.push_back(items[index]);
        sequence.sums.push_back(sequence.sums.back() + mixed(key + 1));
    }
    return sequence;
}

/// Whether a piece is as long as most are, but for what a step logs or clips now and then.
bool isAlike(size_t length, size_t typicalLength) {
    const auto typical = static_cast<double>(typicalLength);
    return std::abs(static_cast<double>(length) - typical) <= lengthTolerance * typical;
}

/// The share of the kernels that stand in pieces about as long as `typicalLength`: now and then a
/// step logs or clips something more. 0 if most pieces are of another length, as those of a kernel
/// are that start-up launches too.
double shareInPiecesOf(size_t typicalLength, const LargeVector<uint32_t>& places) {
    size_t kernels = 0, pieces = 0;
    for (size_t index = 1; index < places.size(); ++index) {
        const size_t length = places[index] - places[index - 1];
        if (!isAlike(length, typicalLength)) continue;
        kernels += length;
        ++pieces;
    }
    if (2 * pieces < places.size() - 1) return 0;
    return static_cast<double>(kernels) / static_cast<double>(places.back() - places.front());
}

/// How many items the piece has that most often holds the very same ones.
size_t typicalLengthOf(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    std::unordered_map<uint64_t, size_t> kernelsOf;  // by what a piece holds
    size_t most = 0, typicalLength = 0;
    for (size_t index = 1; index < places.size(); ++index) {
        const uint64_t held = sequence.sums[places[index]] - sequence.sums[places[index - 1]];
        const size_t length = places[index] - places[index - 1];
        size_t& kernels = kernelsOf[held];
        kernels += length;
        if (kernels > most) typicalLength = length;
        most = std::max(most, kernels);
    }
    return typicalLength;
}

/// How alike the pieces are that `places` divide the run into, as a share of their kernels; 0 if
/// they are too few or leave out too much.
double alikeShareOf(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    if (places.size() < fewestRepetitions) return 0;
    const size_t covered = places.back() - places.front();
    if (static_cast<double>(covered) < coveredShare * static_cast<double>(sequence.items.size()))
        return 0;
    const size_t typicalLength = typicalLengthOf(sequence, places);
    if (places.size() < fewestOfShort && typicalLength < shortPiece) return 0;
    return shareInPiecesOf(typicalLength, places);
}

/// Median time from the kernel before to each of `places`.
double pauseBefore(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    std::vector<int64_t> pauses;
    for (const uint32_t place : places)
        if (place > 0)
            pauses.push_back(sequence.items[place].startNs - sequence.items[place - 1].endNs);
    return medianOf(pauses);
}

/// Names whose launches divide the run into pieces nearly as alike as those of any other.
std::vector<Key> goodDividers(const Sequence& sequence) {
    std::vector<std::pair<Key, double>> shares;
    double best = smallestAlikeShare;
    for (const auto& [key, places] : sequence.places) {
        shares.emplace_back(key, alikeShareOf(sequence, places));
        best = std::max(best, shares.back().second);
    }
    std::vector<Key> keys;
    for (const auto& [key, share] : shares)
        if (share >= std::max(smallestAlikeShare, best - alikeTolerance)) keys.push_back(key);
    return keys;
}

/// Of those the one that divides most finely, then the one with the longest pause before it, then
/// the one launched first.
std::optional<Key> bestDivider(const Sequence& sequence) {
    std::optional<Key> best;
    std::tuple<size_t, double, int64_t> bestRank;
    for (const Key key : goodDividers(sequence)) {
        const LargeVector<uint32_t>& places = sequence.places.at(key);
        const std::tuple rank(places.size(), pauseBefore(sequence, places),
                              -int64_t{places.front()});
        if (best && rank <= bestRank) continue;
        best = key;
        bestRank = rank;
    }
    return best;
}

/// Without what comes before the first two pieces that are as they should be.
LargeVector<uint32_t> withoutBeginning(LargeVector<uint32_t> places, size_t typicalLength) {
    size_t first = 0;
    const auto isGood = [&](size_t index) {
        return index + 1 >= places.size() ||
               isAlike(places[index + 1] - places[index], typicalLength);
    };
    while (first + fewestRepetitions < places.size() && !(isGood(first) && isGood(first + 1)))
        ++first;
    places.erase(places.begin(), places.begin() + static_cast<ptrdiff_t>(first));
    return places;
}

/// The last piece ends with the run, unless more follows than a piece takes.
int64_t endOfLast(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    const size_t length = places[places.size() - 1] - places[places.size() - 2];
    const size_t end = std::min(sequence.items.size(), places.back() + length);
    int64_t endNs = 0;
    for (size_t place = places.back(); place < end; ++place)
        endNs = std::max(endNs, sequence.items[place].endNs);
    return endNs;
}

std::string nameOf(const Trace& trace, Key key) {
    if (key & graphBit) return fmt::format("CUDA graph {}", key & ~graphBit);
    return std::string(trace.strings.at(static_cast<StringIndex>(key)));
}

}  // namespace

KernelPattern findKernelPattern(const Trace& trace, const WorkRows::OfWorker& rows) {
    const LargeVector<Sequence::Item> items = itemsOf(trace, rows);
    KernelPattern pattern;
    for (const size_t part : {1, 2, 4}) {
        const Sequence sequence = sequenceFrom(items, items.size() - items.size() / part);
        const std::optional<Key> key = bestDivider(sequence);
        if (!key) continue;
        const LargeVector<uint32_t>& found = sequence.places.at(*key);
        const LargeVector<uint32_t> places =
            withoutBeginning(found, typicalLengthOf(sequence, found));
        pattern.kernel = nameOf(trace, *key);
        for (const uint32_t place : places)
            pattern.startsNs.push_back(sequence.items[place].startNs);
        pattern.endNs = endOfLast(sequence, places);
        break;
    }
    return pattern;
}

}  // namespace lanescope
