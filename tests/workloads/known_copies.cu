// SPDX-License-Identifier: Apache-2.0
//
// Moves known amounts of bytes over each link, one after the other, and prints one JSON object per
// line: the moved bytes, and the start and end (CLOCK_REALTIME ns). For checks of sampled counters.
//
// usage: known_copies [ROUNDS]
//
// Each kind moves ROUNDS GiB.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <unistd.h>

#define CHECK(call)                                                                   \
    do {                                                                              \
        const cudaError_t result = (call);                                            \
        if (result != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(result));      \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

namespace {

constexpr size_t gib = size_t{1} << 30;
constexpr useconds_t pauseUs = 500'000;

int64_t realtimeNs() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

__global__ void readAndWrite(float4* to, const float4* from, size_t count) {
    for (size_t at = blockIdx.x * blockDim.x + threadIdx.x; at < count;
         at += size_t(gridDim.x) * blockDim.x)
        to[at] = from[at];
}

/// Runs a kind of work inside a range of its name, with pauses around it, so that slow samplers
/// resolve its start and end.
void phase(const char* name, int rounds, const std::function<void()>& copyOneGib) {
    usleep(pauseUs);
    const int64_t begunNs = realtimeNs();
    nvtxRangePushA(name);
    for (int round = 0; round < rounds; ++round) copyOneGib();
    CHECK(cudaDeviceSynchronize());
    nvtxRangePop();
    std::printf("{\"kind\": \"%s\", \"bytes\": %zu, \"startNs\": %lld, \"endNs\": %lld}\n", name,
                rounds * gib, static_cast<long long>(begunNs),
                static_cast<long long>(realtimeNs()));
    std::fflush(stdout);
    usleep(pauseUs);
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    void *one = nullptr, *two = nullptr, *host = nullptr, *peer = nullptr;
    CHECK(cudaMalloc(&one, gib));
    CHECK(cudaMalloc(&two, gib));
    CHECK(cudaMallocHost(&host, gib));
    int hasPeer = 0;
    if (gpus > 1) {
        CHECK(cudaDeviceCanAccessPeer(&hasPeer, 0, 1));
        CHECK(cudaSetDevice(1));
        CHECK(cudaMalloc(&peer, gib));
        CHECK(cudaSetDevice(0));
        if (hasPeer) CHECK(cudaDeviceEnablePeerAccess(1, 0));
    }
    CHECK(cudaMemset(one, 1, gib));
    CHECK(cudaDeviceSynchronize());
    phase("epoch HtoD", rounds,
          [&] { CHECK(cudaMemcpyAsync(one, host, gib, cudaMemcpyHostToDevice)); });
    phase("epoch DtoH", rounds,
          [&] { CHECK(cudaMemcpyAsync(host, one, gib, cudaMemcpyDeviceToHost)); });
    phase("epoch kernel", 20 * rounds, [&] {
        readAndWrite<<<2048, 256>>>(static_cast<float4*>(two), static_cast<const float4*>(one),
                                    gib / sizeof(float4));
    });
    if (hasPeer)
        phase("epoch PtoP", 10 * rounds, [&] { CHECK(cudaMemcpyPeerAsync(peer, 1, one, 0, gib)); });
    CHECK(cudaGetLastError());
    return 0;
}
