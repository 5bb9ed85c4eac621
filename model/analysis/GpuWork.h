// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <vector>

#include "model/analysis/RunContext.h"
#include "model/analysis/RunSummary.h"
#include "model/trace/PackedList.h"

namespace lanescope::analysis {

/// Numbers the different contributors of a worker.
class ContributorTable {
  public:
    using Id = uint32_t;

    /// Returns a contributor's id. `nameKey` identifies the name within part and kind; only a new one needs `makeName`.
    Id find(StepPart part, ContributorKind kind, uint32_t nameKey, RangePaths::Id path, const RangePaths& paths,
            auto makeName) {
        const Key key{static_cast<uint64_t>(nameKey) << 32 | path, part, kind};
        const auto [known, isNew] = ids_.try_emplace(key, static_cast<Id>(contributors_.size()));
        if (isNew) {
            contributors_.push_back({.part = part, .kind = kind, .name = makeName(), .path = paths.text(path)});
        }
        return known->second;
    }
    void setTrait(Id id, ContributorTrait trait) { contributors_[id].trait = trait; }
    /// Returns all contributors, with nothing summed up yet.
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
                                         static_cast<uint64_t>(key.part) * 16 + static_cast<uint64_t>(key.kind));
        }
    };
    std::unordered_map<Key, Id, Hash> ids_;
    std::vector<Contributor> contributors_;
};

/// Returns the part of a step to which a copy without overlaps belongs.
StepPart partOf(MemcpyKind kind);

/// A kernel, copy or memset of one worker.
struct GpuWork {
    int64_t startNs = 0;
    int64_t endNs = 0;
    /// Until then a collective waits for other ranks, which counts as `waiting`. Else the start.
    int64_t movingFromNs = 0;
    ContributorTable::Id contributor = 0;
    ContributorTable::Id waiting = 0;  ///< If `movingFromNs` is later than the start.
    uint32_t call = noIndex;           ///< Row of the launching call in `ApiTable`.
    RangePaths::Id path = 0;
    EventRef event;
    StepPart part = StepPart::Compute;
    int64_t bytes = 0;
    int64_t busBytes = 0;

    static constexpr size_t fieldCount = 11;
    std::array<int64_t, fieldCount> fields() const {
        // Differences need fewer bits. Times of a corrupt trace may be far apart, so they may wrap.
        const auto afterStart = [this](int64_t ns) {
            return static_cast<int64_t>(static_cast<uint64_t>(ns) - static_cast<uint64_t>(startNs));
        };
        return {startNs, afterStart(endNs), afterStart(movingFromNs),   contributor, waiting, call,
                path,    event.bits(),      static_cast<int64_t>(part), bytes,       busBytes};
    }
    static GpuWork fromFields(const std::array<int64_t, fieldCount>& values) {
        const auto afterStart = [&values](int64_t ns) {
            return static_cast<int64_t>(static_cast<uint64_t>(values[0]) + static_cast<uint64_t>(ns));
        };
        return GpuWork{.startNs = values[0],
                       .endNs = afterStart(values[1]),
                       .movingFromNs = afterStart(values[2]),
                       .contributor = static_cast<ContributorTable::Id>(values[3]),
                       .waiting = static_cast<ContributorTable::Id>(values[4]),
                       .call = static_cast<uint32_t>(values[5]),
                       .path = static_cast<RangePaths::Id>(values[6]),
                       .event = EventRef::fromBits(static_cast<uint32_t>(values[7])),
                       .part = static_cast<StepPart>(values[8]),
                       .bytes = values[9],
                       .busBytes = values[10]};
    }
};

/// Work by start.
using WorkList = PackedList<GpuWork>;

/// Returns the number of the first work that starts at a time or later. O(log n).
inline size_t firstFrom(const WorkList& work, int64_t timeNs) {
    return *std::ranges::lower_bound(std::views::iota(size_t{0}, work.size()), timeNs, {},
                                     [&work](size_t index) { return work.valueOf<0>(index); });
}

/// A process on a GPU.
struct WorkerId {
    uint32_t process = 0;
    uint32_t gpu = 0;
    uint32_t stepThread = noIndex;  ///< Its ranges are used for threads without ranges.
};
inline WorkerId workerOf(const WorkerSteps& steps) { return {steps.process, steps.gpu, steps.stepThread}; }

/// Returns the start of the launching call, or nullopt if the call was not recorded.
inline std::optional<int64_t> launchedNs(const RunContext& run, const GpuWork& work) {
    if (work.call == noIndex) return std::nullopt;
    return run.trace.apiCalls.startNs[work.call];
}

/// Returns all work of a worker, by start, with its contributors, in the memory of the trace. O(n log n) in its work.
WorkList workOf(const RunContext& run, const WorkerId& worker, ContributorTable& contributors);

}  // namespace lanescope::analysis
