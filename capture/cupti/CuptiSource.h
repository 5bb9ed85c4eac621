#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/agent/ActivitySource.h"
#include "capture/agent/AgentOptions.h"
#include "capture/cupti/ActivityDecoder.h"
#include "capture/cupti/ApiCallRecorder.h"
#include "capture/cupti/BufferPool.h"
#include "capture/cupti/CuptiLibrary.h"

namespace lanescope {

/// Records CUDA activity through CUPTI: subscribes, switches the kinds on, hands out buffers and
/// queues those that come back for the writer thread. The program's threads, which CUPTI calls back
/// on, do nothing but take a buffer from the pool or push one on the queue.
class CuptiSource final : public ActivitySource {
  public:
    CuptiSource(const AgentOptions& options, Agent& agent);

    void start() override;
    void prepare() override { pool_.warm(); }
    void flush(bool isFinal) override;
    void drain(RecordWriter& writer) override;

  private:
    /// A buffer that CUPTI has filled, in a list from newest to oldest.
    struct Completed {
        uint8_t* buffer;
        size_t validBytes;
        Completed* next;
    };
    struct Note {
        log::NoteSeverity severity;
        std::string code, sentence;
    };

    bool subscribe();
    void setAttributes();
    void enableKinds();
    void enableRuntimeCalls(std::string& problems);
    void onCompleted(uint8_t* buffer, size_t validBytes);
    void countDropped();
    static void CUPTIAPI bufferRequested(uint8_t** buffer, size_t* bytes, size_t* maximumRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, uint32_t stream, uint8_t* buffer,
                                         size_t bytes, size_t validBytes);
    static void CUPTIAPI onEvent(void* source, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void* data);

    const AgentOptions options_;
    Agent& agent_;
    CuptiLibrary cupti_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    BufferPool pool_;
    ApiCallRecorder calls_;
    std::optional<ActivityDecoder> decoder_;
    std::vector<Note> notes_;  // filled by start(), written down by the first drain()
    bool notesWritten_ = false;
    bool isRecording_ = false;
    std::atomic<bool> anyBuffer_{false};
    std::atomic<Completed*> completed_{nullptr};
    std::atomic<uint64_t> dropped_{0};
    std::atomic<uint64_t> discardedBuffers_{0};
};

}  // namespace lanescope
