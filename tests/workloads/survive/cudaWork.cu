// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "gpuWork.h"

namespace lanescope::survive {

namespace {

constexpr int elements = 1 << 16;
constexpr int64_t copiedBytes = 4096;
float* values = nullptr;
void* hostBytes = nullptr;
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
    check(cudaHostAlloc(&hostBytes, copiedBytes, cudaHostAllocDefault), "cudaHostAlloc");
}

void runKernels(int) {
    for (int kernel = 0; kernel < kernelsPerStep; ++kernel)
        addOne<<<elements / 256, 256>>>(values, elements);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void startEndlessKernel() {
    waitForever<<<1, 1>>>(mayEnd);
}

int64_t bytesPerCopy() {
    return copiedBytes;
}

void startBatch(int64_t) {
    check(cudaMemcpyAsync(values, hostBytes, copiedBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    for (int kernel = 0; kernel < kernelsPerBatch; ++kernel)
        addOne<<<elements / 256, 256>>>(values, elements);
    check(cudaMemcpyAsync(hostBytes, values, copiedBytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void waitForBatches() {
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace lanescope::survive
