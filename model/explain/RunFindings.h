// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/explain/hostTime.h"

namespace lanescope::explain {

/// Returns the fact that only the steps, or the rank, of a finding have; null if there is none.
const analysis::Distinction* distinctionOf(const analysis::WorkerSummary& worker, const Finding& finding);

/// Parts of the sentence of a finding in the words of its run. Refers to all that it is made of.
class FindingText {
  public:
    FindingText(const analysis::RunSummary& run, const Explanation& explanation, const Finding& finding)
        : run_(run), made_(explanation), finding_(finding) {}

    const analysis::RunSummary& run() const { return run_; }
    const Finding& finding() const { return finding_; }
    const analysis::WorkerSummary& worker() const { return run_.workers[finding_.worker]; }
    /// Returns true if the same worker has a finding of a rule.
    bool has(const Rule& rule) const;

    /// Returns the repeated unit of the run: "step", "request".
    std::string unit() const;
    /// Returns " per step", or nothing for a run without steps.
    std::string per() const;
    double stepCount() const { return static_cast<double>(worker().steps.size()); }
    /// Returns "3.100 ms of a step (4.2 %)", or "... of the run (4.2 %)" for a run without steps.
    std::string time() const;
    /// Returns the short name of the contributor.
    std::string what() const;
    /// Returns " in forward, train.py:88": ranges and line of the contributor, as far as known.
    std::string where() const;
    /// Returns name and place of work; for idle time the cause and its ranges: "in host code on the main thread".
    std::string main() const;
    /// Returns the rest about idle time: " Place: a.py:3 in f. There the main thread waits for input."; else empty.
    std::string place(bool hasState = true) const;
    /// Returns the line of more than half of the launches, if that is the place of a finding about launches: the thread
    /// has no line, not even of most samples, which count time. Other samples, as of `place`, then are a detail. Else
    /// empty.
    std::string lineOfLaunches() const;
    /// Returns "12.1 per step", or "12 in all" for a run without steps.
    std::string times() const;
    /// Returns "Copies take 3.100 ms of a step (4.2 %): mostly DtoD in forward, 12.1 per step." for "Copies take".
    std::string taking(std::string_view subject) const;
    /// Returns the gaps of the idle time: "in 12.1 gaps per step"; for rare ones "in 5 pauses of 40.20 ms, one every 12
    /// steps".
    std::string gaps() const;
    /// Returns the same for rare gaps, after a comma; else empty.
    std::string rarely() const;

    /// Returns another finding about all steps with the same cause and place; null if there is none.
    const Finding* ofSameCause() const;
    /// Returns the advice of the finding's rule.
    std::string advice() const;
    /// Returns advice about a cause that only the finding's steps or rank have, or of another finding, or `otherwise`.
    std::string adviseCause(std::string_view otherwise) const;
    /// Returns the fact that only the steps, or the rank, of the finding have; null if there is none.
    const analysis::Distinction* distinction() const { return distinctionOf(worker(), finding_); }

    /// Returns ' Only these steps have the range "tokenizer hiccup", 8.300 ms in each of 9 steps.', or of a rank.
    std::string onlyThere() const;

  private:
    bool isWhole() const { return run_.source == StepSource::WholeRun; }

    const analysis::RunSummary& run_;
    const Explanation& made_;
    const Finding& finding_;
};

/// Returns the contributor of a finding; null if there is none.
const analysis::Contributor* mainOf(const analysis::RunSummary& run, const Finding& finding);
/// Returns the part of the steps that a finding about all of them is about; nullopt if it is about several.
std::optional<analysis::StepPart> partOf(const analysis::RunSummary& run, const Finding& finding);

/// Returns the share of a whole; 0 if there is none.
double shareOf(int64_t part, int64_t whole);
/// Returns "4.2 %" for a share of 0.042.
std::string shareText(double share);
/// Returns the text with a capital letter first.
std::string capitalized(std::string text);

/// Minimum share of the mean step for most rules. Less is not worth a change: runs of one program differ by as much.
inline constexpr double minShare = 0.03;
/// Minimum share of idle time by late launches, in the mean and in the median step, without probable profiler overhead
/// in calls that are longer than normal (`LaunchTimes`). A smaller share may be profiler overhead alone: the profiler
/// also lengthens the time between calls. A program that does little else took 17 % longer on a machine at rest, which
/// is 15 % of the recorded step (`tests/bench/overhead`).
inline constexpr double minLaunchShare = 0.15;

/// Returns true for kernels of a finding.
using IsOfGroup = bool (*)(const analysis::KernelGroup&);

/// Time of the critical worker that evaluated rules account for, so that later rules do not count it again.
struct AccountedTime {
    int64_t idleNs = 0;  ///< Of the mean step; includes muted rules.
    /// Part of the late launches in the mean step that may be profiler overhead.
    int64_t overheadNs = 0;
    /// Parts whose remainder is covered by a rule, also by a muted one.
    std::set<analysis::StepPart> parts;
    /// Kinds of idle time that already are a finding.
    std::vector<bool (*)(const analysis::Contributor&)> kinds;
    bool hasHostWork = false;  ///< `Contributor::workedNs` already is a finding.
    bool hasGilWaits = false;  ///< The same of `gilWaitNs`.
    /// Kinds of compute work that already are a finding.
    std::vector<IsOfGroup> work;
    std::set<const analysis::Contributor*> contributors;  ///< Contributors that already are part of a finding.
};

/// A run while its rules are evaluated in order: the numbers of the critical worker, and the findings so far.
class RunFindings {
  public:
    /// Adds the mean steps of all workers to `explanation`, which then receives the findings. Refers to both.
    RunFindings(const analysis::RunSummary& run, Explanation& explanation);

    /// Returns false if the run has no time to explain; then no other member may be called.
    bool hasTime() const { return mean_ != nullptr && mean_->meanNs > 0; }
    /// Evaluates a rule. Its findings are dropped if it is muted.
    void evaluate(const Rule& rule, bool isMuted);

    const analysis::RunSummary& run() const { return run_; }
    /// Returns the critical worker.
    const analysis::WorkerSummary& worker() const { return run_.workers[mean_->worker]; }
    /// Returns the mean step of the critical worker.
    const WorkerParts& mean() const { return *mean_; }
    /// Returns the mean steps of all workers with steps.
    const std::vector<WorkerParts>& means() const { return made_.workers; }
    double stepCount() const { return static_cast<double>(worker().steps.size()); }
    /// Returns a sum over the steps of the critical worker as time of its mean step.
    int64_t perStep(int64_t ns) const { return static_cast<int64_t>(double(ns) / stepCount()); }

    /// Returns the exposed time per mean step of the contributors for which `holds` is true.
    template <class Holds>
    int64_t exposedNs(Holds holds) const {
        int64_t sumNs = 0;
        for (const analysis::Contributor& each : worker().contributors)
            if (holds(each)) sumNs += each.exposedNs;
        return perStep(sumNs);
    }
    /// Returns the contributor with most exposed time for which `holds` is true; null if there is none.
    template <class Holds>
    const analysis::Contributor* greatest(Holds holds) const {
        return greatestOf(worker(), holds);
    }
    /// Returns the same for any worker.
    template <class Holds>
    static const analysis::Contributor* greatestOf(const analysis::WorkerSummary& worker, Holds holds) {
        return largestBy(worker, [&holds](const analysis::Contributor& each) {
            return holds(each) ? each.exposedNs - provedWaitNs(each) : -1;
        });
    }
    /// Returns the contributor with most time by `nsOf`, which is negative for excluded ones; null if there is none.
    template <class NsOf>
    static const analysis::Contributor* largestBy(const analysis::WorkerSummary& worker, NsOf nsOf) {
        const analysis::Contributor* most = nullptr;
        int64_t largestNs = -1;
        for (const analysis::Contributor& each : worker.contributors) {
            if (each.kind == analysis::ContributorKind::Others) continue;
            const int64_t ns = nsOf(each);
            if (ns <= largestNs) continue;
            largestNs = ns;
            most = &each;
        }
        return most;
    }

    /// Returns the compute kernels of the critical worker.
    const std::vector<analysis::KernelGroup>& kernels() const { return kernels_; }
    /// Returns the time per mean step of kernels for which no earlier rule accounts, or another time of them.
    int64_t kernelNs(IsOfGroup isOf, int64_t analysis::KernelGroup::*time = &analysis::KernelGroup::exposedNs) const;
    /// Adds a finding about these kernels, which later rules then ignore, as `add` does.
    Finding* addKernels(IsOfGroup isOf, double least);
    /// Returns true if an earlier rule accounts for a kernel, as far as its name shows.
    bool isReportedWork(const analysis::Contributor& each) const;
    bool isReportedWork(const analysis::KernelGroup& group) const;

    /// Accounts for all time of a contributor. That of a kernel is subtracted from the groups of its class.
    void account(const analysis::Contributor& each);

    /// Adds a finding of the evaluated rule about the critical worker if it takes at least `least` of the mean step.
    /// Returns null if not, or if the rule is muted. Valid until the next change of the findings. `main` may be null.
    Finding* add(int64_t gainNs, double least, const analysis::Contributor* main);
    /// Adds a finding of which all time is idle time of the steps.
    Finding* addIdleTime(int64_t gainNs, double least, const analysis::Contributor* main);
    /// Adds a finding about `nsOf` of each contributor's idle time, over all steps, except kinds that have a finding.
    template <class NsOf>
    Finding* addIdleTimeOf(NsOf nsOf, double least) {
        const auto ownNs = [&](const analysis::Contributor& each) {
            return isReported(each) ? int64_t{0} : nsOf(each);
        };
        int64_t sumNs = 0;
        for (const analysis::Contributor& each : worker().contributors) sumNs += ownNs(each);
        const analysis::Contributor* main = largestBy(worker(), [&](const analysis::Contributor& each) {
            const int64_t ns = ownNs(each);
            return ns > 0 ? ns : -1;
        });
        return addIdleTime(perStep(sumNs), least, main);
    }
    /// Adds a finding about a part's time without earlier rules, less `overheadNs`: possible profiler overhead.
    Finding* addPart(analysis::StepPart part, double least, int64_t overheadNs = 0);
    /// Adds idle time of a kind, which later rules then ignore.
    void addKind(bool (*isOf)(const analysis::Contributor&));
    /// Sets the main contributor of a finding about the critical worker.
    void setContributor(Finding& finding, const analysis::Contributor& main) const;

    /// Returns true if an earlier rule has a finding.
    bool has(const Rule& rule) const;
    /// Removes the findings of an earlier rule about a worker.
    void remove(const Rule& rule, uint32_t worker);

    /// Returns the time of a part of the mean step with a known cause for which no earlier rule accounts.
    int64_t unreportedNs(analysis::StepPart part) const;
    /// Returns the long host code of a contributor, without waits that are a finding.
    int64_t hostWorkNs(const analysis::Contributor& each) const;
    /// Returns true if an earlier rule accounts for idle time of this kind.
    bool isReported(const analysis::Contributor& each) const;

    AccountedTime accounted;

  private:
    int64_t waitNs(const analysis::Contributor& each) const;
    int64_t unreportedNs(const analysis::Contributor& each) const;
    bool isLargeEnough(int64_t gainNs, double least) const;

    const analysis::RunSummary& run_;
    Explanation& made_;
    const WorkerParts* mean_ = nullptr;
    std::vector<analysis::KernelGroup> kernels_;
    const Rule* rule_ = nullptr;
    bool isMuted_ = false;
};

}  // namespace lanescope::explain
