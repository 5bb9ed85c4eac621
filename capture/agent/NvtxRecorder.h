// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "capture/agent/CallStacks.h"
#include "capture/agent/CycleClock.h"
#include "capture/agent/EventRing.h"
#include "capture/agent/NvtxRegistry.h"
#include "capture/agent/NvtxTrigger.h"
#include "capture/agent/Windows.h"
#include "capture/log/LogFile.h"
#include "capture/log/Records.h"

namespace lanescope::agent {

/// Number of open ranges on a thread, by domain number. With more than a few domains it takes
/// memory from the system alone. Never throws. One thread.
class OpenRanges {
  public:
    OpenRanges& operator=(OpenRanges&&) = delete;
    ~OpenRanges();

    /// Returns the count of a domain, or null if there is no memory for it.
    int32_t* of(uint32_t domain) {
        if (domain < fewDomains) [[likely]]
            return &few_[domain];
        return domain < capacity_ || grow(domain) ? &many_[domain] : nullptr;
    }
    void clear();

  private:
    static constexpr uint32_t fewDomains = 64;
    bool grow(uint32_t domain);

    int32_t few_[fewDomains] = {};
    int32_t* many_ = nullptr;  // by domain; the first entries are unused
    size_t capacity_ = 0;
};

/// Selects the NVTX calls to keep: calls in a window, and the end of a range whose beginning was
/// kept, however late. A range that was open before its window is not kept. Writer thread only.
class NvtxWindowFilter {
  public:
    /// Keep flags of a thread's pushed ranges, by domain and level.
    using OpenRanges = std::vector<std::vector<bool>>;

    explicit NvtxWindowFilter(const Windows& windows) : windows_(windows) {}

    /// Returns true if the call is kept. `ofThread` is the state of the thread that made it. Calls
    /// of a thread come in their order.
    bool keeps(const log::NvtxRecord& call, OpenRanges& ofThread);

  private:
    const Windows& windows_;
    std::unordered_map<uint64_t, bool> started_;  // open start/end ranges: id to keep flag
};

/// Records NVTX calls from any number of threads into one ring per thread, and passes them to the writer thread. The
/// calling thread never waits. It uses the program's allocator only for ranges that are reported to samplers.
class NvtxRecorder {
  public:
    /// `wakeWriter` is called, from any thread, with a thread's first event and when a ring fills.
    /// `stacks` and `burst` outlive all calls; `moments` may be null.
    NvtxRecorder(Windows& windows, CallStacks& stacks, BurstMemory& burst, std::function<void()> wakeWriter,
                 std::unique_ptr<MomentNotifier> moments = nullptr);

    /// Records a call on the calling thread. Push returns the number of ranges of the domain that were open on this
    /// thread before, Pop the number after. A Pop without a Push returns -1 and is not recorded.
    int record(const NvtxCall& call);
    uint64_t nextRangeId() { return rangeIds_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// Records how far each ring has been filled, before `Windows::refresh`. Writer thread.
    void mark() { rings_.mark(); }
    /// Writes the calls recorded before `mark` that lie in a window, announcements first. Writer thread.
    void drain(log::RecordWriter& writer, const CycleClock& clock);
    /// Stops recording; calls are still answered. Any thread.
    void stop() { isStopped_.store(true, std::memory_order_relaxed); }
    bool isUsed() const { return rings_.isUsed(); }
    /// Forgets the ranges that are open now, whose beginning or end may be missing: their ends are not recorded. Before
    /// calls are recorded again. Writer thread.
    void forgetOpenRanges() {
        lastForgottenId_.store(rangeIds_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        sleeps_.fetch_add(1, std::memory_order_relaxed);
    }

  private:
    struct Entry;
    struct ThreadState {
        OpenRanges open;
        CallStacks::OfThread stacks;
        // Writer thread only:
        uint32_t filteredThreadId = 0;  // the thread that owns these ranges
        NvtxWindowFilter::OpenRanges keptRanges;
        uint32_t sleeps = 0;  // `sleeps_` at the last call
        void beginThread() {
            open.clear();
            stacks.beginThread();
        }
    };
    void drainAnnouncements(log::RecordWriter& writer);

    CallStacks& stacks_;
    ThreadRings<ThreadState> rings_;
    std::unique_ptr<NvtxTrigger> trigger_;           // null unless NVTX ranges open windows
    const std::unique_ptr<MomentNotifier> moments_;  // null unless ranges were chosen
    NvtxWindowFilter filter_;
    std::atomic<bool> isStopped_{false};
    std::atomic<uint32_t> sleeps_{0};
    std::atomic<uint64_t> lastForgottenId_{0};
    std::atomic<uint64_t> rangeIds_{0};
    size_t announcementsWritten_ = 0;   // writer thread only
    uint32_t announcedGeneration_ = 0;  // writer thread only
};

}  // namespace lanescope::agent
