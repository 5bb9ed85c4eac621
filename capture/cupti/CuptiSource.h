// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/agent/ActivitySource.h"
#include "capture/agent/CallStacks.h"
#include "capture/agent/CycleClock.h"
#include "capture/agent/EventRing.h"
#include "capture/cupti/ActivityDecoder.h"
#include "capture/cupti/ApiCallRecorder.h"
#include "capture/cupti/CuptiLibrary.h"
#include "capture/log/LogFile.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// Pool of buffers for CUPTI's records. CUPTI requests them on threads that launch kernels, so warm zeroed buffers are
/// kept ready. Taking one is a scan over a few flags, without lock or system call. Never frees memory, because CUPTI
/// may still write to buffers that it has not returned. Without a free buffer or memory, the pool returns the discard
/// buffer, one per process, and its records are lost: CUPTI before 12.9 crashes without a buffer.
class BufferPool {
  public:
    static constexpr size_t bufferBytes = 4u << 20;
    static constexpr size_t maxBuffers = 64;  // at most 256 MiB of the program's memory
    static constexpr size_t warmBuffers = 4;
    static constexpr size_t discardBytes = 256u << 10;

    struct Buffer {
        uint8_t* memory;  ///< never null
        size_t bytes;
    };
    /// Returns a zeroed buffer, or the discard buffer. Any thread.
    Buffer take();
    /// Returns a buffer to the pool after `usedBytes` of it were written, and zeroes those. Writer thread only.
    void returnBuffer(uint8_t* buffer, size_t usedBytes);
    /// Returns true if the buffer came from `take` and is not the discard buffer. Any thread.
    bool owns(const uint8_t* buffer) const { return slotOf(buffer).has_value(); }
    /// Returns the buffer's number, less than `maxBuffers`, which never changes. Returns
    /// nullopt if `owns` is false. Any thread.
    std::optional<size_t> slotOf(const uint8_t* buffer) const;
    static bool isDiscard(const uint8_t* buffer);
    /// Prepares buffers until `warmBuffers` are ready. Writer thread only.
    void warm();

  private:
    enum State : uint8_t { Absent, Ready, Out, BeingMade };
    struct Slot {
        std::atomic<uint8_t> state{Absent};
        std::atomic<uint8_t*> memory{nullptr};
    };
    uint8_t* make(Slot& slot, bool touchPages);

    std::array<Slot, maxBuffers> slots_;
};

/// Recorder of the places where CUDA graph nodes are captured, by callbacks for created or copied
/// nodes. The whole graph launches the work of such a node later, from another line. Keeps
/// everything, whatever the windows are: graphs are captured long before they are launched.
class GraphNodeRecorder {
  public:
    /// `wakeWriter` as in `ThreadRings`. `stacks` and `burst` outlive all calls.
    GraphNodeRecorder(const CuptiLibrary& cupti, CallStacks& stacks, BurstMemory& burst,
                      std::function<void()> wakeWriter);

    /// Enables the callbacks, or disables them permanently. Does nothing with a CUPTI that does not number nodes.
    void enable(CUpti_SubscriberHandle subscriber, bool isOn) const;

    static bool isOfNode(CUpti_CallbackId id);
    void onNode(CUpti_CallbackId id, const CUpti_ResourceData& resource);

    /// Records how far the threads have come. Writer thread, like the following function.
    void mark() { rings_.mark(); }
    void drain(log::RecordWriter& writer, const CycleClock& clock);
    /// Writes a node and those that it is a copy of unless this part of the log has them. For a ring.
    void repeat(uint64_t node, log::RecordWriter& writer);

  private:
    struct Node;
    struct ThreadState {
        CallStacks::OfThread stacks;
        void beginThread() { stacks.beginThread(); }
    };

    uint64_t numberOf(CUgraphNode node) const;

    const CuptiLibrary& cupti_;
    CallStacks& stacks_;
    struct Known {
        log::GraphNodeRecord record;
        uint32_t writtenIn;  // the writer's generation plus one
    };
    static constexpr size_t maxKnown = 1u << 18;
    ThreadRings<ThreadState> rings_;
    std::unordered_map<uint64_t, Known> known_;  // by node; writer thread only, like the next member
    bool hasReportedLost_ = false;
};

/// Source that records CUDA activity through CUPTI: subscribes, enables the kinds, provides buffers
/// and queues the returned ones for the writer thread. In CUPTI's callbacks, the program's threads
/// only take a buffer from the pool or push one on the queue.
class CuptiSource final : public ActivitySource {
  public:
    CuptiSource(const AgentOptions& options, Agent& agent);

    void start(bool isLate) override;
    void prepare() override { pool_.warm(); }
    void flush(bool unfinished) override;
    bool setLevel(log::RecordingLevel level) override;
    void collect() override;
    void drain(log::RecordWriter& writer) override;
    void finish(log::RecordWriter& writer) override;

  private:
    /// Buffer filled by CUPTI, in a list from newest to oldest.
    struct Completed {
        uint8_t* buffer;
        size_t validBytes;
        Completed* next;
    };
    /// Guard that returns a buffer to the pool after it was read or could not be read.
    struct BufferReturn {
        CuptiSource& source;
        Completed* completed;
        ~BufferReturn();
    };
    struct Note {
        Severity severity;
        HealthCode code;
        std::string sentence;
    };

    bool begin();
    bool subscribe();
    void warnTorchProfiler();
    void setAttributes();
    void enableKinds();
    void enableKind(CUpti_ActivityKind kind, log::RecordingLevel from, const char* what, std::string& problems);
    bool mayDisable() const;
    void setDriverCalls(bool isOn);
    void enableGraphs(std::string& problems);
    void configureUnifiedMemory();
    void enableWindowCalls();
    void changeLevel();
    void enableLevel(log::RecordingLevel level, log::RecordingLevel before);
    void onDriverCall(CUpti_CallbackId id, const CUpti_CallbackData& call);
    void writeBeginning(log::RecordWriter& writer);
    void writeHazards(log::RecordWriter& writer);
    void detectOtherProfilers(log::RecordWriter& writer, uint64_t launched, bool hasBuffers);
    void note(Severity severity, HealthCode code, std::string sentence);
    void onCompleted(uint8_t* buffer, size_t validBytes);
    void countDropped();
    static void CUPTIAPI bufferRequested(uint8_t** buffer, size_t* bytes, size_t* maxRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                         size_t validBytes);
    static void CUPTIAPI onEvent(void* source, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

    const AgentOptions options_;
    Agent& agent_;
    CuptiLibrary cupti_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    BufferPool pool_;
    ApiCallRecorder calls_;
    GraphNodeRecorder nodes_;
    LaunchWindows launches_;  // writer thread only
    std::optional<ActivityDecoder> decoder_;
    std::vector<Note> notes_;  // filled by start(), written down by the first drain()
    std::atomic<bool> unifiedMemoryRefused_{false};
    struct Kind {
        CUpti_ActivityKind kind;
        log::RecordingLevel from;  // the lowest level that records it
    };
    // Kinds that can be disabled. Excludes managed memory, because CUPTI before 13.4 then stops for two seconds.
    std::vector<Kind> kinds_;            // filled by start(), then the flusher's, like the following
    bool unifiedMemoryPending_ = false;  // wanted, but not enabled yet
    bool recordsNodes_ = false;
    std::atomic<log::RecordingLevel> level_{log::RecordingLevel::All}, wantedLevel_{log::RecordingLevel::All};
    std::atomic<bool> waitsForQuiet_{
        false};  // `wantedLevel_` follows when a thread of the program has waited for the GPU
    std::atomic<bool> isChangingLevel_{false};
    std::atomic<bool> hasNewLevel_{false};
    bool callsOpenWindows_ = false;
    // Writer thread only:
    Completed* collected_ = nullptr;                                      // oldest first
    uint32_t reportedHazards_ = 0;                                        // bit set of hazards
    std::vector<std::pair<log::DeviceRecord, std::string>> lateDevices_;  // filled by start()
    const int64_t begunNs_;
    bool reportedUnreadable_ = false;
    uint64_t unansweredLaunches_ = 0;  // launches since CUPTI last returned a buffer
    int64_t unansweredSinceNs_ = 0;
    bool reportedSilent_ = false;
    bool isRecording_ = false;
    std::atomic<bool> hasContext_{false};
    std::atomic<bool> anyBuffer_{false};
    std::atomic<Completed*> completed_{nullptr};
    std::array<Completed, BufferPool::maxBuffers> completedOf_{};  // of the pool's own buffers
    std::atomic<uint64_t> dropped_{0};
    std::atomic<uint64_t> discardedBuffers_{0};
    std::atomic<bool> hasUnknownBuffer_{false};
};

}  // namespace lanescope::agent
