// SPDX-License-Identifier: Apache-2.0
//
// Measures launching an empty kernel back to back until all have run: nanoseconds per kernel.
//
// usage: launch KERNELS

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void nothing() {}

int main(int argc, char** argv) {
    const int kernels = argc > 1 ? std::atoi(argv[1]) : 100'000;
    constexpr int batches = 5, warmUp = 2'000;
    cudaFree(nullptr);
    for (int i = 0; i < warmUp; ++i) nothing<<<1, 32>>>();
    cudaDeviceSynchronize();
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < kernels; ++i) nothing<<<1, 32>>>();
        cudaDeviceSynchronize();
        const auto end = std::chrono::steady_clock::now();
        costs.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / kernels);
    }
    std::sort(costs.begin(), costs.end());
    std::printf("launch median %.1f ns\n", costs[batches / 2]);
    return 0;
}
