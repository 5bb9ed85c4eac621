// SPDX-License-Identifier: Apache-2.0
//
// Samples the threads of a program like `lanescope record`, and does nothing else. The program can
// stop and continue the sampling by SIGSTOP and SIGCONT to its parent, so that one run measures the
// cost.
//
// usage: watch_threads FOLDER HZ PROGRAM [ARGUMENT...]
//
// Leaves the log of the samples in FOLDER. Exits like the program, and first prints its share of a
// core.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "capture/log/clocks.h"
#include "capture/record/Recorder.h"
#include "capture/record/RunSamplers.h"

namespace {

double cpuSeconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argumentCount, char** arguments) {
    if (argumentCount < 4) {
        std::fprintf(stderr, "usage: watch_threads FOLDER HZ PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    const pid_t program = ::fork();
    if (program == 0) {
        ::execvp(arguments[3], arguments + 3);
        std::perror(arguments[3]);
        ::_exit(127);
    }
    lanescope::capture::RecordOptions options;
    options.threadsHz = std::atof(arguments[2]);
    const int64_t begunNs = lanescope::log::monotonicNs();
    const double begunCpu = cpuSeconds();
    std::optional<lanescope::capture::ThreadWatch> watch;
    watch.emplace(options, arguments[1], std::string());
    int status = 0;
    while (::waitpid(program, &status, 0) != program) continue;
    const double seconds = static_cast<double>(lanescope::log::monotonicNs() - begunNs) / 1e9;
    const double cpu = cpuSeconds() - begunCpu;
    watch->end();
    std::fprintf(stderr, "watch_threads: %.3f s of a core in %.1f s, %.3f %%\n", cpu, seconds, 100 * cpu / seconds);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
