// SPDX-License-Identifier: Apache-2.0
//
// Launches empty kernels at a given rate for a given time, inside NVTX ranges, and then prints the
// cost of the process: memory, and CPU time of each thread. Run it with and without a recorder.
//
// usage: paced KERNELS_PER_SECOND SECONDS

#include <dirent.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

__global__ void nothing() {}

double epochSeconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

void printMemory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmRSS", 0) == 0 || line.rfind("VmHWM", 0) == 0)
            std::printf("memory %s\n", line.c_str());
    }
}

void printThreads() {
    std::map<std::string, double> seconds;
    DIR* tasks = ::opendir("/proc/self/task");
    while (const dirent* entry = tasks ? ::readdir(tasks) : nullptr) {
        if (entry->d_name[0] == '.') continue;
        std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/stat");
        std::string line;
        if (!std::getline(file, line)) continue;
        const size_t open = line.find('('), close = line.rfind(')');
        if (open == std::string::npos || close == std::string::npos) continue;
        unsigned long user = 0, system = 0;
        std::sscanf(line.c_str() + close + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                    &user, &system);
        seconds[line.substr(open + 1, close - open - 1)] +=
            static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    if (tasks) ::closedir(tasks);
    for (const auto& [name, used] : seconds)
        std::printf("thread %-16s %.2f s\n", name.c_str(), used);
}

}  // namespace

int main(int argc, char** argv) {
    const double began = epochSeconds();
    const double rate = argc > 1 ? std::atof(argv[1]) : 5'000;
    const double length = argc > 2 ? std::atof(argv[2]) : 10;
    cudaFree(nullptr);
    const double ready = epochSeconds();
    const auto start = Clock::now();
    long launched = 0;
    for (;;) {
        const double now = std::chrono::duration<double>(Clock::now() - start).count();
        if (now >= length) break;
        const long due = static_cast<long>(now * rate);
        if (launched >= due) {
            if (rate < 20'000) std::this_thread::sleep_for(std::chrono::microseconds(200));
            continue;
        }
        nvtxRangePushA("batch");
        for (; launched < due; ++launched) nothing<<<1, 32>>>();
        nvtxRangePop();
    }
    cudaDeviceSynchronize();
    std::printf("launched %ld kernels in %.3f s\n", launched,
                std::chrono::duration<double>(Clock::now() - start).count());
    printMemory();
    printThreads();
    std::printf("began %.6f ready %.6f ended %.6f\n", began, ready, epochSeconds());
    return 0;
}
