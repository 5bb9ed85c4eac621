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
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "capture/agent/Inside.h"

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

/// One `EventRing` for each thread that produces events of a kind, and one consumer for all. The
/// producing thread never waits, and takes memory with its first event only, from the system and
/// not from the program's allocator. `State` is what else a thread keeps, begun anew for each by
/// `beginThread`; it also tells the kinds apart, so a process has one living instance for each.
///
/// A thread that ends leaves its ring to the next. A forked child makes an instance of its own; the
/// rings of its parent's are left alone there.
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
        bool wokeConsumer = false;
        uint64_t markedEnd = 0;  // consumer only
    };

    /// `wakeConsumer` is called, from any thread, with a thread's first event and when a ring
    /// fills.
    explicit ThreadRings(std::function<void()> wakeConsumer)
        : wakeConsumer_(std::move(wakeConsumer)) {
        makeThreadEnd();
    }
    ThreadRings(const ThreadRings&) = delete;
    ThreadRings& operator=(const ThreadRings&) = delete;

    /// The ring of the calling thread; null if there is no memory, which is counted. It is the
    /// thread's to fill until the thread ends.
    Ring* ofThisThread() {
        Ring* ring = current_;
        // After a fork the ring is one of the parent's.
        if (ring && ring->owner == this) [[likely]]
            return ring;
        return attach();
    }
    /// Makes what was reserved in the thread's own ring visible to the consumer.
    void commit(Ring& ring) {
        ring.events.commit();
        if (!ring.events.isHalfFull()) {
            ring.wokeConsumer = false;
        } else if (!std::exchange(ring.wokeConsumer, true)) {
            wakeConsumer_();
        }
    }

    /// Whether any thread has produced anything yet. Any thread.
    bool isUsed() const { return first_.load(std::memory_order_acquire) != nullptr; }

    /// Consumer: notes how far the threads have come.
    void mark() {
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next)
            ring->markedEnd = ring->events.committed();
    }
    /// Consumer: calls `take(State& ofTheRing, const void* entry, size_t bytes)` for each entry
    /// from before `mark`, the oldest of each thread first, and returns how many were refused since
    /// the last call. Of the state it may touch what is the consumer's.
    template <class Take>
    uint64_t drain(Take&& take) {
        uint64_t refused = 0;
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next) {
            ring->events.drain(ring->markedEnd, [&](const void* entry, size_t bytes) {
                take(ring->state, entry, bytes);
            });
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
            LostCalls::withoutMemory.fetch_add(1, std::memory_order_relaxed);
        }
        wakeConsumer_();
        errno = errnoBefore;
        return ring;
    }
    Ring* takeRing() {
        for (Ring* ring = first_.load(std::memory_order_acquire); ring; ring = ring->next) {
            // One that still holds events is left alone: a new thread deserves a whole ring.
            if (!ring->events.isEmpty()) continue;
            bool wasInUse = false;
            if (ring->inUse.compare_exchange_strong(wasInUse, true)) return ring;
        }
        void* const memory = ::mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        Ring* const ring = new (memory) Ring;
        if (!ring->events.create()) {
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
    /// No static of a function: a fork by another thread while that is made would leave the child
    /// waiting for it.
    static void makeThreadEnd() {
        pthread_key_t key{};
        if (threadEnd_.load() != 0 || ::pthread_key_create(&key, &detach) != 0) return;
        uint64_t none = 0;
        if (!threadEnd_.compare_exchange_strong(none, uint64_t{key} + 1)) ::pthread_key_delete(key);
    }

    // Trivially destructible on purpose: events may come while the thread ends.
    static inline constinit thread_local Ring* current_ = nullptr;
    static inline constinit std::atomic<uint64_t> threadEnd_{0};  // the key and one; 0: none yet

    std::function<void()> wakeConsumer_;
    std::atomic<Ring*> first_{nullptr};
};

}  // namespace lanescope::agent
