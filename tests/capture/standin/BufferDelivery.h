// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace lanescope::standin {

/// SIMULATED: returns buffers on CUPTI's own thread, one after the other. Meanwhile it holds a lock
/// that CUPTI's functions take as well. A callback that calls one of them, or waits for another
/// thread that does, therefore deadlocks. Never destroyed: a flush may come while the process ends.
class BufferDelivery {
  public:
    /// Any thread. The first call starts the thread.
    void give(CUpti_BuffersCallbackCompleteFunc complete, uint8_t* memory, size_t bytes, size_t usedBytes);
    /// Waits until all buffers so far have arrived. Any thread.
    void waitForAll();
    /// Waits like the start of a CUPTI function.
    void pass() { const std::lock_guard lock(delivering_); }

  private:
    struct Buffer {
        CUpti_BuffersCallbackCompleteFunc complete;
        uint8_t* memory;
        size_t bytes, usedBytes;
    };
    void run();

    std::mutex delivering_;  // taken before the other
    std::mutex mutex_;       // guards the members below
    std::condition_variable changed_;
    std::deque<Buffer> waiting_;
    uint64_t given_ = 0, arrived_ = 0;
};

}  // namespace lanescope::standin
