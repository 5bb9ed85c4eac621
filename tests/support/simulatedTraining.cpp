// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulatedTraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

namespace {

constexpr int64_t launchNs = 4'000;
constexpr int64_t queueNs = 6'000;  ///< From the call to the start of its work on an idle GPU.
constexpr int64_t batchBytes = 64 << 20;
constexpr int64_t bucketBytes = 25 << 20;

/// One rank: a process with a main and an autograd thread and two streams.
class Rank {
  public:
    Rank(SimulatedTrace& builder, const SimulatedTraining& options, int number)
        : builder_(builder), options_(options), random_(static_cast<uint32_t>(number) + 1) {
        const auto pid = static_cast<uint32_t>(4242 + number);
        const uint32_t gpu = builder.addGpu();
        uint32_t process = 0;
        if (number == 0)
            builder.processes()[0].rank = 0;
        else
            process = builder.addProcess(pid, "python3", number);
        main_ = builder.addThread(process, pid, "python3");
        autograd_ = builder.addThread(process, pid + 1000, "pt_autograd_0");
        compute_ = builder.addStream(process, gpu, 7, true);
        communication_ = builder.addStream(process, gpu, 20);
        correlation_ = 1;
        cpuNs_ = 1'000'000 + number * 150'000;
        gpuNs_ = cpuNs_;
        communicationNs_ = cpuNs_;
    }

    void step(int index) {
        const int64_t startNs = cpuNs_;
        loadBatch();
        forward();
        backward();
        optimizer();
        readLoss();
        builder_.addNvtx(main_, fmt::format("step {}", index), startNs, cpuNs_);
        cpuNs_ += 40'000;
    }

  private:
    int64_t jittered(double durationNs) {
        return static_cast<int64_t>(durationNs * std::uniform_real_distribution(0.95, 1.05)(random_));
    }

    /// Adds a call of `name` on `thread` now and returns the correlation of its work.
    uint32_t call(uint32_t thread, std::string_view name, int64_t durationNs = launchNs) {
        builder_.addApi(thread, name, cpuNs_, cpuNs_ + durationNs, correlation_);
        cpuNs_ += durationNs + 1'500;
        return correlation_++;
    }

    void kernel(uint32_t thread, std::string_view name, double durationNs) {
        const int64_t calledNs = cpuNs_;
        const uint32_t correlation = call(thread, "cudaLaunchKernel");
        const int64_t startNs = std::max(gpuNs_ + 1'000, calledNs + queueNs);
        gpuNs_ = startNs + jittered(durationNs * options_.kernelScale);
        builder_.addKernel(compute_, name, startNs, gpuNs_, correlation);
    }

    void copy(MemcpyKind kind, int64_t bytes, double gigabytesPerSecond, MemoryKind source, MemoryKind destination) {
        const int64_t calledNs = cpuNs_;
        const uint32_t correlation = call(main_, "cudaMemcpyAsync", 6'000);
        const int64_t startNs = std::max(gpuNs_ + 1'000, calledNs + queueNs);
        gpuNs_ = startNs + jittered(static_cast<double>(bytes) / gigabytesPerSecond);
        builder_.addMemcpy(compute_, kind, bytes, startNs, gpuNs_, correlation, source, destination);
    }

    void loadBatch() {
        const int64_t startNs = cpuNs_;
        if (options_.copiesFromPageableMemory)
            copy(MemcpyKind::HtoD, batchBytes, 9.5, MemoryKind::Pageable, MemoryKind::Device);
        else
            copy(MemcpyKind::HtoD, batchBytes, 55.5, MemoryKind::Pinned, MemoryKind::Device);
        copy(MemcpyKind::HtoD, 256 << 10, 9.0, MemoryKind::Pageable, MemoryKind::Device);
        builder_.addNvtx(main_, "load batch", startNs, cpuNs_);
    }

    void forward() {
        const int64_t startNs = cpuNs_;
        for (int layer = 0; layer < options_.layers; ++layer) {
            const int64_t layerStartNs = cpuNs_;
            kernel(main_, "layer_norm_kernel", 9'000);
            kernel(main_, "sm90_xmma_gemm_bf16", 62'000);
            kernel(main_, "flash_fwd_kernel", 41'000);
            kernel(main_, "sm90_xmma_gemm_bf16", 88'000);
            kernel(main_, "vectorized_elementwise_kernel", 7'000);
            builder_.addNvtx(main_, fmt::format("layer {}", layer), layerStartNs, cpuNs_);
        }
        builder_.addNvtx(main_, "forward", startNs, cpuNs_);
    }

    void backward() {
        const int64_t startNs = cpuNs_;
        for (int layer = options_.layers; layer-- > 0;) {
            const int64_t layerStartNs = cpuNs_;
            kernel(autograd_, "sm90_xmma_gemm_bf16", 120'000);
            kernel(autograd_, "flash_bwd_kernel", 96'000);
            kernel(autograd_, "layer_norm_backward_kernel", 14'000);
            builder_.addNvtx(autograd_, fmt::format("backward layer {}", layer), layerStartNs, cpuNs_);
            if (layer % 4 == 0) reduceGradients();
        }
        builder_.addNvtx(main_, "backward", startNs, cpuNs_);
    }

    void reduceGradients() {
        const int64_t startNs = cpuNs_;
        const uint32_t correlation = call(autograd_, "cudaLaunchKernelExC", 7'000);
        builder_.addNccl(autograd_, "AllReduce", bucketBytes, startNs, cpuNs_, SimulatedTrace::someCommunicator,
                         options_.ncclPlugin ? reductionFacts({startNs, cpuNs_}) : NcclFacts());
        const int64_t onGpuNs = std::max(communicationNs_ + 1'000, gpuNs_);
        communicationNs_ = onGpuNs + jittered(310'000);
        builder_.addKernel(communication_, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", onGpuNs, communicationNs_,
                           correlation);
    }

    NcclFacts reductionFacts(TimeRange launch) {
        return NcclFacts{.datatype = builder_.intern("bfloat16"),
                         .algorithm = builder_.intern("RING"),
                         .protocol = builder_.intern("LL"),
                         .count = bucketBytes / 2,
                         .sequence = reductions_++,
                         .channels = 16,
                         .warps = 8,
                         .launchThread = autograd_,
                         .launch = launch};
    }

    void optimizer() {
        const int64_t startNs = cpuNs_;
        gpuNs_ = std::max(gpuNs_, communicationNs_);  // the optimizer waits for the gradients
        if (options_.gpuCount > 1) copy(MemcpyKind::PtoP, 32 << 20, 390.0, MemoryKind::Device, MemoryKind::Device);
        for (int group = 0; group < 4; ++group) kernel(main_, "multi_tensor_apply_kernel", 52'000);
        const uint32_t correlation = call(main_, "cudaMemsetAsync");
        builder_.addMemset(compute_, 8 << 20, gpuNs_ + 1'000, gpuNs_ + 4'500, correlation);
        gpuNs_ += 4'500;
        builder_.addNvtx(main_, "optimizer", startNs, cpuNs_);
    }

    void readLoss() {
        copy(MemcpyKind::DtoH, 4, 0.003, MemoryKind::Device, MemoryKind::Pageable);
        const int64_t startNs = cpuNs_, endNs = std::max(gpuNs_ + 3'000, startNs + 2'000);
        const uint32_t correlation = call(main_, "cudaStreamSynchronize", endNs - startNs);
        builder_.addSync(compute_, SyncType::Stream, startNs, endNs, correlation);
    }

    SimulatedTrace& builder_;
    const SimulatedTraining& options_;
    std::mt19937 random_;
    uint32_t main_, autograd_, compute_, communication_;
    uint32_t correlation_;
    int64_t cpuNs_, gpuNs_, communicationNs_;
    int64_t reductions_ = 0;
};

}  // namespace

TracePtr simulatedTraining(const SimulatedTraining& options) {
    SimulatedTrace builder;
    for (int number = 0; number < std::max(1, options.gpuCount); ++number) {
        Rank rank(builder, options, number);
        for (int index = 0; index < options.steps; ++index) rank.step(index);
    }
    return builder.finish("simulated training");
}

}  // namespace lanescope
