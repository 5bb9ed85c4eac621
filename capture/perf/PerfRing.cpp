// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfRing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace lanescope::capture {

PerfRing::PerfRing(int event, size_t dataBytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, page + dataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory == MAP_FAILED) return;
    page_ = static_cast<perf_event_mmap_page*>(memory);
    data_ = static_cast<std::byte*>(memory) + page;
    dataBytes_ = dataBytes;
    mappedBytes_ = page + dataBytes;
}

PerfRing::~PerfRing() {
    if (mappedBytes_ > 0) ::munmap(page_, mappedBytes_);
}

PerfRing::Waiting PerfRing::waiting() const {
    // What lies before the head was written before the head was.
    const uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = __atomic_load_n(&page_->data_tail, __ATOMIC_RELAXED);
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(head - tail, dataBytes_));
    const auto from = static_cast<size_t>(tail % dataBytes_);
    const size_t untilEnd = std::min(bytes, dataBytes_ - from);
    return {{data_ + from, untilEnd}, {data_, bytes - untilEnd}, head};
}

void PerfRing::release(uint64_t head) {
    __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE);
}

}  // namespace lanescope::capture
