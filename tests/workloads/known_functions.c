/* SPDX-License-Identifier: Apache-2.0
 * Spends known shares of its time in functions that call each other, on two threads, and prints by its own clock how
 * much processor time each took: {"long": NS, "short": NS, "deep": NS}.
 *
 * usage: known_functions SECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static _Atomic int64_t taken[3];
static volatile uint64_t sink;
static int64_t endNs;

__attribute__((noinline)) static void spin(int which, int64_t forNs) {
    const int64_t begun = ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t now = begun;
    while (now - begun < forNs) {
        for (int i = 0; i < 20000; ++i) sink += (uint64_t)i * i;
        now = ns(CLOCK_THREAD_CPUTIME_ID);
    }
    taken[which] += now - begun;
}

/* Something after each call, so that none becomes a jump. */
__attribute__((noinline)) void known_long(void) {
    spin(0, 6000000);
    ++sink;
}
__attribute__((noinline)) void known_short(void) {
    spin(1, 3000000);
    ++sink;
}
__attribute__((noinline)) void known_deep(int depth) {
    if (depth > 0)
        known_deep(depth - 1);
    else
        spin(2, 1000000);
    ++sink;
}

__attribute__((noinline)) void known_turn(void) {
    known_long();
    known_short();
    known_deep(40);
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
    ++sink;
}

static void* work(void* unused) {
    (void)unused;
    while (ns(CLOCK_MONOTONIC) < endNs) known_turn();
    return NULL;
}

int main(int count, char** arguments) {
    endNs = ns(CLOCK_MONOTONIC) + (int64_t)(1e9 * (count > 1 ? atof(arguments[1]) : 2));
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
    work(NULL);
    pthread_join(thread, NULL);
    printf("{\"known_long\": %lld, \"known_short\": %lld, \"known_deep\": %lld}\n", (long long)taken[0],
           (long long)taken[1], (long long)taken[2]);
    return 0;
}
