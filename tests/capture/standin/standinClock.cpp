// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a preloaded clock. In a sampler process it is set back by STANDIN_CLOCK_BACK seconds,
// a second after the first query; in a program, by calls of `standinSetClock`.
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
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

using SystemCall = long (*)(long, long, long, long, long, long, long);

template <class Function>
Function libraryFunction(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// Hides the clock that the kernel maps into each process, so that the clock is read by `syscall`.
extern "C" __attribute__((visibility("default"))) unsigned long getauxval(unsigned long type) noexcept {
    static const auto original = libraryFunction<unsigned long (*)(unsigned long)>("getauxval");
    return type == AT_SYSINFO_EHDR ? 0 : original(type);
}

extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
    static const auto original = libraryFunction<SystemCall>("syscall");
    va_list list;
    va_start(list, number);
    long words[6];
    for (long& word : words) word = va_arg(list, long);
    va_end(list);
    const long result = original(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (number != SYS_clock_gettime || result != 0 || words[0] != CLOCK_REALTIME) return result;
    auto* const time = reinterpret_cast<timespec*>(words[1]);
    static const time_t backSeconds = setBackSeconds();
    static const time_t begun = time->tv_sec;
    if (time->tv_sec > begun + 1) time->tv_sec -= backSeconds;
    time->tv_sec += aheadSeconds.load();
    return 0;
}
