// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerLaunches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/trace/ColumnReader.h"
#include "model/trace/Track.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// A stream with this share of the work of the busiest is a main stream.
constexpr double mainShare = 0.5;

/// Evidence for the main streams, best first.
enum class StreamEvidence : uint8_t { Kernels, Graphs, Memory };
constexpr size_t streamEvidenceCount = 3;

/// Sorts the GPU work of a run by worker.
class Gatherer {
  public:
    explicit Gatherer(const Trace& trace)
        : trace_(trace),
          calls_(trace),
          rows_(trace),
          sumsNs_(trace.streams.size()),
          isNccl_(trace.launchConfigs.size()) {
        for (size_t config = 0; config < isNccl_.size(); ++config)
            isNccl_[config] =
                kernelCategory(trace.strings.at(trace.launchConfigs[config].shortName)) == SliceCategory::NcclKernel;
    }

    /// With memory for the work of one worker at a time.
    std::vector<WorkerLaunches> gather() {
        const GpusOfProcesses gpus(trace_);
        std::vector<WorkerLaunches> result;
        for (uint32_t process = 0; process < trace_.processes.size(); ++process)
            for (const uint32_t gpu : gpus.of(process)) {
                LargeVector<Launch> launches = launchesOf(rows_.of(process, gpu));
                result.emplace_back(process, gpu, std::move(launches), mainStreamsOf(process, gpu));
            }
        return result;
    }

  private:
    using Launch = WorkerLaunches::Launch;

    LargeVector<Launch> launchesOf(const WorkRows::WorkerRows& rows) {
        LargeVector<Launch> launches(trace_.memory.get());
        launches.reserve(rows.kernels.size() + rows.memcpys.size() + rows.memsets.size() + rows.graphs.size());
        const auto always = [](uint32_t) { return true; };
        ColumnReader config(trace_.kernels.config);
        add(
            trace_.kernels, rows.kernels, calls_.ofKernel, StreamEvidence::Kernels,
            [&](uint32_t row) { return !isNccl_[config[row]]; }, launches);
        add(trace_.memcpys, rows.memcpys, calls_.ofMemcpy, StreamEvidence::Memory, always, launches);
        add(trace_.memsets, rows.memsets, calls_.ofMemset, StreamEvidence::Memory, always, launches);
        add(trace_.graphs, rows.graphs, calls_.ofGraph, StreamEvidence::Graphs, always, launches);
        return launches;
    }

    template <class Table, class Counts>
    void add(const Table& table, std::span<const uint32_t> rows, const LargeVector<uint32_t>& calls,
             StreamEvidence evidence, Counts counts, LargeVector<Launch>& launches) {
        ColumnReader startNs(table.startNs), endNs(table.endNs), callNs(trace_.apiCalls.startNs);
        ColumnReader streams(table.stream);
        for (const uint32_t row : rows) {
            const uint32_t stream = streams[row];
            const bool isKnown = calls[row] != noIndex;
            const int64_t launchNs = isKnown ? callNs[calls[row]] : startNs[row];
            launches.push_back(
                {launchNs, startNs[row], endNs[row], stream, isKnown, evidence == StreamEvidence::Memory});
            int64_t& sumNs = sumsNs_[stream][static_cast<size_t>(evidence)];
            if (counts(row)) sumNs = saturatingSum(sumNs, endNs[row] - startNs[row]);
        }
    }

    std::vector<uint32_t> mainStreamsOf(uint32_t process, uint32_t gpu) const {
        std::vector<uint32_t> own, streams;
        for (uint32_t stream = 0; stream < trace_.streams.size(); ++stream)
            if (trace_.streams[stream].process == process && trace_.streams[stream].gpu == gpu) own.push_back(stream);
        for (size_t evidence = 0; evidence < streamEvidenceCount && streams.empty(); ++evidence) {
            int64_t maxStreamNs = 0;
            for (const uint32_t stream : own) maxStreamNs = std::max(maxStreamNs, sumsNs_[stream][evidence]);
            if (maxStreamNs == 0) continue;
            for (const uint32_t stream : own)
                if (static_cast<double>(sumsNs_[stream][evidence]) >= mainShare * static_cast<double>(maxStreamNs))
                    streams.push_back(stream);
        }
        return streams;
    }

    const Trace& trace_;
    const LaunchRows calls_;
    const WorkRows rows_;
    std::vector<std::array<int64_t, streamEvidenceCount>> sumsNs_;  ///< By stream.
    std::vector<bool> isNccl_;                                      ///< By launch configuration.
};

}  // namespace

size_t WorkerLaunches::Times::firstFrom(int64_t timeNs) const {
    constexpr size_t blockSize = Column<int64_t>::blockSize;
    const auto block = std::lower_bound(everyBlock_.begin(), everyBlock_.end(), timeNs) - everyBlock_.begin();
    if (block == 0) return 0;
    // The time is in the block before, or is the first of this one.
    size_t low = static_cast<size_t>(block - 1) * blockSize;
    size_t high = std::min(low + blockSize, all_.size());
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        all_[middle] < timeNs ? low = middle + 1 : high = middle;
    }
    return low;
}

WorkerLaunches::WorkerLaunches(uint32_t process, uint32_t gpu, LargeVector<Launch> launches,
                               const std::vector<uint32_t>& mainStreams)
    : process_(process),
      gpu_(gpu),
      launchNs_(launches.get_allocator().memory()),
      sumsNs_(launches.get_allocator().memory()),
      computing_(launches.get_allocator().memory()),
      mainNs_(launches.get_allocator().memory()),
      endNs_(launches.get_allocator().memory()),
      startNs_(launches.get_allocator().memory()) {
    // The order of equal ones does not matter: no sum ends between them.
    const auto isEarlier = [](const Launch& a, const Launch& b) { return a.launchNs < b.launchNs; };
    if (!std::is_sorted(launches.begin(), launches.end(), isEarlier))
        std::sort(launches.begin(), launches.end(), isEarlier);
    const bool hasComputing = std::ranges::any_of(launches, [](const Launch& each) { return !each.isMemory; });
    int64_t sumNs = 0, endNs = INT64_MIN;
    uint32_t computing = 0;
    sumsNs_.push_back(sumNs);
    computing_.push_back(computing);
    LargeVector<int64_t> startsNs(launches.get_allocator().memory());
    for (const Launch& each : launches) {
        launchNs_.push_back(each.launchNs);
        sumNs = saturatingSum(sumNs, each.endNs - each.startNs);
        sumsNs_.push_back(sumNs);
        computing += !each.isMemory || !hasComputing ? 1 : 0;
        computing_.push_back(computing);
        const bool isMain = std::binary_search(mainStreams.begin(), mainStreams.end(), each.stream);
        if (!isMain || !each.isCallKnown) continue;
        mainNs_.push_back(each.launchNs);
        endNs = std::max(endNs, each.endNs);
        endNs_.push_back(endNs);
        startsNs.push_back(each.startNs);
    }
    for (size_t index = startsNs.size(); index-- > 1;)
        startsNs[index - 1] = std::min(startsNs[index - 1], startsNs[index]);
    for (const int64_t startNs : startsNs) startNs_.push_back(startNs);
}

size_t WorkerLaunches::count(TimeRange launched) const { return launchNs_.countWithin(launched); }

size_t WorkerLaunches::countComputing(TimeRange launched) const {
    if (launched.isEmpty()) return 0;
    return computing_[launchNs_.firstFrom(launched.endNs)] - computing_[launchNs_.firstFrom(launched.startNs)];
}

int64_t WorkerLaunches::gpuNs(TimeRange launched) const {
    if (launched.isEmpty()) return 0;
    return sumsNs_[launchNs_.firstFrom(launched.endNs)] - sumsNs_[launchNs_.firstFrom(launched.startNs)];
}

int64_t WorkerLaunches::halfLaunchedNs() const { return launchNs_.empty() ? 0 : launchNs_[launchNs_.size() / 2]; }

int64_t WorkerLaunches::onGpu(int64_t cpuNs) const {
    const size_t next = mainNs_.firstFrom(cpuNs);
    int64_t gpuNs = cpuNs;
    if (next < startNs_.size()) gpuNs = std::min(gpuNs, startNs_[next]);
    if (next > 0) gpuNs = std::max(gpuNs, endNs_[next - 1]);
    return gpuNs;
}

std::vector<WorkerLaunches> launchesOf(const Trace& trace) { return Gatherer(trace).gather(); }

namespace {

constexpr size_t minRepetitions = 3;
/// Two pieces with the same few kernels occur by chance, or in a loop within a step.
constexpr size_t minShortPieces = 5, shortPiece = 20;
constexpr double minPatternAlikeShare = 0.7;
constexpr double alikeTolerance = 0.1;
constexpr double coveredShare = 0.5;
constexpr double lengthTolerance = 0.05;

/// Identifies a launch: a name, or the number of a graph.
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

/// Spreads the bits of a number (the finalizer of MurmurHash3), so that sums distinguish bags.
uint64_t mixed(uint64_t bits) {
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdULL;
    bits ^= bits >> 33;
    bits *= 0xc4ceb9fe1a85ec53ULL;
    return bits ^ (bits >> 33);
}

LargeVector<Sequence::Item> itemsOf(const Trace& trace, const WorkRows::WorkerRows& rows) {
    LargeVector<Sequence::Item> items(trace.memory.get());
    for (const uint32_t row : rows.kernels) {
        const LaunchConfig& config = trace.launchConfigs[trace.kernels.config[row]];
        if (kernelCategory(trace.strings.at(config.shortName)) != SliceCategory::NcclKernel)
            items.push_back({trace.kernels.startNs[row], trace.kernels.endNs[row], config.demangledName});
    }
    for (const uint32_t row : rows.graphs)
        items.push_back(
            {trace.graphs.startNs[row], trace.graphs.endNs[row], graphBit | static_cast<Key>(trace.graphs.graph[row])});
    sortLarge(items, [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
    return items;
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

/// Returns the similarity of the pieces into which `places` divide the run, as a share of their
/// kernels; 0 if there are too few or if they omit too much.
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

std::string nameOf(const Trace& trace, Key key) {
    if (key & graphBit) return fmt::format("CUDA graph {}", key & ~graphBit);
    return std::string(trace.strings.at(static_cast<StringIndex>(key)));
}

}  // namespace

KernelPattern findKernelPattern(const Trace& trace, const WorkRows::WorkerRows& rows) {
    const LargeVector<Sequence::Item> items = itemsOf(trace, rows);
    KernelPattern pattern;
    for (const size_t part : {1, 2, 4}) {
        const Sequence sequence = sequenceFrom(items, items.size() - items.size() / part);
        const std::optional<Key> key = bestDivider(sequence);
        if (!key) continue;
        const LargeVector<uint32_t>& found = sequence.places.at(*key);
        const LargeVector<uint32_t> places = withoutBeginning(found, typicalLengthOf(sequence, found));
        pattern.kernel = nameOf(trace, *key);
        for (const uint32_t place : places) pattern.startsNs.push_back(sequence.items[place].startNs);
        pattern.endNs = endOfLast(sequence, places);
        break;
    }
    return pattern;
}

}  // namespace lanescope
