// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "gpuWork.h"

namespace lanescope::survive {

namespace {

constexpr int elements = 1 << 16;
float* values = nullptr;
volatile int* mayEnd = nullptr;

__global__ void addOne(float* numbers, int count) {
    const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (index < count) numbers[index] += 1.0f;
}

__global__ void waitForever(volatile int* flag) {
    while (*flag == 0) {
    }
}

void check(cudaError_t result, const char* what) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "survivor: %s: %s\n", what, cudaGetErrorString(result));
    std::exit(2);
}

}  // namespace

void beginGpu() {
    check(cudaMalloc(&values, elements * sizeof(float)), "cudaMalloc");
    check(cudaMemset(values, 0, elements * sizeof(float)), "cudaMemset");
    int* flag = nullptr;
    check(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped), "cudaHostAlloc");
    *flag = 0;
    mayEnd = flag;
}

void runKernels(int) {
    for (int kernel = 0; kernel < kernelsPerStep; ++kernel)
        addOne<<<elements / 256, 256>>>(values, elements);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void startEndlessKernel() {
    waitForever<<<1, 1>>>(mayEnd);
}

}  // namespace lanescope::survive
