#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/agent/EventRing.h"
#include "capture/agent/RecordWriter.h"
#include "capture/log/Records.h"

namespace lanescope {

/// One NVTX call, as its thread made it. Views need to live for the call only.
struct NvtxCall {
    log::NvtxEvent event = log::NvtxEvent::Mark;
    log::NvtxPayload payload = log::NvtxPayload::None;
    uint32_t domain = 0;
    uint32_t category = 0;
    uint32_t colorArgb = 0;
    uint64_t rangeId = 0;
    uint64_t payloadBits = 0;
    uint64_t schemaId = 0;
    const std::string* registered = nullptr;  ///< A registered string instead of `text`.
    std::string_view text;
    std::string_view extended;  ///< Bytes of the extended payload.
};

/// Takes NVTX calls from any number of threads into one ring per thread, and gives them to the
/// writer thread. The calling thread never waits and, after its first call, never allocates.
class NvtxRecorder {
  public:
    /// `wakeWriter` is called, from any thread, with a thread's first event and when a ring fills.
    explicit NvtxRecorder(std::function<void()> wakeWriter);

    /// Records a call on the calling thread. Push answers how many ranges of the domain were open
    /// on this thread before, Pop how many after; a Pop without a Push answers -1 and is not
    /// recorded.
    int record(const NvtxCall& call);
    /// A new id for a start/end range.
    uint64_t nextRangeId() { return rangeIds_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// Writer thread: writes down everything recorded so far, announcements first.
    void drain(RecordWriter& writer);
    /// Whether any thread has recorded anything yet.
    bool isUsed() const { return threads_.load(std::memory_order_acquire) != nullptr; }

  private:
    struct Entry;
    struct Thread;
    Thread* threadState();
    Thread* attachThread();
    static void detachThread(void* thread);
    void drainAnnouncements(RecordWriter& writer);

    std::function<void()> wakeWriter_;
    std::atomic<Thread*> threads_{nullptr};
    std::atomic<uint64_t> rangeIds_{0};
    size_t announcementsWritten_ = 0;   // writer thread only
    uint32_t announcedGeneration_ = 0;  // writer thread only
};

}  // namespace lanescope
