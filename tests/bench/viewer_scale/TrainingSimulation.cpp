// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/TrainingSimulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lanescope::bench {

namespace {

enum Thread : uint8_t { forward, backward, loader, watcher };
enum StreamSlot : uint8_t { compute, communication, copies, side };
enum Call : uint8_t {
    launchKernel,
    launchKernelEx,
    memcpyAsync,
    memcpyPeerAsync,
    memsetAsync,
    eventRecord,
    eventQuery,
    streamWaitEvent,
    streamSynchronize,
    mallocAsync,
    hostAlloc,
};
/// Range names: a few fixed ones, then those of layers and their parts.
enum Range : uint16_t {
    stepRange,
    forwardRange,
    backwardRange,
    optimizerRange,
    prefetchRange,
    batchRange,
    sampleRange,
    decodeRange,
    watchRange,
    pollRange,
    checkRange,
    queryRange,
    groupRange,
    parameterRange,
    autogradRange,
    allReduceRange,
    firstLayerRange,
};
constexpr int layerCount = 24;
constexpr std::array<const char*, 4> operations{"attention", "mlp", "norm", "residual"};
constexpr int kernelsOfOperation = 5;
constexpr uint16_t firstOperationRange = firstLayerRange + 2 * layerCount;

SimulatedNames makeNames() {
    SimulatedNames names;
    constexpr std::array<const char*, 10> families{
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute",
        "flash_fwd_kernel",
        "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
        "vectorized_elementwise_kernel",
        "unrolled_elementwise_kernel",
        "cunn_SoftMaxForward",
        "layer_norm_grad_input_kernel",
        "reduce_kernel",
        "multi_tensor_apply_kernel",
        "triton_poi_fused_add_gelu"};
    for (int index = 0; index < TrainingSimulation::kernelNameCount - 1; ++index) {
        const std::string name = fmt::format("{}_{}", families[static_cast<size_t>(index) % families.size()], index);
        names.kernels.push_back({fmt::format("void at::native::{}<(int)4, at::native::CUDAFunctor_add<c10::BFloat16>, "
                                             "std::array<char *, (unsigned long){}>>(int, T2, T3)",
                                             name, index % 7 + 1),
                                 name});
    }
    names.kernels.push_back({"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"});
    names.calls = {"cuLaunchKernel",        "cuLaunchKernelEx", "cudaMemcpyAsync", "cudaMemcpyPeerAsync",
                   "cudaMemsetAsync",       "cudaEventRecord",  "cudaEventQuery",  "cudaStreamWaitEvent",
                   "cudaStreamSynchronize", "cudaMallocAsync",  "cudaHostAlloc"};
    names.threads = {"python", "pt_autograd_0", "pt_data_loader", "pt_nccl_watchdg"};
    names.ranges = {"step",   "forward",    "backward",        "optimizer",    "prefetch", "batch",
                    "sample", "decode",     "watch",           "poll",         "check",    "query",
                    "group",  "parameters", "autograd engine", "ncclAllReduce"};
    for (int layer = 0; layer < layerCount; ++layer) names.ranges.push_back(fmt::format("layer {}", layer));
    for (int layer = 0; layer < layerCount; ++layer) names.ranges.push_back(fmt::format("backward layer {}", layer));
    for (const char* operation : operations) names.ranges.emplace_back(operation);
    for (const char* operation : operations) names.ranges.push_back(fmt::format("{} backward", operation));
    return names;
}

template <class Rows>
void sortByStart(Rows& rows) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
}

}  // namespace

void StepRows::clear() {
    kernels.clear();
    memcpys.clear();
    memsets.clear();
    calls.clear();
    syncs.clear();
    memoryEvents.clear();
    ranges.clear();
}

void StepRows::sort() {
    sortByStart(kernels);
    sortByStart(memcpys);
    sortByStart(memsets);
    sortByStart(calls);
    sortByStart(syncs);
    sortByStart(ranges);
    std::stable_sort(memoryEvents.begin(), memoryEvents.end(),
                     [](const auto& a, const auto& b) { return a.timeNs < b.timeNs; });
}

int64_t StepRows::count() const {
    return static_cast<int64_t>(kernels.size() + memcpys.size() + memsets.size() + calls.size() + syncs.size() +
                                memoryEvents.size() + ranges.size());
}

/// One rank in one step.
class TrainingSimulation::Rank {
  public:
    Rank(TrainingSimulation& simulation, StepRows& rows, uint8_t number)
        : simulation_(simulation), rows_(rows), number_(number), correlation_(simulation.correlations_[number]) {
        cpuNs_.fill(simulation.timeNs_ + simulation.jittered(8'000));
        gpuNs_.fill(simulation.timeNs_);
    }

    /// Returns the end of all work of the step.
    int64_t run(uint32_t step) {
        const int64_t startNs = cpuNs_[forward];
        load();
        runForward();
        runBackward();
        runOptimizer();
        const int64_t doneNs = *std::max_element(gpuNs_.begin(), gpuNs_.end());
        wait(doneNs);
        addRange(forward, stepRange, startNs, cpuNs_[forward], -1, step);
        watch(startNs, cpuNs_[forward]);
        return std::max(doneNs, *std::max_element(cpuNs_.begin(), cpuNs_.end()));
    }

  private:
    int64_t jittered(int64_t ns) { return simulation_.jittered(ns); }

    void addRange(Thread thread, uint16_t range, int64_t startNs, int64_t endNs, int64_t bytes = -1,
                  uint32_t step = 0) {
        rows_.ranges.push_back({startNs, endNs, bytes, range, step, number_, thread});
    }

    /// Makes a call of `ns`; returns its correlation.
    uint32_t call(Thread thread, Call what, int64_t ns) {
        const int64_t startNs = cpuNs_[thread] + jittered(900);
        cpuNs_[thread] = startNs + jittered(ns);
        rows_.calls.push_back({startNs, cpuNs_[thread], ++correlation_, what, number_, thread});
        return correlation_;
    }

    /// Returns the start of work that `thread` has just launched on `stream`, and occupies the stream from then on.
    int64_t beginOnGpu(Thread thread, StreamSlot stream, int64_t ns) {
        const int64_t startNs = std::max(cpuNs_[thread] + jittered(2'400), gpuNs_[stream] + jittered(900));
        gpuNs_[stream] = startNs + ns;
        return startNs;
    }

    void kernel(Thread thread, StreamSlot stream, uint16_t name) {
        const uint32_t correlation = call(thread, name % 3 == 0 ? launchKernelEx : launchKernel, 2'600);
        const KernelShape& shape = simulation_.shapes_[name];
        const int64_t startNs = beginOnGpu(thread, stream, jittered(shape.durationNs));
        rows_.kernels.push_back({startNs, gpuNs_[stream], correlation, name, shape.gridX, number_, stream});
    }

    void copy(Thread thread, StreamSlot stream, MemcpyKind kind, MemoryKind source, MemoryKind destination,
              int64_t bytes, double bytesPerNs) {
        const Call what = kind == MemcpyKind::PtoP ? memcpyPeerAsync : memcpyAsync;
        const uint32_t correlation = call(thread, what, 4'000);
        const auto ns = jittered(1'200 + static_cast<int64_t>(static_cast<double>(bytes) / bytesPerNs));
        const int64_t startNs = beginOnGpu(thread, stream, ns);
        rows_.memcpys.push_back(
            {startNs, gpuNs_[stream], bytes, correlation, kind, source, destination, number_, stream});
    }

    void load() {
        const int64_t prefetchNs = cpuNs_[loader];
        for (int batch = 0; batch < 2; ++batch) {
            const int64_t batchNs = cpuNs_[loader];
            for (int sample = 0; sample < 8; ++sample) {
                const int64_t sampleNs = cpuNs_[loader];
                for (int part = 0; part < 4; ++part) {
                    const int64_t decodeNs = cpuNs_[loader];
                    cpuNs_[loader] += jittered(60'000);
                    addRange(loader, decodeRange, decodeNs, cpuNs_[loader]);
                }
                if (sample % 4 == 0) call(loader, hostAlloc, 20'000);
                copy(loader, copies, MemcpyKind::HtoH, MemoryKind::Pageable, MemoryKind::Pinned, 1 << 20, 12);
                addRange(loader, sampleRange, sampleNs, cpuNs_[loader]);
            }
            copy(loader, copies, MemcpyKind::HtoD, MemoryKind::Pinned, MemoryKind::Device, 38 << 20, 55);
            copy(loader, copies, MemcpyKind::HtoD, MemoryKind::Pageable, MemoryKind::Device, 2 << 20, 9.5);
            copy(loader, copies, MemcpyKind::HtoD, MemoryKind::Managed, MemoryKind::Device, 1 << 18, 20);
            addRange(loader, batchRange, batchNs, cpuNs_[loader]);
        }
        addRange(loader, prefetchRange, prefetchNs, cpuNs_[loader]);
    }

    void runOperation(Thread thread, int layer, size_t operation, bool isBackward) {
        const int64_t startNs = cpuNs_[thread];
        const auto first = static_cast<unsigned>(layer) * 4 + static_cast<unsigned>(operation);
        for (unsigned index = 0; index < kernelsOfOperation; ++index) {
            const unsigned place = (first * kernelsOfOperation + index) * 7 + (isBackward ? 3 : 0);
            kernel(thread, compute, static_cast<uint16_t>(place % (kernelNameCount - 1)));
        }
        if (operation == 0) call(thread, eventRecord, 700);
        if (operation == 2)
            copy(thread, side, MemcpyKind::DtoD, MemoryKind::Device, MemoryKind::Device, 16 << 20, 2'000);
        addRange(thread, static_cast<uint16_t>(firstOperationRange + operation + (isBackward ? 4 : 0)), startNs,
                 cpuNs_[thread]);
    }

    void runLayer(Thread thread, int layer, bool isBackward) {
        const int64_t startNs = cpuNs_[thread];
        for (size_t operation = 0; operation < operations.size(); ++operation)
            runOperation(thread, layer, operation, isBackward);
        addRange(thread, static_cast<uint16_t>(firstLayerRange + layer + (isBackward ? layerCount : 0)), startNs,
                 cpuNs_[thread]);
    }

    int64_t addressOf(int layer) const { return (int64_t{number_} + 1) << 40 | int64_t{layer} << 30; }

    void runForward() {
        const int64_t startNs = cpuNs_[forward];
        for (int layer = 0; layer < layerCount; ++layer) {
            call(forward, mallocAsync, 1'500);
            rows_.memoryEvents.push_back({cpuNs_[forward], 600 << 20, addressOf(layer), false, number_});
            runLayer(forward, layer, false);
        }
        addRange(forward, forwardRange, startNs, cpuNs_[forward]);
    }

    void reduceGradients(int layer) {
        const int64_t startNs = cpuNs_[backward];
        call(backward, streamWaitEvent, 600);
        gpuNs_[communication] = std::max(gpuNs_[communication], gpuNs_[compute]);
        kernel(backward, communication, kernelNameCount - 1);
        addRange(backward, allReduceRange, startNs, cpuNs_[backward], int64_t{25} << 20, 0);
        rows_.memoryEvents.push_back({cpuNs_[backward], 600 << 20, addressOf(layer), true, number_});
    }

    void runBackward() {
        const int64_t startNs = std::max(cpuNs_[forward], cpuNs_[backward]);
        cpuNs_[backward] = startNs;
        for (int layer = layerCount; layer-- > 0;) {
            runLayer(backward, layer, true);
            reduceGradients(layer);
        }
        addRange(backward, backwardRange, startNs, cpuNs_[backward]);
        addRange(backward, autogradRange, startNs, cpuNs_[backward]);
        cpuNs_[forward] = cpuNs_[backward];
        gpuNs_[compute] = std::max(gpuNs_[compute], gpuNs_[communication]);
    }

    void runOptimizer() {
        const int64_t startNs = cpuNs_[forward];
        for (int group = 0; group < 4; ++group) {
            const int64_t groupNs = cpuNs_[forward], parameterNs = cpuNs_[forward];
            for (uint16_t index = 0; index < 6; ++index)
                kernel(forward, compute, static_cast<uint16_t>(8 + 10 * index));
            addRange(forward, parameterRange, parameterNs, cpuNs_[forward]);
            const uint32_t correlation = call(forward, memsetAsync, 2'500);
            const int64_t setNs = beginOnGpu(forward, compute, jittered(3'000));
            rows_.memsets.push_back({setNs, gpuNs_[compute], 8 << 20, correlation, number_, compute});
            addRange(forward, groupRange, groupNs, cpuNs_[forward]);
        }
        copy(forward, side, MemcpyKind::PtoP, MemoryKind::Device, MemoryKind::Device, 32 << 20, 390);
        copy(forward, side, MemcpyKind::DtoH, MemoryKind::Device, MemoryKind::Pinned, 4 << 20, 55);
        copy(forward, compute, MemcpyKind::DtoH, MemoryKind::Device, MemoryKind::Pageable, 4, 0.01);
        addRange(forward, optimizerRange, startNs, cpuNs_[forward]);
    }

    void wait(int64_t untilNs) {
        const int64_t startNs = cpuNs_[forward] + 500;
        const uint32_t correlation = call(forward, streamSynchronize, std::max<int64_t>(2'000, untilNs - startNs));
        cpuNs_[forward] = std::max(cpuNs_[forward], untilNs + 1'500);
        rows_.calls.back().endNs = cpuNs_[forward];
        rows_.syncs.push_back({startNs, cpuNs_[forward], correlation, number_, compute});
    }

    void watch(int64_t fromNs, int64_t toNs) {
        constexpr int polls = 8;
        cpuNs_[watcher] = fromNs;
        for (int poll = 0; poll < polls; ++poll) {
            const int64_t dueNs = fromNs + (toNs - fromNs) * poll / polls;
            const int64_t pollNs = cpuNs_[watcher] = std::max(cpuNs_[watcher], dueNs);
            for (int check = 0; check < 2; ++check) {
                const int64_t checkNs = cpuNs_[watcher];
                for (int query = 0; query < 3; ++query) {
                    const int64_t queryNs = cpuNs_[watcher];
                    call(watcher, eventQuery, 900);
                    addRange(watcher, queryRange, queryNs, cpuNs_[watcher]);
                }
                addRange(watcher, checkRange, checkNs, cpuNs_[watcher]);
            }
            addRange(watcher, pollRange, pollNs, cpuNs_[watcher]);
        }
        addRange(watcher, watchRange, fromNs, std::max(cpuNs_[watcher], toNs));
    }

    TrainingSimulation& simulation_;
    StepRows& rows_;
    const uint8_t number_;
    uint32_t& correlation_;
    std::array<int64_t, threadCount> cpuNs_{};
    std::array<int64_t, streamCount> gpuNs_{};
};

TrainingSimulation::TrainingSimulation(uint64_t seed)
    : names_(makeNames()), randomState_(seed), correlations_(rankCount, 0) {
    for (int name = 0; name < kernelNameCount; ++name) {
        // From 2 us to some 130 us, most of them short.
        const int64_t exponent = static_cast<int64_t>(random() % 64) + static_cast<int64_t>(random() % 64);
        shapes_.push_back({2'000 + exponent * exponent * 8, static_cast<uint16_t>(random() % 2'000 + 1)});
    }
    shapes_.back().durationNs = 180'000;
}

uint64_t TrainingSimulation::random() {
    // SplitMix64: two multiplications per number, and the same on every machine.
    uint64_t mixed = randomState_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

int64_t TrainingSimulation::jittered(int64_t ns) {
    const int64_t eighth = ns / 8;
    return ns - eighth + static_cast<int64_t>((random() >> 32) * static_cast<uint64_t>(2 * eighth + 1) >> 32);
}

void TrainingSimulation::nextStep(StepRows& rows) {
    rows.clear();
    int64_t endNs = timeNs_;
    for (uint8_t rank = 0; rank < rankCount; ++rank) endNs = std::max(endNs, Rank(*this, rows, rank).run(step_));
    rows.sort();
    timeNs_ = endNs + jittered(40'000);
    ++step_;
}

}  // namespace lanescope::bench
