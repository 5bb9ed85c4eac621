// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingQueries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "model/analysis/WorkerTimeline.h"
#include "model/explain/programKind.h"
#include "model/numbers/Statistics.h"
#include "model/text/collectiveKernels.h"
#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// A range below this share of the view is too narrow to be seen in it.
constexpr int64_t maxViewRatio = 150;
/// Divisor of the view: the space around it.
constexpr int64_t marginRatio = 40;

TimeRange rangeOf(const StepSummary& step) { return {step.startNs, step.startNs + step.wallNs}; }

/// Returns the indices of the steps that findings about single steps name, of one worker.
std::set<uint32_t> affectedSteps(const WorkerSummary& worker, uint32_t index, std::span<const Finding> findings) {
    std::set<uint32_t> steps;
    for (const Finding& each : findings) {
        if (each.worker != index || !each.rule->isOfSingleSteps()) continue;
        if (each.pattern) steps.insert(each.pattern->affected.begin(), each.pattern->affected.end());
        for (uint32_t step = 0; !each.pattern && step < worker.steps.size(); ++step)
            if (std::ranges::find(worker.outliers, worker.steps[step].startNs, &OutlierStep::startNs) !=
                worker.outliers.end())
                steps.insert(step);
    }
    return steps;
}

/// Contributors with the part and the cause of a finding, in any range and at any line.
class OfFinding {
  public:
    OfFinding(const RunSummary& run, const Finding& finding) : finding_(finding) {
        if (finding.pattern) part_ = finding.pattern->part;
        if (!part_ && finding.rule->isOfSingleSteps()) part_ = finding.rule->longerPart(run, finding);
        isOfPart_ = part_.has_value();
        for (const Contributor& each : run.workers[finding.worker].contributors)
            if (!part_ && each.name == finding.contributor && each.path == finding.path) part_ = each.part;
    }
    bool holds(const Contributor& each) const {
        if (each.part != part_) return false;
        if (isOfPart_) return true;
        const ContributorName& name = finding_.contributor;
        if (!name.isIdle()) return each.name.work == name.work;
        return each.name.idle.kind == name.idle.kind && each.name.idle.call == name.idle.call;
    }

  private:
    const Finding& finding_;
    std::optional<StepPart> part_;
    bool isOfPart_ = false;
};

/// A possible place of a finding.
struct Candidate {
    int64_t ns = 0;
    uint32_t step = 0;
    TimeRange range;
    EventRef event;
    bool isGap = false;
};

std::vector<TimeRange> gapsOf(const WorkList& work) {
    std::vector<TimeRange> gaps;
    if (work.empty()) return gaps;
    int64_t busyUntilNs = work.front().startNs;
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        if (each->startNs > busyUntilNs) gaps.push_back({busyUntilNs, each->startNs});
        busyUntilNs = std::max(busyUntilNs, each->endNs);
    }
    return gaps;
}

/// Returns the work of a piece's time.
std::optional<GpuWork> workAt(const WorkList& work, const WorkerTimeline::Piece& piece) {
    for (WorkList::Reader each(work); !each.isAtEnd() && each->startNs < piece.range.endNs; each.next()) {
        const bool isIts = each->contributor == piece.contributor || each->waiting == piece.contributor;
        if (isIts && each->endNs > piece.range.startNs) return *each;
    }
    return std::nullopt;
}

/// Returns the largest candidates, of gaps by their time of the finding.
template <class Holds>
std::vector<Candidate> candidatesOf(const WorkerTimeline& timeline, const std::vector<TimeRange>& steps, Holds holds,
                                    size_t count) {
    const std::vector<TimeRange> gaps = gapsOf(timeline.work());
    std::map<size_t, Candidate> ofGap;
    std::vector<Candidate> found;
    std::vector<WorkerTimeline::Piece> pieces;
    timeline.splitInTime(steps, [&](const WorkerTimeline::Piece& piece) {
        if (!holds(timeline.contributors()[piece.contributor])) return;
        if (!isIdle(piece.part)) {
            pieces.push_back(piece);
            return;
        }
        auto gap = std::ranges::upper_bound(gaps, piece.range.startNs, {}, &TimeRange::startNs);
        if (gap == gaps.begin()) return;
        --gap;
        if (gap->endNs <= piece.range.startNs) return;
        Candidate& one = ofGap[static_cast<size_t>(gap - gaps.begin())];
        one.ns += piece.range.durationNs();
        one.step = piece.window;
        one.range = *gap;
        one.isGap = true;
    });
    for (const auto& [gap, each] : ofGap) found.push_back(each);
    const auto isLonger = [](const auto& a, const auto& b) { return a.range.durationNs() > b.range.durationNs(); };
    std::ranges::stable_sort(pieces, isLonger);
    pieces.resize(std::min(pieces.size(), count));
    for (const WorkerTimeline::Piece& piece : pieces)
        if (const std::optional<GpuWork> work = workAt(timeline.work(), piece))
            found.push_back({piece.range.durationNs(), piece.window, {work->startNs, work->endNs}, work->event, false});
    std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::ns);
    return found;
}

TimeRange viewOf(TimeRange step, TimeRange range) {
    TimeRange view{std::min(step.startNs, range.startNs), std::max(step.endNs, range.endNs)};
    const int64_t widest = range.durationNs() * maxViewRatio;
    if (range.durationNs() > 0 && view.durationNs() > widest) {
        const int64_t startNs =
            std::clamp(range.startNs - (widest - range.durationNs()) / 2, view.startNs, view.endNs - widest);
        view = {startNs, startNs + widest};
    }
    const int64_t margin = std::max<int64_t>(view.durationNs() / marginRatio, 1);
    return {view.startNs - margin, view.endNs + margin};
}

class Places {
  public:
    Places(const Trace& trace, const RunSummary& run, RunWorkers workers, std::span<const Finding> all)
        : trace_(trace), run_(run), workers_(std::move(workers)), all_(all) {}

    Result<FindingPlace> of(const Finding& finding) {
        std::vector<TimeRange> used;
        for (const Finding& each : all_) {
            if (each == finding) break;
            if (const Result<FindingPlace> place = find(each, used)) used.push_back(place->range);
        }
        return find(finding, used);
    }

  private:
    const WorkerTimeline* timelineOf(uint32_t worker) {
        const WorkerSummary& summary = run_.workers[worker];
        const WorkerSteps* steps = workers_.find(summary.pid, summary.gpuId);
        if (steps == nullptr) return nullptr;
        const auto known = timelines_.find(worker);
        if (known != timelines_.end()) return &known->second;
        return &timelines_.emplace(worker, workers_.timelineOf(*steps)).first->second;
    }

    Result<FindingPlace> find(const Finding& finding, const std::vector<TimeRange>& used) {
        const WorkerSummary& worker = run_.workers[finding.worker];
        const WorkerTimeline* timeline = timelineOf(finding.worker);
        if (finding.rule->place != nullptr)
            if (const std::optional<TimeRange> range = finding.rule->place(run_, finding))
                return timeline != nullptr ? ofRule(*range, *timeline)
                                           : FindingPlace{*range, *range, viewOf(*range, *range), {}, false, {}};
        if (timeline == nullptr)
            return fail("{} has no steps of {} any more; open it again.", trace_.title, worker.label());
        std::vector<Candidate> candidates =
            finding.rule->isOfLateRank ? collectives(finding) : ofContributor(finding, *timeline, used.size());
        for (const Candidate& each : candidates) {
            if (std::ranges::find(used, each.range) != used.end()) continue;
            const StepSummary& step = worker.steps[each.step];
            return FindingPlace{rangeOf(step), each.range, viewOf(rangeOf(step), each.range),
                                each.event,    each.isGap, each.step};
        }
        return wholeStep(finding);
    }

    /// Returns the step that a finding names, else the longest.
    FindingPlace wholeStep(const Finding& finding) const {
        const std::vector<StepSummary>& steps = run_.workers[finding.worker].steps;
        FindingPlace place;
        for (uint32_t index = 0; index < steps.size(); ++index) {
            const bool isBetter = finding.atNs ? steps[index].startNs == *finding.atNs
                                               : steps[index].wallNs > steps[place.stepIndex.value_or(index)].wallNs;
            if (place.stepIndex && !isBetter) continue;
            place.stepIndex = index;
            place.step = place.range = rangeOf(steps[index]);
        }
        place.view = viewOf(place.step, place.step);
        return place;
    }

    /// Returns the place of a rule, with its longest gap if most of it is idle.
    static FindingPlace ofRule(TimeRange range, const WorkerTimeline& timeline) {
        FindingPlace place{range, range, viewOf(range, range), {}, false, {}};
        TimeRange longest;
        int64_t idleNs = 0;
        for (const TimeRange& gap : gapsOf(timeline.work())) {
            const TimeRange inside = gap.intersected(range);
            if (inside.isEmpty()) continue;
            idleNs += inside.durationNs();
            if (inside.durationNs() > longest.durationNs()) longest = gap;
        }
        if (2 * idleNs > range.durationNs()) {
            place.range = longest;
            place.isGap = true;
        }
        return place;
    }

    std::vector<Candidate> ofContributor(const Finding& finding, const WorkerTimeline& timeline, size_t usedCount) {
        const WorkerSummary& worker = run_.workers[finding.worker];
        const OfFinding of(run_, finding);
        std::vector<Finding> known(all_.begin(), all_.end());
        known.push_back(finding);
        const std::set<uint32_t> affected = affectedSteps(worker, finding.worker, known);
        std::vector<uint32_t> indices;
        for (uint32_t step = 0; step < worker.steps.size(); ++step) {
            if (finding.pattern ? std::ranges::find(finding.pattern->affected, step) != finding.pattern->affected.end()
                                : affected.contains(step) == finding.rule->isOfSingleSteps())
                indices.push_back(step);
        }
        std::vector<Candidate> found = among(indices, worker, timeline, of, usedCount);
        if (!found.empty() || finding.rule->isOfSingleSteps()) return found;
        // All of it may be in these steps.
        return among({affected.begin(), affected.end()}, worker, timeline, of, usedCount);
    }

    static std::vector<Candidate> among(const std::vector<uint32_t>& indices, const WorkerSummary& worker,
                                        const WorkerTimeline& timeline, const OfFinding& of, size_t usedCount) {
        std::vector<TimeRange> steps;
        for (const uint32_t index : indices) steps.push_back(rangeOf(worker.steps[index]));
        std::vector<Candidate> found = candidatesOf(
            timeline, steps, [&](const Contributor& each) { return of.holds(each); }, usedCount + 1);
        for (Candidate& each : found) each.step = indices[each.step];
        return found;
    }

    /// Returns the collectives in which another rank waits longest, as the kernels of the late rank.
    std::vector<Candidate> collectives(const Finding& finding) {
        const WorkerSummary& late = run_.workers[finding.worker];
        const WorkerTimeline& own = *timelineOf(finding.worker);
        std::vector<TimeRange> steps;
        for (const StepSummary& step : late.steps) steps.push_back(rangeOf(step));
        std::vector<Candidate> found;
        for (uint32_t other = 0; other < run_.workers.size(); ++other) {
            if (other == finding.worker || run_.workers[other].steps.empty()) continue;
            const WorkerTimeline* timeline = timelineOf(other);
            if (timeline == nullptr) continue;
            for (const Candidate& each : candidatesOf(
                     *timeline, steps, [](const Contributor& one) { return one.part == StepPart::WaitingForRanks; },
                     all_.size() + 1))
                if (const std::optional<GpuWork> work = collectiveThatEnds(own, each))
                    found.push_back({each.ns,
                                     each.step,
                                     {std::min(each.range.startNs, work->startNs), work->endNs},
                                     work->event,
                                     false});
        }
        std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::ns);
        return found;
    }

    /// Returns the collective of the late rank that starts last before the other rank's one ends.
    static std::optional<GpuWork> collectiveThatEnds(const WorkerTimeline& own, const Candidate& waiting) {
        std::optional<GpuWork> last;
        for (WorkList::Reader each(own.work()); !each.isAtEnd() && each->startNs < waiting.range.endNs; each.next())
            if (each->part == StepPart::ExposedCommunication && each->endNs > waiting.range.startNs) last = *each;
        return last;
    }

    const Trace& trace_;
    const RunSummary& run_;
    RunWorkers workers_;
    std::span<const Finding> all_;
    std::map<uint32_t, WorkerTimeline> timelines_;
};

}  // namespace

Result<FindingPlace> placeOf(const Trace& trace, const RunSummary& run, const Finding& finding,
                             std::span<const Finding> all) {
    Result<RunWorkers> workers = RunWorkers::of(trace);
    if (!workers) return fail(workers.error());
    return Places(trace, run, std::move(*workers), all).of(finding);
}

namespace {

/// Maximum number of spans in a query, because its length is limited.
constexpr size_t maxSpans = 1'000;
/// A gap that began in a wait and is no longer is due to the wait, as in `IdleCauses`.
constexpr int64_t shortGapNs = 100'000;
/// The layer of calls that wait for the GPU.
constexpr std::string_view waitLayer = "sync";

/// Returns the LIKE pattern of all names that match a pattern: "step #" gives "step %". LIKE's
/// special characters in names match anything, which finds no fewer.
std::string likePattern(std::string_view pattern) {
    std::string like;
    for (const char each : pattern) like += each == '#' ? '%' : each;
    return sqlText(like);
}

/// Returns a condition that `s.value` is a name. A trace keeps only the start of very long names,
/// then "... (5050 bytes, 37bf3100821600e2)"; its file has all of it, or the same if it was exported.
std::string isCalled(std::string_view name, std::string_view column = "s.value") {
    // A query has a maximum length. Names of many bytes are equal if their length, start and last known bytes are.
    constexpr size_t longest = 400, longestEnd = 200;
    constexpr std::string_view shortened = "... (";
    size_t end = name.rfind(shortened), bytes = name.size();
    if (end == std::string_view::npos || !name.ends_with(')'))
        end = name.size();
    else
        std::from_chars(name.data() + end + shortened.size(), name.data() + name.size(), bytes);
    if (end <= longest && end == name.size()) return fmt::format("{} = {}", column, sqlText(name));
    // In bytes: a character may take several.
    const auto isPart = [&](size_t from, size_t until) {
        return fmt::format("substr(CAST({} AS BLOB), {}, {}) = CAST({} AS BLOB)", column, from + 1, until - from,
                           sqlText(name.substr(from, until - from)));
    };
    const auto hasLength = [column](size_t length) {
        return fmt::format("length(CAST({} AS BLOB)) = {}", column, length);
    };
    std::string made = hasLength(bytes);
    if (end > longest) made += fmt::format(" AND {}", isPart(std::max(longest, end - longestEnd), end));
    if (end < name.size()) made += fmt::format(" OR {} AND {}", hasLength(name.size()), isPart(end, name.size()));
    made = fmt::format("{} AND ({})", isPart(0, std::min(end, longest)), made);
    return fmt::format("({})", made);
}

/// Returns a condition that a range has a known name. A name may contain a slash, and additions of a compiler follow.
std::string isRangeCalled(std::string_view name) {
    constexpr std::string_view text = "COALESCE(n.text, s.value)";
    if (name.ends_with(')') && name.find(" (") != std::string_view::npos)
        return fmt::format("{} LIKE {}", text, likePattern(fmt::format("#{}#", searchedPart(name))));
    const std::string whole = fmt::format("#{}", name);
    return fmt::format("{} LIKE {} OR {} LIKE {}", text, likePattern(whole), text, likePattern(whole + ", #"));
}

/// Joins the short name `s` and the demangled name `d` of a kernel.
constexpr std::string_view kernelNames =
    " JOIN StringIds s ON s.id = k.shortName JOIN StringIds d ON d.id = k.demangledName";

/// Returns a condition that demangled name `d.value` or words of short name `s.value` are of a collective.
std::string isCollective() {
    constexpr std::string_view column = "d.value";
    std::vector<std::string> all;
    for (const CollectivePattern& each : collectivePatterns()) {
        const auto matches = [&](std::string_view before) {
            return fmt::format("{} GLOB {}", column, sqlText(fmt::format("{}{}*{}*", before, each.begin, each.part)));
        };
        std::string one = each.begin.empty() ? matches("*") : fmt::format("({} OR {})", matches(""), matches("void "));
        if (!each.except.empty())
            one = fmt::format("({} AND {} NOT GLOB {})", one, column, sqlText(fmt::format("*{}*", each.except)));
        all.push_back(std::move(one));
    }
    const auto hasAny = [](std::string_view text, const std::vector<std::string_view>& words) {
        std::vector<std::string> each;
        for (const std::string_view word : words) each.push_back(fmt::format("{} GLOB '*{}*'", text, word));
        return fmt::format("{}", fmt::join(each, " OR "));
    };
    constexpr std::string_view compact = "replace(replace(lower(s.value), '_', ''), '-', '')";
    all.push_back(fmt::format("(({}) AND NOT ({}))", hasAny(compact, collectiveWords()),
                              hasAny("lower(d.value)", computingWords())));
    return fmt::format("({})", fmt::join(all, " OR "));
}

template <class Made>
std::string anyOf(const std::vector<std::string>& names, Made condition) {
    std::vector<std::string> all;
    for (const std::string& name : names)
        if (all.size() < maxNames) all.push_back(condition(name));
    return all.empty() ? "0" : fmt::format("({})", fmt::join(all, " OR "));
}

/// Returns the intervals of the layers as changes of their number at a time, then the number of each at all times.
std::string stateOf(const std::vector<std::pair<std::string, std::string>>& layers, std::string_view marks,
                    std::string_view by = {}) {
    const std::string key = by.empty() ? "" : fmt::format("{}, ", by);
    std::vector<std::string> edges, sums;
    for (const auto& [name, from] : layers) {
        edges.push_back(fmt::format("SELECT {}s AS t, '{}' AS k, 1 AS d FROM {}", key, name, from));
        edges.push_back(fmt::format("SELECT {}e, '{}', -1 FROM {}", key, name, from));
        sums.push_back(fmt::format("sum(d * (k = '{}')) OVER w AS {}", name, name));
    }
    return fmt::format(
        "edge AS ({}),\nstate AS (SELECT {}t, lead(t) OVER w - t AS ns, {}{} FROM edge WINDOW w AS ({}ORDER BY t ROWS "
        "UNBOUNDED PRECEDING))",
        fmt::join(edges, " UNION ALL "), key, fmt::join(sums, ", "), marks,
        by.empty() ? "" : fmt::format("PARTITION BY {} ", by));
}

std::string unionOf(const std::vector<std::string>& sets, std::string_view first = {}) {
    std::vector<std::string> some;
    for (const std::string& set : sets)
        if (!set.empty()) some.push_back(set);
    if (some.empty()) return fmt::format("SELECT {}0 AS s, 0 AS e, 0 AS id, '' AS name WHERE 0", first);
    return fmt::format("{}", fmt::join(some, " UNION ALL "));
}

template <class NameOf>
std::vector<std::string> namesBy(const WorkerSummary& worker, IsOf isOf, NameOf nameOf) {
    std::vector<std::string> names;
    for (const Contributor& each : worker.contributors) {
        if (!isOf(each)) continue;
        const std::string& name = nameOf(each.name);
        if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace

std::string sqlText(std::string_view text) {
    std::string made = "'";
    for (const char each : text) made += each == '\'' ? "''" : std::string(1, each);
    return made + "'";
}

bool EvidenceQuery::has(ContributorKind kind) const {
    // Tables without rows are missing in some files.
    return std::ranges::any_of(run_.workers, [kind](const WorkerSummary& worker) {
        return std::ranges::any_of(worker.contributors, [kind](const Contributor& each) { return each.kind == kind; });
    });
}

std::string EvidenceQuery::ofProcess(std::string_view column) const {
    // As written by Nsight Systems: the process is in the middle of 64 bits.
    return fmt::format("{} / 16777216 % 16777216 = {}", column, worker_.pid);
}

std::string EvidenceQuery::work(std::string_view table, std::string_view name, std::string_view join,
                                std::string_view condition) const {
    const auto sameProcess = std::ranges::count(run_.workers, worker_.pid, &WorkerSummary::pid);
    return fmt::format(
        "SELECT k.start AS s, k.\"end\" AS e, k.correlationId AS id, {} AS name FROM {} k{} WHERE {}{}{}", name, table,
        join, ofProcess("k.globalPid"), sameProcess > 1 ? fmt::format(" AND k.deviceId = {}", worker_.gpuId) : "",
        condition);
}

std::string EvidenceQuery::collectives() const {
    if (!has(ContributorKind::Collective)) return {};
    return work("CUPTI_ACTIVITY_KIND_KERNEL", "s.value", kernelNames, " AND " + isCollective());
}

std::string EvidenceQuery::otherKernels(const std::vector<std::string>& without) const {
    const auto isOther = [](const std::string& name) { return isCalled(name, "d.value"); };
    std::vector<std::string> sets;
    if (has(ContributorKind::Kernel) || has(ContributorKind::Collective))
        sets.push_back(work("CUPTI_ACTIVITY_KIND_KERNEL", "s.value", kernelNames,
                            fmt::format(" AND NOT {} AND NOT {}", isCollective(), anyOf(without, isOther))));
    if (has(ContributorKind::Graph)) sets.push_back(work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "'graph'", "", ""));
    return sets.empty() ? std::string() : unionOf(sets);
}

std::string EvidenceQuery::kernelsNamed(const std::vector<std::string>& names) const {
    if (names.empty()) return {};
    return work("CUPTI_ACTIVITY_KIND_KERNEL", "s.value", " JOIN StringIds s ON s.id = k.demangledName",
                " AND " + anyOf(names, [](const std::string& name) { return isCalled(name); }));
}

std::string EvidenceQuery::copies(std::string_view condition) const {
    if (!has(ContributorKind::Copy)) return {};
    return work(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CASE k.copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 8 THEN 'DtoD' WHEN 10 THEN 'PtoP' ELSE 'copy' END",
        "", condition.empty() ? "" : fmt::format(" AND ({})", condition));
}

std::string EvidenceQuery::memsets() const {
    if (!has(ContributorKind::Memset)) return {};
    return work("CUPTI_ACTIVITY_KIND_MEMSET", "'memset'", "", "");
}

std::string EvidenceQuery::allWork() const { return unionOf({collectives(), otherKernels(), copies(), memsets()}); }

std::vector<TimeRange> EvidenceQuery::mergedSteps() const {
    std::vector<TimeRange> spans;
    for (const StepSummary& step : worker_.steps) {
        if (!spans.empty() && spans.back().endNs == step.startNs)
            spans.back().endNs += step.wallNs;
        else
            spans.push_back({step.startNs, step.startNs + step.wallNs});
    }
    return spans;
}

std::string EvidenceQuery::spans() const {
    std::vector<std::string> values;
    for (const TimeRange& each : mergedSteps())
        if (values.size() < maxSpans) values.push_back(fmt::format("({}, {})", each.startNs, each.endNs));
    return fmt::format("span(s, e) AS (VALUES {})", fmt::join(values, ", "));
}

void EvidenceQuery::addCalls(std::string_view layer, std::string_view condition) {
    layers_.emplace_back(layer, fmt::format("(SELECT c.start AS s, c.\"end\" AS e FROM CUPTI_ACTIVITY_KIND_RUNTIME c "
                                            "JOIN StringIds s ON s.id = c.nameId WHERE {} AND {})",
                                            ofProcess("c.globalTid"), condition));
}

void EvidenceQuery::addCalls(std::string_view layer, const std::vector<std::string>& names) {
    addCalls(layer, anyOf(names, [](const std::string& name) { return isCalled(name); }));
}

void EvidenceQuery::addWaits() { addCalls(waitLayer, "s.value LIKE '%Synchronize%'"); }

void EvidenceQuery::addStates(std::string_view layer, const std::vector<ThreadState>& states, bool isOfMain) {
    std::vector<int> numbers;
    for (const ThreadState each : states) numbers.push_back(static_cast<int>(each));
    layers_.emplace_back(
        layer, fmt::format("(SELECT h.start AS s, h.\"end\" AS e FROM LANESCOPE_THREAD_STATES h WHERE {0} AND h.state "
                           "IN ({1}) AND h.globalTid {2})",
                           ofProcess("h.globalTid"), fmt::join(numbers, ", "),
                           isOfMain ? fmt::format("% 16777216 = {}", worker_.pid)
                                    : fmt::format("IN (SELECT c.globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME c WHERE {})",
                                                  ofProcess("c.globalTid"))));
}

void EvidenceQuery::addFunctionsOf(std::string_view layer, const std::vector<std::string_view>& fileEndings) {
    std::vector<std::string> endings;
    for (const std::string_view each : fileEndings)
        endings.push_back(fmt::format("f.value LIKE {}", sqlText(fmt::format("%{}", each))));
    layers_.emplace_back(
        layer,
        fmt::format(
            "(SELECT h.start AS s, h.\"end\" AS e FROM LANESCOPE_THREAD_STATES h WHERE {0} AND h.globalTid IN (SELECT "
            "c.globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME c WHERE {1}) AND h.callchainId IN (WITH RECURSIVE inside(id) "
            "AS (SELECT k.id FROM LANESCOPE_STACKS k JOIN StringIds f ON f.id = k.fileId WHERE {2} UNION SELECT k.id "
            "FROM LANESCOPE_STACKS k JOIN inside ON k.parentId = inside.id) SELECT id FROM inside))",
            ofProcess("h.globalTid"), ofProcess("c.globalTid"), fmt::join(endings, " OR ")));
}

void EvidenceQuery::addCaptures(std::string_view layer) {
    layers_.emplace_back(
        layer,
        fmt::format(
            "(SELECT b.s, CASE WHEN b.name LIKE '%BeginCapture%' THEN b.until ELSE b.own END AS e FROM (SELECT c.start "
            "AS s, c.\"end\" AS own, q.value AS name, lead(c.\"end\") OVER w AS until, lag(q.value) OVER w AS before "
            "FROM CUPTI_ACTIVITY_KIND_RUNTIME c JOIN StringIds q ON q.id = c.nameId WHERE {} AND (q.value LIKE "
            "'%StreamBeginCapture%' OR q.value LIKE '%StreamEndCapture%' OR q.value LIKE '%GraphInstantiate%') WINDOW "
            "w AS (PARTITION BY c.globalTid ORDER BY c.start)) b WHERE (b.name LIKE '%BeginCapture%' AND b.until IS "
            "NOT NULL) OR (b.name LIKE '%GraphInstantiate%' AND b.before LIKE '%EndCapture%'))",
            ofProcess("c.globalTid")));
}

bool EvidenceQuery::hasWaits() const {
    return std::ranges::any_of(layers_, [](const auto& each) { return each.first == waitLayer; });
}

void EvidenceQuery::addRanges(std::string_view layer, const std::vector<std::string>& names) {
    layers_.emplace_back(layer, fmt::format("(SELECT n.start AS s, n.\"end\" AS e FROM NVTX_EVENTS n LEFT JOIN "
                                            "StringIds s ON s.id = n.textId WHERE n.\"end\" > n.start AND {} AND {})",
                                            ofProcess("n.globalTid"), anyOf(names, isRangeCalled)));
}

std::string EvidenceQuery::gapPieces() const {
    const std::string launches =
        run_.facts.hasApiCalls
            ? fmt::format(
                  "SELECT c.correlationId AS id, max(c.\"end\") AS done, min(s.value) AS name FROM "
                  "CUPTI_ACTIVITY_KIND_RUNTIME c JOIN StringIds s ON s.id = c.nameId WHERE {} GROUP BY 1",
                  ofProcess("c.globalTid"))
            : "SELECT 0 AS id, 0 AS done, '' AS name WHERE 0";
    std::vector<std::pair<std::string, std::string>> layers{{"step", "span"}, {"idle", "gap"}};
    const std::string waits = hasWaits() ? ", max(CASE WHEN k = 'sync' AND d = 1 THEN t END) OVER w AS waits_from, "
                                           "max(CASE WHEN k = 'sync' AND d = -1 THEN t END) OVER w AS waits_until"
                                         : "";
    layers.insert(layers.end(), layers_.begin(), layers_.end());
    return fmt::format(
        "WITH {},\nwork AS ({}),\nlaunch AS ({}),\ngap AS (SELECT g.s, g.e, g.name AS next, l.name AS call, l.done + "
        "{} > g.s AND NOT g.within AS late, l.done + {} <= g.s OR g.within AS queued, g.within FROM (SELECT max(e) "
        "OVER (ORDER BY s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS s, s AS e, id, name, id <> 0 AND "
        "lag(id, 1, 0) OVER (ORDER BY s) = id AS within FROM work) g LEFT JOIN launch l ON l.id = g.id WHERE g.e > "
        "g.s),\n{},\npiece AS (SELECT * FROM state WHERE ns > 0 AND idle > 0)\n",
        spans(), allWork(), launches, WorkerTimeline::launchLatencyNs, WorkerTimeline::launchLatencyNs,
        stateOf(layers, ", max(CASE WHEN k = 'idle' AND d = 1 THEN t END) OVER w AS of_gap" + waits));
}

std::string EvidenceQuery::gaps(std::string_view where) const {
    return gapPieces() +
           fmt::format(
               "SELECT min(p.t) AS start, sum(p.ns) AS ns, sum(sum(p.ns)) OVER () AS total_ns, g.next, g.call FROM "
               "piece p JOIN gap g ON g.s = p.of_gap WHERE p.step > 0{}{} GROUP BY p.of_gap ORDER BY ns DESC",
               where.empty() ? "" : " AND ", where);
}

std::string EvidenceQuery::gapsByWaits(std::string_view where, bool isOfWaits) const {
    // A launch could come earlier by no more than the wait before it, except in a short gap.
    return gapPieces() +
           fmt::format(
               "SELECT start, {} AS ns, sum({}) OVER () AS total_ns, next, call FROM (SELECT *, CASE WHEN waited = 0 "
               "OR late = 0 THEN 0 WHEN gap_ns <= {} THEN free_ns ELSE min(free_ns, waited) END AS after_ns FROM "
               "(SELECT min(p.t) AS start, sum(p.ns * (p.sync > 0)) AS sync_ns, sum(p.ns * (p.sync = 0)) AS free_ns, "
               "max(CASE WHEN p.sync = 0 AND p.waits_from <= g.s AND p.waits_until >= g.s THEN p.waits_until - "
               "p.waits_from ELSE 0 END) AS waited, g.late, g.e - g.s AS gap_ns, g.next, g.call FROM piece p JOIN gap "
               "g ON g.s = p.of_gap WHERE p.step > 0{}{} GROUP BY p.of_gap)) WHERE ns > 0 ORDER BY ns DESC",
               isOfWaits ? "sync_ns + after_ns" : "free_ns - after_ns",
               isOfWaits ? "sync_ns + after_ns" : "free_ns - after_ns", shortGapNs, where.empty() ? "" : " AND ",
               where);
}

std::string EvidenceQuery::pauses() const {
    const StepSummary& last = worker_.steps.back();
    return fmt::format(
        "WITH {},\nwork AS ({}),\nrun(s, e) AS (VALUES ({}, {})),\n{}\nSELECT t AS start, ns, sum(ns) OVER () AS "
        "total_ns FROM state WHERE ns > 0 AND run > 0 AND step = 0 AND busy = 0 ORDER BY ns DESC",
        spans(), allWork(), worker_.steps.front().startNs, last.startNs + last.wallNs,
        stateOf({{"step", "span"}, {"run", "run"}, {"busy", "work"}}, ""));
}

std::string EvidenceQuery::exposed(const std::vector<std::string>& mine, const std::vector<std::string>& other) const {
    return fmt::format(
        "WITH {},\nmine AS ({}),\nother AS ({}),\n{}\nSELECT p.of_work AS start, sum(p.ns) AS ns, sum(sum(p.ns)) OVER "
        "() AS total_ns, m.name FROM state p JOIN (SELECT s, min(name) AS name FROM mine GROUP BY s) m ON m.s = "
        "p.of_work WHERE p.ns > 0 AND p.step > 0 AND p.mine > 0 AND p.other = 0 GROUP BY p.of_work ORDER BY ns DESC",
        spans(), unionOf(mine), unionOf(other),
        stateOf({{"step", "span"}, {"mine", "mine"}, {"other", "other"}},
                ", max(CASE WHEN k = 'mine' AND d = 1 THEN t END) OVER w AS of_work"));
}

Evidence EvidenceQuery::steps(StepPart part, const std::vector<uint32_t>& affected) const {
    std::vector<std::string> values;
    int64_t sumNs = 0;
    const auto addStep = [&](const StepSummary& step, bool isLonger) {
        if (values.size() >= maxSpans || step.wallNs <= 0) return;
        values.push_back(
            fmt::format("({}, {}, {}, {})", step.startNs, step.startNs + step.wallNs, step.number, isLonger ? 1 : 0));
        sumNs += step.wallNs;
    };
    std::vector<bool> isLonger(worker_.steps.size());
    for (const uint32_t index : affected) isLonger[index] = true;
    // Few of many steps are first; many of them are as in the run.
    const bool areFew = affected.size() <= maxSpans / 2;
    for (size_t index = 0; index < worker_.steps.size(); ++index)
        if (!areFew || isLonger[index]) addStep(worker_.steps[index], isLonger[index]);
    for (size_t index = 0; areFew && index < worker_.steps.size(); ++index)
        if (!isLonger[index]) addStep(worker_.steps[index], false);
    std::vector<std::string> of;
    std::vector<std::string> above{otherKernels()};
    if (isIdle(part)) {
        above = {collectives(), otherKernels(), copies(), memsets()};
    } else if (part == StepPart::Compute) {
        std::swap(of, above);
    } else if (groupOf(part) == PartGroup::Collectives) {
        of = {collectives()};
    } else {
        of = {part == StepPart::Memset ? memsets() : copies()};
    }
    const std::string sql = fmt::format(
        "WITH span(s, e, number, longer) AS (VALUES {}),\nmine AS ({}),\nother AS ({}),\n{}\nSELECT x.number AS step, "
        "x.s AS start, x.e - x.s AS ns, sum(p.ns * ({}p.other = 0)) AS part_ns, x.longer FROM span x JOIN state p ON "
        "p.of_step = x.s WHERE p.ns > 0 AND p.step > 0 GROUP BY x.s ORDER BY x.longer DESC, ns DESC",
        fmt::join(values, ", "), unionOf(of), unionOf(above),
        stateOf({{"step", "span"}, {"mine", "mine"}, {"other", "other"}},
                ", max(CASE WHEN k = 'step' AND d = 1 THEN t END) OVER w AS of_step"),
        isIdle(part) ? "" : "p.mine > 0 AND ");
    return {sql, sumNs};
}

std::string EvidenceQuery::perWorker(const RunSummary& run, bool isOfCollectives) {
    std::vector<std::string> spans, mine, other;
    const auto ofWorker = [](size_t worker, const std::string& set) {
        return set.empty() ? std::string() : fmt::format("SELECT {} AS worker, * FROM ({})", worker, set);
    };
    for (uint32_t index = 0; index < run.workers.size(); ++index) {
        const EvidenceQuery of(run, index);
        for (const TimeRange& each : of.mergedSteps())
            if (spans.size() < maxSpans)
                spans.push_back(
                    fmt::format("({}, {}, {}, {})", index, each.startNs, each.endNs, sqlText(of.worker_.label())));
        mine.push_back(ofWorker(index, isOfCollectives ? of.collectives() : of.otherKernels()));
        if (isOfCollectives) other.push_back(ofWorker(index, of.otherKernels()));
    }
    return fmt::format(
        "WITH span(worker, s, e, label) AS (VALUES {}),\nmine AS ({}),\nother AS ({}),\n{}\nSELECT n.label AS worker, "
        "sum(p.ns) AS ns, sum(sum(p.ns)) OVER () AS total_ns FROM state p JOIN (SELECT DISTINCT worker, label FROM "
        "span) n ON n.worker = p.worker WHERE p.ns > 0 AND p.step > 0 AND p.mine > 0 AND p.other = 0 GROUP BY p.worker "
        "ORDER BY ns",
        fmt::join(spans, ", "), unionOf(mine, "0 AS worker, "), unionOf(other, "0 AS worker, "),
        stateOf({{"step", "span"}, {"mine", "mine"}, {"other", "other"}}, "", "worker"));
}

int64_t sumNs(const WorkerSummary& worker, IsOf isOf) {
    int64_t sum = 0;
    for (const Contributor& each : worker.contributors)
        if (isOf(each)) sum += each.exposedNs;
    return sum;
}

std::vector<std::string> namesOf(const WorkerSummary& worker, IsOf isOf) {
    return namesBy(worker, isOf, [](const ContributorName& name) -> const std::string& { return name.work; });
}

std::vector<std::string> callsOf(const WorkerSummary& worker, IsOf isOf) {
    return namesBy(worker, isOf, [](const ContributorName& name) -> const std::string& { return name.idle.call; });
}

Evidence gapsInCalls(const FindingText& text, IsOf isOf) {
    EvidenceQuery query(text);
    query.addCalls("calls", callsOf(text.worker(), isOf));
    query.addWaits();
    return {query.gaps("p.calls > 0 AND p.sync = 0"), sumNs(text.worker(), isOf)};
}

Evidence evidenceByName(const FindingText& text, bool (*isOf)(const KernelGroup&)) {
    std::vector<std::string> names;
    int64_t sumNs = 0;
    for (const Contributor& each : text.worker().contributors) {
        const std::optional<KernelClass> is = classOf(each);
        if (!is || !isOf({.family = is->family, .precision = is->precision, .trait = is->trait})) continue;
        if (std::ranges::find(names, each.name.work) == names.end()) names.push_back(each.name.work);
        sumNs = saturatingSum(sumNs, each.exposedNs);
    }
    const EvidenceQuery query(text);
    return {query.exposed({query.kernelsNamed(names)}, {}), sumNs};
}

}  // namespace lanescope::explain
