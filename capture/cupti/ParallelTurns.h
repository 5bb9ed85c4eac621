// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lanescope::capture {

/// Does the same for several things at once, again and again: the first on the thread of the
/// caller, each other one always on the same thread of its own.
class ParallelTurns {
  public:
    explicit ParallelTurns(size_t count);
    ParallelTurns(const ParallelTurns&) = delete;
    ParallelTurns& operator=(const ParallelTurns&) = delete;
    ~ParallelTurns();

    /// Calls `work` with 0 to `count - 1`, no more than there are threads, and waits for all.
    void run(size_t count, const std::function<void(size_t)>& work);
    /// Processor time of the threads beyond the caller's, as of the last `run`. Any thread.
    int64_t cpuNs() const { return cpuNs_.load(); }

  private:
    void serve(size_t index);

    std::mutex mutex_;
    std::condition_variable begun_, done_;
    const std::function<void(size_t)>* work_ = nullptr;
    size_t count_ = 0, left_ = 0;
    uint64_t turn_ = 0;
    bool ends_ = false;
    std::atomic<int64_t> cpuNs_{0};
    std::vector<std::thread> threads_;
};

}  // namespace lanescope::capture
