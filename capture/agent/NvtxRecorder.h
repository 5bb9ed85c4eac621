// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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

/// How many ranges are open on a thread, by the number of their domain. Takes memory from the
/// system alone, where a program has more than a few domains, and never throws. One thread.
class OpenRanges {
  public:
    OpenRanges() = default;
    OpenRanges(const OpenRanges&) = delete;
    OpenRanges& operator=(const OpenRanges&) = delete;
    ~OpenRanges();

    /// The count of a domain; null if there is no memory for it.
    int32_t* of(uint32_t domain) {
        if (domain < fewDomains) [[likely]]
            return &few_[domain];
        return domain < capacity_ || grow(domain) ? &many_[domain] : nullptr;
    }
    /// No range is open any more.
    void clear();

  private:
    static constexpr uint32_t fewDomains = 64;
    bool grow(uint32_t domain);

    int32_t few_[fewDomains] = {};
    int32_t* many_ = nullptr;  // by domain, the first ones unused
    size_t capacity_ = 0;
};

/// Decides which NVTX calls are kept: those in a window, and the end of a range whose beginning was
/// kept, however late. A range that was open before its window is not kept. Writer thread only.
class NvtxWindowFilter {
  public:
    /// The pushed ranges of a thread, by domain and level: whether they are kept.
    using OpenRanges = std::vector<std::vector<bool>>;

    explicit NvtxWindowFilter(const Windows& windows) : windows_(windows) {}

    /// Whether to keep the call; `ofThread` is the state of the thread that made it. Calls of a
    /// thread come in their order.
    bool keeps(const log::NvtxRecord& call, OpenRanges& ofThread);

  private:
    const Windows& windows_;
    std::unordered_map<uint64_t, bool> started_;  // open start/end ranges by id: whether kept
};

/// Takes NVTX calls from any number of threads into one ring per thread, and gives them to the
/// writer thread. The calling thread never waits, and asks the program's allocator for nothing but
/// for ranges that samplers are told of.
class NvtxRecorder {
  public:
    /// `wakeWriter` is called, from any thread, with a thread's first event and when a ring fills.
    /// `stacks` outlives all calls; `moments` may be null.
    NvtxRecorder(Windows& windows, CallStacks& stacks, std::function<void()> wakeWriter,
                 std::unique_ptr<MomentTeller> moments = nullptr);

    /// Records a call on the calling thread. Push answers how many ranges of the domain were open
    /// on this thread before, Pop how many after; a Pop without a Push answers -1 and is not
    /// recorded.
    int record(const NvtxCall& call);
    /// A new id for a start/end range.
    uint64_t nextRangeId() { return rangeIds_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// Writer thread: notes how far each ring has been filled, before `Windows::refresh`.
    void mark() { rings_.mark(); }
    /// Writer thread: writes down what was recorded before `mark` and lies in a window,
    /// announcements first.
    void drain(log::RecordWriter& writer, const CycleClock& clock);
    /// From now on calls are answered but not recorded. Any thread.
    void stop() { isStopped_.store(true, std::memory_order_relaxed); }
    /// Whether any thread has recorded anything yet.
    bool isUsed() const { return rings_.isUsed(); }

  private:
    struct Entry;
    /// What a thread keeps beside its ring.
    struct ThreadState {
        OpenRanges open;
        CallStacks::OfThread stacks;
        // Writer thread only:
        uint32_t filteredThreadId = 0;  // whose ranges these are
        NvtxWindowFilter::OpenRanges keptRanges;
        void beginThread() {
            open.clear();
            stacks.beginThread();
        }
    };
    void drainAnnouncements(log::RecordWriter& writer);

    CallStacks& stacks_;
    ThreadRings<ThreadState> rings_;
    std::unique_ptr<NvtxTrigger> trigger_;         // null unless NVTX ranges open windows
    const std::unique_ptr<MomentTeller> moments_;  // null unless ranges were chosen
    NvtxWindowFilter filter_;
    std::atomic<bool> isStopped_{false};
    std::atomic<uint64_t> rangeIds_{0};
    size_t announcementsWritten_ = 0;   // writer thread only
    uint32_t announcedGeneration_ = 0;  // writer thread only
};

}  // namespace lanescope::agent
