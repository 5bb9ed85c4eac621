// SPDX-License-Identifier: Apache-2.0
//
// Runs many small operations for a long time, and counts them in a file that outlives the process,
// so that a recording can be compared with the count.
//
//     steadyLoad --report FILE [--seconds S] [--rate BATCHES] [--window S] [--processes N] [--hoard
//   MIB]
//
// Each batch is an NVTX range "batch" around kernels and copies; the program waits after every 64.
// --rate is the average per second, and 0 the maximum speed; the batches of a --window run at its
// beginning at maximum speed. With --processes, that many processes run, each with a report FILE.0,
// FILE.1, .... --hoard allocates memory until none is left, at most that much, and keeps it.
//
//     nvcc -O2 -std=c++17 -I . steadyLoad.cpp cudaWork.cu -o steadyLoad

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gpuWork.h"

extern char** environ;

using namespace lanescope::survive;

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t batchesPerWait = 64;

/// Counts in a mapped file, so that they survive a kill of the program.
struct Report {
    std::atomic<int64_t> kernelsPerBatch, copiesPerBatch, bytesPerCopy;
    std::atomic<int64_t> batches;   ///< Batches finished by this process.
    std::atomic<int64_t> finished;  ///< Batches finished by the GPU.
    std::atomic<int64_t> waits;
    std::atomic<int64_t> beganNs, lastNs;  ///< CLOCK_REALTIME.
    std::atomic<int64_t> processId;
    std::atomic<int64_t> isDone;
};

struct Options {
    std::map<std::string, std::string> words = {{"--report", ""},  {"--seconds", "10"}, {"--rate", "0"},
                                                {"--window", "1"}, {"--hoard", "0"},    {"--processes", "1"}};
    double number(const char* name) const { return std::stod(words.at(name)); }
};

Options readOptions(int argc, char** argv) {
    Options options;
    for (int at = 1; at < argc; at += 2) {
        if (at + 1 == argc || options.words.count(argv[at]) == 0) {
            std::fprintf(stderr, "steadyLoad: what is %s?\n", argv[at]);
            std::exit(2);
        }
        options.words[argv[at]] = argv[at + 1];
    }
    return options;
}

int64_t nowNs(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return int64_t{now.tv_sec} * second + now.tv_nsec;
}

Report& openReport(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(Report)) == 0)
        memory = ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        std::fprintf(stderr, "steadyLoad: cannot write %s\n", path.c_str());
        std::exit(2);
    }
    ::close(file);
    return *::new (memory) Report{};
}

/// Returns the allowed number of batches `elapsedNs` after the beginning.
int64_t allowed(double rate, double window, int64_t elapsedNs) {
    const double windows = static_cast<double>(elapsedNs) / static_cast<double>(second) / window;
    return static_cast<int64_t>(rate * window * (static_cast<double>(static_cast<int64_t>(windows)) + 1));
}

void work(const Options& options, Report& report) {
    const double rate = options.number("--rate"), window = options.number("--window");
    const auto lengthNs = static_cast<int64_t>(options.number("--seconds") * 1e9);
    const int64_t beganNs = nowNs(CLOCK_MONOTONIC);
    const auto wait = [&report](int64_t batches) {
        nvtxRangePushA("wait");
        waitForBatches();
        nvtxRangePop();
        report.waits.store(report.waits.load() + 1);
        report.finished.store(batches);
    };
    int64_t batch = 0;
    while (nowNs(CLOCK_MONOTONIC) - beganNs < lengthNs) {
        if (rate > 0 && batch >= allowed(rate, window, nowNs(CLOCK_MONOTONIC) - beganNs)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        nvtxRangePushA("batch");
        startBatch(batch);
        nvtxRangePop();
        report.batches.store(++batch);
        report.lastNs.store(nowNs(CLOCK_REALTIME));
        if (batch % batchesPerWait == 0) wait(batch);
    }
    wait(batch);
}

/// Simulates a program that has used up its memory and continues.
void hoard(double mebibytes) {
    constexpr size_t piece = 1u << 20;
    for (double taken = 0; taken < mebibytes; ++taken) {
        void* const memory = std::malloc(piece);
        if (memory == nullptr) break;
        std::memset(memory, 1, piece);
    }
    for (size_t size = piece; size >= 64; size /= 2)
        for (double taken = 0; taken < mebibytes * 1024 && std::malloc(size) != nullptr; ++taken) {
        }
}

/// Simulates a launcher of ranks: runs this program several times, and waits.
int runSeveral(const char* program, const Options& options) {
    const int count = static_cast<int>(options.number("--processes"));
    ::setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
    ::setenv("LOCAL_WORLD_SIZE", std::to_string(count).c_str(), 1);
    for (int rank = 0; rank < count; ++rank) {
        ::setenv("RANK", std::to_string(rank).c_str(), 1);
        ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
        std::vector<std::string> words{program};
        for (auto [name, value] : options.words) {
            if (name == "--processes") value = "1";
            if (name == "--report") value += "." + std::to_string(rank);
            words.insert(words.end(), {name, value});
        }
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        pid_t child = 0;
        if (::posix_spawn(&child, program, nullptr, nullptr, pointers.data(), environ) != 0) return 97;
    }
    int worst = 0, status = 0;
    while (::wait(&status) > 0)
        if (status != 0) worst = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return worst;
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = readOptions(argc, argv);
    if (options.number("--processes") > 1) return runSeveral(argv[0], options);
    Report& report = openReport(options.words.at("--report"));
    report.kernelsPerBatch.store(kernelsPerBatch);
    report.copiesPerBatch.store(copiesPerBatch);
    report.bytesPerCopy.store(bytesPerCopy());
    report.processId.store(::getpid());
    beginGpu();
    report.beganNs.store(nowNs(CLOCK_REALTIME));
    if (options.number("--hoard") > 0) hoard(options.number("--hoard"));
    work(options, report);
    report.lastNs.store(nowNs(CLOCK_REALTIME));
    report.isDone.store(1);
    return 0;
}
