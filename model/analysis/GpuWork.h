// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/analysis/RunContext.h"
#include "model/analysis/RunSummary.h"

namespace lanescope::analysis {

/// Gives each different contributor of a worker a number.
class ContributorTable {
  public:
    using Id = uint32_t;

    /// The contributor of that part, kind, name and path; `nameKey` stands for the name and must be
    /// one to one with it within the part and kind. `makeName` is called for a new one only.
    template <class MakeName>
    Id find(StepPart part, ContributorKind kind, uint32_t nameKey, RangePaths::Id path,
            const RangePaths& paths, MakeName makeName) {
        const Key key{static_cast<uint64_t>(nameKey) << 32 | path, part, kind};
        const auto [known, isNew] = ids_.try_emplace(key, static_cast<Id>(contributors_.size()));
        if (isNew) {
            Contributor contributor;
            contributor.part = part;
            contributor.kind = kind;
            contributor.name = makeName();
            contributor.path = paths.text(path);
            contributors_.push_back(std::move(contributor));
        }
        return known->second;
    }
    void setTrait(Id id, ContributorTrait trait) { contributors_[id].trait = trait; }
    /// All of them with nothing summed up yet.
    const std::vector<Contributor>& contributors() const { return contributors_; }

  private:
    struct Key {
        uint64_t nameAndPath;
        StepPart part;
        ContributorKind kind;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        size_t operator()(const Key& key) const {
            return std::hash<uint64_t>()(key.nameAndPath * 0x9e3779b97f4a7c15ULL +
                                         static_cast<uint64_t>(key.part) * 16 +
                                         static_cast<uint64_t>(key.kind));
        }
    };
    std::unordered_map<Key, Id, Hash> ids_;
    std::vector<Contributor> contributors_;
};

/// A kernel, copy or memset of one worker.
struct GpuWork {
    int64_t startNs = 0;
    int64_t endNs = 0;
    /// A collective waits for other ranks until then, and counts as `waiting`; else the start.
    int64_t movingFromNs = 0;
    ContributorTable::Id contributor = 0;
    ContributorTable::Id waiting = 0;  ///< If `movingFromNs` is later than the start.
    uint32_t call = noIndex;           ///< Row of `ApiTable` that launched it.
    RangePaths::Id path = 0;
    EventRef event;
    StepPart part = StepPart::Compute;
    int64_t bytes = 0;
    int64_t busBytes = 0;
};

/// Which work is asked for.
struct WorkerId {
    uint32_t process = 0;
    uint32_t gpu = 0;
    uint32_t stepThread = noIndex;  ///< Its ranges stand for threads that have none.
};
inline WorkerId workerOf(const WorkerSteps& steps) {
    return {steps.process, steps.gpu, steps.stepThread};
}

/// When the call that launched it began; nothing if that is not recorded.
inline std::optional<int64_t> launchedNs(const RunContext& run, const GpuWork& work) {
    if (work.call == noIndex) return std::nullopt;
    return run.trace.apiCalls.startNs[work.call];
}

/// All work of a worker, by start, with its contributors; where the trace lies. O(n log n) in its
/// work.
LargeVector<GpuWork> workOf(const RunContext& run, const WorkerId& worker,
                            ContributorTable& contributors);

}  // namespace lanescope::analysis
