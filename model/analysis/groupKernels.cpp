// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/groupKernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "model/analysis/stepRanges.h"
#include "model/format/factNames.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/trace/Column.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

// Meaning of a place, in bits above its frame; no trace has as many frames.
constexpr uint32_t lentBit = 1u << 31, capturedBit = 1u << 30, frameBits = capturedBit - 1;
/// Work or a group of kernels has a line as its place if the line has at least this share of its time or calls.
constexpr double minLineShare = 0.2;
/// A function is the place of launches if it makes this multiple of those of any line, as a loop with many operations.
constexpr int64_t linesOfFunction = 2;

}  // namespace

WorkPlaces::WorkPlaces(const Trace& trace, std::span<const uint32_t> ownPlaces) : trace_(trace), frames_(ownPlaces) {}

PythonPlace WorkPlaces::placeOf(const GpuWork& work) const {
    if (frames_.empty()) return {};
    if (graphNodeOf(trace_, work.event) != noIndex) return pythonPlace(trace_, work.event);
    if (work.call == noIndex) return {};
    return pythonPlace(trace_, EventRef(EventKind::Api, work.call));
}

void WorkPlaces::add(const GpuWork& work) {
    if (frames_.empty()) return;
    const std::optional<uint32_t> key = keyOf(placeOf(work));
    if (!key) return;
    int64_t& launchedNs = launchedNs_[uint64_t{work.contributor} << 32 | *key];
    launchedNs = saturatingSum(launchedNs, work.endNs - work.movingFromNs);
}

std::optional<uint32_t> WorkPlaces::keyOf(const PythonPlace& place) const {
    if (place.stack >= frames_.size() || frames_[place.stack] > frameBits) return std::nullopt;
    return frames_[place.stack] | (place.isLent ? lentBit : 0) | (place.isCaptured ? capturedBit : 0);
}

bool WorkPlaces::isOfCaller(uint32_t key) { return (key & lentBit) != 0; }

CodePlace WorkPlaces::codeOf(uint32_t key) const {
    const bool isLent = (key & lentBit) != 0;
    const std::string_view relation = (key & capturedBit) != 0 ? (isLent ? "captured by a call from " : "captured at ")
                                      : isLent                 ? "called from "
                                                               : "launched at ";
    const std::string line = lineOf(key);
    return {std::string(relation) + line, line};
}

std::string WorkPlaces::lineOf(uint32_t key) const { return frameText(trace_, key & frameBits); }

std::pair<CodePlace, int64_t> WorkPlaces::mainPlace(std::span<const uint32_t> calls) const {
    std::unordered_map<uint32_t, int64_t> counts;
    for (const uint32_t call : calls)
        if (const auto key = keyOf(pythonPlace(trace_, EventRef(EventKind::Api, call)))) ++counts[*key];
    struct Most {
        uint32_t key = 0;
        int64_t count = 0;

        void see(uint32_t other, int64_t of) {
            if (of > count || (of == count && other < key)) *this = {other, of};
        }
    };
    Most line, function;
    std::map<std::pair<StringIndex, StringIndex>, Most> functions;  // any of its lines, all of its calls
    for (const auto& [key, count] : counts) {
        line.see(key, count);
        if (key > frameBits) continue;
        Most& its = functions[{trace_.stacks.file[key], trace_.stacks.function[key]}];
        its = {its.count == 0 ? key : std::min(its.key, key), its.count + count};
    }
    for (const auto& [names, its] : functions) function.see(its.key, its.count);
    const auto isEnough = [&](const Most& each) {
        return each.count > 0 && static_cast<double>(each.count) >= minLineShare * static_cast<double>(calls.size());
    };
    if (isEnough(function) && function.count >= linesOfFunction * line.count) {
        const FrameRef frame = frameRef(trace_, function.key);
        return {{fmt::format("in {} ({})", frame.function, frame.file)}, function.count};
    }
    return isEnough(line) ? std::pair(codeOf(line.key), line.count) : std::pair(CodePlace{}, int64_t{0});
}

void WorkPlaces::setLines(std::span<Contributor> contributors) const {
    for (const auto& [key, ns] : launchedNs_) {
        const uint64_t number = key >> 32;
        if (number >= contributors.size()) continue;
        Contributor& contributor = contributors[number];
        const int64_t exposedNs = std::min(contributor.exposedNs, contributor.totalNs);
        const int64_t overlappedNs = contributor.totalNs - exposedNs;
        // In the worst case all overlapped time belongs to this line.
        if (ns - overlappedNs <= exposedNs / 2) continue;
        contributor.launched = codeOf(static_cast<uint32_t>(key));
        contributor.isOfCaller = isOfCaller(static_cast<uint32_t>(key));
    }
}

LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows, const WorkList& work,
                        const WorkPlaces& places) {
    LargeVector<uint32_t> calls(trace.memory.get());
    auto window = windows.begin();
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        while (window != windows.end() && window->endNs <= each->startNs) ++window;
        if (window == windows.end()) break;
        if (each->startNs >= window->startNs && each->call != noIndex && each->event.kind() == EventKind::Kernel)
            calls.push_back(each->call);
    }
    // The kernels of a graph have one call, and those of other streams may run between them.
    std::ranges::sort(calls);
    const auto end = std::unique(calls.begin(), calls.end());
    LargeVector<int64_t> takenNs(trace.memory.get());
    takenNs.reserve(static_cast<size_t>(end - calls.begin()));
    ColumnReader startNs(trace.apiCalls.startNs), endNs(trace.apiCalls.endNs);
    for (auto call = calls.begin(); call != end; ++call) takenNs.push_back(endNs[*call] - startNs[*call]);
    const size_t count = takenNs.size();
    auto [place, placeCount] = places.mainPlace({calls.data(), count});
    return {static_cast<int64_t>(count), static_cast<int64_t>(medianOf({takenNs.data(), count})), std::move(place),
            placeCount};
}

std::string_view identifier(LaunchPurpose purpose) {
    return enumText(purpose, {"none", "optimizer", "gradient_norm", "recomputation", "evaluation", "tuning"});
}

std::string_view identifier(KernelSequence sequence) {
    return enumText(sequence, {"none", "chain", "loop", "attention"});
}

namespace {

/// `caller` is the function that called it.
LaunchPurpose purposeOf(std::string_view file, std::string_view function, std::string_view caller) {
    if ((file.ends_with("/triton/runtime/autotuner.py") && contains(function, "_bench")) ||
        (file.ends_with("/triton/testing.py") && contains(function, "do_bench")))
        return LaunchPurpose::Tuning;
    if (contains(file, "/optim/") || contains(file, "/optimizers/")) return LaunchPurpose::Optimizer;
    if (contains(function, "clip_grad") || contains(function, "get_total_norm")) return LaunchPurpose::GradientNorm;
    if (isRecomputation(file, function)) return LaunchPurpose::Recomputation;
    if (contains(file, "/torchmetrics/")) return LaunchPurpose::Evaluation;
    if (isLibraryFile(file)) return LaunchPurpose::None;
    // A function within another is called by its own name: "metrics.<locals>.step".
    constexpr std::string_view within = "<locals>.";
    if (const size_t at = function.rfind(within); at != std::string_view::npos)
        function.remove_prefix(at + within.size());
    // The decorators torch.no_grad and torch.inference_mode.
    const bool isWithoutGradients = contains(caller, "decorate_context");
    return namesEvaluation(function, isWithoutGradients) ? LaunchPurpose::Evaluation : LaunchPurpose::None;
}

/// Maximum number of kernels between both products of attention: scale, mask, conversions, softmax, dropout, a copy.
constexpr size_t maxBetweenProducts = 14;
/// Maximum number of kernels in a sequence of a stream, to bound memory. A longer sequence is divided.
constexpr size_t maxWaiting = 4096;
/// A grid of at most this number of blocks per SM is small.
constexpr double maxSmallGridShare = 0.25;
/// So many elementwise kernels in sequence are a chain; from `minLoopLength` on a loop, with `minLoopRounds` per line.
constexpr size_t minChainLength = 4, minLoopLength = 32, minLoopRounds = 8;
/// Adam reads four values of each parameter and writes three; its longest single operation reads three and writes one.
constexpr double optimizerPasses = 2;
/// Launching one kernel of a loop takes up to this time. Longer idle times have other causes.
constexpr int64_t maxLaunchGapNs = 50'000;

struct ConfigClass {
    KernelClass is;
    bool isSmallGrid = false;
};

/// A launch of a kernel.
struct Launch {
    uint32_t config = 0;
    std::optional<uint32_t> place = std::nullopt;
    LaunchPurpose purpose = LaunchPurpose::None;
    double exposedNs = 0;
    int64_t idleNs = 0;   ///< The GPU had nothing to do before it.
    bool isAlone = true;  ///< Without another kernel on the GPU for at least half of its time.
};

auto largestOf(const auto& times) {
    return std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
}

class Grouper {
  public:
    Grouper(const RunContext& run, uint32_t gpu, const WorkPlaces& places)
        : trace_(run.trace),
          places_(places),
          classes_(run.trace.launchConfigs.size()),
          lastUses_(run.trace.launchConfigs.size()) {
        const int64_t sms = trace_.gpus[gpu].smCount;
        smallBlocks_ = static_cast<double>(sms) * maxSmallGridShare;
    }

    void add(uint32_t stream, const Launch& launch) {
        Stream& of = streams_[stream];
        const ConfigClass& known = classOf(launch.config);
        switch (known.is.family) {
            case KernelFamily::MatrixProduct:
                resolve(of, true);
                of.product = launch;
                return;
            case KernelFamily::Softmax:
            case KernelFamily::Elementwise:
            case KernelFamily::Conversion:
            case KernelFamily::Movement:
            case KernelFamily::Reduction:
            case KernelFamily::Fill: break;
            default:
                resolve(of, false);
                count(launch, KernelSequence::None);
                return;
        }
        of.waiting.push_back(launch);
        if (of.waiting.size() >= maxWaiting) resolve(of, false);
    }

    std::vector<KernelGroup> finish() {
        for (auto& [stream, of] : streams_) resolve(of, false);
        using Key = std::tuple<KernelFamily, KernelPrecision, KernelTrait, LaunchPurpose, KernelSequence, bool>;
        std::map<Key, std::vector<const std::pair<const Use, Counted>*>> usesOf;
        for (const auto& use : uses_) {
            const ConfigClass& known = classOf(use.first.config);
            usesOf[{known.is.family, known.is.precision, known.is.trait, use.first.purpose, use.first.sequence,
                    use.first.isSmallGrid}]
                .push_back(&use);
        }
        std::vector<KernelGroup> groups;
        for (const auto& [key, uses] : usesOf) {
            const auto& [family, precision, trait, purpose, sequence, isSmallGrid] = key;
            KernelGroup& group =
                groups.emplace_back(KernelGroup{family, precision, trait, purpose, sequence, isSmallGrid});
            double exposedNs = 0, savedNs = 0;
            std::map<uint32_t, double> ofPlace;
            for (const auto* each : uses) {
                const auto& [use, counted] = *each;
                exposedNs += counted.exposedNs;
                group.count += counted.count;
                group.sequences += counted.sequences;
                savedNs += counted.savedNs;
                if (use.place) ofPlace[*use.place] += counted.exposedNs;
            }
            group.exposedNs = static_cast<int64_t>(exposedNs);
            group.savedNs = static_cast<int64_t>(savedNs);
            const std::optional<uint32_t> place = mainPlace(ofPlace, exposedNs, sequence != KernelSequence::None);
            if (place) group.launched = places_.codeOf(*place).text;
            std::map<uint32_t, double> ofOwn = ofPlace;
            std::erase_if(ofOwn, [](const auto& each) { return WorkPlaces::isOfCaller(each.first); });
            if (!ofOwn.empty()) group.written = places_.lineOf(largestOf(ofOwn)->first);
            std::map<StringIndex, double> ofName;
            for (const auto* each : uses)
                if (!place || each->first.place == place)
                    ofName[trace_.launchConfigs.demangledName(each->first.config)] += each->second.exposedNs;
            group.name = trace_.strings.at(largestOf(ofName)->first);
        }
        std::ranges::stable_sort(groups, std::ranges::greater(), &KernelGroup::exposedNs);
        return groups;
    }

  private:
    struct Stream {
        std::optional<Launch> product;  ///< The last product, if nothing but `waiting` followed.
        bool isOfAttention = false;     ///< The product ends an attention.
        std::vector<Launch> waiting;
    };
    struct Use {
        uint32_t config = 0;
        std::optional<uint32_t> place;
        LaunchPurpose purpose = LaunchPurpose::None;
        KernelSequence sequence = KernelSequence::None;
        bool isSmallGrid = false;
        bool operator==(const Use&) const = default;
    };
    struct Hash {
        size_t operator()(const Use& use) const {
            const uint64_t place = use.place ? uint64_t{*use.place} + 1 : 0;
            return std::hash<uint64_t>()((place << 28 ^ uint64_t{use.config} << 8 ^
                                          static_cast<uint64_t>(use.purpose) << 4 ^
                                          static_cast<uint64_t>(use.sequence) << 1 ^ uint64_t{use.isSmallGrid}) *
                                         0x9e3779b97f4a7c15ULL);
        }
    };
    struct Counted {
        int64_t count = 0, sequences = 0;
        double exposedNs = 0, savedNs = 0;
    };

    /// Returns the line with most time, if it has a fifth of all. A sequence is written in the forward pass, so its
    /// lines precede the call of the backward pass.
    static std::optional<uint32_t> mainPlace(const std::map<uint32_t, double>& times, double allNs, bool isSequence) {
        for (const bool ownOnly : {true, false}) {
            if (ownOnly && !isSequence) continue;
            std::map<uint32_t, double> some = times;
            std::erase_if(some, [&](const auto& each) { return ownOnly && WorkPlaces::isOfCaller(each.first); });
            const auto most = largestOf(some);
            if (most != some.end() && most->second >= minLineShare * allNs) return most->first;
        }
        return std::nullopt;
    }

    const ConfigClass& classOf(uint32_t config) {
        std::optional<ConfigClass>& known = classes_[config];
        if (!known) {
            const LaunchConfig launch = trace_.launchConfigs[config];
            // Many configurations differ in their grid only.
            const auto [named, isNew] = classOfName_.try_emplace(launch.demangledName);
            if (isNew) named->second = kernelClass(trace_.strings.at(launch.demangledName));
            const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
            known = {named->second, blocks > 0 && blocks <= smallBlocks_};
        }
        return *known;
    }

    Counted& count(const Launch& launch, KernelSequence sequence) {
        const bool isSmallGrid = launch.isAlone && classOf(launch.config).isSmallGrid;
        const Use use{launch.config, launch.place, launch.purpose, sequence, isSmallGrid};
        std::pair<const Use, Counted>*& last = lastUses_[launch.config];
        if (last == nullptr || last->first != use) last = &*uses_.try_emplace(use).first;
        Counted& counted = last->second;
        ++counted.count;
        counted.exposedNs += launch.exposedNs;
        return counted;
    }

    /// Counts a sequence once.
    void countAll(std::span<const Launch> launches, KernelSequence sequence) {
        const auto longest = std::ranges::max_element(launches, {}, &Launch::exposedNs);
        const double savedNs = savedByFusing(launches, sequence);
        for (auto each = launches.begin(); each != launches.end(); ++each) {
            Counted& counted = count(*each, sequence);
            if (each != longest) continue;
            ++counted.sequences;
            counted.savedNs += savedNs;
        }
    }

    /// A fused kernel moves the bytes of the longest single operation. No call is between two kernels of a loop.
    double savedByFusing(std::span<const Launch> launches, KernelSequence sequence) {
        double allNs = 0, longestNs = 0, idleNs = 0;
        for (const Launch& each : launches) {
            allNs += each.exposedNs;
            longestNs = std::max(longestNs, each.exposedNs);
            if (&each != &launches.front() && each.idleNs <= maxLaunchGapNs) idleNs += static_cast<double>(each.idleNs);
        }
        if (sequence == KernelSequence::Chain) return allNs - longestNs;
        if (sequence == KernelSequence::Loop) return allNs + idleNs - longestOperationNs(launches);
        const bool isOfOptimizer = launches.front().purpose == LaunchPurpose::Optimizer;
        return isOfOptimizer ? allNs - optimizerPasses * longestOperationNs(launches) : 0;
    }

    /// Returns the time of the line and kernel with most.
    double longestOperationNs(std::span<const Launch> launches) {
        std::map<std::pair<std::optional<uint32_t>, StringIndex>, double> ofOperation;
        for (const Launch& each : launches)
            ofOperation[{each.place, trace_.launchConfigs.demangledName(each.config)}] += each.exposedNs;
        return largestOf(ofOperation)->second;
    }

    /// Ends the sequence of a stream at a product or another kernel.
    void resolve(Stream& of, bool isAtProduct) {
        const bool isAttention = isAtProduct && of.product && of.waiting.size() <= maxBetweenProducts &&
                                 std::ranges::any_of(of.waiting, [this](const Launch& each) {
                                     const KernelClass& is = classOf(each.config).is;
                                     return is.family == KernelFamily::Softmax && is.trait != KernelTrait::LogSoftmax;
                                 });
        if (of.product)
            count(*of.product, isAttention || of.isOfAttention ? KernelSequence::Attention : KernelSequence::None);
        of.product.reset();
        of.isOfAttention = isAttention;
        if (isAttention)
            countAll(of.waiting, KernelSequence::Attention);
        else
            countChains(of.waiting);
        of.waiting.clear();
    }

    /// Kernels that a compiler made are fused already.
    bool isInChain(const Launch& launch) {
        const KernelClass& is = classOf(launch.config).is;
        return !is.isCompiled() && is.family != KernelFamily::Softmax && is.family != KernelFamily::Movement;
    }

    void countChains(std::span<const Launch> launches) {
        while (!launches.empty()) {
            size_t length = 0, elementwise = 0;
            std::set<uint32_t> lines, names;
            for (; length < launches.size() && isInChain(launches[length]) &&
                   launches[length].purpose == launches.front().purpose;
                 ++length) {
                const Launch& each = launches[length];
                elementwise += classOf(each.config).is.family == KernelFamily::Elementwise ? 1 : 0;
                if (each.place) lines.insert(*each.place);
                names.insert(trace_.launchConfigs.demangledName(each.config));
            }
            const bool isRepeated = elementwise >= minLoopRounds * (lines.empty() ? names : lines).size();
            // An optimizer has its own fused kernels.
            const bool isOfOptimizer = launches.front().purpose == LaunchPurpose::Optimizer;
            const KernelSequence sequence = isOfOptimizer                                ? KernelSequence::None
                                            : elementwise >= minLoopLength && isRepeated ? KernelSequence::Loop
                                            : elementwise >= minChainLength              ? KernelSequence::Chain
                                                                                         : KernelSequence::None;
            length = std::max<size_t>(length, 1);
            countAll(launches.first(length), sequence);
            launches = launches.subspan(length);
        }
    }

    const Trace& trace_;
    const WorkPlaces& places_;
    double smallBlocks_ = 0;
    std::vector<std::optional<ConfigClass>> classes_;  ///< By launch configuration.
    std::unordered_map<StringIndex, KernelClass> classOfName_;
    std::map<uint32_t, Stream> streams_;
    std::unordered_map<Use, Counted, Hash> uses_;
    std::vector<std::pair<const Use, Counted>*> lastUses_;  ///< By launch configuration; null before the first one.
};

/// Passes launches on, in order, when it is known how long other kernels ran next to them.
class NeighbourCheck {
  public:
    explicit NeighbourCheck(Grouper& grouper) : grouper_(grouper) {}

    void add(TimeRange times, uint32_t stream, const Launch& launch) {
        for (Waiting& each : waiting_) each.share(times);
        constexpr size_t maxNeighbours = 256;
        const bool isFull = waiting_.size() >= maxNeighbours;
        while (!waiting_.empty() && (waiting_.front().times.endNs <= times.startNs || isFull)) pass();
        Waiting& added = waiting_.emplace_back(Waiting{times, stream, launch, times.startNs});
        added.share({times.startNs, latestEndNs_});
        latestEndNs_ = std::max(latestEndNs_, times.endNs);
    }
    void finish() {
        while (!waiting_.empty()) pass();
    }

  private:
    struct Waiting {
        TimeRange times;
        uint32_t stream;
        Launch launch;
        int64_t sharedToNs;  ///< Until then it is known.
        int64_t sharedNs = 0;

        /// `other` begins no earlier.
        void share(TimeRange other) {
            const TimeRange more = times.intersected({std::max(other.startNs, sharedToNs), other.endNs});
            if (more.durationNs() <= 0) return;
            sharedNs += more.durationNs();
            sharedToNs = more.endNs;
        }
    };
    void pass() {
        Waiting& first = waiting_.front();
        first.launch.isAlone = 2 * first.sharedNs <= first.times.durationNs();
        grouper_.add(first.stream, first.launch);
        waiting_.pop_front();
    }

    Grouper& grouper_;
    std::deque<Waiting> waiting_;
    int64_t latestEndNs_ = std::numeric_limits<int64_t>::min();
};

}  // namespace

std::vector<LaunchPurpose> launchPurposes(const Trace& trace) {
    std::vector<LaunchPurpose> purposes(trace.stacks.size(), LaunchPurpose::None);
    std::map<std::tuple<StringIndex, StringIndex, StringIndex>, LaunchPurpose> known;
    for (uint32_t stack = 0; stack < purposes.size(); ++stack) {
        const StackTable& stacks = trace.stacks;
        const uint32_t outer = outerStack(trace, stack);
        const StringIndex caller = outer == noIndex ? 0 : stacks.function[outer];
        const auto [found, isNew] =
            known.try_emplace({stacks.file[stack], stacks.function[stack], caller}, LaunchPurpose::None);
        if (isNew)
            found->second = purposeOf(trace.strings.at(stacks.file[stack]), trace.strings.at(stacks.function[stack]),
                                      trace.strings.at(caller));
        const LaunchPurpose own = found->second, inherited = outer == noIndex ? own : purposes[outer];
        // An optimizer's step may call the model, as a closure does.
        const bool isModel = inherited == LaunchPurpose::Optimizer &&
                             trace.strings.at(stacks.file[stack]).ends_with("/torch/nn/modules/module.py");
        purposes[stack] = own != LaunchPurpose::None || isModel ? own : inherited;
    }
    return purposes;
}

std::vector<KernelGroup> groupKernels(const RunContext& run, const WorkList& work, const WorkerSteps& steps,
                                      std::span<const Contributor> contributors,
                                      std::span<const LaunchPurpose> purposes, const WorkPlaces& places) {
    const Trace& trace = run.trace;
    Grouper grouper(run, steps.gpu, places);
    NeighbourCheck launches(grouper);
    ColumnReader stream(trace.kernels.stream), config(trace.kernels.config);
    int64_t busyToNs = -std::numeric_limits<int64_t>::max();
    for (WorkList::Reader reader(work); !reader.isAtEnd(); reader.next()) {
        const GpuWork& each = *reader;
        const int64_t idleNs = each.startNs > busyToNs ? saturatingSum(each.startNs, -busyToNs) : 0;
        busyToNs = std::max(busyToNs, each.endNs);
        if (each.part != StepPart::Compute || each.event.kind() != EventKind::Kernel) continue;
        if (steps.stepOf(each.startNs, launchedNs(run, each)) == noIndex) continue;
        // The share of its kind that did not overlap other compute work.
        const Contributor& of = contributors[each.contributor];
        const double share = of.totalNs > 0 ? static_cast<double>(of.exposedNs) / static_cast<double>(of.totalNs) : 0;
        const PythonPlace place = places.placeOf(each);
        const bool isKnown = place.stack < purposes.size() && !place.isLent;
        const uint32_t row = each.event.row();
        launches.add({each.startNs, each.endNs}, stream[row],
                     {config[row], places.keyOf(place), isKnown ? purposes[place.stack] : LaunchPurpose::None,
                      share * static_cast<double>(each.endNs - each.startNs), idleNs});
    }
    launches.finish();
    return grouper.finish();
}

std::vector<KernelGroup> kernelsOf(const WorkerSummary& worker) {
    if (!worker.kernels.empty()) return worker.kernels;
    std::vector<KernelGroup> groups;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) continue;
        const KernelClass is = kernelClass(each.name.work);
        KernelGroup& group = groups.emplace_back();
        group.family = is.family;
        group.precision = is.precision;
        group.trait = is.trait;
        group.count = each.count;
        group.exposedNs = each.exposedNs;
        group.name = each.name.work;
        group.launched = each.launched.text;
    }
    return groups;
}

std::vector<FamilySum> familySums(const WorkerSummary& worker) {
    struct Sum {
        FamilySum made;
        int64_t largestNs = -1;
        std::map<KernelPrecision, int64_t> ofPrecision;
    };
    std::map<KernelFamily, Sum> sums;
    int64_t restNs = worker.totalParts()[StepPart::Compute];
    for (const KernelGroup& each : kernelsOf(worker)) {
        Sum& sum = sums[each.family];
        sum.made.family = each.family;
        sum.made.count = saturatingSum(sum.made.count, each.count);
        sum.made.exposedNs = saturatingSum(sum.made.exposedNs, each.exposedNs);
        sum.ofPrecision[each.precision] = saturatingSum(sum.ofPrecision[each.precision], each.exposedNs);
        restNs = saturatingSum(restNs, -std::max<int64_t>(each.exposedNs, 0));
        if (each.exposedNs <= sum.largestNs) continue;
        sum.largestNs = each.exposedNs;
        sum.made.name = each.name;
        sum.made.launched = each.launched;
    }
    if (restNs > 0) {
        FamilySum& other = sums[KernelFamily::Other].made;
        other.family = KernelFamily::Other;
        other.exposedNs = saturatingSum(other.exposedNs, restNs);
    }
    std::vector<FamilySum> made;
    for (auto& [family, sum] : sums) {
        const bool multiplies = family == KernelFamily::MatrixProduct || family == KernelFamily::Convolution;
        for (const auto& [precision, ns] : sum.ofPrecision)
            if (multiplies && 2 * static_cast<double>(ns) > static_cast<double>(sum.made.exposedNs))
                sum.made.precision = precision;
        made.push_back(std::move(sum.made));
    }
    std::ranges::stable_sort(made, std::ranges::greater(), &FamilySum::exposedNs);
    return made;
}

}  // namespace lanescope::analysis
