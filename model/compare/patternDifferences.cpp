// SPDX-License-Identifier: Apache-2.0
#include "model/compare/patternDifferences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "model/compare/shownNumbers.h"
#include "model/values/formatValue.h"

namespace lanescope::compare {

namespace {

using Steps = std::span<const StepSummary>;

/// The steps of each run of a worker that may be several: they are counted anew in each.
std::vector<Steps> runsOf(const WorkerSummary& worker) {
    std::vector<Steps> runs;
    const Steps all = worker.steps;
    size_t begin = 0;
    for (size_t step = 1; step <= all.size(); ++step) {
        if (step < all.size() && all[step].number > all[step - 1].number) continue;
        runs.push_back(all.subspan(begin, step - begin));
        begin = step;
    }
    return runs;
}

bool isSame(const StepPattern& a, const StepPattern& b) {
    return a.kind == b.kind && a.period == b.period && (a.excessNs < 0) == (b.excessNs < 0);
}

/// What at least half of the runs of a worker do.
std::optional<StepPattern> commonPattern(const WorkerSummary& worker, size_t series) {
    const std::vector<Steps> runs = runsOf(worker);
    std::vector<StepPattern> found;
    for (const Steps run : runs)
        if (std::optional<StepPattern> pattern = patternOf(run, series))
            found.push_back(std::move(*pattern));
    for (const StepPattern& pattern : found) {
        const auto alike = std::count_if(found.begin(), found.end(), [&](const StepPattern& each) {
            return isSame(each, pattern);
        });
        if (2 * static_cast<size_t>(alike) >= runs.size()) return pattern;
    }
    return std::nullopt;
}

/// Names what carries the pattern: what the outliers among its steps agree on, else what changed
/// most of its part between the sides, if that is half of it.
void blame(PatternDifference& one, const WorkerSummary& worker, const WorkerComparison& pair) {
    const StepPattern& pattern = one.pattern;
    const OutlierStep* first = nullptr;
    bool doAgree = true;
    for (const OutlierStep& outlier : worker.outliers) {
        const bool isAffected =
            std::any_of(pattern.affected.begin(), pattern.affected.end(), [&](uint32_t step) {
                return step < worker.steps.size() && worker.steps[step].number == outlier.number;
            });
        if (!isAffected || outlier.part != pattern.part) continue;
        if (!first) first = &outlier;
        doAgree =
            doAgree && outlier.contributor == first->contributor && outlier.path == first->path;
    }
    if (first && doAgree) {
        one.contributor = first->contributor;
        one.path = first->path;
        return;
    }
    const int64_t sign = (pattern.costNs < 0) == one.isCandidate ? -1 : 1;
    int64_t mostNs = std::abs(pattern.costNs) / 2;
    for (const ContributorDifference& each : pair.contributors) {
        if (each.part != pattern.part || each.kind == ContributorKind::Others ||
            each.lostNs() * sign < mostNs)
            continue;
        mostNs = each.lostNs() * sign;
        one.contributor = each.name();
        one.path = each.path;
    }
}

std::string everySoMany(int64_t period) {
    static constexpr std::array<std::string_view, 11> words{"",       "",      "second", "third",
                                                            "fourth", "fifth", "sixth",  "seventh",
                                                            "eighth", "ninth", "tenth"};
    if (period < static_cast<int64_t>(words.size()))
        return fmt::format("every {} step", words[static_cast<size_t>(period)]);
    return fmt::format("one step in {}", period);
}

/// "every third step of rank 2, GPU 2 takes 13.9 ms longer than the others".
std::string whatText(const PatternDifference& one) {
    const StepPattern& pattern = one.pattern;
    const std::string time = timeText(static_cast<double>(std::abs(pattern.excessNs)));
    const char* than = pattern.excessNs < 0 ? "less" : "longer";
    switch (pattern.kind) {
        case PatternKind::Period:
            return fmt::format("{} of {} takes {} longer than the others",
                               everySoMany(pattern.period), one.worker, time);
        case PatternKind::Level:
            return fmt::format("from step {} on the steps of {} take {} {} than before",
                               pattern.firstNumber, one.worker, time, than);
        case PatternKind::TwoModes:
            return fmt::format("{:.0f} % of the steps of {} take {} longer than the others",
                               100 * pattern.share, one.worker, time);
        case PatternKind::Drift:
            return fmt::format("the steps of {} {} by {} from the beginning of the run to its end",
                               one.worker, pattern.excessNs < 0 ? "shrink" : "grow", time);
    }
    return {};
}

std::string textOf(const PatternDifference& one) {
    const StepPattern& pattern = one.pattern;
    const std::string_view side = one.isCandidate ? "candidate" : "baseline";
    std::string text =
        one.otherExcessNs == 0
            ? fmt::format("only in the {} {}", side, whatText(one))
            : fmt::format("in the {} {}, in the other run by {}", side, whatText(one),
                          timeText(static_cast<double>(std::abs(one.otherExcessNs))));
    text +=
        fmt::format(" ({} in the mean step): {}",
                    timeDifferenceText(static_cast<double>(pattern.costNs)), name(pattern.part));
    if (!one.contributor.empty())
        text += fmt::format("{} {}", isIdle(pattern.part) ? "" : ", in",
                            shortContributorName(one.contributor, isIdle(pattern.part)));
    if (!one.path.empty()) text += fmt::format(", in {}", printable(one.path));
    return text;
}

/// Of a worker that waits for others in its collectives the pattern is theirs.
bool isTheirs(const StepPattern& pattern) {
    return pattern.part == StepPart::ExposedCommunication;
}

/// Keeps one of each kind: where it is the worker's own, and of these the dearest.
void add(PatternDifference one, std::vector<PatternDifference>& found) {
    const auto known = std::find_if(found.begin(), found.end(), [&](const auto& each) {
        return each.isCandidate == one.isCandidate && isSame(each.pattern, one.pattern);
    });
    if (known == found.end()) {
        found.push_back(std::move(one));
        return;
    }
    const bool wasTheirs = isTheirs(known->pattern), areTheirs = isTheirs(one.pattern);
    const bool isDearer = std::abs(one.pattern.costNs) > std::abs(known->pattern.costNs);
    if (wasTheirs != areTheirs ? wasTheirs : isDearer) *known = std::move(one);
}

}  // namespace

std::vector<PatternDifference> patternDifferences(const std::vector<WorkerComparison>& pairs,
                                                  const RunSummary& baseline,
                                                  const RunSummary& candidate) {
    std::vector<PatternDifference> found;
    for (uint32_t index = 0; index < pairs.size(); ++index) {
        const WorkerComparison& pair = pairs[index];
        const WorkerSummary& before = baseline.workers[pair.baselineWorker];
        const WorkerSummary& after = candidate.workers[pair.candidateWorker];
        const std::optional<StepPattern> old = commonPattern(before, pairs.size());
        const std::optional<StepPattern> now = commonPattern(after, pairs.size());
        const auto tell = [&](const std::optional<StepPattern>& own,
                              const std::optional<StepPattern>& other, bool isCandidate) {
            if (!own) return;
            PatternDifference one;
            one.isCandidate = isCandidate;
            one.pair = index;
            one.worker = isCandidate ? pair.candidateLabel : pair.baselineLabel;
            one.pattern = *own;
            if (other && isSame(*own, *other)) one.otherExcessNs = other->excessNs;
            if (2 * std::abs(one.otherExcessNs) >= std::abs(own->excessNs)) return;
            blame(one, isCandidate ? after : before, pair);
            add(std::move(one), found);
        };
        tell(now, old, true);
        tell(old, now, false);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::abs(a.pattern.costNs) > std::abs(b.pattern.costNs);
    });
    for (PatternDifference& one : found) one.text = textOf(one);
    return found;
}

}  // namespace lanescope::compare
