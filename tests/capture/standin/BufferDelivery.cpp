// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/BufferDelivery.h"

#include <pthread.h>

#include <thread>

namespace lanescope::standin {

void BufferDelivery::give(CUpti_BuffersCallbackCompleteFunc complete, uint8_t* memory, size_t bytes, size_t usedBytes) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({complete, memory, bytes, usedBytes});
    if (given_++ == 0) std::thread([this] { run(); }).detach();
    changed_.notify_all();
}

void BufferDelivery::waitForAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, upTo = given_] { return arrived_ >= upTo; });
}

void BufferDelivery::run() {
    ::pthread_setname_np(::pthread_self(), "cupti-standin");
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !waiting_.empty(); });
        }
        const std::lock_guard delivering(delivering_);
        Buffer buffer{};
        {
            const std::lock_guard lock(mutex_);
            buffer = waiting_.front();
            waiting_.pop_front();
        }
        buffer.complete(nullptr, 0, buffer.memory, buffer.bytes, buffer.usedBytes);
        const std::lock_guard lock(mutex_);
        ++arrived_;
        changed_.notify_all();
    }
}

}  // namespace lanescope::standin
