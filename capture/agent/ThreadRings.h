// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

#include "capture/agent/EventRing.h"

namespace lanescope::agent {

/// One `EventRing` for each thread that produces events of a kind, and one consumer for all. The
/// producing thread never waits and, after its first event, never allocates. `State` is what else a
/// thread keeps, begun anew for each by `beginThread`; it also tells the kinds apart, so a process
/// has one living instance for each.
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
        static const bool isMade = ::pthread_key_create(&threadEnd_, &detach) == 0;
        hasThreadEnd_ = isMade;
    }
    ThreadRings(const ThreadRings&) = delete;
    ThreadRings& operator=(const ThreadRings&) = delete;

    /// The ring of the calling thread; null if there is no memory. It is the thread's to fill until
    /// the thread ends.
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
        Ring* ring = first_.load(std::memory_order_acquire);
        for (bool wasInUse = true; ring; ring = ring->next) {
            // One that still holds events is left alone: a new thread deserves a whole ring.
            if (!ring->events.isEmpty()) continue;
            wasInUse = false;
            if (ring->inUse.compare_exchange_strong(wasInUse, true)) break;
        }
        if (!ring) {
            ring = new (std::nothrow) Ring;
            if (!ring) return nullptr;
            ring->events.create();
            ring->owner = this;
            ring->next = first_.load(std::memory_order_relaxed);
            while (!first_.compare_exchange_weak(ring->next, ring, std::memory_order_release)) {
            }
        }
        ring->state.beginThread();
        ring->threadId = static_cast<uint32_t>(::syscall(SYS_gettid));
        current_ = ring;
        if (hasThreadEnd_) ::pthread_setspecific(threadEnd_, ring);
        wakeConsumer_();
        return ring;
    }
    static void detach(void* ring) {
        current_ = nullptr;
        static_cast<Ring*>(ring)->inUse.store(false, std::memory_order_release);
    }

    // Trivially destructible on purpose: events may come while the thread ends.
    static inline thread_local Ring* current_ = nullptr;
    static inline pthread_key_t threadEnd_{};

    std::function<void()> wakeConsumer_;
    bool hasThreadEnd_ = false;
    std::atomic<Ring*> first_{nullptr};
};

}  // namespace lanescope::agent
