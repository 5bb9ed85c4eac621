// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/analysis/GpuWork.h"
#include "model/analysis/StateWords.h"
#include "model/numbers/intervals.h"

namespace lanescope::analysis {

/// Why the GPU of a worker had nothing to do, by the rules that `WorkerTimeline` states. The claims
/// of different parts overlap; the order of the parts decides.
class IdleCauses {
  public:
    /// `work` by start. O(n log n) in the work and the calls of its threads.
    IdleCauses(const RunContext& run, const WorkerSteps& steps, const LargeVector<GpuWork>& work,
               ContributorTable& contributors);

    /// How the name of a cause ends of which nothing else is known than that the copy of a batch
    /// came next.
    static constexpr std::string_view beforeBatchCopy = "before the copy of the batch";

    /// What the name of a call has behind it that copies memory that is not pinned.
    static constexpr std::string_view ofPageableMemory = " of pageable memory";

    /// The name of the cause of time before the first and after the last work.
    static constexpr std::string_view noWorkAround = "no work before or after";
    static constexpr std::string_view otherWorkUnknown = "outside NCCL's kernels";

    /// Of an idle part; labels are contributors. Parts with work on the GPU claim nothing here.
    Stretches claims(StepPart part);
    /// For time before the first and after the last work.
    ContributorTable::Id unknownCause();

  private:
    /// A cause that only says that none was recorded.
    ContributorTable::Id unknown(uint32_t name, RangePaths::Id path);
    /// A time without work, and what ended it.
    struct Gap {
        TimeRange range;
        const GpuWork* next = nullptr;
        ContributorTable::Id before = 0;  ///< Of the work that ended last.
    };
    /// By how much a thread would be earlier, had it not waited for the GPU in a step, less what
    /// gaps have taken of that.
    struct Lead {
        int64_t sinceNs = INT64_MIN;  ///< The start of the step.
        int64_t ns = 0;
        size_t next = 0;  ///< Of its calls, the first not looked at.
    };
    void findGaps(const LargeVector<GpuWork>& work);
    void findThreads(const LargeVector<GpuWork>& work);
    /// Calls that should return at once, and do not as what they copy is not pinned.
    void findPageableCalls(const LargeVector<GpuWork>& work);
    void findBatchCopies(const WorkerSteps& steps, const LargeVector<GpuWork>& work);
    bool isLate(const Gap& gap) const;
    uint32_t awaitedThread(const Gap& gap) const;
    /// When in a gap the awaited thread is at something else than getting what its call copies: in
    /// ranges that the call is not in, waits for a thread that launches, or, where it is known what
    /// it did, was not seen to wait for what may bring data. The gap must be late.
    Stretches timeElsewhere(const Gap& gap) const;
    /// Gaps that the CPU did not cause: whatever it did, the next work was launched in time.
    Stretches queuedGaps() const;
    /// When in `range` the thread waits for another one of the process that launches work
    /// meanwhile; labels are those threads.
    Stretches waitsForLaunches(uint32_t thread, TimeRange range) const;
    Stretches dataLoading();
    Stretches synchronization();
    /// The call that waits for the GPU and that the thread is in at that time; null if in none.
    const Stretch* waitAt(uint32_t thread, int64_t timeNs) const;
    /// Of the name of time in a wait, or behind one that began when the work of the contributor
    /// `before` ended: the call, and its line where that is known.
    uint32_t waitKey(const Stretch& call, uint32_t thread, ContributorTable::Id before);
    uint32_t stackOf(uint32_t thread, const Stretch& call) const;
    /// Gaps that begin while the awaited thread waits for the GPU, after that wait.
    void addAfterWaits(Stretches& claims);
    /// Of `range` what the thread itself takes: not in calls that have a cause of their own, nor
    /// where it was seen to wait or to get no core.
    Stretches ownTime(uint32_t thread, TimeRange range, uint32_t label);
    Stretches launchBound();
    Stretches queued();
    enum class Told : uint8_t { Calls, CallsAndStates };
    void addLate(uint32_t thread, const Stretches& gaps, Told told, Stretches& claims);
    /// Pieces of a time that `thread` let pass outside of calls, each named `name` and what it did
    /// then.
    void addStates(uint32_t thread, TimeRange range, const std::string& name, Stretches& pieces);
    /// The same as contributors of data loading.
    void addLoading(uint32_t thread, TimeRange range, const std::string& name, RangePaths::Id path,
                    Stretches& claims);
    void addByPath(StepPart part, uint32_t thread, Stretches pieces, Stretches& claims);
    /// Number of a name for a cause; the same for equal names.
    uint32_t nameKey(const std::string& name);
    /// For each API call name the key of "in cudaMalloc" and what `suffix` adds, made once each.
    uint32_t callKey(StringIndex call, const std::string& suffix,
                     std::unordered_map<StringIndex, uint32_t>& known);
    ContributorTable::Id contributor(StepPart part, uint32_t name, RangePaths::Id path);

    Stretches noStretches() const { return Stretches(trace_.memory.get()); }

    const RunContext& run_;
    const Trace& trace_;
    WorkerId worker_;
    ContributorTable& contributors_;
    std::set<uint32_t> threads_;  ///< That launch work, and the one with the steps.
    std::map<uint32_t, std::vector<TimeRange>> launches_;  ///< By thread, by start.
    LargeVector<Gap> gaps_;
    std::vector<int64_t> stepStartsNs_;
    std::set<const GpuWork*> batchCopies_;
    StateWords words_;
    const std::string outsideCalls_;  ///< "outside CUDA calls".
    std::map<std::string, uint32_t> nameKeys_;
    std::vector<std::string> names_;  ///< By key.
    /// By call, thread, the work before and the frame.
    std::map<std::tuple<StringIndex, uint32_t, ContributorTable::Id, uint32_t>, uint32_t> waitKeys_;
    std::set<uint32_t> allocationKeys_, pageableKeys_;
    std::map<uint32_t, Stretches> pageableCalls_;  ///< By thread; labels are names of calls.
};

}  // namespace lanescope::analysis
