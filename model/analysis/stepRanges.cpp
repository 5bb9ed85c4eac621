// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/stepRanges.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "model/analysis/requestSteps.h"
#include "model/format/text.h"
#include "model/numbers/Statistics.h"
#include "model/text/knownRangeName.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

std::string rangePattern(std::string_view name) {
    std::string pattern;
    for (size_t at = 0; at < name.size();) {
        size_t end = at;
        while (end < name.size() && isDigit(name[end])) ++end;
        const bool isInWord = end < name.size() && isLetter(name[end]);
        if (end == at)
            pattern += name[at++];
        else if (isInWord)
            pattern += name.substr(at, end - at);
        else
            pattern += '#';
        at = std::max(at, end);
    }
    return pattern;
}

namespace {

/// Returns the numbers in a name; one that is too large for a step number is -1.
std::vector<int64_t> numbersIn(std::string_view name) {
    constexpr int64_t maxNumber = 1'000'000'000'000'000;
    std::vector<int64_t> numbers;
    bool wasDigit = false;
    for (const char c : name) {
        if (isDigit(c)) {
            if (!wasDigit) numbers.push_back(0);
            int64_t& number = numbers.back();
            number = number < 0 || number > maxNumber ? -1 : 10 * number + (c - '0');
        }
        wasDigit = isDigit(c);
    }
    return numbers;
}

}  // namespace

std::optional<std::vector<int64_t>> ownNumbers(std::span<const std::string_view> names) {
    if (names.empty()) return std::nullopt;
    std::vector<std::vector<int64_t>> all;
    for (const std::string_view name : names) {
        all.push_back(numbersIn(name));
        if (all.back().empty() || all.back().size() != all.front().size()) return std::nullopt;
    }
    std::optional<size_t> place;
    for (size_t number = 0; number < all.front().size(); ++number) {
        const bool varies =
            std::ranges::any_of(all, [&](const auto& each) { return each[number] != all.front()[number]; });
        if (!varies && (all.size() > 1 || all.front().size() > 1)) continue;
        if (place) return std::nullopt;
        place = number;
    }
    if (!place) return std::nullopt;
    std::vector<int64_t> own;
    for (const std::vector<int64_t>& each : all) {
        if (each[*place] < 0 || (!own.empty() && each[*place] <= own.back())) return std::nullopt;
        own.push_back(each[*place]);
    }
    return own;
}

std::vector<std::string> wordsOf(std::string_view name) {
    std::vector<std::string> words;
    char before = ' ';
    for (const char letter : name) {
        if (isLetter(letter)) {
            if (!isLetter(before) || (isUpper(letter) && isLower(before))) words.emplace_back();
            words.back() += lowerCase(letter);
        }
        before = letter;
    }
    return words;
}

bool hasWord(std::string_view name, std::span<const std::string_view> words) {
    return std::ranges::any_of(
        wordsOf(name), [words](const std::string& word) { return std::ranges::find(words, word) != words.end(); });
}

bool namesEvaluation(std::string_view name, bool isWithoutGradients) {
    static constexpr std::array<std::string_view, 10> certain{
        "validate", "validation", "metric", "metrics", "accuracy", "nan", "nans", "isnan", "isfinite", "finite"};
    static constexpr std::array<std::string_view, 4> likely{"eval", "evaluate", "evaluation", "valid"};
    return hasWord(name, certain) || (isWithoutGradients && hasWord(name, likely));
}

uint32_t RangeFamilies::of(StringIndex text) {
    const auto [known, isNew] = ofText_.try_emplace(text, 0);
    if (!isNew) return known->second;
    const std::string_view whole = trace_.strings.at(text);
    std::string name = knownRangeName(whole);
    if (name.empty()) name = whole;
    std::string pattern = rangePattern(name);
    const auto [family, isFirst] = byPattern_.try_emplace(pattern, static_cast<uint32_t>(families_.size()));
    if (isFirst) families_.push_back({std::move(pattern), {}, {}});
    Family& one = families_[family->second];
    one.texts.insert(text);
    if (one.names.size() < 2) one.names.insert(std::move(name));
    return known->second = family->second;
}

void RangeFamilies::addAll() {
    for (uint32_t row = 0; row < trace_.nvtx.size(); ++row) of(trace_.nvtx.text[row]);
}

std::string RangeFamilies::nameOf(uint32_t family) const {
    const Family& one = families_[family];
    return one.names.size() == 1 ? *one.names.begin() : one.pattern;
}

std::string RangeFamilies::searchFor(uint32_t family) const {
    const Family& one = families_[family];
    if (one.texts.size() == 1) return std::string(trace_.strings.at(*one.texts.begin()));
    const std::string name = nameOf(family);
    return std::string(searchedPart(name));
}

namespace {

/// Minimum number of ranges of a pattern; of a pattern named step; of a pattern by which a framework marks steps.
constexpr size_t minRanges = 3, minNamedSteps = 2, minAnnouncedRanges = 1;
/// Minimum share of a pattern's ranges with GPU work. A few ranges may have none.
constexpr double minShareWithWork = 0.8;
constexpr double minEvenShare = 0.5;
constexpr double evenFactor = 2;
constexpr size_t maxPatterns = 8;
/// Minimum share of the launches since the first range that are inside of ranges, for steps at uneven intervals.
constexpr double minShareOfLaunches = 0.9;
/// Minimum GPU time of a pattern, as a share of the pattern with most GPU time.
constexpr double minShareOfLargestRange = 0.5;
/// Minimum share of ranges without overlap. Above it, the ranges of all threads are one sequence.
constexpr double minAlternatingShare = 0.9;

constexpr std::array<std::string_view, 8> stepWords{"step",       "steps", "iter",  "iteration",
                                                    "iterations", "it",    "batch", "minibatch"};
constexpr std::array<std::string_view, 2> epochWords{"epoch", "epochs"};
/// Steps of torch.profiler.
constexpr std::array<std::string_view, 1> announcedPatterns{"ProfilerStep##"};
constexpr std::array<std::string_view, 8> preparingWords{"compile",  "compiler",  "compiling",  "compilation",
                                                         "autotune", "autotuner", "autotuning", "lowering"};

bool isClosedRange(const Trace& trace, uint32_t row) {
    return trace.nvtx.style[row] != NvtxStyle::Mark && trace.nvtx.isOpen[row] == 0 &&
           !isNcclDomain(trace.strings.at(trace.nvtx.domain[row]));
}

/// Collects the ranges of one pattern in one process, by start.
class RangesOfProcess {
  public:
    void add(const Trace& trace, uint32_t row) {
        List& own = ofThread_[trace.nvtx.thread[row]];
        if (!own.take(trace, row)) return;
        ++count_;
        together_.take(trace, row);
    }

    StepRanges finish(uint32_t process) {
        auto most = ofThread_.begin();
        for (auto each = ofThread_.begin(); each != ofThread_.end(); ++each)
            if (each->second.rows.size() > most->second.rows.size()) most = each;
        const bool takeTurns =
            static_cast<double>(together_.rows.size()) >= minAlternatingShare * static_cast<double>(count_);
        return {process, most->first, std::move(takeTurns ? together_.rows : most->second.rows)};
    }

  private:
    struct List {
        std::vector<uint32_t> rows;

        /// Returns false for a range that begins within another.
        bool take(const Trace& trace, uint32_t row) {
            if (!rows.empty() && trace.nvtx.startNs[row] < trace.nvtx.endNs[rows.back()]) return false;
            rows.push_back(row);
            return true;
        }
    };
    std::map<uint32_t, List> ofThread_;
    List together_;
    size_t count_ = 0;
};

using RangesByProcess = std::map<uint32_t, RangesOfProcess>;

/// By pattern.
std::map<std::string, RangesByProcess> rangesByPattern(const Trace& trace) {
    std::map<std::string, RangesByProcess> byPattern;
    std::vector<RangesByProcess*> known(trace.strings.size());  // one pattern per name
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        const StringIndex text = trace.nvtx.text[row];
        if (!isClosedRange(trace, row) || text >= known.size()) continue;
        const std::string_view domain = trace.strings.at(trace.nvtx.domain[row]);
        if (isCodeDomain(domain) || rangeAuthor({}, domain) == RangeAuthor::Library) continue;
        if (!known[text]) known[text] = &byPattern[rangePattern(trace.strings.at(text))];
        (*known[text])[trace.threads[trace.nvtx.thread[row]].process].add(trace, row);
    }
    return byPattern;
}

/// Similarity of a pattern's ranges to steps.
struct Likeness {
    bool isStep = false;  ///< In some process.
    bool isLate = false;
    StepNaming naming = StepNaming::Epochs;
    size_t count = 0;   ///< In the process with most.
    int64_t gpuNs = 0;  ///< GPU time of their launches.
    int64_t cpuNs = 0;  ///< CPU time of the ranges: an outer range takes longer.
    int64_t firstNs = 0;

    auto rank() const { return std::tuple(naming == StepNaming::Announced, isLate, naming, gpuNs, cpuNs, -firstNs); }
};

size_t minRangesOf(StepNaming naming) {
    if (naming == StepNaming::Announced) return minAnnouncedRanges;
    return naming == StepNaming::Steps ? minNamedSteps : minRanges;
}

/// Returns true if the name alone means repeated work: data, an environment or a client may determine its intervals.
bool isNameSufficient(StepNaming naming) { return naming >= StepNaming::Requests; }

/// Returns true if at least half of the later periods, range to range, are within a factor of two of their median.
bool isEven(std::vector<int64_t> periodsNs) {
    periodsNs.erase(periodsNs.begin(), periodsNs.begin() + static_cast<ptrdiff_t>(periodsNs.size() / 2));
    const double medianNs = medianOf(periodsNs);
    const auto even = std::ranges::count_if(periodsNs, [medianNs](int64_t ns) {
        const auto period = static_cast<double>(ns);
        return period * evenFactor >= medianNs && period <= evenFactor * medianNs;
    });
    return static_cast<double>(even) >= minEvenShare * static_cast<double>(periodsNs.size());
}

void addLikeness(const Trace& trace, const StepRanges& ranges, const std::vector<const WorkerLaunches*>& workers,
                 const std::map<uint32_t, std::vector<TimeRange>>& compiling, Likeness& likeness) {
    if (ranges.rows.size() < minRangesOf(likeness.naming)) return;
    const NvtxTable& nvtx = trace.nvtx;
    const int64_t sinceNs = nvtx.startNs[ranges.rows.front()];
    std::vector<int64_t> periodsNs;
    // A range during which CUDA activity was lost counts as a range with work.
    std::vector<TimeRange> lost;
    for (const Gap& gap : trace.processes[ranges.process].gaps)
        if (gap.what == Loss::CudaActivity) lost.push_back(gap.range);
    std::ranges::sort(lost, {}, &TimeRange::startNs);
    // No interval ends before an earlier interval, so that ends are sorted, too.
    for (size_t index = 1; index < lost.size(); ++index)
        lost[index].endNs = std::max(lost[index].endNs, lost[index - 1].endNs);
    const auto isWorkLost = [&lost](TimeRange range) {
        const auto after = std::ranges::lower_bound(lost, range.endNs, {}, &TimeRange::startNs);
        return after != lost.begin() && std::prev(after)->overlaps(range);
    };
    size_t withWork = 0, held = 0, launched = 0;
    int64_t gpuNs = 0, cpuNs = 0;
    for (size_t index = 0; index < ranges.rows.size(); ++index) {
        const TimeRange own{nvtx.startNs[ranges.rows[index]], nvtx.endNs[ranges.rows[index]]};
        cpuNs = saturatingSum(cpuNs, own.durationNs());
        TimeRange toNext = own;
        if (index + 1 < ranges.rows.size()) {
            toNext.endNs = nvtx.startNs[ranges.rows[index + 1]];
            periodsNs.push_back(toNext.durationNs());
        }
        withWork +=
            std::ranges::any_of(workers, [toNext](const auto* worker) { return worker->countComputing(toNext) > 0; }) ||
            isWorkLost(toNext);
        for (const WorkerLaunches* worker : workers) {
            gpuNs = saturatingSum(gpuNs, worker->gpuNs(own));
            held += worker->count(own);
        }
    }
    for (const WorkerLaunches* worker : workers) {
        launched += worker->count({sinceNs, INT64_MAX});
        if (likeness.naming != StepNaming::CompiledProgram || !compiling.contains(ranges.process)) continue;
        // A compiler tries kernels, which belong to no execution.
        int64_t fromNs = sinceNs;
        for (const TimeRange& each : compiling.at(ranges.process)) {
            if (each.endNs > fromNs) launched -= worker->count({std::max(fromNs, each.startNs), each.endNs});
            fromNs = std::max(fromNs, each.endNs);
        }
    }
    if (static_cast<double>(withWork) < minShareWithWork * static_cast<double>(ranges.rows.size())) return;
    const bool isAll = static_cast<double>(held) >= minShareOfLaunches * static_cast<double>(launched);
    if (!isNameSufficient(likeness.naming) && !isAll &&
        (likeness.naming == StepNaming::CompiledProgram || !isEven(std::move(periodsNs))))
        return;
    likeness.count = std::max(likeness.count, ranges.rows.size());
    const int64_t firstNs = nvtx.startNs[ranges.rows.front()];
    const int64_t lastNs = nvtx.startNs[ranges.rows.back()];
    likeness.firstNs = likeness.isStep ? std::min(likeness.firstNs, firstNs) : firstNs;
    likeness.isStep = true;
    likeness.gpuNs = saturatingSum(likeness.gpuNs, gpuNs);
    likeness.cpuNs = saturatingSum(likeness.cpuNs, cpuNs);
    for (const WorkerLaunches* worker : workers)
        likeness.isLate = likeness.isLate || lastNs >= worker->halfLaunchedNs();
}

using CountedNames = std::vector<std::pair<int64_t, std::string>>;

/// Returns the names, those with the greatest count first.
std::vector<std::string> namesByCount(CountedNames counted) {
    std::ranges::stable_sort(counted, std::ranges::greater(), &CountedNames::value_type::first);
    std::vector<std::string> names;
    for (auto& [count, name] : counted) names.push_back(std::move(name));
    return names;
}

struct Family {
    std::string pattern;
    StringIndex name = 0;  ///< Name of the first.
    bool hasSeveralNames = false;
    int64_t totalNs = 0;
    std::vector<int64_t> durationsNs;
    std::vector<std::pair<uint32_t, int64_t>> starts;  ///< Process and time.
    std::unordered_map<uint32_t, int64_t> endNs;       ///< By thread, of its last outermost call.
    TimeRange span;
};

std::vector<Family> familiesOf(const Trace& trace) {
    const NvtxTable& ranges = trace.nvtx;
    std::vector<Family> families;
    std::vector<size_t> ofName(trace.strings.size(), SIZE_MAX);
    std::unordered_map<std::string, size_t> ofPattern;
    for (uint32_t row = 0; row < ranges.size(); ++row) {
        const StringIndex name = ranges.text[row];
        const TimeRange range{ranges.startNs[row], ranges.endNs[row]};
        if (!isClosedRange(trace, row) || name == 0 || range.isEmpty()) continue;
        size_t& index = ofName[name];
        if (index == SIZE_MAX) {
            const std::string pattern = rangePattern(trace.strings.at(name));
            index = ofPattern.try_emplace(pattern, families.size()).first->second;
            if (index == families.size()) {
                families.emplace_back().pattern = pattern;
                families.back().name = name;
            }
        }
        Family& family = families[index];
        // Calls within a call of the same name are parts of it.
        if (ranges.style[row] == NvtxStyle::PushPop) {
            const auto [outer, isFirst] = family.endNs.try_emplace(ranges.thread[row], range.endNs);
            if (!isFirst && range.endNs <= outer->second) continue;
            outer->second = range.endNs;
        }
        family.hasSeveralNames |= family.name != name;
        family.span = family.durationsNs.empty() ? range : family.span.united(range);
        family.starts.emplace_back(trace.threads[ranges.thread[row]].process, range.startNs);
        family.totalNs = saturatingSum(family.totalNs, range.durationNs());
        family.durationsNs.push_back(range.durationNs());
    }
    return families;
}

/// The first of a run may take a thousand times as long as the others.
int64_t medianDistance(std::vector<std::pair<uint32_t, int64_t>>& starts) {
    std::ranges::sort(starts);
    std::vector<int64_t> ns;
    // From one to the next of the same process: ranks run side by side.
    for (size_t index = 1; index < starts.size(); ++index)
        if (starts[index].first == starts[index - 1].first)
            ns.push_back(starts[index].second - starts[index - 1].second);
    return ns.empty() ? 0 : static_cast<int64_t>(medianOf(ns));
}

MainRanges summed(const Trace& trace, Family& family) {
    const Statistics durations = statisticsOf(family.durationsNs);
    return {family.hasSeveralNames ? family.pattern : std::string(trace.strings.at(family.name)),
            durations.count,
            static_cast<int64_t>(durations.median),
            durations.maximum,
            medianDistance(family.starts),
            family.span};
}

void unite(std::optional<TimeRange>& span, const auto& table) {
    for (uint32_t row = 0; row < table.size(); ++row) {
        const TimeRange range{table.startNs[row], table.endNs[row]};
        span = span ? span->united(range) : range;
    }
}

}  // namespace

StepNaming stepNamingOf(std::string_view pattern) {
    if (std::ranges::find(announcedPatterns, pattern) != announcedPatterns.end()) return StepNaming::Announced;
    if (rangeAuthor(pattern) == RangeAuthor::CompiledProgram) return StepNaming::CompiledProgram;
    if (hasWord(pattern, epochWords)) return StepNaming::Epochs;
    if (hasWord(pattern, stepWords)) return StepNaming::Steps;
    return isRequestName(pattern) ? StepNaming::Requests : StepNaming::Nothing;
}

std::vector<StepCandidate> findStepPatterns(const Trace& trace, const std::vector<WorkerLaunches>& launches) {
    std::map<uint32_t, std::vector<const WorkerLaunches*>> workersOf;
    for (const WorkerLaunches& worker : launches) workersOf[worker.process()].push_back(&worker);
    std::vector<std::pair<std::string, Likeness>> found;
    int64_t largestNs = 0;
    std::optional<bool> trains;
    std::map<uint32_t, std::vector<TimeRange>> compiling;
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (isClosedRange(trace, row) && isXlaCompilation(trace.strings.at(trace.nvtx.text[row])))
            compiling[trace.threads[trace.nvtx.thread[row]].process].push_back(
                {trace.nvtx.startNs[row], trace.nvtx.endNs[row]});
    for (auto& [pattern, byProcess] : rangesByPattern(trace)) {
        if (hasWord(pattern, preparingWords) || rangeAuthor(pattern) == RangeAuthor::Library) continue;
        Likeness likeness{.naming = stepNamingOf(pattern)};
        if (likeness.naming == StepNaming::Requests) {
            if (!trains) trains = isTraining(trace);
            if (*trains) likeness.naming = StepNaming::Nothing;
        }
        for (auto& [process, ranges] : byProcess)
            if (const auto workers = workersOf.find(process); workers != workersOf.end())
                addLikeness(trace, ranges.finish(process), workers->second, compiling, likeness);
        if (!likeness.isStep) continue;
        largestNs = std::max(largestNs, likeness.gpuNs);
        found.emplace_back(pattern, likeness);
    }
    std::erase_if(found, [largestNs](const auto& each) {
        return static_cast<double>(each.second.gpuNs) < minShareOfLargestRange * static_cast<double>(largestNs);
    });
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return b.second.rank() < a.second.rank(); });
    std::vector<StepCandidate> patterns;
    for (auto& [pattern, likeness] : found)
        if (patterns.size() < maxPatterns) patterns.push_back({std::move(pattern), likeness.naming, likeness.count});
    return patterns;
}

size_t minStepsOf(std::string_view pattern) { return minRangesOf(stepNamingOf(pattern)); }

std::string findStepPattern(const Trace& trace) {
    std::vector<StepCandidate> patterns = findStepPatterns(trace, launchesOf(trace));
    return patterns.empty() ? std::string() : std::move(patterns.front().name);
}

StepMarks marksOf(const Trace& trace, const StepRanges& ranges) {
    StepMarks made{ranges.process, ranges.thread, {}};
    for (const uint32_t row : ranges.rows)
        made.marks.push_back(
            {{trace.nvtx.startNs[row], trace.nvtx.endNs[row]}, std::string(trace.strings.at(trace.nvtx.text[row]))});
    return made;
}

std::vector<StepRanges> stepRangesNamed(const Trace& trace, std::string_view name) {
    const bool isPattern = name.find('#') != std::string_view::npos;
    std::vector<std::optional<bool>> matches(trace.strings.size());  // each text is matched once
    RangesByProcess byProcess;
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
        if (!isClosedRange(trace, row) || trace.nvtx.text[row] >= matches.size()) continue;
        std::optional<bool>& isNamed = matches[trace.nvtx.text[row]];
        const std::string_view text = trace.strings.at(trace.nvtx.text[row]);
        if (!isNamed) isNamed = text == name || (isPattern && rangePattern(text) == name);
        if (*isNamed) byProcess[trace.threads[trace.nvtx.thread[row]].process].add(trace, row);
    }
    std::vector<StepRanges> result;
    for (auto& [process, ranges] : byProcess) result.push_back(ranges.finish(process));
    return result;
}

std::map<std::string, int64_t> rangeCounts(const Trace& trace) {
    std::vector<int64_t> countOf(trace.strings.size());
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (trace.nvtx.style[row] != NvtxStyle::Mark) ++countOf[trace.nvtx.text[row]];
    std::map<std::string, int64_t> result, patternCount, namesOfPattern;
    for (StringIndex text = 1; text < countOf.size(); ++text) {
        if (countOf[text] == 0) continue;
        const std::string name(trace.strings.at(text));
        const std::string pattern = rangePattern(name);
        result[name] += countOf[text];
        patternCount[pattern] += countOf[text];
        ++namesOfPattern[pattern];
    }
    for (const auto& [pattern, names] : namesOfPattern)
        if (names > 1) result[pattern] = patternCount[pattern];
    return result;
}

std::vector<std::string> rangeChoices(const Trace& trace, size_t most) {
    const auto counts = rangeCounts(trace);
    CountedNames choices;
    for (const auto& [name, count] : counts) {
        const std::string pattern = rangePattern(name);
        if (pattern == name || !counts.contains(pattern)) choices.emplace_back(count, name);
    }
    std::vector<std::string> names = namesByCount(std::move(choices));
    names.resize(std::min(most, names.size()));
    return names;
}

tl::unexpected<Error> noSuchRange(const Trace& trace, std::string_view name) {
    constexpr size_t enough = 12;
    CountedNames similar;
    for (const auto& [other, count] : rangeCounts(trace))
        if (!name.empty() && other.starts_with(name)) similar.emplace_back(count, other);
    std::vector<std::string> offers = namesByCount(std::move(similar));
    if (offers.empty()) {
        offers = rangeChoices(trace, std::numeric_limits<size_t>::max());
        const std::string steps = findStepPattern(trace);
        std::erase(offers, steps);
        if (!steps.empty()) offers.insert(offers.begin(), steps);
    }
    if (offers.empty())
        return fail(
            "{} has no NVTX ranges at all, so none is called \"{}\"; leave the name away, or mark the steps of the "
            "training with NVTX and record again.",
            trace.title, name);
    const size_t others = offers.size() - std::min(enough, offers.size());
    offers.resize(offers.size() - others);
    return fail("{} has no NVTX range called \"{}\"; there {} \"{}\"{}.", trace.title, name,
                offers.size() == 1 ? "is" : "are", fmt::join(offers, "\", \""),
                others > 0 ? fmt::format(" and {} other{}", others, others == 1 ? "" : "s") : "");
}

std::vector<std::string> commonRangeNames(const Trace& baseline, const Trace& candidate) {
    const auto candidateCounts = rangeCounts(candidate);
    CountedNames common;
    for (const auto& [name, count] : rangeCounts(baseline)) {
        const auto other = candidateCounts.find(name);
        if (other != candidateCounts.end()) common.emplace_back(count + other->second, name);
    }
    return namesByCount(std::move(common));
}

std::optional<MainRanges> mainRanges(const Trace& trace) {
    std::optional<MainRanges> best;
    int64_t largestNs = 0;
    for (Family& each : familiesOf(trace)) {
        if (each.durationsNs.size() < 2 || each.totalNs <= largestNs) continue;
        const MainRanges ranges = summed(trace, each);
        // A range around everything that a thread does has no meaning, and a single call no repetition.
        const int64_t halfNs = ranges.span.durationNs() / 2;
        if (ranges.medianNs > halfNs || ranges.longestNs > std::max(halfNs, each.totalNs / 2)) continue;
        largestNs = each.totalNs;
        best = ranges;
    }
    return best;
}

std::optional<MainRanges> rangesOf(const Trace& trace, std::string_view pattern) {
    const std::string wanted = rangePattern(pattern);
    for (Family& each : familiesOf(trace))
        if (each.pattern == wanted) return summed(trace, each);
    return std::nullopt;
}

std::optional<TimeRange> gpuWorkSpan(const Trace& trace) {
    std::optional<TimeRange> span;
    unite(span, trace.kernels);
    unite(span, trace.memcpys);
    unite(span, trace.memsets);
    return span;
}

}  // namespace lanescope
