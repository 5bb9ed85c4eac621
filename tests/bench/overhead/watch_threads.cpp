// SPDX-License-Identifier: Apache-2.0
// Looks at the threads of a program as `lanescope record` does, and does nothing else, so that a
// program can switch the looks off and on by SIGSTOP and SIGCONT to its parent: what they cost it
// is then told by one run.
//
// usage: watch_threads FOLDER HZ PROGRAM [ARGUMENT...]
//
// Leaves the log of what was seen in FOLDER. Ends as the program does, and says before what it took
// of a core.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "capture/log/clocks.h"
#include "capture/record/Recorder.h"
#include "capture/record/ThreadWatch.h"

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
    watch.emplace(options, arguments[1]);
    int status = 0;
    while (::waitpid(program, &status, 0) != program) continue;
    const double seconds = static_cast<double>(lanescope::log::monotonicNs() - begunNs) / 1e9;
    const double cpu = cpuSeconds() - begunCpu;
    watch->end();
    std::fprintf(stderr, "watch_threads: %.3f s of a core in %.1f s, %.3f %%\n", cpu, seconds,
                 100 * cpu / seconds);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
