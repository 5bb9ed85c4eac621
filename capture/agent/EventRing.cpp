// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/EventRing.h"

namespace lanescope::agent {

void EventRing::Emptied::push(Segment* segment) {
    segment->nextFree = given.load(std::memory_order_relaxed);
    while (!given.compare_exchange_weak(segment->nextFree, segment, std::memory_order_release)) {
    }
}

EventRing::Segment* EventRing::Emptied::pop() {
    if (taken == nullptr) taken = given.exchange(nullptr, std::memory_order_acquire);
    return taken == nullptr ? nullptr : std::exchange(taken, taken->nextFree);
}

void EventRing::Emptied::unmap() {
    while (Segment* const segment = pop()) ::munmap(segment, segmentBytes);
}

EventRing::~EventRing() {
    for (Segment* each = read_; each != nullptr;) ::munmap(std::exchange(each, each->next.load()), segmentBytes);
    own_.unmap();
    forBursts_.unmap();
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

EventRing::Segment* EventRing::mapSegment(bool isBurst) {
    const int errnoBefore = errno;
    void* const memory = ::mmap(nullptr, segmentBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = errnoBefore;
    if (memory == MAP_FAILED) return nullptr;
    auto* const segment = new (memory) Segment;
    segment->isBurst = isBurst;
    return segment;
}

/// Returns a segment that the consumer has emptied, else a new one; null if there is none.
EventRing::Segment* EventRing::newSegment() {
    if (Segment* const emptied = own_.pop()) return emptied;
    if (ownSegments_ < capacityBytes / segmentBytes) {
        Segment* const segment = mapSegment(false);
        if (segment != nullptr) ++ownSegments_;
        return segment;
    }
    if (burst_ == nullptr || !burst_->acquire(segmentBytes)) return nullptr;
    Segment* const emptied = forBursts_.pop();
    Segment* const segment = emptied != nullptr ? emptied : mapSegment(true);
    if (segment == nullptr) burst_->release(segmentBytes);
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

/// Passes an emptied segment to the producer. The pages of a burst go to the system, all but the first. Unmapping would
/// lock the address space, for which the program's threads would wait. Consumer.
void EventRing::release(Segment* segment) {
    if (!segment->isBurst) return own_.push(segment);
    const auto keptBytes = static_cast<size_t>(::getpagesize());
    ::madvise(reinterpret_cast<unsigned char*>(segment) + keptBytes, segmentBytes - keptBytes, MADV_DONTNEED);
    forBursts_.push(segment);
    burst_->release(segmentBytes);
}

}  // namespace lanescope::agent
