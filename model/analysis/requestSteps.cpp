// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/requestSteps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/MixedMap.h"
#include "model/numbers/Statistics.h"
#include "model/text/collectiveKernels.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/allKinds.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/stacks.h"

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

/// Required share of equal distances between pieces with the same other work, or between updates, and number of such
/// kernels and copies.
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

/// Returns the distance of most of these ascending numbers, at least two, if it is nearly always the same; else 0.
template <class Number>
Number frequentDistance(const std::vector<Number>& numbers) {
    std::vector<Number> distances;
    for (size_t index = 1; index < numbers.size(); ++index) distances.push_back(numbers[index] - numbers[index - 1]);
    std::ranges::sort(distances);
    const Number usual = distances[distances.size() / 2];
    const auto equal = static_cast<double>(std::ranges::count(distances, usual));
    return equal >= minEqualDistances * static_cast<double>(distances.size()) ? usual : 0;
}

/// Returns the number of pieces from one of these to the next if nearly always the same and at least two; else 0.
uint32_t distanceOf(const PieceNumbers& numbers, size_t pieces) {
    if (numbers.size() < minRepetitions || 2 * numbers.size() > pieces + 1) return 0;
    const size_t covered = numbers.back() - numbers.front();
    if (static_cast<double>(covered) < coveredShare * static_cast<double>(pieces)) return 0;
    const uint32_t usual = frequentDistance(numbers);
    return usual > 1 ? usual : 0;
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

constexpr std::array<std::string_view, 5> batchWords{"batch", "minibatch", "microbatch", "micro", "accumulation"};
constexpr std::array<std::string_view, 3> microWords{"microbatch", "micro", "accumulation"};
constexpr size_t minUpdates = 3;

bool areBatches(std::string_view pattern) { return hasWord(pattern, batchWords); }
bool isMicroBatch(std::string_view pattern) { return hasWord(pattern, microWords); }

/// Returns true if units of the pattern may be parts of a step. Ranges that the program calls steps are its steps.
bool canBeParts(const RunSteps& run) {
    if (run.source == StepSource::KernelPattern || run.source == StepSource::PythonLoop) return true;
    if (run.source != StepSource::NvtxRange || run.kind == StepKind::Request) return false;
    return areBatches(run.pattern) || stepNamingOf(run.pattern) == StepNaming::Nothing;
}

/// Configurations that launch optimizer kernels, by index.
std::vector<bool> updatingConfigs(const Trace& trace) {
    std::vector<bool> isUpdate;
    for (const LaunchConfig& config : trace.launchConfigs)
        isUpdate.push_back(
            isOptimizerKernel(trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName)));
    return isUpdate;
}

/// Times at which optimizer kernels were launched, or ran.
enum class UpdateTime : uint8_t { OfLaunch, OnGpu };

/// Returns these times by process, in order.
std::vector<std::vector<int64_t>> updatesOf(const Trace& trace, UpdateTime time) {
    std::vector<std::vector<int64_t>> updates(trace.processes.size());
    const std::vector<bool> isUpdate = updatingConfigs(trace);
    if (std::ranges::none_of(isUpdate, [](bool each) { return each; })) return updates;
    const LaunchRows calls(trace);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
        if (!isUpdate[trace.kernels.config[row]]) continue;
        const uint32_t call = calls.ofKernel[row];
        if (time == UpdateTime::OnGpu)
            updates[trace.streams[trace.kernels.stream[row]].process].push_back(trace.kernels.startNs[row]);
        else if (call != noIndex)
            updates[trace.threads[trace.apiCalls.thread[call]].process].push_back(trace.apiCalls.startNs[call]);
    }
    for (std::vector<int64_t>& each : updates) std::ranges::sort(each);
    return updates;
}

/// Returns the time range by which launches and kernels belong to a step.
TimeRange spanOf(const StepSpan& step) { return step.launches.isEmpty() ? step.range : step.launches; }

bool holdsAny(const std::vector<int64_t>& timesNs, TimeRange range) {
    const auto first = std::ranges::lower_bound(timesNs, range.startNs);
    return first != timesNs.end() && *first < range.endNs;
}

/// Returns the indices of the batches in which weights are updated.
std::vector<size_t> updatingSteps(const std::vector<StepSpan>& steps, const std::vector<int64_t>& updatesNs) {
    std::vector<size_t> places;
    for (size_t place = 0; place < steps.size(); ++place)
        if (holdsAny(updatesNs, spanOf(steps[place]))) places.push_back(place);
    return places;
}

/// Returns the number of batches between two updates; 1 if irregular.
size_t batchesPerUpdate(const std::vector<size_t>& places) {
    return places.size() < minUpdates ? 1 : std::max<size_t>(1, frequentDistance(places));
}

bool followEachOther(const std::vector<StepSpan>& steps, size_t first, size_t last) {
    for (size_t place = first; place < last; ++place)
        if (spanOf(steps[place]).endNs != spanOf(steps[place + 1]).startNs) return false;
    return true;
}

/// Joins the `count` batches up to each update into one step, unless other work is between them.
std::vector<StepSpan> mergedSteps(const WorkerSteps& worker, const std::vector<size_t>& places, size_t count) {
    std::vector<StepSpan> grouped;
    for (const size_t last : places) {
        if (last + 1 < count) continue;
        const size_t first = last + 1 - count;
        if (!followEachOther(worker.steps, first, last)) continue;
        StepSpan step = worker.steps[first];
        if (!grouped.empty() && spanOf(step).startNs < spanOf(grouped.back()).endNs) continue;
        const StepSpan& end = worker.steps[last];
        step.number = static_cast<int64_t>(grouped.size());
        step.range.endNs = end.range.endNs;
        step.launches.endNs = end.launches.endNs;
        step.onCpu.endNs = end.onCpu.endNs;
        grouped.push_back(std::move(step));
    }
    return grouped;
}

void replaceSteps(WorkerSteps& worker, std::vector<StepSpan> grouped, size_t lastUpdate, size_t count) {
    worker.isLastLeftOut = worker.isLastLeftOut || lastUpdate + 1 < worker.steps.size();
    worker.steps = std::move(grouped);
    worker.foundCount =
        std::max(worker.foundCount / static_cast<int64_t>(count), static_cast<int64_t>(worker.steps.size()));
}

/// Returns the indices of the ranges after which the numbers in the names begin again, as those of layers.
std::vector<size_t> endsOfCounts(const std::vector<StepSpan>& steps) {
    std::vector<size_t> places;
    int64_t before = -1;
    for (size_t place = 0; place < steps.size(); ++place) {
        const std::string_view name = steps[place].name;
        const auto number = ownNumbers({&name, 1});
        if (!number) return {};
        if (number->front() <= before) places.push_back(place - 1);
        before = number->front();
    }
    return places;
}

using Ends = std::vector<std::vector<size_t>>;

/// Groups the units of each worker up to these ends, if they are equally far from each other in all workers.
bool groupUpTo(RunSteps& run, const Ends& ends) {
    size_t count = 0;
    for (const std::vector<size_t>& ofWorker : ends) {
        const size_t here = batchesPerUpdate(ofWorker);
        if (here < 2 || (count != 0 && here != count)) return false;
        count = here;
    }
    std::vector<std::vector<StepSpan>> grouped;
    for (size_t worker = 0; worker < run.workers.size(); ++worker) {
        grouped.push_back(mergedSteps(run.workers[worker], ends[worker], count));
        if (grouped.back().empty()) return false;
    }
    run.units.insert(run.units.begin(), {run.source, run.pattern, run.workers.front().foundCount});
    run.rangesPerStep = static_cast<int64_t>(count);
    for (size_t worker = 0; worker < run.workers.size(); ++worker)
        replaceSteps(run.workers[worker], std::move(grouped[worker]), ends[worker].back(), count);
    return true;
}

constexpr std::array<std::string_view, 4> requestWords{"request", "requests", "req", "query"};
/// Names of a loop's parts. A wait of such a loop is no evidence for a server.
constexpr std::array<std::string_view, 10> loopWords{"step",  "steps",   "iter",      "iteration", "iterations",
                                                     "batch", "batches", "minibatch", "epoch",     "rollout"};
constexpr std::array<std::string_view, 10> trainingWords{"backward",  "optimizer", "optim",    "grad",  "gradient",
                                                         "gradients", "train",     "training", "wgrad", "dgrad"};
/// Parts of names of kernels that run only in training.
constexpr std::array<std::string_view, 8> trainingKernels{"ackward", "Adam",  "adam",  "SGD",
                                                          "sgd_",    "wgrad", "dgrad", "transpose(jvp"};
constexpr std::string_view autogradThread = "pt_autograd";
/// Files in which data loaders wait for their workers.
constexpr std::array<std::string_view, 3> loaderFiles{"utils/data/", "python/data/", "dataloader"};

constexpr size_t minBoundaries = 5;
constexpr double minWaitedShare = 0.6;       ///< Share of the time between requests.
constexpr double minWaitedShareOfAll = 0.1;  ///< Share of the time of all requests and between.
constexpr double maxOthersRunShare = 0.25;   ///< Share of that time, for all other threads together.
/// Periods are irregular if the difference of their 90th and 10th percentile is at least this multiple of the median.
constexpr double minSpread = 0.25;
/// Number of pauses examined for activity of other threads; fewer with very many threads, up to the total of queries.
constexpr size_t maxExaminedPauses = 4096, maxQueries = 20'000'000;
constexpr size_t maxFrames = 64;

bool hasTrainingRange(const Trace& trace) {
    std::vector<bool> isKnown(trace.strings.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        const StringIndex text = trace.nvtx.text[row];
        if (text >= isKnown.size() || isKnown[text]) continue;
        isKnown[text] = true;
        if (hasWord(trace.strings.at(text), trainingWords)) return true;
    }
    return false;
}

bool hasTrainingKernel(const Trace& trace) {
    return std::ranges::any_of(trace.launchConfigs, [&](const LaunchConfig& config) {
        const std::string_view name =
            trace.strings.at(config.demangledName != 0 ? config.demangledName : config.shortName);
        return containsAny(name, trainingKernels) || isGradientCollective(name);
    });
}

/// Work of one worker, by start.
struct Work {
    int64_t startNs = 0, endNs = 0;
    uint32_t thread = noIndex;  ///< The launching thread.
};

/// The time from the last work of a step to the first of the next.
struct Boundary {
    TimeRange idle;
    uint32_t thread = noIndex;
    size_t step = 0;  ///< The worker's step before it.
};

class RequestTeller {
  public:
    RequestTeller(const Trace& trace, RunSteps& run) : trace_(trace), run_(run), states_(trace) {}

    void tell() {
        gatherWork();
        for (size_t worker = 0; worker < run_.workers.size(); ++worker) {
            // Pauses of one GPU do not overlap, but those of several GPUs of a process do.
            ProvenWaits waits(trace_, states_);
            findBoundaries(worker, waits);
            waitedNs_ = saturatingSum(waitedNs_, waits.outsideNs());
        }
        if (!areRequests()) return;
        run_.kind = StepKind::Request;
        for (size_t worker = 0; worker < run_.workers.size(); ++worker)
            for (const Boundary& each : boundaries_[worker]) endAt(worker, each);
    }

  private:
    void gatherWork() {
        work_.resize(run_.workers.size());
        boundaries_.resize(run_.workers.size());
        MixedMap<uint64_t, uint32_t> workerOf;
        for (uint32_t worker = 0; worker < run_.workers.size(); ++worker)
            workerOf.try_emplace(uint64_t{run_.workers[worker].process} << 32 | run_.workers[worker].gpu, worker);
        forEachLaunchedWork(trace_, [&](const LaunchedWork& work) {
            const uint32_t process =
                visitKind(work.work.kind(), [&](auto each) { return each.processOf(trace_, work.work.row()); });
            const auto worker = workerOf.find(uint64_t{process} << 32 | work.gpu);
            if (worker == workerOf.end()) return;
            work_[worker->second].push_back({work.times.startNs, work.times.endNs,
                                             work.call == noIndex ? noIndex : trace_.apiCalls.thread[work.call]});
        });
        for (std::vector<Work>& each : work_)
            std::ranges::sort(each, {}, [](const Work& work) { return std::pair(work.startNs, work.endNs); });
    }

    void findBoundaries(size_t worker, ProvenWaits& waits) {
        const std::vector<StepSpan>& steps = run_.workers[worker].steps;
        auto next = work_[worker].begin();
        int64_t busyUntilNs = next == work_[worker].end() ? 0 : next->startNs;
        // Also after the last one: the following time is no step, but the awaited one.
        for (size_t step = 0; step < steps.size(); ++step) {
            for (; next != work_[worker].end() && next->startNs < steps[step].range.endNs; ++next)
                busyUntilNs = std::max(busyUntilNs, next->endNs);
            if (next == work_[worker].end()) return;
            const int64_t nextNs = step + 1 < steps.size() ? steps[step + 1].range.startNs : next->startNs;
            periodsNs_.push_back(nextNs - steps[step].range.startNs);
            allNs_ = saturatingSum(allNs_, periodsNs_.back());
            if (next->startNs <= busyUntilNs) continue;
            Boundary boundary{{busyUntilNs, next->startNs}, next->thread, step};
            if (boundary.thread == noIndex) boundary.thread = run_.workers[worker].stepThread;
            if (boundary.thread != noIndex && !states_.isEmpty(boundary.thread) && !isInLoader(boundary))
                waits.add(boundary.thread, boundary.idle);
            boundaries_[worker].push_back(boundary);
        }
    }

    /// Returns true if samples saw the thread where a data loader waits for its workers.
    bool isInLoader(const Boundary& boundary) {
        bool isLoader = false;
        states_.forEachIn(boundary.thread, boundary.idle, [&](uint32_t row, TimeRange) {
            if (isLoader) return;
            const uint32_t stack = trace_.cpuStates.stack[row];
            const auto [known, isNew] = isLoader_.try_emplace(stack, false);
            if (isNew) known->second = isInLoader(stack);
            isLoader = known->second;
        });
        return isLoader;
    }

    bool isInLoader(uint32_t stack) const {
        return std::ranges::any_of(framesOf(trace_, stack) | std::views::take(maxFrames), [this](uint32_t frame) {
            return containsAny(trace_.strings.at(trace_.stacks.file[frame]), loaderFiles);
        });
    }

    bool areRequests() const {
        int64_t idleNs = 0;
        size_t count = 0;
        for (const std::vector<Boundary>& ofWorker : boundaries_) {
            for (const Boundary& each : ofWorker) idleNs = saturatingSum(idleNs, each.idle.durationNs());
            count += ofWorker.size();
        }
        const auto waitedNs = static_cast<double>(waitedNs_);
        return count >= minBoundaries && waitedNs >= minWaitedShare * static_cast<double>(idleNs) &&
               waitedNs >= minWaitedShareOfAll * static_cast<double>(allNs_) && areIrregular() && didOthersRest();
    }

    bool areIrregular() const {
        const double spreadNs = quantileOf(periodsNs_, 0.9) - quantileOf(periodsNs_, 0.1);
        return spreadNs >= minSpread * quantileOf(periodsNs_, 0.5);
    }

    bool didOthersRest() const {
        std::vector<uint32_t> threads;
        for (uint32_t thread = 0; thread < trace_.threads.size(); ++thread)
            if (!states_.isEmpty(thread)) threads.push_back(thread);
        size_t left = std::clamp(maxQueries / std::max<size_t>(threads.size(), 1), minBoundaries, maxExaminedPauses);
        int64_t idleNs = 0, workedNs = 0;
        for (const std::vector<Boundary>& ofWorker : boundaries_) {
            const auto pauses = std::span(ofWorker).first(std::min(ofWorker.size(), left));
            left -= pauses.size();
            if (pauses.empty()) continue;
            for (const Boundary& each : pauses) idleNs = saturatingSum(idleNs, each.idle.durationNs());
            for (const uint32_t thread : threads) {
                ProvenWaits others(trace_, states_);
                for (const Boundary& each : pauses)
                    if (each.thread != thread) others.add(thread, each.idle);
                workedNs = saturatingSum(workedNs, others.workedNs());
            }
        }
        return static_cast<double>(workedNs) <= maxOthersRunShare * static_cast<double>(idleNs);
    }

    void endAt(size_t worker, const Boundary& boundary) {
        TimeRange& range = run_.workers[worker].steps[boundary.step].range;
        range.endNs = std::clamp(boundary.idle.startNs, range.startNs, range.endNs);
    }

    const Trace& trace_;
    RunSteps& run_;
    const StatesOfThreads states_;
    int64_t waitedNs_ = 0;  ///< Total of all pauses.
    std::unordered_map<uint32_t, bool> isLoader_;
    std::vector<std::vector<Work>> work_;            ///< By worker.
    std::vector<std::vector<Boundary>> boundaries_;  ///< By worker.
    std::vector<int64_t> periodsNs_;
    int64_t allNs_ = 0;
};

}  // namespace

bool isOptimizerKernel(std::string_view name) {
    return !contains(name, normKernel) && containsAny(name, optimizerKernels);
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

void groupParts(const Trace& trace, RunSteps& run) {
    if (run.workers.empty() || !canBeParts(run)) return;
    const auto updates =
        updatesOf(trace, run.source == StepSource::KernelPattern ? UpdateTime::OnGpu : UpdateTime::OfLaunch);
    Ends ends;
    for (const WorkerSteps& worker : run.workers) ends.push_back(updatingSteps(worker.steps, updates[worker.process]));
    if (groupUpTo(run, ends) || run.source != StepSource::NvtxRange) return;
    // Batch numbers may start at 0 again in each epoch.
    if (areBatches(run.pattern) && !isMicroBatch(run.pattern)) return;
    ends.clear();
    for (const WorkerSteps& worker : run.workers) ends.push_back(endsOfCounts(worker.steps));
    groupUpTo(run, ends);
}

WeightUpdates::WeightUpdates(const Trace& trace) : timesNs_(updatesOf(trace, UpdateTime::OfLaunch)) {}

double WeightUpdates::shareOf(const StepMarks& marks) const {
    if (marks.marks.empty()) return 0;
    const auto with = std::ranges::count_if(
        marks.marks, [&](const StepMark& mark) { return holdsAny(timesNs_[marks.process], mark.range); });
    return static_cast<double>(with) / static_cast<double>(marks.marks.size());
}

bool isTraining(const Trace& trace) {
    const auto sums = [&trace](StringIndex operation) {
        const std::string_view name = trace.strings.at(operation);
        return name == "AllReduce" || name == "ReduceScatter";
    };
    for (uint32_t row = 0; row < trace.nccl.size(); ++row)
        if (sums(trace.nccl.operation[row])) return true;
    for (const Thread& thread : trace.threads)
        if (thread.name.starts_with(autogradThread)) return true;
    return hasTrainingKernel(trace) || hasTrainingRange(trace);
}

bool isRequestName(std::string_view pattern) { return hasWord(pattern, requestWords); }

bool areRequestsNamed(const Trace& trace, std::string_view pattern) {
    return isRequestName(pattern) && !isTraining(trace);
}

void markRequests(const Trace& trace, RunSteps& run) {
    if (run.source == StepSource::WholeRun || run.source == StepSource::Chosen) return;
    if (run.kind == StepKind::Request || trace.cpuStates.size() == 0 || isTraining(trace)) return;
    if (run.source == StepSource::NvtxRange && hasWord(run.pattern, loopWords)) return;
    RequestTeller(trace, run).tell();
}

}  // namespace lanescope
