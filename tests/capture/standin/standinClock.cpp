// SIMULATED: preloaded, a clock that is set back by an hour in a sampler process, a second after it
// began to ask.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr time_t setBackSeconds = 3600;

bool isSampler() {
    std::ifstream file("/proc/self/cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    return words.find("__sample") != std::string::npos;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t clock,
                                                                    timespec* time) {
    const long result = ::syscall(SYS_clock_gettime, clock, time);
    if (result != 0 || clock != CLOCK_REALTIME) return static_cast<int>(result);
    static const bool isSetBack = isSampler();
    static const time_t begun = time->tv_sec;
    if (isSetBack && time->tv_sec > begun + 1) time->tv_sec -= setBackSeconds;
    return 0;
}
