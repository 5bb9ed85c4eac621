// SPDX-License-Identifier: Apache-2.0
//
// Runs threads that launch small kernels endlessly, each on its own stream, while the first one
// opens and closes windows with cudaProfilerStart and cudaProfilerStop. Prints the number of
// launches. With more threads than cores, threads are delayed anywhere, also within a launch.
//
// usage: windows THREADS WINDOWS [MILLISECONDS]
//
// MILLISECONDS is the length of each window and of each pause.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                                   \
    do {                                                                              \
        const cudaError_t result = (call);                                            \
        if (result != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));      \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

namespace {

std::atomic<bool> isOver{false};
std::atomic<long> launched{0};

__global__ void spin(int rounds) {
    for (int round = 0; round < rounds; ++round) __nanosleep(100);
}

/// Launches bursts, like those of a step, with pauses to catch up.
void launchOnAndOn(int thread) {
    constexpr int burst = 200;
    cudaStream_t stream{};
    CHECK(cudaStreamCreate(&stream));
    while (!isOver.load()) {
        for (int each = 0; each < burst; ++each) spin<<<1, 32, 0, stream>>>(thread % 7);
        CHECK(cudaGetLastError());
        launched += burst;
        CHECK(cudaStreamSynchronize(stream));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(cudaStreamSynchronize(stream));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: windows THREADS WINDOWS [MILLISECONDS]\n");
        return 2;
    }
    const int count = std::atoi(argv[1]), windows = std::atoi(argv[2]);
    const std::chrono::milliseconds each(argc > 3 ? std::atoi(argv[3]) : 5);
    CHECK(cudaFree(nullptr));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < count; ++thread) threads.emplace_back(launchOnAndOn, thread);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (int window = 0; window < windows; ++window) {
        CHECK(cudaProfilerStart());
        std::this_thread::sleep_for(each);
        CHECK(cudaProfilerStop());
        std::this_thread::sleep_for(each);
    }
    isOver = true;
    for (std::thread& thread : threads) thread.join();
    std::printf("%ld\n", launched.load());
}
