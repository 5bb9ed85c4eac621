// SPDX-License-Identifier: Apache-2.0
#include "model/trace/tasks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace lanescope {

void runTasks(unsigned threads, const Tasks& tasks) {
    std::atomic<size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    const auto work = [&] {
        for (size_t task = next++; task < tasks.size(); task = next++) {
            try {
                tasks[task]();
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!error) error = std::current_exception();
                next = tasks.size();
            }
        }
    };
    std::vector<std::thread> others;
    const size_t count = std::min<size_t>(std::max(threads, 1u), tasks.size());
    try {
        for (size_t thread = 1; thread < count; ++thread) others.emplace_back(work);
    } catch (const std::system_error&) {
        // The system creates no more threads; the existing ones do all tasks.
    } catch (const std::bad_alloc&) {
        // No memory for another thread; the existing ones do all tasks.
    }
    work();
    for (std::thread& thread : others) thread.join();
    if (error) std::rethrow_exception(error);
}

}  // namespace lanescope
