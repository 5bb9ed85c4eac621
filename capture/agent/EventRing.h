// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

#include "capture/agent/Inside.h"

namespace lanescope::agent {

/// Limit of the memory that the rings of a process share for bursts. Any thread.
class BurstMemory {
  public:
    /// A burst of 10^5 calls with texts of 40 characters takes 14 MiB.
    static constexpr size_t defaultBytes = size_t{256} << 20;

    explicit BurstMemory(size_t bytes = defaultBytes) : bytes_(static_cast<int64_t>(bytes)) {}
    /// Returns false if that many bytes exceed the limit.
    bool acquire(size_t bytes) {
        if (bytes_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed) >= static_cast<int64_t>(bytes))
            return true;
        release(bytes);
        return false;
    }
    void release(size_t bytes) { bytes_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed); }

    int64_t freeBytes() const { return bytes_.load(std::memory_order_relaxed); }

  private:
    std::atomic<int64_t> bytes_;
};

/// Lock-free queue of variable-sized byte entries between one producing and one consuming thread, in segments that are
/// used in turn. A burst adds segments of the `BurstMemory`; the consumer returns their pages to the system. When there
/// is no room, the newest entry is refused and counted. Memory comes from the system; pages are touched only as far as
/// they are used.
class EventRing {
  public:
    /// Memory of the ring itself, without a burst.
    static constexpr size_t capacityBytes = 1u << 20;
    static constexpr size_t segmentBytes = capacityBytes / 4;
    static constexpr size_t maxEntryBytes = capacityBytes / 8;

    ~EventRing();

    /// Maps the first segment. Returns false if there is no memory; then every `reserve` refuses. `burst` outlives the
    /// ring; without it, the ring does not grow.
    bool create(BurstMemory* burst = nullptr);

    /// Returns room for an entry of `bytes`, or null and counts a refusal if there is none. Fill
    /// it, then call `commit`. Producer.
    void* reserve(size_t bytes) {
        const size_t needed = (sizeof(Header) + bytes + 15) & ~size_t{15};
        if (needed > static_cast<size_t>(end_ - at_) || needed > maxEntryBytes) [[unlikely]]
            if (!beginSegment(needed)) return nullptr;
        auto* const header = reinterpret_cast<Header*>(at_);
        header->bytes = static_cast<uint32_t>(needed);
        reserved_ = needed;
        return header + 1;
    }
    void commit() {
        at_ += reserved_;
        head_.store(head_.load(std::memory_order_relaxed) + std::exchange(reserved_, 0), std::memory_order_release);
    }
    /// Returns true once for each segment that was begun while many entries wait, so that the consumer should be woken.
    /// Producer.
    bool resetFilling() { return std::exchange(isFilling_, false); }
    /// Returns true if all committed entries were consumed. Any thread.
    bool isEmpty() const { return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire); }

    /// Returns the producer's position, for `drain`. Consumer.
    uint64_t committed() const { return head_.load(std::memory_order_acquire); }
    /// Calls `take(const void* entry, size_t bytes)` for each entry that was committed when
    /// `committed` returned `end`, oldest first. Consumer.
    void drain(uint64_t end, auto&& take) {
        uint64_t at = tail_.load(std::memory_order_relaxed);
        while (at != end) {
            Segment* const next = read_->next.load(std::memory_order_acquire);
            if (next != nullptr && readAt_ == read_->filledBytes) {
                release(std::exchange(read_, next));
                readAt_ = sizeof(Segment);
                continue;
            }
            const auto* header =
                reinterpret_cast<const Header*>(reinterpret_cast<const unsigned char*>(read_) + readAt_);
            take(header + 1, size_t{header->bytes} - sizeof(Header));
            readAt_ += header->bytes;
            at += header->bytes;
            tail_.store(at, std::memory_order_release);
        }
    }
    /// Returns and resets the number of refused entries. Consumer.
    uint64_t takeRefused() { return refused_.exchange(0, std::memory_order_relaxed); }

  private:
    struct Header {
        uint32_t bytes;  // including this header, a multiple of 16
        uint32_t unused;
        uint64_t reserved;
    };
    struct alignas(64) Segment {
        std::atomic<Segment*> next{nullptr};  // set when the producer leaves the segment
        uint64_t filledBytes = 0;             // at that time, including this struct
        Segment* nextFree = nullptr;
        bool isBurst = false;
    };
    bool beginSegment(size_t needed);
    Segment* newSegment();
    Segment* mapSegment(bool isBurst);
    void release(Segment* segment);

    /// Segments that the consumer has emptied, for the producer.
    struct Emptied {
        std::atomic<Segment*> given{nullptr};
        Segment* taken = nullptr;  // producer only

        void push(Segment* segment);
        Segment* pop();
        void unmap();
    };

    BurstMemory* burst_ = nullptr;
    // Producer only:
    Segment* write_ = nullptr;
    unsigned char* at_ = nullptr;
    unsigned char* end_ = nullptr;
    size_t reserved_ = 0;
    size_t ownSegments_ = 0;
    bool isFilling_ = false;

    alignas(64) std::atomic<uint64_t> head_{0};
    alignas(64) std::atomic<uint64_t> tail_{0};
    std::atomic<uint64_t> refused_{0};
    Emptied own_, forBursts_;
    // Consumer only:
    Segment* read_ = nullptr;
    size_t readAt_ = 0;
};

/// One `EventRing` for each thread that produces events of a kind, and one consumer for all. A producing thread never
/// waits: a full ring refuses and counts the event. The thread's first event maps its memory, from the system and not
/// from the program's allocator. `State` holds further data of a thread and is reset by `beginThread`. A process uses
/// one instance per type `State`. A thread that ends leaves its ring to the next thread. A forked child creates its own
/// instance and does not use its parent's rings.
template <class State>
class ThreadRings {
  public:
    struct Ring {
        EventRing events;
        State state{};
        uint32_t threadId = 0;

      private:
        friend ThreadRings;
        ThreadRings* owner = nullptr;
        Ring* next = nullptr;
        std::atomic<bool> inUse{true};
        uint64_t markedEnd = 0;  // consumer only
    };

    /// `wakeConsumer` is called, from any thread, with a thread's first event and when a ring fills. `burst` outlives
    /// the rings.
    ThreadRings(BurstMemory& burst, std::function<void()> wakeConsumer)
        : burst_(burst), wakeConsumer_(std::move(wakeConsumer)) {
        makeThreadEnd();
    }

    /// Returns the ring of the calling thread, or null and counts it if there is no memory. Only
    /// this thread fills it until the thread ends.
    Ring* ofThisThread() {
        Ring* ring = current_;
        // After a fork the ring belongs to the parent.
        if (ring && ring->owner == this) [[likely]]
            return ring;
        return attach();
    }
    /// Makes the reserved entry of the thread's own ring visible to the consumer.
    void commit(Ring& ring) {
        ring.events.commit();
        if (ring.events.resetFilling()) [[unlikely]]
            wakeConsumer_();
    }

    bool isUsed() const { return first_.load(std::memory_order_acquire) != nullptr; }

    void mark() {
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next)
            ring->markedEnd = ring->events.committed();
    }
    /// Calls `take(State& ofTheRing, const void* entry, size_t bytes)` for each entry from before
    /// `mark`, the oldest of each thread first. Returns the number of entries refused since the
    /// last call. `take` may access only the consumer's part of the state. Consumer.
    uint64_t drain(auto&& take) {
        uint64_t refused = 0;
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next) {
            ring->events.drain(ring->markedEnd,
                               [&](const void* entry, size_t bytes) { take(ring->state, entry, bytes); });
            refused += ring->events.takeRefused();
        }
        return refused;
    }

  private:
    Ring* attach() {
        const int errnoBefore = errno;
        Ring* const ring = takeRing();
        if (ring) {
            ring->state.beginThread();
            ring->threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
            current_ = ring;
            if (const uint64_t key = threadEnd_.load(std::memory_order_relaxed))
                ::pthread_setspecific(static_cast<pthread_key_t>(key - 1), ring);
        } else {
            LostCalls::countWithoutMemory();
        }
        wakeConsumer_();
        errno = errnoBefore;
        return ring;
    }
    Ring* takeRing() {
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next) {
            // Skips rings that still contain events: a new thread needs a whole ring.
            if (!ring->events.isEmpty()) continue;
            bool wasInUse = false;
            if (ring->inUse.compare_exchange_strong(wasInUse, true)) return ring;
        }
        void* const memory = ::mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        Ring* const ring = new (memory) Ring;
        if (!ring->events.create(&burst_)) {
            ring->~Ring();
            ::munmap(memory, sizeof(Ring));
            return nullptr;
        }
        ring->owner = this;
        ring->next = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(ring->next, ring, std::memory_order_release)) {
        }
        return ring;
    }
    static void detach(void* ring) {
        current_ = nullptr;
        static_cast<Ring*>(ring)->inUse.store(false, std::memory_order_release);
    }
    /// Creates the thread-end key. Not a function-local static: a fork by another thread during its
    /// initialization would leave the child waiting for it.
    static void makeThreadEnd() {
        pthread_key_t key{};
        if (threadEnd_.load() != 0 || ::pthread_key_create(&key, &detach) != 0) return;
        uint64_t none = 0;
        if (!threadEnd_.compare_exchange_strong(none, uint64_t{key} + 1)) ::pthread_key_delete(key);
    }

    // Trivially destructible on purpose: events may come while the thread ends.
    static inline constinit thread_local Ring* current_ = nullptr;
    static inline constinit std::atomic<uint64_t> threadEnd_{0};  // the key plus one; 0: none yet

    BurstMemory& burst_;
    std::function<void()> wakeConsumer_;
    std::atomic<Ring*> first_{nullptr};
};

}  // namespace lanescope::agent
