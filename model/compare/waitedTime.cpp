// SPDX-License-Identifier: Apache-2.0
#include "model/compare/waitedTime.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/compare/StateWords.h"
#include "model/trace/ProvedWaits.h"
#include "model/trace/ThreadTimes.h"

namespace lanescope::compare {

namespace {

class WaitedTime {
  public:
    WaitedTime(const Trace& trace, const WorkerTimeline& timeline)
        : trace_(trace), states_(trace), timeline_(timeline) {
        for (const GpuWork& work : timeline.work())
            if (work.call != noIndex) launching_.insert(trace.apiCalls.thread[work.call]);
    }

    void find(const std::vector<TimeRange>& windows) {
        timeline_.splitInTime(windows, [this](const WorkerTimeline::Piece& piece) {
            if (piece.part == StepPart::LaunchBound &&
                runsAndWaits(timeline_.contributors()[piece.contributor].name))
                add(piece);
        });
    }

    void tell(std::vector<Contributor>& contributors) const {
        for (const auto& [row, spent] : spentIn_) {
            int64_t allNs = 0;
            for (const auto& [contributor, ns] : spent) allNs += ns;
            const std::optional<int64_t> ranNs = mostRunNs(row);
            if (!ranNs || allNs <= *ranNs) continue;
            const double waitedShare =
                static_cast<double>(allNs - *ranNs) / static_cast<double>(allNs);
            for (const auto& [contributor, ns] : spent)
                contributors[contributor].waitedNs +=
                    static_cast<int64_t>(waitedShare * static_cast<double>(ns));
        }
    }

  private:
    /// The one that launches what ends the gap.
    uint32_t awaitedThread(TimeRange piece) const {
        const LargeVector<GpuWork>& work = timeline_.work();
        const auto next =
            std::lower_bound(work.begin(), work.end(), piece.endNs,
                             [](const GpuWork& each, int64_t ns) { return each.startNs < ns; });
        return next == work.end() || next->call == noIndex ? noIndex
                                                           : trace_.apiCalls.thread[next->call];
    }

    void add(const WorkerTimeline::Piece& piece) {
        const uint32_t thread = awaitedThread(piece.range);
        if (thread == noIndex) return;
        states_.forEachIn(thread, piece.range, [&](uint32_t row, TimeRange within) {
            if (states_.tells(row, within.durationNs()) == StatesOfThreads::Telling::ByTurns)
                spentIn_[row][piece.contributor] += within.durationNs();
        });
    }

    /// Nothing where that is not known.
    std::optional<int64_t> mostRunNs(uint32_t row) const {
        const CpuStateTable& states = trace_.cpuStates;
        const TimeRange range{states.startNs[row], states.endNs[row]};
        const ThreadState state = states.state[row];
        int64_t ranNs = lanescope::mostRunNs(trace_, row);
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
    const StatesOfThreads states_;
    const WorkerTimeline& timeline_;
    std::set<uint32_t> launching_;
    /// By row of the states: what of which contributor lies in it.
    std::map<uint32_t, std::map<ContributorTable::Id, int64_t>> spentIn_;
};

}  // namespace

void addWaitedTime(const Trace& trace, const WorkerTimeline& timeline,
                   const std::vector<TimeRange>& windows, std::vector<Contributor>& contributors) {
    if (trace.cpuStates.size() == 0) return;
    WaitedTime waited(trace, timeline);
    waited.find(windows);
    waited.tell(contributors);
}

}  // namespace lanescope::compare
