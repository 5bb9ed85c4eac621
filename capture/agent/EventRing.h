// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lanescope::agent {

/// A ring of variable-sized byte entries between one producing and one consuming thread, without
/// locks. When it is full the newest entry is refused and counted. Memory is taken from the system
/// in `create` and touched only as far as it is used.
class EventRing {
  public:
    static constexpr size_t capacityBytes = 1u << 20;
    /// Longest entry; leaves room for several even in the worst place of the ring.
    static constexpr size_t maximumEntryBytes = capacityBytes / 8;

    EventRing() = default;
    ~EventRing();
    EventRing(const EventRing&) = delete;
    EventRing& operator=(const EventRing&) = delete;

    /// False if there is no memory; then every `reserve` refuses.
    bool create();

    /// Producer: room for an entry of `bytes`, or null if there is none (counted). Fill it, then
    /// `commit`.
    void* reserve(size_t bytes);
    void commit();
    /// Producer: whether so much waits that the consumer should be woken.
    bool isHalfFull() const;
    /// Whether everything committed has been taken. Any thread.
    bool isEmpty() const {
        return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
    }

    /// Consumer: how far the producer has come, for `drain`.
    uint64_t committed() const { return head_.load(std::memory_order_acquire); }
    /// Consumer: calls `take(const void* entry, size_t bytes)` for each entry that was committed
    /// when `committed` answered `end`, oldest first.
    template <class Take>
    void drain(uint64_t end, Take&& take) {
        uint64_t at = tail_.load(std::memory_order_relaxed);
        while (at != end) {
            const Header* header = headerAt(at);
            if (!header->isFiller) take(header + 1, size_t{header->bytes} - sizeof(Header));
            at += header->bytes;
            tail_.store(at, std::memory_order_release);
        }
    }
    /// Consumer: entries refused since the last call.
    uint64_t takeRefused() { return refused_.exchange(0, std::memory_order_relaxed); }

  private:
    struct Header {
        uint32_t bytes;  // with this header, a multiple of 16
        uint32_t isFiller;
        uint64_t reserved;
    };
    Header* headerAt(uint64_t position) const {
        return reinterpret_cast<Header*>(memory_ + (position & (capacityBytes - 1)));
    }

    unsigned char* memory_ = nullptr;
    uint64_t reservedEnd_ = 0;  // producer only
    std::atomic<uint64_t> head_{0};
    std::atomic<uint64_t> tail_{0};
    std::atomic<uint64_t> refused_{0};
};

}  // namespace lanescope::agent
