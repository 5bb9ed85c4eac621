// SPDX-License-Identifier: Apache-2.0
//
// Makes copies of every kind and many sizes, each timed by CUDA events, for comparison with
// Lanescope's records of them.
//
//     nvcc -O2 -std=c++17 bandwidth.cu -o bandwidth
//     ./bandwidth [--largest BYTES] [--repeats N] > copies.txt
//
// Copies run in batches, one after the other, with an event before and after each batch: a single
// copy of 16 MiB within a GPU takes 8 us, and the events around it as long again. Prints a line for
// every batch, in order: kind (CUPTI's number), a name, source and destination GPU (-1: host),
// bytes of each copy, number of copies, and milliseconds by events; 0 ms for warm-up batches.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t SMALLEST = 4096;
constexpr size_t STEP = 4;

void check(cudaError_t status, int line) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "bandwidth: line %d: %s\n", line, cudaGetErrorString(status));
    std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

/// One kind of copy between two buffers large enough for every size.
struct Path {
    int kind;  ///< CUPTI's number of it.
    const char* name;
    int fromGpu, toGpu;
    const void* from;
    void* to;
};

class Timer {
  public:
    explicit Timer(int gpu) {
        CHECK(cudaSetDevice(gpu));
        CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&before_));
        CHECK(cudaEventCreate(&after_));
    }
    float copy(const Path& path, size_t bytes, int count) {
        CHECK(cudaEventRecord(before_, stream_));
        for (int copy = 0; copy < count; ++copy) {
            if (path.fromGpu >= 0 && path.toGpu >= 0 && path.fromGpu != path.toGpu)
                CHECK(cudaMemcpyPeerAsync(path.to, path.toGpu, path.from, path.fromGpu, bytes,
                                          stream_));
            else
                CHECK(cudaMemcpyAsync(path.to, path.from, bytes, cudaMemcpyDefault, stream_));
        }
        CHECK(cudaEventRecord(after_, stream_));
        CHECK(cudaStreamSynchronize(stream_));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, before_, after_));
        return milliseconds;
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t before_ = nullptr, after_ = nullptr;
};

/// Copies per batch: enough that the cost of the events is negligible.
int batchOf(const Path& path, size_t bytes) {
    const bool staysOnGpus = path.fromGpu >= 0 && path.toGpu >= 0;
    const size_t most = staysOnGpus ? size_t{16} << 30 : size_t{1} << 30;
    return int(std::clamp<size_t>(most / bytes, 1, 128));
}

void run(const Path& path, size_t largest, int repeats) {
    Timer timer(path.fromGpu >= 0 ? path.fromGpu : path.toGpu);
    for (size_t bytes = SMALLEST; bytes <= largest; bytes *= STEP)
        for (int repeat = -1; repeat < repeats; ++repeat) {
            const int copies = batchOf(path, bytes);
            const float milliseconds = timer.copy(path, bytes, copies);
            std::printf("copy %d %s %d %d %zu %d %.6f\n", path.kind, path.name, path.fromGpu,
                        path.toGpu, bytes, copies, repeat < 0 ? 0.0 : double(milliseconds));
        }
}

size_t numberAfter(int count, char** words, const char* option, size_t fallback) {
    for (int index = 1; index + 1 < count; ++index)
        if (std::strcmp(words[index], option) == 0) return std::strtoull(words[index + 1], nullptr, 10);
    return fallback;
}

}  // namespace

int main(int count, char** words) {
    const size_t largest = numberAfter(count, words, "--largest", size_t{1} << 30);
    const int repeats = int(numberAfter(count, words, "--repeats", 7));
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaSetDevice(0));
    char *pinned = nullptr, *first = nullptr, *second = nullptr;
    char* const pageable = static_cast<char*>(std::malloc(largest));
    if (pageable == nullptr) return 1;
    std::memset(pageable, 1, largest);
    CHECK(cudaMallocHost(&pinned, largest));
    std::memset(pinned, 1, largest);
    CHECK(cudaMalloc(&first, largest));
    CHECK(cudaMalloc(&second, largest));

    run({1, "HtoD-pinned", -1, 0, pinned, first}, largest, repeats);
    run({1, "HtoD-pageable", -1, 0, pageable, first}, largest, repeats);
    run({2, "DtoH-pinned", 0, -1, first, pinned}, largest, repeats);
    run({2, "DtoH-pageable", 0, -1, first, pageable}, largest, repeats);
    run({8, "DtoD", 0, 0, first, second}, largest, repeats);
    if (gpus < 2) return 0;
    int reaches = 0;
    CHECK(cudaDeviceCanAccessPeer(&reaches, 0, 1));
    char* other = nullptr;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&other, largest));
    if (reaches != 0) CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaSetDevice(0));
    if (reaches != 0) CHECK(cudaDeviceEnablePeerAccess(1, 0));
    run({10, "PtoP-0-1", 0, 1, first, other}, largest, repeats);
    run({10, "PtoP-1-0", 1, 0, other, first}, largest, repeats);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
