// SPDX-License-Identifier: Apache-2.0
#include "model/gate/measureOf.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/format/matchesPattern.h"
#include "model/gate/namePattern.h"
#include "model/gate/partGroups.h"
#include "model/values/lowerCase.h"

namespace lanescope::gate {

using namespace compare;

namespace {

Measured missing(std::string why) {
    Measured measured;
    measured.missing = std::move(why);
    return measured;
}

/// What is too small to be listed has no name any more.
bool isListCut(const WorkerComparison& pair) {
    return std::any_of(pair.contributors.begin(), pair.contributors.end(),
                       [](const auto& one) { return one.kind == ContributorKind::Others; });
}

Measured missingName(const ConditionTest& test, const WorkerComparison& pair) {
    Measured measured =
        missing(fmt::format("neither run has such a {}{}", name(test.subject),
                            isListCut(pair) ? " among those that take most time" : ""));
    measured.isUnknownName = true;
    return measured;
}

double ofSteps(const StepDistribution& steps, Measure measure) {
    switch (measure) {
        case Measure::Median:
            return steps.medianNs;
        case Measure::P95:
            return steps.p95Ns;
        case Measure::Minimum:
            return static_cast<double>(steps.minimumNs);
        case Measure::Maximum:
            return static_cast<double>(steps.maximumNs);
        case Measure::Count:
            return static_cast<double>(steps.count);
        default:
            return static_cast<double>(steps.meanNs);
    }
}

Measured measureSteps(const ConditionTest& test, const RunComparison& comparison,
                      const WorkerComparison& pair) {
    const bool isBaselineWhole = comparison.baselineSource == StepSource::WholeRun;
    const bool isCandidateWhole = comparison.candidateSource == StepSource::WholeRun;
    if (isBaselineWhole || isCandidateWhole)
        return missing(fmt::format("{} no steps", isBaselineWhole && isCandidateWhole
                                                      ? "the runs have"
                                                  : isBaselineWhole ? "the baseline has"
                                                                    : "the candidate has"));
    Measured measured;
    measured.baseline = ofSteps(pair.baseline, test.measure);
    measured.candidate = ofSteps(pair.candidate, test.measure);
    return measured;
}

Measured measureParts(const ConditionTest& test, const WorkerComparison& pair) {
    const std::vector<StepPart> wanted = partsCalled(test.name);
    Measured measured{0.0, 0.0, {}, false};
    for (const PartDifference& part : pair.parts) {
        if (std::find(wanted.begin(), wanted.end(), part.part) == wanted.end()) continue;
        *measured.baseline += static_cast<double>(part.baselineNs);
        *measured.candidate += static_cast<double>(part.candidateNs);
    }
    return measured;
}

Measured measureRanges(const ConditionTest& test, const WorkerComparison& pair) {
    Measured measured;
    for (const RangeDifference& range : pair.ranges) {
        if (!liesInRange(range.path, test.name)) continue;
        measured.baseline = measured.baseline.value_or(0) + static_cast<double>(range.baselineNs);
        measured.candidate =
            measured.candidate.value_or(0) + static_cast<double>(range.candidateNs);
    }
    return measured.baseline ? measured : missingName(test, pair);
}

/// "HtoD" means all copies of that kind; "HtoD from pinned" only those.
bool namesCopy(std::string_view copy, std::string_view wanted) {
    const std::string name = lowerCase(std::string(copy));
    const std::string pattern = lowerCase(std::string(wanted));
    return matchesPattern(name, pattern) || matchesPattern(name, pattern + " *");
}

bool isMeant(const ConditionTest& test, ContributorKind kind, std::string_view contributor) {
    switch (test.subject) {
        case Subject::Kernel:
            return kind == ContributorKind::Kernel && namesKernel(contributor, test.name);
        case Subject::Collective:
            return kind == ContributorKind::Collective &&
                   matchesPattern(lowerCase(std::string(contributor)), lowerCase(test.name));
        case Subject::Copy:
            return kind == ContributorKind::Copy && namesCopy(contributor, test.name);
        case Subject::Memset:
            return kind == ContributorKind::Memset;
        case Subject::Step:
        case Subject::Part:
        case Subject::Range:
        case Subject::Slower:
        case Subject::Faster:
            break;
    }
    return false;
}

/// What one side has of everything that is meant.
class SideSum {
  public:
    void add(const ContributorShare& share) {
        isThere_ = true;
        exposedNs_ += static_cast<double>(share.exposedNs);
        totalNs_ += static_cast<double>(share.totalNs);
        count_ += share.count;
        bytes_ += static_cast<double>(share.bytes);
        // Bus bandwidth is not bytes over time, so the rate is weighed by time.
        if (share.gigabytesPerSecond <= 0) return;
        ratedNs_ += static_cast<double>(share.totalNs);
        ratedBytes_ += share.gigabytesPerSecond * static_cast<double>(share.totalNs);
    }
    bool isThere() const { return isThere_; }

    std::optional<double> of(Measure measure) const {
        switch (measure) {
            case Measure::Exposed:
                return exposedNs_;
            case Measure::Count:
                return count_;
            case Measure::Bytes:
                return bytes_;
            case Measure::Bandwidth:
                if (ratedNs_ <= 0) return std::nullopt;
                return ratedBytes_ / ratedNs_;
            default:
                return totalNs_;
        }
    }

  private:
    bool isThere_ = false;
    double exposedNs_ = 0, totalNs_ = 0, count_ = 0, bytes_ = 0, ratedNs_ = 0, ratedBytes_ = 0;
};

bool hasAny(const ContributorShare& share) {
    return !share.name.empty();
}

Measured measureContributors(const ConditionTest& test, const WorkerComparison& pair) {
    SideSum baseline, candidate;
    for (const ContributorDifference& difference : pair.contributors) {
        // A renamed kernel is meant by either of its names: it is the same work.
        const bool isWanted = isMeant(test, difference.kind, difference.baseline.name) ||
                              isMeant(test, difference.kind, difference.candidate.name);
        if (!isWanted) continue;
        if (hasAny(difference.baseline)) baseline.add(difference.baseline);
        if (hasAny(difference.candidate)) candidate.add(difference.candidate);
    }
    if (!baseline.isThere() && !candidate.isThere()) return missingName(test, pair);
    Measured measured;
    measured.baseline = baseline.of(test.measure);
    measured.candidate = candidate.of(test.measure);
    return measured;
}

}  // namespace

bool isOfMeanStep(const ConditionTest& test) {
    switch (test.measure) {
        case Measure::Mean:
        case Measure::Exposed:
            return true;
        case Measure::Time:
            return test.subject == Subject::Part || test.subject == Subject::Range;
        default:
            return false;
    }
}

Measured measureOf(const ConditionTest& test, const RunComparison& comparison,
                   const WorkerComparison* pair) {
    if (!pair) return missing("there is nothing to compare");
    switch (test.subject) {
        case Subject::Step:
            return measureSteps(test, comparison, *pair);
        case Subject::Part:
            return measureParts(test, *pair);
        case Subject::Range:
            return measureRanges(test, *pair);
        case Subject::Kernel:
        case Subject::Collective:
        case Subject::Copy:
        case Subject::Memset:
            return measureContributors(test, *pair);
        case Subject::Slower:
        case Subject::Faster:
            break;
    }
    return missing("a verdict has no number");
}

}  // namespace lanescope::gate
