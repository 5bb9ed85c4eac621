// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/SharedTally.h"

#include <sys/mman.h>

#include <atomic>
#include <new>

namespace lanescope::agent {

namespace {

struct Counts {
    std::atomic<uint64_t> children{0}, logs{0};
    static_assert(std::atomic<uint64_t>::is_always_lock_free);
};

constinit std::atomic<Counts*> shared{nullptr};

}  // namespace

void SharedTally::make() {
    if (shared.load() != nullptr) return;
    void* const memory =
        ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    Counts* none = nullptr;
    if (!shared.compare_exchange_strong(none, new (memory) Counts))
        ::munmap(memory, sizeof(Counts));  // another thread was first
}

void SharedTally::countChild() {
    if (Counts* const counts = shared.load()) counts->children.fetch_add(1);
}

void SharedTally::countLog() {
    if (Counts* const counts = shared.load()) counts->logs.fetch_add(1);
}

uint64_t SharedTally::childrenWithoutLog() {
    const Counts* const counts = shared.load();
    if (!counts) return 0;
    // In this order, so that one which comes meanwhile is not taken for one without a log.
    const uint64_t children = counts->children.load(), logs = counts->logs.load();
    return children > logs ? children - logs : 0;
}

}  // namespace lanescope::agent
