// SPDX-License-Identifier: Apache-2.0
// To be preloaded: notes in which order the threads of a process take locks, one within the other.
// An order that some threads take the other way round stands still for ever once two of them meet,
// which may take years; so it is found here without their meeting. STANDIN_LOCK_ORDER is a file to
// which a line is added for each such order. Takes no memory and calls nobody while it notes.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

using LockFunction = int(pthread_mutex_t*);

constexpr size_t mostHeld = 32, mostOrders = 4096;

struct Order {
    const void *outer, *inner;
};

// Of the thread; a lock that is not let go in turn is found by its address.
thread_local const void* held[mostHeld];
thread_local size_t heldCount = 0;

std::atomic_flag isNoting = ATOMIC_FLAG_INIT;  // guards what follows
Order orders[mostOrders];
size_t orderCount = 0;
bool isReached[mostOrders];

LockFunction* next(const char* name) {
    return reinterpret_cast<LockFunction*>(::dlsym(RTLD_NEXT, name));
}

bool isKnown(const Order& order) {
    for (size_t at = 0; at < orderCount; ++at)
        if (orders[at].outer == order.outer && orders[at].inner == order.inner) return true;
    return false;
}

/// Whether some thread took `last` within `first`, or within what was taken within it, and so on.
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
    const int length = std::snprintf(line, sizeof line, "%p within %p and the other way round\n",
                                     order.inner, order.outer);
    if (::write(file, line, static_cast<size_t>(length)) < 0) std::abort();
    ::close(file);
}

void noteTaken(const void* lock) {
    while (isNoting.test_and_set(std::memory_order_acquire)) {
    }
    for (size_t at = 0; at < heldCount; ++at) {
        const Order order{held[at], lock};
        if (order.outer == lock || isKnown(order) || orderCount == mostOrders) continue;
        if (leadsTo(lock, order.outer)) say(order);
        orders[orderCount++] = order;
    }
    isNoting.clear(std::memory_order_release);
    if (heldCount < mostHeld) held[heldCount++] = lock;
}

void noteLeft(const void* lock) {
    for (size_t at = heldCount; at-- > 0;) {
        if (held[at] != lock) continue;
        for (; at + 1 < heldCount; ++at) held[at] = held[at + 1];
        --heldCount;
        return;
    }
}

/// In a forked child nobody is left who would stop noting.
[[maybe_unused]] const int watchesForks =
    ::pthread_atfork(nullptr, nullptr, [] { isNoting.clear(std::memory_order_release); });

}  // namespace

#define INTERPOSED extern "C" __attribute__((visibility("default")))

INTERPOSED int pthread_mutex_lock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_lock");
    // Noted before it waits, as that is what would hang.
    noteTaken(lock);
    const int result = real(lock);
    if (result != 0) noteLeft(lock);
    return result;
}

INTERPOSED int pthread_mutex_trylock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_trylock");
    const int result = real(lock);
    if (result == 0) noteTaken(lock);
    return result;
}

INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* lock) {
    static LockFunction* const real = next("pthread_mutex_unlock");
    noteLeft(lock);
    return real(lock);
}
