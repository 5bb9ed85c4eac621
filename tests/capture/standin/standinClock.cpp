// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a preloaded clock. In a sampler process it is set back by STANDIN_CLOCK_BACK seconds,
// a second after the first query; in a program, by calls of `standinSetClock`.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace {

bool isSampler() {
    std::ifstream file("/proc/self/cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    return words.find("__sample") != std::string::npos;
}

time_t setBackSeconds() {
    const char* text = std::getenv("STANDIN_CLOCK_BACK");
    return text != nullptr && isSampler() ? std::atol(text) : 0;
}

std::atomic<time_t> aheadSeconds{0};

}  // namespace

extern "C" __attribute__((visibility("default"))) void standinSetClock(long seconds) { aheadSeconds.store(seconds); }

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* time) {
    const long result = ::syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || clock != CLOCK_REALTIME) return static_cast<int>(result);
    static const time_t backSeconds = setBackSeconds();
    static const time_t begun = time->tv_sec;
    if (time->tv_sec > begun + 1) time->tv_sec -= backSeconds;
    time->tv_sec += aheadSeconds.load();
    return 0;
}
