// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/distinctions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/analysis/IdleCause.h"
#include "model/analysis/RunContext.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/startedProcesses.h"
#include "model/analysis/stepPatterns.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/Column.h"
#include "model/trace/rangeDomains.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

/// Maximum share of other steps with the mark. Some have it by chance, because one sample between two lines is enough.
constexpr double maxOtherShare = 0.05;
/// Minimum share of the affected steps that have the cause.
constexpr double minAffectedShare = 0.8;
/// Minimum affected steps in which samples show that data loaders start: it takes less time than some samples.
constexpr size_t minLoaderSteps = 2;
/// Minimum share of the excess of a step that the cause takes.
constexpr double minCauseShare = 0.2;
/// The same of the mean step, for a cause that only one rank has.
constexpr double minStepShare = 0.02;

/// Time of a range, a line or a thread by step.
struct Mark {
    DistinctionKind kind = DistinctionKind::Range;
    std::set<std::string> names;  ///< At most two.
    std::map<uint32_t, int64_t> spentNs;
    std::map<uint32_t, int64_t>::iterator last = spentNs.end();  ///< Many times in a row are of one step.

    void add(uint32_t step, int64_t ns) {
        if (last == spentNs.end() || last->first != step) last = spentNs.try_emplace(step).first;
        last->second = saturatingSum(last->second, ns);
    }
    int64_t totalNs() const {
        int64_t sum = 0;
        for (const auto& [step, ns] : spentNs) sum = saturatingSum(sum, ns);
        return sum;
    }
};
using Marks = std::map<std::pair<DistinctionKind, std::string>, Mark>;

/// The steps of a worker on the CPU.
class StepsOnCpu {
  public:
    explicit StepsOnCpu(const WorkerSteps& worker) {
        for (const StepSpan& step : worker.steps) {
            startsNs_.push_back(step.onCpu.isEmpty() ? step.range.startNs : step.onCpu.startNs);
            longestNs_ = std::max({longestNs_, step.range.durationNs(), step.onCpu.durationNs()});
        }
        std::ranges::sort(startsNs_);
    }
    /// Returns the step in which a time is. Fast for times near the one before.
    std::optional<uint32_t> at(int64_t timeNs) {
        if (next_ == 0 || startsNs_[next_ - 1] > timeNs || (next_ < startsNs_.size() && startsNs_[next_] <= timeNs))
            next_ = static_cast<size_t>(std::ranges::upper_bound(startsNs_, timeNs) - startsNs_.begin());
        if (next_ == 0 || timeNs - startsNs_[next_ - 1] > longestNs_) return std::nullopt;
        return static_cast<uint32_t>(next_ - 1);
    }
    int64_t longestNs() const { return longestNs_; }

  private:
    std::vector<int64_t> startsNs_;
    int64_t longestNs_ = 0;
    size_t next_ = 0;  ///< After the step of the time before.
};

class MarkGatherer {
  public:
    MarkGatherer(const RunContext& run, const RunSummary& summary, const std::vector<const WorkerSteps*>& steps)
        : trace_(run.trace),
          pattern_(summary.pattern),
          workersOf_(run.trace.processes.size()),
          marks_(summary.workers.size()) {
        for (uint32_t worker = 0; worker < summary.workers.size(); ++worker) {
            steps_.emplace_back(*steps[worker]);
            // A process with several GPUs has the same ranges for all of them.
            workersOf_[steps[worker]->process].push_back(worker);
        }
    }

    std::vector<Marks> gather() {
        addRanges();
        addLines();
        addThreads();
        return std::move(marks_);
    }

  private:
    struct Named {
        std::string key, name;
        std::unordered_map<uint32_t, Mark*> marks = {};  ///< By worker that has it.
    };

    void add(DistinctionKind kind, uint32_t thread, int64_t startNs, int64_t endNs, auto named) {
        if (endNs <= startNs) return;
        for (const uint32_t worker : workersOf_[trace_.threads[thread].process]) {
            // A longer one contains steps.
            if (endNs - startNs > 2 * steps_[worker].longestNs()) continue;
            const std::optional<uint32_t> step = steps_[worker].at(startNs);
            if (!step) continue;
            Named& of = named();
            if (of.key.empty()) return;
            markOf(kind, of, worker).add(*step, endNs - startNs);
        }
    }

    Mark& markOf(DistinctionKind kind, Named& named, uint32_t worker) {
        Mark*& mark = named.marks[worker];
        if (mark == nullptr) {
            mark = &marks_[worker][{kind, named.key}];
            mark->kind = kind;
            if (mark->names.size() < 2) mark->names.insert(named.name);
        }
        return *mark;
    }

    void addRanges() {
        std::unordered_map<StringIndex, Named> known;
        const auto named = [&](StringIndex text) -> Named& {
            const auto [found, isNew] = known.try_emplace(text);
            if (!isNew) return found->second;
            const std::string_view whole = trace_.strings.at(text);
            std::string name = knownRangeName(whole);
            if (name.empty()) name = whole;
            if (rangePattern(whole) != pattern_ && whole != pattern_) found->second = {rangePattern(name), name};
            return found->second;
        };
        const NvtxTable& ranges = trace_.nvtx;
        ColumnReader thread(ranges.thread), domain(ranges.domain), text(ranges.text);
        ColumnReader startNs(ranges.startNs), endNs(ranges.endNs);
        StringIndex lastDomain = noIndex;
        bool isUsed = false;
        for (uint32_t row = 0; row < ranges.size(); ++row) {
            if (domain[row] != lastDomain) {
                lastDomain = domain[row];
                const std::string_view name = trace_.strings.at(lastDomain);
                isUsed = !isNcclDomain(name) && !isFunctionDomain(name);
            }
            if (isUsed)
                add(DistinctionKind::Range, thread[row], startNs[row], endNs[row],
                    [&]() -> Named& { return named(text[row]); });
        }
    }

    void addLines() {
        std::unordered_map<uint32_t, Named> known;
        Named loaders{"data loaders", "data loaders"};
        std::unordered_map<StringIndex, bool> startsByName;
        std::unordered_map<uint32_t, bool> startsByStack;
        const CpuStateTable& states = trace_.cpuStates;
        const auto isStart = [&](uint32_t frame) {
            const StringIndex function = trace_.stacks.function[frame];
            const auto [found, isNew] = startsByName.try_emplace(function);
            if (isNew) found->second = trace_.strings.at(function) == "_MultiProcessingDataLoaderIter.__init__";
            return found->second;
        };
        for (uint32_t row = 0; row < states.size(); ++row) {
            const uint32_t stack = states.stack[row];
            if (stack == noIndex) continue;
            const auto [starts, isNewStack] = startsByStack.try_emplace(stack);
            if (isNewStack) starts->second = std::ranges::any_of(framesOf(trace_, stack), isStart);
            if (starts->second)
                add(DistinctionKind::Loader, states.thread[row], states.startNs[row], states.endNs[row],
                    [&]() -> Named& { return loaders; });
            add(DistinctionKind::Line, states.thread[row], states.startNs[row], states.endNs[row], [&]() -> Named& {
                const auto [found, isNew] = known.try_emplace(stack);
                if (isNew) {
                    const std::string text = frameText(trace_, ownFrame(trace_, stack));
                    found->second = {text, text};
                }
                return found->second;
            });
        }
    }

    void addThreads() {
        std::unordered_map<uint32_t, Named> known;
        const ApiTable& calls = trace_.apiCalls;
        ColumnReader thread(calls.thread);
        ColumnReader startNs(calls.startNs), endNs(calls.endNs);
        for (uint32_t row = 0; row < calls.size(); ++row)
            add(DistinctionKind::Thread, thread[row], startNs[row], endNs[row], [&]() -> Named& {
                const auto [found, isNew] = known.try_emplace(thread[row]);
                if (isNew) {
                    const ThreadRef its = threadRef(trace_, thread[row]);
                    if (its.role == ThreadRole::Named) found->second = {its.text(), its.text()};
                }
                return found->second;
            });
    }

    const Trace& trace_;
    const std::string& pattern_;
    std::vector<StepsOnCpu> steps_;
    std::vector<std::vector<uint32_t>> workersOf_;  ///< By process.
    std::vector<Marks> marks_;
};

/// Returns the distinction by a mark that takes `ns` in all in `steps` affected steps; `others` other steps have it.
Distinction distinction(DistinctionOf of, const std::string& key, const Mark& mark, int64_t ns, int64_t steps,
                        int64_t others) {
    return {of, mark.kind, mark.names.size() == 1 ? *mark.names.begin() : key, steps, ns / steps, 0, others};
}

/// Returns the mark with most time among those that most affected steps have and few other steps. Marks that no other
/// step has come first. Without such a mark, returns starts of loaders in a few of the steps, else nullopt.
std::optional<Distinction> ofSteps(DistinctionOf of, const Marks& marks, const std::set<uint32_t>& affected,
                                   size_t stepCount, int64_t excessNs) {
    std::optional<Distinction> best;
    std::tuple<bool, bool, double, bool> bestRank;
    if (affected.empty() || affected.size() >= stepCount || excessNs <= 0) return best;
    for (const auto& [key, mark] : marks) {
        int64_t ns = 0, within = 0;
        for (const auto& [step, spentNs] : mark.spentNs) {
            if (!affected.contains(step)) continue;
            ++within;
            ns = saturatingSum(ns, spentNs);
        }
        const auto affectedCount = static_cast<double>(affected.size());
        const auto others = static_cast<int64_t>(mark.spentNs.size()) - within;
        const bool isLoader = mark.kind == DistinctionKind::Loader;
        // A single step has many lines by chance that hardly any other has.
        const bool isChance = within == 0 || (affected.size() == 1 && others > 0);
        const bool isCause = static_cast<double>(within) >= minAffectedShare * affectedCount &&
                             static_cast<double>(ns) >= minCauseShare * static_cast<double>(excessNs) * affectedCount;
        if (isChance || (!isCause && (!isLoader || static_cast<size_t>(within) < minLoaderSteps)) ||
            static_cast<double>(others) > maxOtherShare * static_cast<double>(stepCount - affected.size()))
            continue;
        // A line that starts loaders has the same time.
        const std::tuple rank(isCause, others == 0, static_cast<double>(ns), isLoader);
        if (best && rank <= bestRank) continue;
        best = distinction(of, key.second, mark, ns, within, others);
        bestRank = rank;
    }
    return best;
}

/// Adds what distinguishes the steps of a pattern, and the odd steps. Starts of processes take precedence over marks,
/// because marked lines that run meanwhile only start these processes.
void addOfSteps(WorkerSummary& worker, const Marks& marks, const ProcessStarts& starts, size_t workerCount) {
    const auto add = [&](DistinctionOf of, const std::set<uint32_t>& affected, int64_t excessNs) {
        std::optional<Distinction> found = startsIn(of, starts, worker.steps, affected);
        if (!found) found = ofSteps(of, marks, affected, worker.steps.size(), excessNs);
        if (found) worker.distinctions.push_back(std::move(*found));
    };
    const std::optional<StepPattern> pattern = patternOf(worker.steps, workerCount);
    if (pattern && pattern->kind != PatternKind::Drift)
        add(DistinctionOf::Pattern, {pattern->affected.begin(), pattern->affected.end()}, pattern->excessNs);
    std::set<uint32_t> odd;
    int64_t excessNs = 0;
    for (uint32_t step = 0; step < worker.steps.size(); ++step)
        for (const OutlierStep& each : worker.outliers)
            if (each.startNs == worker.steps[step].startNs) {
                odd.insert(step);
                excessNs = saturatingSum(excessNs, each.excessNs);
            }
    if (!odd.empty()) add(DistinctionOf::Outliers, odd, excessNs / static_cast<int64_t>(odd.size()));
}

/// Adds the mark with most time that only the worker has for which the others wait.
void addOfRank(RunSummary& summary, const std::vector<Marks>& marks) {
    const uint32_t critical = summary.criticalWorker();
    if (critical == noIndex || summary.workers.size() < 2) return;
    WorkerSummary& worker = summary.workers[critical];
    std::optional<Distinction> best;
    int64_t mostNs = static_cast<int64_t>(minStepShare * static_cast<double>(worker.totalWallNs()));
    for (const auto& [key, mark] : marks[critical]) {
        const int64_t ns = mark.totalNs();
        if (ns <= mostNs) continue;
        bool isOnlyHere = true;
        for (uint32_t other = 0; other < marks.size(); ++other) {
            if (other == critical || summary.workers[other].pid == worker.pid) continue;
            isOnlyHere = isOnlyHere && !marks[other].contains(key);
        }
        if (!isOnlyHere) continue;
        mostNs = ns;
        best = distinction(DistinctionOf::Rank, key.second, mark, ns, static_cast<int64_t>(mark.spentNs.size()), 0);
    }
    if (best) worker.distinctions.push_back(std::move(*best));
}

}  // namespace

std::string_view identifier(DistinctionOf of) { return enumText(of, {"pattern", "outliers", "rank"}); }

std::string_view identifier(DistinctionKind kind) {
    return enumText(kind, {"range", "line", "thread", "process", "loader"});
}

void findDistinctions(const RunContext& run, RunSummary& summary, const std::vector<const WorkerSteps*>& steps) {
    if (summary.source == StepSource::WholeRun || summary.source == StepSource::Chosen) return;
    const bool hasPatterns = std::ranges::any_of(summary.workers, [&](const WorkerSummary& worker) {
        return !worker.outliers.empty() || patternOf(worker.steps, summary.workers.size());
    });
    if (!hasPatterns && summary.workers.size() < 2) return;
    const std::vector<Marks> marks = MarkGatherer(run, summary, steps).gather();
    const std::vector<ProcessStarts> starts = processStarts(run.trace);
    for (uint32_t worker = 0; worker < summary.workers.size(); ++worker)
        addOfSteps(summary.workers[worker], marks[worker], starts[steps[worker]->process], summary.workers.size());
    addOfRank(summary, marks);
}

}  // namespace lanescope::analysis
