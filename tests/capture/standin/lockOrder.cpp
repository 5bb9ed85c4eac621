// SPDX-License-Identifier: Apache-2.0
//
// To be preloaded: records in which order the threads of a process take locks, one within the
// other. Threads that use opposite orders deadlock once they meet, which may take years; this finds
// the orders without a meeting. STANDIN_LOCK_ORDER is a file that gets a line for each such order.
// Allocates nothing and calls no function while it records.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

using LockFunction = int(pthread_mutex_t*);

constexpr size_t maxHeldLocks = 32, maxOrders = 4096;

struct Order {
    const void *outer, *inner;
};

// Per thread; a lock released out of order is found by its address.
thread_local const void* held[maxHeldLocks];
thread_local size_t heldCount = 0;

std::atomic_flag isNoting = ATOMIC_FLAG_INIT;  // guards the variables below
Order orders[maxOrders];
size_t orderCount = 0;
bool isReached[maxOrders];

LockFunction* next(const char* name) { return reinterpret_cast<LockFunction*>(::dlsym(RTLD_NEXT, name)); }

bool isKnown(const Order& order) {
    for (size_t at = 0; at < orderCount; ++at)
        if (orders[at].outer == order.outer && orders[at].inner == order.inner) return true;
    return false;
}

/// Returns true if some thread took `last` within `first`, directly or transitively.
bool leadsTo(const void* first, const void* last) {
    for (size_t at = 0; at < orderCount; ++at) isReached[at] = orders[at].outer == first;
    for (bool isNew = true; isNew;) {
        isNew = false;
        for (size_t from = 0; from < orderCount; ++from) {
            if (!isReached[from]) continue;
            if (orders[from].inner == last) return true;
            for (size_t to = 0; to < orderCount; ++to) {
                if (isReached[to] || orders[to].outer != orders[from].inner) continue;
                isReached[to] = isNew = true;
            }
        }
    }
    return false;
}

void say(const Order& order) {
    static const char* const path = std::getenv("STANDIN_LOCK_ORDER");
    const int file = path ? ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    char line[128];
    const int length =
        std::snprintf(line, sizeof line, "%p within %p and the other way round\n", order.inner, order.outer);
    if (::write(file, line, static_cast<size_t>(length)) < 0) std::abort();
    ::close(file);
}

void recordAcquired(const void* lock) {
    while (isNoting.test_and_set(std::memory_order_acquire)) {
    }
    for (size_t at = 0; at < heldCount; ++at) {
        const Order order{held[at], lock};
        if (order.outer == lock || isKnown(order) || orderCount == maxOrders) continue;
        if (leadsTo(lock, order.outer)) say(order);
        orders[orderCount++] = order;
    }
    isNoting.clear(std::memory_order_release);
    if (heldCount < maxHeldLocks) held[heldCount++] = lock;
}

void noteLeft(const void* lock) {
    for (size_t at = heldCount; at-- > 0;) {
        if (held[at] != lock) continue;
        for (; at + 1 < heldCount; ++at) held[at] = held[at + 1];
        --heldCount;
        return;
    }
}

/// A forked child has no thread that would reset the flag.
[[maybe_unused]] const int watchesForks =
    ::pthread_atfork(nullptr, nullptr, [] { isNoting.clear(std::memory_order_release); });

}  // namespace

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int pthread_mutex_lock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_lock");
    // Recorded before it waits, because the wait would hang.
    recordAcquired(lock);
    const int result = real(lock);
    if (result != 0) noteLeft(lock);
    return result;
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_trylock");
    const int result = real(lock);
    if (result == 0) recordAcquired(lock);
    return result;
}

INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_unlock");
    noteLeft(lock);
    return real(lock);
}
