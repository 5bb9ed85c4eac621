// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/kernelPattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/text/kernelNames.h"
#include "model/trace/Track.h"

namespace lanescope {

namespace {

constexpr size_t minRepetitions = 3;
/// A pattern has `minShortPieces` pieces, or `shortPiece` kernels in each. Two shorter ones can be equal by chance.
constexpr size_t minShortPieces = 5, shortPiece = 20;
constexpr double minPatternAlikeShare = 0.7;
constexpr double alikeTolerance = 0.1;
constexpr double coveredShare = 0.5;
constexpr double lengthTolerance = 0.05;

/// Identifies a launch: a name, or the number of a graph.
using Key = uint64_t;
constexpr Key graphBit = Key{1} << 63, launchedGraphBit = Key{1} << 62;

/// Required share of equal distances between pieces with the same other work, and number of such kernels and copies.
constexpr double minEqualDistances = 0.9;
constexpr size_t minOwnKernels = 3;
constexpr std::array<std::string_view, 5> optimizerKernels{"multi_tensor_apply_kernel", "Adam", "adam", "SGD", "sgd_"};
/// The same kernel computes norms of gradients, also for printing.
constexpr std::string_view normKernel = "LpNorm";

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

/// Spreads the bits of a number (the finalizer of MurmurHash3), so that sums distinguish bags.
uint64_t mixed(uint64_t bits) {
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    bits ^= bits >> 33;
    bits *= 0xc4ceb9fe1a85ec53ULL;
    return bits ^ (bits >> 33);
}

/// Work of one worker in order of start.
struct LaunchedWorkList {
    LargeVector<Sequence::Item> items;
    std::unordered_map<Key, Key> firstKernels;  ///< Recorded by kernel, of each graph.
};

/// The kernels of one launch are one piece of work: a graph's, of which each launch runs the same.
LaunchedWorkList joinLaunches(const LargeVector<Sequence::Item>& kernels, const LargeVector<uint32_t>& calls) {
    LaunchedWorkList work{LargeVector<Sequence::Item>(kernels.get_allocator().memory()), {}};
    for (size_t first = 0, next = 0; first < kernels.size(); first = next) {
        Sequence::Item item = kernels[first];
        uint64_t content = mixed(item.key + 1);
        for (next = first + 1; next < kernels.size() && calls[next] != noIndex && calls[next] == calls[first]; ++next) {
            item.endNs = std::max(item.endNs, kernels[next].endNs);
            content += mixed(kernels[next].key + 1);
        }
        if (next > first + 1) {
            item.key = launchedGraphBit | (content & (launchedGraphBit - 1));
            work.firstKernels.try_emplace(item.key, kernels[first].key);
        }
        work.items.push_back(item);
    }
    return work;
}

LaunchedWorkList workOf(const Trace& trace, const WorkRows::WorkerRows& rows, const LaunchRows& calls) {
    LargeVector<Sequence::Item> kernels(trace.memory.get());
    LargeVector<uint32_t> callOf(trace.memory.get());
    for (const uint32_t row : rows.kernels) {
        const uint32_t config = trace.kernels.config[row];
        if (trace.launchConfigs.isCollective(config)) continue;
        kernels.push_back(
            {trace.kernels.startNs[row], trace.kernels.endNs[row], trace.launchConfigs.demangledName(config)});
        callOf.push_back(calls.ofKernel[row]);
    }
    LaunchedWorkList work = joinLaunches(kernels, callOf);
    for (const uint32_t row : rows.graphs)
        work.items.push_back(
            {trace.graphs.startNs[row], trace.graphs.endNs[row], graphBit | static_cast<Key>(trace.graphs.graph[row])});
    sortLarge(work.items, [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
    return work;
}

/// Returns the sequence of the last `items`, from number `first` on.
Sequence sequenceFrom(const LargeVector<Sequence::Item>& items, size_t first) {
    LargeMemory* const memory = items.get_allocator().memory();
    Sequence sequence(memory);
    sequence.sums.push_back(0);
    for (size_t index = first; index < items.size(); ++index) {
        const Key key = items[index].key;
        sequence.places.try_emplace(key, memory).first->second.push_back(static_cast<uint32_t>(sequence.items.size()));
        sequence.items.push_back(items[index]);
        sequence.sums.push_back(sequence.sums.back() + mixed(key + 1));
    }
    return sequence;
}

/// Returns true if a piece has the typical length, except for occasional logging or clipping.
bool isAlike(size_t length, size_t typicalLength) {
    const auto typical = static_cast<double>(typicalLength);
    return std::abs(static_cast<double>(length) - typical) <= lengthTolerance * typical;
}

/// Returns the share of the kernels in pieces about as long as `typicalLength`, since a step sometimes logs or clips
/// more. 0 if most pieces have another length, such as those of a kernel that start-up launches, too.
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

/// Returns the length of the piece that most often has the same content.
size_t typicalLengthOf(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    std::unordered_map<uint64_t, size_t> kernelsOf;  // by content of a piece
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

/// Returns the similarity of the pieces between `places`, as a share of their kernels; 0 for too few or too small ones.
double alikeShareOf(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    if (places.size() < minRepetitions) return 0;
    const size_t covered = places.back() - places.front();
    if (static_cast<double>(covered) < coveredShare * static_cast<double>(sequence.items.size())) return 0;
    const size_t typicalLength = typicalLengthOf(sequence, places);
    if (places.size() < minShortPieces && typicalLength < shortPiece) return 0;
    return shareInPiecesOf(typicalLength, places);
}

/// Returns the median time from the preceding kernel to each of `places`.
double pauseBefore(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    std::vector<int64_t> pauses;
    for (const uint32_t place : places)
        if (place > 0) pauses.push_back(sequence.items[place].startNs - sequence.items[place - 1].endNs);
    return medianOf(pauses);
}

/// Returns names whose launches divide the run into pieces nearly as similar as those of any other.
std::vector<Key> goodDividers(const Sequence& sequence) {
    std::vector<std::pair<Key, double>> shares;
    double best = minPatternAlikeShare;
    for (const auto& [key, places] : sequence.places) {
        shares.emplace_back(key, alikeShareOf(sequence, places));
        best = std::max(best, shares.back().second);
    }
    std::vector<Key> keys;
    for (const auto& [key, share] : shares)
        if (share >= std::max(minPatternAlikeShare, best - alikeTolerance)) keys.push_back(key);
    return keys;
}

/// Returns the divider with the most pieces, then with the longest pause before it, then the one launched first.
std::optional<Key> bestDivider(const Sequence& sequence) {
    std::optional<Key> best;
    std::tuple<size_t, double, int64_t> bestRank;
    for (const Key key : goodDividers(sequence)) {
        const LargeVector<uint32_t>& places = sequence.places.at(key);
        const std::tuple rank(places.size(), pauseBefore(sequence, places), -int64_t{places.front()});
        if (best && rank <= bestRank) continue;
        best = key;
        bestRank = rank;
    }
    return best;
}

/// Removes everything before the first two regular pieces.
LargeVector<uint32_t> withoutBeginning(LargeVector<uint32_t> places, size_t typicalLength) {
    size_t first = 0;
    const auto isGood = [&](size_t index) {
        return index + 1 >= places.size() || isAlike(places[index + 1] - places[index], typicalLength);
    };
    while (first + minRepetitions < places.size() && !(isGood(first) && isGood(first + 1))) ++first;
    places.erase(places.begin(), places.begin() + static_cast<ptrdiff_t>(first));
    return places;
}

/// The last piece ends with the run, unless more follows than a piece takes.
int64_t endOfLast(const Sequence& sequence, const LargeVector<uint32_t>& places) {
    const size_t length = places[places.size() - 1] - places[places.size() - 2];
    const size_t end = std::min(sequence.items.size(), places.back() + length);
    int64_t endNs = 0;
    for (size_t place = places.back(); place < end; ++place) endNs = std::max(endNs, sequence.items[place].endNs);
    return endNs;
}

std::string nameOf(const Trace& trace, const LaunchedWorkList& work, Key key) {
    if (key & graphBit) return fmt::format("CUDA graph {}", key & ~graphBit);
    if (const auto graph = work.firstKernels.find(key); graph != work.firstKernels.end()) key = graph->second;
    return std::string(trace.strings.at(static_cast<StringIndex>(key)));
}

/// Numbers of the pieces of a run that have something, ascending, each once.
using PieceNumbers = std::vector<uint32_t>;

/// Returns the number of pieces from one of these to the next if nearly always the same and at least two; else 0.
uint32_t distanceOf(const PieceNumbers& numbers, size_t pieces) {
    if (numbers.size() < minRepetitions || 2 * numbers.size() > pieces + 1) return 0;
    std::vector<uint32_t> distances;
    for (size_t index = 1; index < numbers.size(); ++index) distances.push_back(numbers[index] - numbers[index - 1]);
    std::ranges::sort(distances);
    const uint32_t usual = distances[distances.size() / 2];
    const auto equal = static_cast<double>(std::ranges::count(distances, usual));
    const size_t covered = numbers.back() - numbers.front();
    const bool isRegular = equal >= minEqualDistances * static_cast<double>(distances.size()) &&
                           static_cast<double>(covered) >= coveredShare * static_cast<double>(pieces);
    return isRegular && usual > 1 ? usual : 0;
}

/// Larger repetitions that contain the same number of pieces each.
class OuterRepetition {
  public:
    OuterRepetition(const Trace& trace, const WorkRows::WorkerRows& rows, const LaunchedWorkList& work,
                    const Sequence& sequence, const LargeVector<uint32_t>& places)
        : trace_(trace), rows_(rows), work_(work), sequence_(sequence), places_(places) {}

    struct Found {
        Key first = 0;
        uint32_t piecesPerStep = 0;
        std::vector<uint32_t> places;
    };
    /// Returns nullopt if the pieces are the steps.
    std::optional<Found> find() const {
        if (updatesWeights()) return std::nullopt;
        std::map<uint32_t, std::vector<Key>> byDistance;
        for (const auto& [key, all] : sequence_.places)
            if (const uint32_t distance = distanceOf(piecesWith(all), places_.size()))
                byDistance[distance].push_back(key);
        const std::map<uint32_t, size_t> copies = copyDistances();
        if (copies.contains(1)) return std::nullopt;
        std::optional<Found> best;
        size_t most = minOwnKernels - 1;
        for (const auto& [distance, keys] : byDistance) {
            const auto copied = copies.find(distance);
            const size_t count = keys.size() + (copied == copies.end() ? 0 : copied->second);
            if (count <= most) continue;
            most = count;
            best = Found{firstOf(keys), distance, {}};
        }
        if (!best) return std::nullopt;
        const LargeVector<uint32_t>& all = sequence_.places.at(best->first);
        uint32_t before = UINT32_MAX;
        for (const uint32_t place : all) {
            const uint32_t piece = pieceOf(place);
            if (piece != before) best->places.push_back(place);
            before = piece;
        }
        return best;
    }

  private:
    uint32_t pieceOf(uint32_t place) const {
        return static_cast<uint32_t>(std::ranges::upper_bound(places_, place) - places_.begin());
    }
    PieceNumbers piecesWith(const LargeVector<uint32_t>& all) const {
        PieceNumbers numbers;
        if (2 * all.size() > sequence_.items.size()) return numbers;
        for (const uint32_t place : all)
            if (const uint32_t piece = pieceOf(place); numbers.empty() || numbers.back() != piece)
                numbers.push_back(piece);
        return numbers;
    }
    bool updatesWeights() const {
        return std::ranges::any_of(sequence_.places, [this](const auto& each) {
            return 2 * each.second.size() >= places_.size() && isOptimizerKernel(nameOf(trace_, work_, each.first));
        });
    }
    /// Returns the number of kinds of copies from or to the host by their distance; 1 for most pieces.
    std::map<uint32_t, size_t> copyDistances() const {
        std::map<MemcpyKind, PieceNumbers> numbers;
        for (const uint32_t row : rows_.memcpys) {
            const MemcpyKind kind = trace_.memcpys.kind[row];
            if (kind != MemcpyKind::HtoD && kind != MemcpyKind::DtoH) continue;
            const auto after = std::ranges::partition_point(
                places_, [&](uint32_t place) { return sequence_.items[place].startNs <= trace_.memcpys.startNs[row]; });
            const auto piece = static_cast<uint32_t>(after - places_.begin());
            PieceNumbers& all = numbers[kind];
            if (all.empty() || all.back() != piece) all.push_back(piece);
        }
        std::map<uint32_t, size_t> result;
        for (const auto& [kind, all] : numbers) {
            if (2 * all.size() > places_.size())
                ++result[1];
            else if (const uint32_t distance = distanceOf(all, places_.size()))
                ++result[distance];
        }
        return result;
    }
    /// Returns the kernel with the longest pause before it, then the one launched first.
    Key firstOf(const std::vector<Key>& keys) const {
        return *std::ranges::max_element(keys, [this](Key a, Key b) {
            const auto rank = [this](Key key) {
                const LargeVector<uint32_t>& all = sequence_.places.at(key);
                return std::tuple(pauseBefore(sequence_, all), -int64_t{all.front()});
            };
            return rank(a) < rank(b);
        });
    }

    const Trace& trace_;
    const WorkRows::WorkerRows& rows_;
    const LaunchedWorkList& work_;
    const Sequence& sequence_;
    const LargeVector<uint32_t>& places_;
};

}  // namespace

bool isOptimizerKernel(std::string_view name) {
    return name.find(normKernel) == std::string_view::npos &&
           std::ranges::any_of(optimizerKernels,
                               [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

KernelPattern findKernelPattern(const Trace& trace, const WorkRows::WorkerRows& rows, const LaunchRows& calls,
                                RepetitionSize size) {
    const LaunchedWorkList work = workOf(trace, rows, calls);
    KernelPattern pattern;
    for (const size_t part : {1, 2, 4}) {
        const Sequence sequence = sequenceFrom(work.items, work.items.size() - work.items.size() / part);
        const std::optional<Key> key = bestDivider(sequence);
        if (!key) continue;
        const LargeVector<uint32_t>& found = sequence.places.at(*key);
        LargeVector<uint32_t> places = withoutBeginning(found, typicalLengthOf(sequence, found));
        pattern.kernel = nameOf(trace, work, *key);
        const OuterRepetition larger(trace, rows, work, sequence, places);
        if (const auto outer = size == RepetitionSize::Steps ? larger.find() : std::nullopt) {
            pattern.part = std::exchange(pattern.kernel, nameOf(trace, work, outer->first));
            pattern.partsPerStep = outer->piecesPerStep;
            places.assign(outer->places.begin(), outer->places.end());
        }
        for (const uint32_t place : places) pattern.startsNs.push_back(sequence.items[place].startNs);
        pattern.endNs = endOfLast(sequence, places);
        break;
    }
    return pattern;
}

}  // namespace lanescope
