// SPDX-License-Identifier: Apache-2.0
#include "model/compare/ranAndWaited.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/compare/StateWords.h"
#include "model/trace/ThreadTimes.h"
#include "model/trace/mixedState.h"

namespace lanescope::compare {

namespace {

/// Of the time between looks: so far the kernel's count may miss what lies between them.
constexpr int64_t missedOf = 10;

class RanAndWaited {
  public:
    RanAndWaited(const RunContext& run, const WorkerTimeline& timeline)
        : trace_(run.trace), states_(run.states), timeline_(timeline) {
        for (const GpuWork& work : timeline.work())
            if (work.call != noIndex) launching_.insert(trace_.apiCalls.thread[work.call]);
        for (const Contributor& each : timeline.contributors()) told_.push_back(toldOf(each));
    }

    void find(const std::vector<TimeRange>& windows) {
        timeline_.splitInTime(windows, [this](const WorkerTimeline::Piece& piece) {
            if (piece.part != StepPart::LaunchBound) return;
            const bool goesOn = !stretch_.empty() && told_[piece.contributor].isOutside &&
                                stretch_.back().range.endNs == piece.range.startNs;
            if (!goesOn) addStretch();
            stretch_.push_back(piece);
            if (!told_[piece.contributor].isOutside) addStretch();
        });
        addStretch();
    }

    void tell(std::vector<Contributor>& contributors) const {
        for (const auto& [row, spent] : spentIn_) {
            const double waitedShare = waitedShareOf(row, spent);
            for (const auto& [contributor, own] : spent) {
                Contributor& each = contributors[contributor];
                const auto waitedNs =
                    static_cast<int64_t>(waitedShare * static_cast<double>(own.ns));
                each.waitedNs += waitedNs;
                if (told_[contributor].isRunning)
                    each.workedNs += static_cast<int64_t>(static_cast<double>(own.ns - waitedNs) *
                                                          static_cast<double>(own.longNs) /
                                                          static_cast<double>(own.ns));
            }
        }
    }

  private:
    /// What the name of a contributor tells.
    struct Told {
        bool isOutside = false;  ///< Of calls.
        bool isRunning = false;  ///< It ran, all the time or by turns.
        bool isCounted = false;  ///< It ran or not, as the kernel's count tells.
    };
    struct Spent {
        int64_t ns = 0;
        int64_t longNs = 0;  ///< In long stretches.
    };
    using SpentBy = std::map<ContributorTable::Id, Spent>;

    static Told toldOf(const Contributor& each) {
        Told told;
        if (each.part != StepPart::LaunchBound || each.kind != ContributorKind::Idle) return told;
        told.isOutside = each.name.starts_with("outside ");
        told.isRunning = wasSeenToRun(each.name);
        told.isCounted = told.isRunning || runsAndWaits(each.name) || isStarvedByTurns(each.name);
        return told;
    }

    /// What the thread did from one call to the next, through all that looks divide it into.
    void addStretch() {
        if (stretch_.empty()) return;
        const bool isLong =
            told_[stretch_.front().contributor].isOutside &&
            stretch_.back().range.endNs - stretch_.front().range.startNs >= leastWorkNs;
        for (const WorkerTimeline::Piece& piece : stretch_)
            if (told_[piece.contributor].isCounted) add(piece, isLong);
        stretch_.clear();
    }

    void add(const WorkerTimeline::Piece& piece, bool isLong) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            Spent& spent = spentIn_[row][piece.contributor];
            spent.ns += within.durationNs();
            if (isLong) spent.longNs += within.durationNs();
        });
    }

    /// The one that launches what ends the gap.
    uint32_t awaitedThread(TimeRange piece) const {
        const LargeVector<GpuWork>& work = timeline_.work();
        const auto next =
            std::lower_bound(work.begin(), work.end(), piece.endNs,
                             [](const GpuWork& each, int64_t ns) { return each.startNs < ns; });
        return next == work.end() || next->call == noIndex ? noIndex
                                                           : trace_.apiCalls.thread[next->call];
    }

    double waitedShareOf(uint32_t row, const SpentBy& spent) const {
        int64_t allNs = 0;
        for (const auto& [contributor, own] : spent) allNs += own.ns;
        const std::optional<int64_t> ranNs = mostRunNs(row);
        if (!ranNs) return 0;
        int64_t waitedNs = allNs - *ranNs;
        if (waitedNs <= missedNs(row)) {
            // What it wanted a core for it did not run in.
            const CpuStateTable& states = trace_.cpuStates;
            waitedNs = allNs - (states.endNs[row] - states.startNs[row] - states.delayNs[row]);
        }
        if (waitedNs <= 0 || allNs <= 0) return 0;
        // The kernel may count more than there is between two looks.
        return std::min(1.0, static_cast<double>(waitedNs) / static_cast<double>(allNs));
    }

    int64_t missedNs(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        if (states.source[row] != StateSource::Looks) return 0;
        const int64_t missed = (states.endNs[row] - states.startNs[row]) / missedOf;
        return states.state[row] == ThreadState::Running ? missed + countTickNs : missed;
    }

    /// Nothing where that is not known.
    std::optional<int64_t> mostRunNs(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        const TimeRange range{states.startNs[row], states.endNs[row]};
        const ThreadState state = states.state[row];
        int64_t ranNs = states.cpuNs[row];
        if (states_.tells(row, 1) == StatesOfThreads::Telling::Nothing) return std::nullopt;
        if (state != ThreadState::Lock && state != ThreadState::Gil) return ranNs;
        for (const uint32_t other : launching_) {
            if (other == states.thread[row]) continue;
            if (states_.isEmpty(other)) return std::nullopt;
            const ThreadTimes times = states_.during(other, range);
            ranNs += times.of(ThreadState::Running) + times.of(ThreadState::Unknown);
        }
        return ranNs;
    }

    const Trace& trace_;
    const StatesOfThreads& states_;
    const WorkerTimeline& timeline_;
    std::set<uint32_t> launching_;
    std::vector<Told> told_;  ///< By contributor.
    std::vector<WorkerTimeline::Piece> stretch_;
    std::map<uint32_t, SpentBy> spentIn_;  ///< By row of the states.
};

}  // namespace

void addRanAndWaited(const RunContext& run, const WorkerTimeline& timeline,
                     const std::vector<TimeRange>& windows,
                     std::vector<Contributor>& contributors) {
    if (run.trace.cpuStates.size() == 0) return;
    RanAndWaited found(run, timeline);
    found.find(windows);
    found.tell(contributors);
}

}  // namespace lanescope::compare
