// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/ParallelTurns.h"

#include "capture/sample/threadCpuTime.h"

namespace lanescope::capture {

ParallelTurns::ParallelTurns(size_t count) {
    for (size_t index = 1; index < count; ++index)
        threads_.emplace_back([this, index] { serve(index); });
}

ParallelTurns::~ParallelTurns() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ParallelTurns::run(size_t count, const std::function<void(size_t)>& work) {
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        count_ = count;
        left_ = threads_.size();
        ++turn_;
    }
    begun_.notify_all();
    if (count > 0) work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return left_ == 0; });
}

void ParallelTurns::serve(size_t index) {
    uint64_t served = 0;
    int64_t countedNs = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        begun_.wait(lock, [&] { return ends_ || turn_ != served; });
        if (ends_) return;
        served = turn_;
        if (index < count_) {
            lock.unlock();
            (*work_)(index);
            lock.lock();
        }
        const int64_t nowNs = threadCpuNs();
        cpuNs_.fetch_add(nowNs - countedNs);
        countedNs = nowNs;
        if (--left_ == 0) done_.notify_one();
    }
}

}  // namespace lanescope::capture
