// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/EventRing.h"

#include <sys/mman.h>

namespace lanescope::agent {

EventRing::~EventRing() {
    if (memory_) ::munmap(memory_, capacityBytes);
}

bool EventRing::create() {
    void* memory = ::mmap(nullptr, capacityBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<unsigned char*>(memory);
    return true;
}

void* EventRing::reserve(size_t bytes) {
    const size_t needed = (sizeof(Header) + bytes + 15) & ~size_t{15};
    const uint64_t head = head_.load(std::memory_order_relaxed);
    const uint64_t used = head - tail_.load(std::memory_order_acquire);
    const size_t toEdge = capacityBytes - (head & (capacityBytes - 1));
    // An entry is contiguous: near the edge a filler precedes it.
    const size_t filler = toEdge < needed ? toEdge : 0;
    if (!memory_ || needed > maxEntryBytes || used + filler + needed > capacityBytes) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
    }
    if (filler) *headerAt(head) = {static_cast<uint32_t>(filler), 1, 0};
    Header* header = headerAt(head + filler);
    *header = {static_cast<uint32_t>(needed), 0, 0};
    reservedEnd_ = head + filler + needed;
    return header + 1;
}

void EventRing::commit() { head_.store(reservedEnd_, std::memory_order_release); }

bool EventRing::isHalfFull() const {
    return head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed) > capacityBytes / 2;
}

}  // namespace lanescope::agent
