// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: plays a training run without a GPU, for tests of the capture. Its NVTX calls, threads,
// children and endings are real; `TrainingPlan` invents its GPU work.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/capture/standin/LiveGpu.h"
#include "tests/capture/standin/SecondTool.h"
#include "tests/capture/standin/SimulatedGpu.h"
#include "tests/capture/standin/TrainingOptions.h"
#include "tests/capture/standin/nvtxRanges.h"

using namespace lanescope::standin;

namespace {

void runStep(const TrainingOptions& options, const SimulatedGpu& gpu, int thread, int step) {
    const TrainingPlan& plan = options.plan;
    if (options.nvtx) {
        beginStep(step);
        beginForward();
    }
    const int half = plan.kernelsPerStep / 2;
    for (int i = 0; i < half; ++i) gpu.launchKernel(plan.correlation(thread, step, i), i == 0);
    if (options.nvtx) {
        endForward();
        beginBackward();
        allReduce(static_cast<uint64_t>(step) * 8 + 8);
    }
    for (int i = half; i < plan.kernelsPerStep; ++i) {
        gpu.launchKernel(plan.correlation(thread, step, i), i == 0);
    }
    uint64_t optimizer = 0;
    if (options.nvtx) {
        endBackward();
        optimizer = beginOptimizer();
    }
    const int after = plan.kernelsPerStep;
    gpu.copy(plan.correlation(thread, step, after), true);
    gpu.copy(plan.correlation(thread, step, after + 1), false);
    gpu.clear(plan.correlation(thread, step, after + 2));
    gpu.wait(plan.correlation(thread, step, after + 3));
    gpu.askForDevice();
    const auto pause = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(options.stepMs)); };
    if (options.longSteps) pause();
    if (options.nvtx) {
        endOptimizer(optimizer);
        endStep();
    }
    if (!options.longSteps && options.stepMs > 0) pause();
}

/// Runs a step whose kernels run by the clock.
void runLiveStep(const TrainingOptions& options, LiveGpu& gpu, int thread, int step) {
    const int place = options.profileEvery ? step % options.profileEvery + 1 : step + 1;
    if (thread == 0 && place == options.profileFrom) gpu.startProfiler();
    beginStep(step);
    beginForward();
    const int half = options.plan.kernelsPerStep / 2;
    for (int i = 0; i < half; ++i) gpu.launch(thread, step);
    endForward();
    const uint64_t optimizer = beginOptimizer();
    for (int i = half; i < options.plan.kernelsPerStep; ++i) gpu.launch(thread, step);
    endOptimizer(optimizer);
    if (options.waits) gpu.waitForContext();
    endStep();
    if (thread == 0 && place == options.profileTo) gpu.stopProfiler();
    if (options.stepMs > 0) std::this_thread::sleep_for(std::chrono::milliseconds(options.stepMs));
}

void train(const TrainingOptions& options, const SimulatedGpu& gpu, LiveGpu& live) {
    // Without it, a thread of a busy machine may begin after others have ended.
    std::barrier stepBegins(options.plan.threads);
    const auto work = [&](int thread) {
        for (int step = 0; step < options.plan.steps; ++step) {
            if (options.live) {
                stepBegins.arrive_and_wait();
                runLiveStep(options, live, thread, step);
            } else {
                runStep(options, gpu, thread, step);
            }
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 1; thread < options.plan.threads; ++thread) threads.emplace_back(work, thread);
    work(0);
    for (std::thread& thread : threads) thread.join();
    if (!options.leavesRunning) live.synchronize();
    for (int i = 0; i < options.plan.untimedKernels; ++i) {
        gpu.launchUntimedKernel(static_cast<uint32_t>(options.plan.threads) * TrainingPlan::correlationsPerThread +
                                static_cast<uint32_t>(i) + 1);
    }
}

/// Becomes a daemon: its own session, without terminal and descriptors.
[[noreturn]] void becomeDaemon() {
    if (::setsid() < 0 || ::fork() != 0) ::_exit(0);
    for (int item = 0; item < 50; ++item) rangeWithThreadId(item);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    for (int descriptor = 0; descriptor < 1024; ++descriptor) ::close(descriptor);
    if (::chdir("/") != 0) ::_exit(1);
    for (int item = 0; item < 50; ++item) rangeWithThreadId(item);
    std::exit(0);
}

/// Forks children like data loaders: in the middle of the run, from a process with threads.
void forkChildren(const std::string& how) {
    if (how == "daemon") {
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child != 0) {
            ::waitpid(child, nullptr, 0);
            return;
        }
        becomeDaemon();
    }
    for (int i = 0; i < 3; ++i) {
        std::fflush(stdout);
        const pid_t child = how == "vfork" ? ::vfork() : ::fork();
        if (child == 0) {
            // Not raise, which reads the thread's number from memory shared with the parent.
            if (how == "vfork") {
                ::kill(::getpid(), SIGTERM);
                ::_exit(0);
            }
            if (how == "nvtx") {
                for (int item = 0; item < 50; ++item) rangeWithThreadId(item);
                std::exit(0);
            }
            // Half a second of work and then _exit, like Python's multiprocessing.
            if (how == "worker") {
                for (int item = 0; item < 1000; ++item) {
                    rangeWithThreadId(item);
                    std::this_thread::sleep_for(std::chrono::microseconds(500));
                }
                ::_exit(0);
            }
            if (how == "nothing") std::exit(0);
            if (how == "term") {
                ::raise(SIGTERM);
                ::pause();
            }
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        std::printf("child %d ended with %d\n", i, status);
    }
}

void churnThreads(int count, int atOnce) {
    for (int first = 0; first < count; first += atOnce) {
        std::vector<std::thread> threads;
        for (int i = first; i < first + atOnce && i < count; ++i) threads.emplace_back(rangeWithThreadId, i);
        for (std::thread& thread : threads) thread.join();
    }
}

void lockBadly() {
    std::mutex one, other;
    {
        const std::lock_guard outer(one);
        const std::lock_guard inner(other);
    }
    const std::lock_guard outer(other);
    const std::lock_guard inner(one);
}

void closeEverythingAndWrite(const std::string& path) {
    for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
    // Takes the lowest freed numbers, as many as any other code held.
    std::vector<FILE*> files;
    for (int i = 0; i < 20; ++i) files.push_back(std::fopen((path + std::to_string(i)).c_str(), "w"));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    for (FILE* file : files) {
        std::fputs("mine", file);
        std::fflush(file);
    }
}

/// An exit handler that hangs until SIGTERM ends the process.
void waitForTermSignal() {
    ::kill(::getpid(), SIGTERM);
    for (;;) ::pause();
}

int endBy(const TrainingOptions& options) {
    const std::string& how = options.exitBy;
    if (how == "exit") std::exit(options.exitCode);
    if (how == "_exit") ::_exit(options.exitCode);
    if (how == "abort") std::abort();
    if (how == "kill") ::kill(::getpid(), SIGKILL);
    const std::map<std::string, int> signals = {{"term", SIGTERM}, {"term-handled", SIGTERM}, {"term-thread", SIGTERM},
                                                {"int", SIGINT},   {"int-ignored", SIGINT},   {"hup", SIGHUP}};
    if (const auto found = signals.find(how); found != signals.end()) {
        if (how == "term-handled") std::signal(SIGTERM, [](int) { ::_exit(7); });
        if (how == "int-ignored") std::signal(SIGINT, SIG_IGN);
        // A thread sanitizer keeps a signal until the next call of the thread that got it, which may be this one.
        const auto sleepForever = [] {
            for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        };
        if (how == "term-thread") {
            std::thread([sleepForever] {
                ::kill(::getpid(), SIGTERM);
                sleepForever();
            }).detach();
        } else {
            ::kill(::getpid(), found->second);
        }
        if (how == "int-ignored") return options.exitCode;
        sleepForever();
    }
    return options.exitCode;
}

}  // namespace

/// Read by the address sanitizer's runtime when it is linked in. Its leak checker stops at exit
/// threads of a dlopened library, and crashes on it.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

/// Read by the thread sanitizer's runtime, which would end a child that starts threads after a fork.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

/// Read by the thread sanitizer's runtime. NVTX's headers replace function pointers while other
/// threads read them, which is harmless; and closing descriptors used by others is intended here.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:nvtx3/nvtxDetail/\nrace:closeEverythingAndWrite"; }

int main(int argc, char** argv) {
    const TrainingOptions options = readOptions(argc, argv);
    if (options.closeStandard) {
        for (int descriptor = 0; descriptor < 3; ++descriptor) ::close(descriptor);
    }
    if (options.exitBy == "term-late") std::atexit(&waitForTermSignal);
    if (options.cuptiFirst) ::dlopen(options.cupti.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (options.nvtxFirst) rangeWithThreadId(-1);
    SimulatedGpu gpu;
    LiveGpu live;
    if (options.driver) {
        SimulatedGpu::initializeDriver();
        gpu.begin(options.cupti, options.plan);
        live.begin(options.cupti, options.gpuDelayUs, options.reservesRecordEarly, options.overtakes);
    }
    if (options.rare) {
        // Some kinds are enabled only after the first context exists.
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        gpu.emitRareRecords();
    }
    const int secondTool = options.hasSecondTool ? beginSecondTool(options.cupti) : 0;
    train(options, gpu, live);
    if (options.hasSecondTool) std::printf("second tool: result %d, %ld kernels\n", secondTool, secondToolKernels());
    if (!options.plugin.empty()) {
        if (void* library = ::dlopen(options.plugin.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            reinterpret_cast<void (*)()>(::dlsym(library, "pluginWork"))();
        }
    }
    if (options.locksBadly) lockBadly();
    if (options.depth > 0) nestDeeply(options.depth);
    if (options.churn > 0) churnThreads(options.churn, options.threadsPerRound);
    std::printf("trained %lld kernels\n", static_cast<long long>(options.plan.kernels()));
    std::fflush(stdout);
    if (!options.fork.empty()) forkChildren(options.fork);
    for (int i = 0; i < options.strayThreads; ++i) {
        std::thread([i] {
            for (;;) rangeWithThreadId(i);
        }).detach();
    }
    if (!options.closeAll.empty()) closeEverythingAndWrite(options.closeAll);
    std::fflush(stdout);
    return endBy(options);
}
