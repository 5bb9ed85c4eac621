// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/ownThreads.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstddef>

namespace lanescope::agent {

namespace {

constexpr size_t threadStackBytes = 512u << 10;

}  // namespace

bool startThread(void* (*main)(void*), void* argument) {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, threadStackBytes);
    pthread_t thread;
    // A program with much thread-local storage may need larger stacks than ours.
    const bool ok = ::pthread_create(&thread, &attributes, main, argument) == 0 ||
                    (::pthread_attr_setstacksize(&attributes, 16 * threadStackBytes) == 0 &&
                     ::pthread_create(&thread, &attributes, main, argument) == 0);
    ::pthread_attr_destroy(&attributes);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return ok;
}

void leaveDescriptorsOfProgram() {
#if !defined(LANESCOPE_SHARES_DESCRIPTORS)
    constexpr long closeRange = 436;  // on all processors; older headers lack the name
    constexpr unsigned int unshareTable = 1u << 1;
    ::syscall(closeRange, 0u, ~0u, unshareTable);
#endif
}

}  // namespace lanescope::agent
