// SPDX-License-Identifier: Apache-2.0
//
// A training that runs some steps, records the end of each, and then ends in the requested way, so
// that a recording can be compared with it.
//
//     survivor --progress FILE [--steps N] [--step-ms MS] [--end HOW] [--status STATUS] ...
//
// Every step is an NVTX range "step <n>" around some kernels; after it, FILE gets the line
// "<CLOCK_REALTIME ns> <process id> <n>". For a GPU:
//
//     nvcc -O2 -std=c++17 -I . survivor.cpp cudaWork.cu -o survivor

#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gpuWork.h"

extern char** environ;

using namespace lanescope::survive;

namespace {

struct Options {
    std::string program;
    std::map<std::string, std::string> words = {
        {"--progress", ""},   {"--steps", "100"}, {"--step-ms", "5"}, {"--end", "return"}, {"--status", "0"},
        {"--processes", "4"}, {"--rounds", "1"},  {"--first", "1"},   {"--gpu", "1"},      {"--ignore", "0"},
    };
    const std::string& text(const char* name) const { return words.at(name); }
    int number(const char* name) const { return std::stoi(words.at(name)); }
};

Options readOptions(int argc, char** argv) {
    Options options;
    options.program = argv[0];
    for (int at = 1; at < argc; at += 2) {
        if (at + 1 == argc || options.words.count(argv[at]) == 0) {
            std::fprintf(stderr, "survivor: what is %s?\n", argv[at]);
            std::exit(2);
        }
        options.words[argv[at]] = argv[at + 1];
    }
    return options;
}

void note(const Options& options, int step) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    char line[96];
    const int length = std::snprintf(line, sizeof line, "%lld %d %d\n", now.tv_sec * 1'000'000'000LL + now.tv_nsec,
                                     static_cast<int>(::getpid()), step);
    const int file = ::open(options.text("--progress").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ::write(file, line, static_cast<size_t>(length)) != length) ::_exit(98);
    ::close(file);
}

void runStep(const Options& options, int step, bool withGpu) {
    char name[32];
    std::snprintf(name, sizeof name, "step %d", step);
    nvtxRangePushA(name);
    if (withGpu) runKernels(step);
    nvtxRangePop();
    note(options, step);
    std::this_thread::sleep_for(std::chrono::milliseconds(options.number("--step-ms")));
}

void train(const Options& options, bool withGpu) {
    const int first = options.number("--first");
    for (int step = first; step < first + options.number("--steps"); ++step) runStep(options, step, withGpu);
}

/// Returns arguments for another run of this program: these options with some changes.
std::vector<std::string> wordsWith(const Options& options, const std::map<std::string, std::string>& changed) {
    std::vector<std::string> words{options.program};
    for (auto [name, value] : options.words) {
        if (const auto found = changed.find(name); found != changed.end()) value = found->second;
        words.push_back(name);
        words.push_back(value);
    }
    return words;
}

std::vector<char*> pointersTo(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

int waitForAll() {
    int worst = 0, status = 0;
    while (::wait(&status) > 0)
        if (status != 0) worst = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return worst;
}

/// Simulates PyTorch's data loaders: workers forked from a process with CUDA and threads, that work
/// without a GPU and leave by _exit, round after round.
int forkWorkers(const Options& options) {
    for (int round = 0; round < options.number("--rounds"); ++round) {
        for (int worker = 0; worker < options.number("--processes"); ++worker) {
            const pid_t child = ::fork();
            if (child == 0) {
                for (int item = 1; item <= 10; ++item) runStep(options, item, false);
                ::_exit(0);
            }
        }
        if (const int status = waitForAll()) return status;
    }
    return 0;
}

/// Simulates a launcher: runs this program several times, by fork and exec, and waits.
int spawnRanks(const Options& options) {
    const int count = options.number("--processes");
    for (int rank = 0; rank < count; ++rank) {
        ::setenv("RANK", std::to_string(rank).c_str(), 1);
        ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
        ::setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
        ::setenv("LOCAL_WORLD_SIZE", std::to_string(count).c_str(), 1);
        std::vector<std::string> words = wordsWith(options, {{"--end", "return"}});
        pid_t child = 0;
        if (::posix_spawn(&child, words[0].c_str(), nullptr, nullptr, pointersTo(words).data(), environ) != 0)
            return 97;
    }
    return waitForAll();
}

void becomeAnother(const Options& options) {
    const int next = options.number("--first") + options.number("--steps");
    std::vector<std::string> words = wordsWith(options, {{"--end", "return"}, {"--first", std::to_string(next)}});
    ::execv(words[0].c_str(), pointersTo(words).data());
    ::_exit(97);
}

/// Detaches from its terminal, parent and descriptors like a service, and only then works.
void becomeDaemon(const Options& options) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (int file = 0; file < 1024; ++file) ::close(file);
    beginGpu();
    train(options, true);
    std::exit(0);
}

/// Starts threads that still work while the process exits.
void startEndlessThreads() {
    for (int thread = 0; thread < 4; ++thread)
        std::thread([] {
            for (int item = 0;; ++item) {
                nvtxRangePushA("background");
                nvtxRangePop();
                if (item % 64 == 0) std::this_thread::yield();
            }
        }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// Simulates another profiler that begins during the run: requests CUPTI and prints the answer.
void askForCupti() {
    const char* given = std::getenv("LANESCOPE_CUPTI");
    void* cupti = nullptr;
    for (const char* name : {given, "libcupti.so.13", "libcupti.so.12"})
        if (cupti == nullptr && name != nullptr) cupti = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    using Subscribe = int(void**, void (*)(void*, int, unsigned, const void*), void*);
    auto* subscribe = reinterpret_cast<Subscribe*>(cupti ? ::dlsym(cupti, "cuptiSubscribe") : nullptr);
    void* subscriber = nullptr;
    const int answer = subscribe ? subscribe(
                                       &subscriber, [](void*, int, unsigned, const void*) {}, nullptr)
                                 : -1;
    std::printf("another tool that asks for CUPTI gets %d\n", answer);
}

void touchNull() {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
}

int endBy(const Options& options) {
    const std::string& how = options.text("--end");
    const int status = options.number("--status");
    if (how == "_exit") ::_exit(status);
    if (how == "quick_exit") std::quick_exit(status);
    if (how == "abort") std::abort();
    if (how == "segfault") touchNull();
    if (how == "throw") throw 1;
    if (how == "exec") becomeAnother(options);
    if (how == "fork") return forkWorkers(options);
    if (how == "threads") startEndlessThreads();
    if (how == "rival") {
        askForCupti();
        const int next = options.number("--first") + options.number("--steps");
        for (int step = next; step < next + 100; ++step) runStep(options, step, true);
    }
    if (how == "hang") {
        startEndlessKernel();
        for (;;) ::pause();
    }
    if (how == "memory") {
        for (std::vector<std::vector<char>> all;;) all.emplace_back(64u << 20);
    }
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = readOptions(argc, argv);
    const std::string& how = options.text("--end");
    if (options.number("--ignore") != 0) std::signal(options.number("--ignore"), SIG_IGN);
    if (how == "spawn") return spawnRanks(options);
    if (how == "daemon") becomeDaemon(options);
    const bool withGpu = options.number("--gpu") != 0;
    if (withGpu) beginGpu();
    train(options, withGpu);
    return endBy(options);
}
