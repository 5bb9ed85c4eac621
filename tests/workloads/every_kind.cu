// SPDX-License-Identifier: Apache-2.0
//
// Does one of everything that Lanescope records, about 150 GPU operations in all, and prints their
// counts and the copy speeds by CUDA events. A trace of it must show the same.
//
//     nvcc -O2 -std=c++17 -arch=sm_90 every_kind.cu -o every_kind -ldl
//     lanescope record --keep-logs -o every-kind.sqlite -- ./every_kind > output.txt
//
// Output: a line `count WHAT N` for each kind of operation, `bytes KIND N` for each kind of copy
// and `speed KIND GB/s` for the timed copies. All counts are equal in every run on a machine with
// as many GPUs.

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr size_t COPY_BYTES = 32u << 20;
constexpr int COPIES = 5;  // the first warms up and is not timed
constexpr uint32_t WORKER_COLOUR = 0xFF2E8B57;
constexpr uint32_t PHASE_COLOUR = 0xFF4682B4;

__constant__ float scaleOnDevice;

void check(cudaError_t status, const char* what, int line) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "every_kind: line %d: %s: %s\n", line, what, cudaGetErrorString(status));
    std::exit(1);
}
#define CHECK(call) check((call), #call, __LINE__)

/// Counts of operations by name, counted at the call; printed at the end. Thread-safe.
class Tally {
  public:
    void add(const std::string& what, int64_t bytes = 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++counts_[what];
        if (bytes > 0) bytes_[what] += bytes;
    }
    void print() const {
        for (const auto& [what, count] : counts_)
            std::printf("count %s %lld\n", what.c_str(), static_cast<long long>(count));
        for (const auto& [what, bytes] : bytes_)
            std::printf("bytes %s %lld\n", what.c_str(), static_cast<long long>(bytes));
    }

  private:
    std::mutex mutex_;
    std::map<std::string, int64_t> counts_;
    std::map<std::string, int64_t> bytes_;
};
Tally tally;

template <typename Number>
__global__ void scaleAndAdd(Number* values, int count, Number factor, Number addend) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) values[i] = values[i] * factor + addend + static_cast<Number>(scaleOnDevice);
}

__global__ void sumInSharedMemory(const float* values, int count, float* sums) {
    extern __shared__ float part[];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    part[threadIdx.x] = i < count ? values[i] : 0.f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void spin(long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

__global__ void meetAcrossTheGrid(float* values, int count) {
    const auto grid = cooperative_groups::this_grid();
    const auto i = static_cast<int>(grid.thread_rank());
    if (i < count) values[i] += 1.f;
    grid.sync();
    if (i < count) values[i] += values[count - 1 - i];
}

/// All memory and streams the program uses on device 0.
struct Things {
    static constexpr int COUNT = COPY_BYTES / sizeof(float);
    float* device = nullptr;
    float* otherDevice = nullptr;
    float* managed = nullptr;
    float* pinned = nullptr;
    float* otherPinned = nullptr;
    float* pageable = nullptr;
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;

    void make() {
        CHECK(cudaMalloc(&device, COPY_BYTES));
        CHECK(cudaMalloc(&otherDevice, COPY_BYTES));
        CHECK(cudaMallocManaged(&managed, COPY_BYTES));
        CHECK(cudaMallocHost(&pinned, COPY_BYTES));
        CHECK(cudaMallocHost(&otherPinned, COPY_BYTES));
        pageable = static_cast<float*>(std::malloc(COPY_BYTES));
        for (float* host : {managed, pinned, otherPinned, pageable})
            std::memset(host, 0, COPY_BYTES);
        CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
        nvtxNameCudaStreamA(first, "first stream");
        nvtxNameCudaStreamA(second, "second stream");
    }
    void free() {
        for (float* memory : {device, otherDevice, managed}) CHECK(cudaFree(memory));
        for (float* memory : {pinned, otherPinned}) CHECK(cudaFreeHost(memory));
        std::free(pageable);
        CHECK(cudaStreamDestroy(first));
        CHECK(cudaStreamDestroy(second));
    }
};

void launchScale(float* values, int count, cudaStream_t stream) {
    scaleAndAdd<float><<<(count + 255) / 256, 256, 0, stream>>>(values, count, 0.5f, 1.f);
    CHECK(cudaGetLastError());
    tally.add("kernel");
}

/// Copies COPIES times by `copy(stream)`, each of COPY_BYTES, and prints the speed of all except the first.
template <typename Copy>
void timeCopies(const char* kind, cudaStream_t stream, Copy copy) {
    nvtxRangePushA(kind);
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < COPIES; ++i) {
        if (i == 1) CHECK(cudaEventRecord(begin, stream));
        copy(stream);
        tally.add(kind, COPY_BYTES);
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    const double bytes = static_cast<double>(COPY_BYTES) * (COPIES - 1);
    std::printf("speed %s %.1f\n", kind, bytes / (static_cast<double>(milliseconds) * 1e6));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    nvtxRangePop();
    tally.add("nvtx-push-pop");
}

void copyEveryWay(Things& t) {
    const auto plain = [](float* to, const float* from, cudaMemcpyKind kind) {
        return [=](cudaStream_t stream) {
            CHECK(cudaMemcpyAsync(to, from, COPY_BYTES, kind, stream));
        };
    };
    timeCopies("HtoD-pinned", t.first, plain(t.device, t.pinned, cudaMemcpyHostToDevice));
    timeCopies("HtoD-pageable", t.first, plain(t.device, t.pageable, cudaMemcpyHostToDevice));
    timeCopies("DtoH-pinned", t.second, plain(t.pinned, t.device, cudaMemcpyDeviceToHost));
    timeCopies("DtoH-pageable", t.second, plain(t.pageable, t.device, cudaMemcpyDeviceToHost));
    timeCopies("DtoD", t.first, plain(t.otherDevice, t.device, cudaMemcpyDeviceToDevice));
    timeCopies("HtoH-pinned", t.first, plain(t.otherPinned, t.pinned, cudaMemcpyHostToHost));
    timeCopies("managed", t.first, plain(t.device, t.managed, cudaMemcpyDefault));

    timeCopies("memset-device", t.first, [&](cudaStream_t stream) {
        CHECK(cudaMemsetAsync(t.device, 1, COPY_BYTES, stream));
    });
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMemsetAsync(t.pinned, 0, 4096, t.second));
        tally.add("memset-pinned", 4096);
    }
    const float scale = 0.25f;
    CHECK(cudaMemcpyToSymbol(scaleOnDevice, &scale, sizeof(scale)));
    tally.add("HtoD-symbol", sizeof(scale));
    CHECK(cudaMemcpy2DAsync(t.device, 4096, t.otherDevice, 8192, 4096, 64, cudaMemcpyDeviceToDevice,
                            t.first));
    tally.add("DtoD-2D", 4096 * 64);
}

void copyArrays(Things& t) {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    constexpr size_t WIDTH = 1024;
    constexpr size_t HEIGHT = 256;
    constexpr size_t PITCH = WIDTH * sizeof(float);
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, t.pinned, PITCH, PITCH, HEIGHT,
                                   cudaMemcpyHostToDevice, t.first));
    tally.add("HtoA", PITCH * HEIGHT);
    CHECK(cudaMemcpy2DFromArrayAsync(t.device, PITCH, array, 0, 0, PITCH, HEIGHT,
                                     cudaMemcpyDeviceToDevice, t.first));
    tally.add("AtoD", PITCH * HEIGHT);
    CHECK(cudaMemcpy2DFromArrayAsync(t.pinned, PITCH, array, 0, 0, PITCH, HEIGHT,
                                     cudaMemcpyDeviceToHost, t.first));
    tally.add("AtoH", PITCH * HEIGHT);
    CHECK(cudaStreamSynchronize(t.first));
    CHECK(cudaFreeArray(array));
}

void copyBetweenDevices(Things& t) {
    int devices = 0;
    int reachable = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices > 1) CHECK(cudaDeviceCanAccessPeer(&reachable, 0, 1));
    if (reachable == 0) {
        std::printf("note no peer copies: there is no second GPU that the first can reach\n");
        return;
    }
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaSetDevice(1));
    float* there = nullptr;
    CHECK(cudaMalloc(&there, COPY_BYTES));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    for (int i = 0; i < 4; ++i) launchScale(there, Things::COUNT, nullptr);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    timeCopies("PtoP", t.first, [&](cudaStream_t stream) {
        CHECK(cudaMemcpyPeerAsync(there, 1, t.device, 0, COPY_BYTES, stream));
    });
    timeCopies("PtoP-back", t.first, [&](cudaStream_t stream) {
        CHECK(cudaMemcpyPeerAsync(t.device, 0, there, 1, COPY_BYTES, stream));
    });
    CHECK(cudaSetDevice(1));
    CHECK(cudaFree(there));
    CHECK(cudaSetDevice(0));
}

/// Two streams that wait for each other by events, so that their kernels alternate.
void playPingPong(Things& t) {
    cudaEvent_t turn[2];
    for (auto& event : turn) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int round = 0; round < 10; ++round) {
        launchScale(t.device, Things::COUNT, t.first);
        CHECK(cudaEventRecord(turn[0], t.first));
        CHECK(cudaStreamWaitEvent(t.second, turn[0], 0));
        spin<<<1, 1, 0, t.second>>>(20000);
        tally.add("kernel");
        CHECK(cudaEventRecord(turn[1], t.second));
        CHECK(cudaStreamWaitEvent(t.first, turn[1], 0));
    }
    CHECK(cudaEventSynchronize(turn[1]));
    CHECK(cudaStreamSynchronize(t.first));
    for (auto& event : turn) CHECK(cudaEventDestroy(event));
}

/// On the default stream: templates, dynamic shared memory, grids of two and three dimensions.
void launchOnDefaultStream(Things& t) {
    for (int i = 0; i < 5; ++i) {
        scaleAndAdd<double><<<64, 128>>>(reinterpret_cast<double*>(t.device), 8192, 0.5, 1.0);
        sumInSharedMemory<<<32, 256, 256 * sizeof(float)>>>(t.device, 8192, t.otherDevice);
        spin<<<dim3(2, 3, 4), dim3(8, 4, 2)>>>(5000);
        for (int kernel = 0; kernel < 3; ++kernel) tally.add("kernel");
    }
    CHECK(cudaDeviceSynchronize());
}

void launchCooperatively(Things& t) {
    int count = 32 * 128;
    void* arguments[] = {&t.device, &count};
    for (int i = 0; i < 3; ++i) {
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&meetAcrossTheGrid), dim3(32),
                                          dim3(128), arguments, 0, t.first));
        tally.add("kernel");
        tally.add("cooperative");
    }
    CHECK(cudaStreamSynchronize(t.first));
}

/// A graph of two copies, a memset and three kernels, launched twice.
void launchGraph(Things& t) {
    constexpr size_t BYTES = 1u << 20;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamBeginCapture(t.first, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(t.device, t.pinned, BYTES, cudaMemcpyHostToDevice, t.first));
    CHECK(cudaMemsetAsync(t.otherDevice, 0, BYTES, t.first));
    scaleAndAdd<float><<<512, 256, 0, t.first>>>(t.device, 512 * 256, 2.f, 1.f);
    sumInSharedMemory<<<32, 256, 256 * sizeof(float), t.first>>>(t.device, 8192, t.otherDevice);
    spin<<<1, 1, 0, t.first>>>(10000);
    CHECK(cudaMemcpyAsync(t.pinned, t.otherDevice, BYTES, cudaMemcpyDeviceToHost, t.first));
    CHECK(cudaStreamEndCapture(t.first, &graph));
    cudaGraphExec_t executable = nullptr;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
        CHECK(cudaGraphLaunch(executable, t.first));
        tally.add("graph-launch");
        tally.add("HtoD-graph", BYTES);
        tally.add("memset-graph", BYTES);
        tally.add("DtoH-graph", BYTES);
        for (int kernel = 0; kernel < 3; ++kernel) tally.add("kernel");
        for (int kernel = 0; kernel < 3; ++kernel) tally.add("kernel-in-graph");
    }
    CHECK(cudaStreamSynchronize(t.first));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

void allocateOnStream(Things& t) {
    for (int i = 0; i < 3; ++i) {
        float* memory = nullptr;
        CHECK(cudaMallocAsync(&memory, 4u << 20, t.first));
        launchScale(memory, 1 << 20, t.first);
        CHECK(cudaFreeAsync(memory, t.first));
        tally.add("stream-allocation", 4u << 20);
    }
    CHECK(cudaStreamSynchronize(t.first));
}

nvtxEventAttributes_t attributes(const char* message) {
    nvtxEventAttributes_t a = {};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = message;
    return a;
}

void markEveryPayload(nvtxDomainHandle_t domain) {
    const auto mark = [&](const char* message, int32_t type, auto set) {
        auto a = attributes(message);
        a.payloadType = type;
        set(a.payload);
        nvtxDomainMarkEx(domain, &a);
        tally.add("nvtx-mark");
    };
    mark("uint64", NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = 1ull << 63; });
    mark("int64", NVTX_PAYLOAD_TYPE_INT64, [](auto& p) { p.llValue = -5000000000ll; });
    mark("double", NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& p) { p.dValue = 2.5; });
    mark("uint32", NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [](auto& p) { p.uiValue = 4000000000u; });
    mark("int32", NVTX_PAYLOAD_TYPE_INT32, [](auto& p) { p.iValue = -7; });
    mark("float", NVTX_PAYLOAD_TYPE_FLOAT, [](auto& p) { p.fValue = 0.125f; });
}

/// Ranges in a separate domain: a registered string, a category, a colour, a payload.
void annotateInDomain(nvtxDomainHandle_t domain, Things& t) {
    nvtxDomainNameCategoryA(domain, 7, "seventh category");
    auto a = attributes(nullptr);
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = nvtxDomainRegisterStringA(domain, "registered step");
    a.category = 7;
    a.colorType = NVTX_COLOR_ARGB;
    a.color = PHASE_COLOUR;
    a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    for (int step = 0; step < 4; ++step) {
        a.payload.llValue = step;
        nvtxDomainRangePushEx(domain, &a);
        for (int kernel = 0; kernel < 5; ++kernel) launchScale(t.device, 1 << 16, t.first);
        nvtxDomainRangePop(domain);
        tally.add("nvtx-push-pop");
    }
    markEveryPayload(domain);
}

void annotateNested(Things& t) {
    for (const char* name : {"outermost", "outer", "inner", "innermost"}) {
        nvtxRangePushA(name);
        launchScale(t.device, 1 << 16, t.second);
        tally.add("nvtx-push-pop");
    }
    for (int i = 0; i < 4; ++i) nvtxRangePop();
    nvtxRangePushW(L"wide \u00fcber \u0394");
    nvtxMarkA("plain mark");
    nvtxRangePop();
    tally.add("nvtx-push-pop");
    tally.add("nvtx-mark");
}

/// A named second thread that launches kernels and ends a range started by the first.
void workOnSecondThread(Things& t, nvtxRangeId_t startedElsewhere) {
    nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), "every_kind worker");
    CHECK(cudaSetDevice(0));
    auto a = attributes("worker's range");
    a.colorType = NVTX_COLOR_ARGB;
    a.color = WORKER_COLOUR;
    nvtxRangePushEx(&a);
    tally.add("nvtx-push-pop");
    for (int i = 0; i < 10; ++i) launchScale(t.otherDevice, Things::COUNT, t.second);
    CHECK(cudaStreamSynchronize(t.second));
    nvtxRangePop();
    nvtxRangeEnd(startedElsewhere);
    tally.add("nvtx-start-end");
}

}  // namespace

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::printf("every_kind: there is no GPU that CUDA can use here.\n");
        return 0;
    }
    nvtxNameOsThreadA(static_cast<uint32_t>(syscall(SYS_gettid)), "every_kind main");
    nvtxNameCategoryA(3, "third category");
    const auto domain = nvtxDomainCreateA("every_kind");
    CHECK(cudaSetDevice(0));
    Things things;
    things.make();

    nvtxRangePushA("copies");
    copyEveryWay(things);
    copyArrays(things);
    copyBetweenDevices(things);
    nvtxRangePop();
    tally.add("nvtx-push-pop");
    playPingPong(things);
    launchOnDefaultStream(things);
    launchCooperatively(things);
    launchGraph(things);
    allocateOnStream(things);
    annotateNested(things);
    annotateInDomain(domain, things);
    const auto acrossThreads = nvtxRangeStartA("started here, ended there");
    std::thread(workOnSecondThread, std::ref(things), acrossThreads).join();

    CHECK(cudaDeviceSynchronize());
    things.free();
    nvtxDomainDestroy(domain);
    tally.print();
    return 0;
}
