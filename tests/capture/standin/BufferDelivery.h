// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace lanescope::standin {

/// SIMULATED: gives buffers back on a thread of CUPTI's own, one after the other. Meanwhile it
/// holds a lock that CUPTI's functions take as well, so whoever calls one of them while a buffer is
/// given to him, or keeps there what somebody who calls one is waiting for, stands still for ever.
/// Never destroyed: a flush may come while the process ends.
class BufferDelivery {
  public:
    /// Any thread. The thread begins with the first.
    void give(CUpti_BuffersCallbackCompleteFunc complete, uint8_t* memory, size_t bytes,
              size_t usedBytes);
    /// Waits until all that was given so far has arrived. Any thread.
    void waitForAll();
    /// What a function of CUPTI's waits for at its beginning.
    void pass() { const std::lock_guard lock(delivering_); }

  private:
    struct Buffer {
        CUpti_BuffersCallbackCompleteFunc complete;
        uint8_t* memory;
        size_t bytes, usedBytes;
    };
    void run();

    std::mutex delivering_;  // taken before the other
    std::mutex mutex_;       // guards what follows
    std::condition_variable changed_;
    std::deque<Buffer> waiting_;
    uint64_t given_ = 0, arrived_ = 0;
};

}  // namespace lanescope::standin
