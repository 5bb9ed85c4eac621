// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/EventRing.h"

#include <sys/mman.h>

namespace lanescope::agent {

EventRing::~EventRing() {
    for (Segment* each = read_; each != nullptr;) ::munmap(std::exchange(each, each->next.load()), segmentBytes);
    for (Segment* each : {free_.load(), reusable_})
        while (each != nullptr) ::munmap(std::exchange(each, each->nextFree), segmentBytes);
}

bool EventRing::create(BurstMemory* burst) {
    burst_ = burst;
    Segment* const first = newSegment();
    if (first == nullptr) return false;
    write_ = read_ = first;
    readAt_ = sizeof(Segment);
    at_ = reinterpret_cast<unsigned char*>(first + 1);
    end_ = reinterpret_cast<unsigned char*>(first) + segmentBytes;
    return true;
}

/// Returns a segment that the consumer has emptied, else a new one; null if there is none.
EventRing::Segment* EventRing::newSegment() {
    if (reusable_ == nullptr) reusable_ = free_.exchange(nullptr, std::memory_order_acquire);
    if (reusable_ != nullptr) return std::exchange(reusable_, reusable_->nextFree);
    const bool isBurst = ownSegments_ >= capacityBytes / segmentBytes;
    if (isBurst && (burst_ == nullptr || !burst_->acquire(segmentBytes))) return nullptr;
    const int errnoBefore = errno;
    void* const memory = ::mmap(nullptr, segmentBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = errnoBefore;
    if (memory == MAP_FAILED) {
        if (isBurst) burst_->release(segmentBytes);
        return nullptr;
    }
    auto* const segment = new (memory) Segment;
    segment->isBurst = isBurst;
    if (!isBurst) ++ownSegments_;
    return segment;
}

bool EventRing::beginSegment(size_t needed) {
    Segment* const segment = write_ != nullptr && needed <= maxEntryBytes ? newSegment() : nullptr;
    if (segment == nullptr) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    segment->next.store(nullptr, std::memory_order_relaxed);
    write_->filledBytes = static_cast<uint64_t>(at_ - reinterpret_cast<unsigned char*>(write_));
    write_->next.store(segment, std::memory_order_release);
    write_ = segment;
    at_ = reinterpret_cast<unsigned char*>(segment + 1);
    end_ = reinterpret_cast<unsigned char*>(segment) + segmentBytes;
    isFilling_ = head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_relaxed) > segmentBytes;
    return true;
}

/// Passes an emptied segment on: to the producer, or to the system if it was for a burst. Consumer.
void EventRing::release(Segment* segment) {
    if (segment->isBurst) {
        ::munmap(segment, segmentBytes);
        burst_->release(segmentBytes);
        return;
    }
    segment->nextFree = free_.load(std::memory_order_relaxed);
    while (!free_.compare_exchange_weak(segment->nextFree, segment, std::memory_order_release)) {
    }
}

}  // namespace lanescope::agent
