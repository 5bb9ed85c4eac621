// SPDX-License-Identifier: Apache-2.0
#include "model/steps/kernelPattern.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "model/trace/categories.h"
#include "model/values/Statistics.h"

namespace lanescope {

namespace {

constexpr size_t fewestRepetitions = 3;
constexpr double smallestAlikeShare = 0.7;
constexpr double alikeTolerance = 0.1;
constexpr double coveredShare = 0.5;
constexpr double lengthTolerance = 0.05;

/// The kernels of one process by start, as numbers of their names.
struct Sequence {
    explicit Sequence(LargeMemory* memory) : rows(memory), names(memory), sums(memory) {}

    LargeVector<uint32_t> rows;  ///< Of `KernelTable`.
    LargeVector<StringIndex> names;
    LargeVector<uint64_t> sums;  ///< `sums[i]` mixes the first `i` names, whatever their order.
    std::unordered_map<StringIndex, LargeVector<uint32_t>> places;  ///< By name.
};

/// Spreads the bits of a number (the finalizer of MurmurHash3), so that sums tell bags apart.
uint64_t mixed(uint64_t bits) {
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    bits ^= bits >> 33;
    bits *= 0xc4ceb9fe1a85ec53ULL;
    return bits ^ (bits >> 33);
}

Sequence sequenceOf(const Trace& trace, uint32_t process) {
    LargeMemory* const memory = trace.memory.get();
    Sequence sequence(memory);
    sequence.sums.push_back(0);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        if (trace.streams[trace.kernels.stream[row]].process != process) continue;
        const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
        if (kernelCategory(trace.strings.at(config.shortName)) == SliceCategory::NcclKernel)
            continue;
        const StringIndex name = config.demangledName;
        sequence.places.try_emplace(name, memory)
            .first->second.push_back(static_cast<uint32_t>(sequence.rows.size()));
        sequence.rows.push_back(row);
        sequence.names.push_back(name);
        sequence.sums.push_back(sequence.sums.back() + mixed(name + 1));
    }
    return sequence;
}

/// The share of the kernels that stand in pieces about as long as `typicalLength`: now and then a
/// step logs or clips something more. 0 if most pieces are of another length, as those of a kernel
/// are that start-up launches too.
double shareInPiecesOf(size_t typicalLength, const LargeVector<uint32_t>& places) {
    const auto typical = static_cast<double>(typicalLength);
    size_t kernels = 0, pieces = 0;
    for (size_t index = 1; index < places.size(); ++index) {
        const size_t length = places[index] - places[index - 1];
        if (std::abs(static_cast<double>(length) - typical) > lengthTolerance * typical) continue;
        kernels += length;
        ++pieces;
    }
    if (2 * pieces < places.size() - 1) return 0;
    return static_cast<double>(kernels) / static_cast<double>(places.back() - places.front());
}

/// How alike the pieces are that `places` divide the run into, as a share of their kernels; 0 if
/// they are too few or leave out too much.
double alikeShareOf(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    if (places.size() < fewestRepetitions) return 0;
    const size_t covered = places.back() - places.front();
    if (static_cast<double>(covered) < coveredShare * static_cast<double>(sequence.rows.size()))
        return 0;
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
    return shareInPiecesOf(typicalLength, places);
}

/// Median time from the kernel before to each of `places`.
double pauseBefore(const Trace& trace, const Sequence& sequence,
                   const LargeVector<uint32_t>& places) {
    std::vector<int64_t> pauses;
    for (const uint32_t place : places)
        if (place > 0)
            pauses.push_back(trace.kernels.startNs[sequence.rows[place]] -
                             trace.kernels.endNs[sequence.rows[place - 1]]);
    return medianOf(pauses);
}

/// Names whose launches divide the run into pieces nearly as alike as those of any other.
std::vector<StringIndex> goodDividers(const Sequence& sequence) {
    std::vector<std::pair<StringIndex, double>> shares;
    double best = smallestAlikeShare;
    for (const auto& [name, places] : sequence.places) {
        shares.emplace_back(name, alikeShareOf(sequence, places));
        best = std::max(best, shares.back().second);
    }
    std::vector<StringIndex> names;
    for (const auto& [name, share] : shares)
        if (share >= std::max(smallestAlikeShare, best - alikeTolerance)) names.push_back(name);
    return names;
}

/// Of those the one that divides most finely, then the one with the longest pause before it, then
/// the one launched first. 0 if there is none.
StringIndex bestDivider(const Trace& trace, const Sequence& sequence) {
    StringIndex best = 0;
    std::tuple<size_t, double, int64_t> bestRank;
    for (const StringIndex name : goodDividers(sequence)) {
        const LargeVector<uint32_t>& places = sequence.places.at(name);
        const std::tuple rank(places.size(), pauseBefore(trace, sequence, places),
                              -int64_t{places.front()});
        if (best != 0 && rank <= bestRank) continue;
        best = name;
        bestRank = rank;
    }
    return best;
}

/// The last piece ends with the run, unless more follows than a piece takes.
int64_t endOfLast(const Trace& trace, const Sequence& sequence,
                  const LargeVector<uint32_t>& places) {
    const size_t length = places[places.size() - 1] - places[places.size() - 2];
    const size_t end = std::min(sequence.rows.size(), places.back() + length);
    int64_t endNs = 0;
    for (size_t place = places.back(); place < end; ++place)
        endNs = std::max(endNs, trace.kernels.endNs[sequence.rows[place]]);
    return endNs;
}

}  // namespace

KernelPattern findKernelPattern(const Trace& trace, uint32_t process) {
    const Sequence sequence = sequenceOf(trace, process);
    const StringIndex name = bestDivider(trace, sequence);
    if (name == 0) return {};
    const LargeVector<uint32_t>& places = sequence.places.at(name);
    KernelPattern pattern;
    pattern.kernel = trace.strings.at(name);
    for (const uint32_t place : places)
        pattern.startsNs.push_back(trace.kernels.startNs[sequence.rows[place]]);
    pattern.endNs = endOfLast(trace, sequence, places);
    return pattern;
}

}  // namespace lanescope
