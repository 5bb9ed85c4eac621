// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

/// A simulated run of one process on one GPU with all times in whole microseconds, with NVTX steps,
/// three threads and two streams.
class RandomRun {
  public:
    explicit RandomRun(uint32_t seed) : random_(seed) {
        main_ = builder_.addThread(0, 4242, "python3");
        autograd_ = builder_.addThread(0, 5000, "pt_autograd_0");
        loader_ = builder_.addThread(0, 5001, "DataLoader");
        compute_ = builder_.defaultStream();
        other_ = builder_.addStream(0, 0, 20);
        for (int64_t at = 0; at < lengthUs; ++at) starts_.push_back(at * us);
        std::shuffle(starts_.begin(), starts_.end(), random_);
        addRanges();
        addCalls(main_, 40);
        addCalls(autograd_, 15);
        if (random_() % 2 == 0) addCalls(loader_, 5);
    }
    TracePtr finish() {
        const TracePtr trace = builder_.finish();
        addWaits(forged(trace));
        return trace;
    }

    static constexpr int64_t us = 1000, lengthUs = 600;

  private:
    int64_t upTo(int64_t most) { return static_cast<int64_t>(random_() % (most + 1)); }

    /// Simulates the other ranks of each collective, with that lateness.
    void addWaits(Trace& trace) {
        for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
            if (!trace.nameOf({EventKind::Kernel, row}).starts_with("ncclDevKernel")) continue;
            NcclFacts facts;
            facts.gpu = trace.rangeOf({EventKind::Kernel, row});
            facts.operationCount = 1;
            facts.waitedNs = upTo(facts.gpu.durationNs() / us) * us;
            trace.nccl.nvtx.push_back(0);
            trace.nccl.operation.push_back(0);
            trace.nccl.bytes.push_back(-1);
            trace.nccl.communicator.push_back(0);
            trace.nccl.facts.push_back(facts);
        }
    }

    void addRanges() {
        int64_t at = upTo(20);
        for (int step = 0; step < 5; ++step) {
            const int64_t end = at + 60 + upTo(60);
            builder_.addNvtx(main_, "step " + std::to_string(step), at * us, end * us);
            const int64_t middle = at + upTo(end - at);
            builder_.addNvtx(main_, random_() % 2 ? "data" : "forward", at * us, middle * us);
            builder_.addNvtx(main_, "backward", middle * us, end * us);
            at = end + (random_() % 3 == 0 ? upTo(20) : 0);
        }
    }

    void addCalls(uint32_t thread, int count) {
        static constexpr std::array<const char*, 4> names{"cudaLaunchKernel", "cudaMalloc", "cudaStreamSynchronize",
                                                          "cudaMemcpyAsync"};
        int64_t at = upTo(10);
        for (int index = 0; index < count && at < lengthUs; ++index) {
            const int64_t end = at + upTo(12);
            const uint32_t correlation = random_() % 4 == 0 ? 0 : ++correlation_;
            builder_.addApi(thread, names[random_() % names.size()], at * us, end * us, correlation);
            addWork(correlation, at * us);
            at = end + upTo(15);
        }
    }

    /// Adds work of that call some time after its start; none for some calls.
    void addWork(uint32_t correlation, int64_t callNs) {
        if (random_() % 5 == 0) return;
        const auto found = std::find_if(starts_.begin(), starts_.end(), [&](int64_t startNs) {
            return startNs > callNs && startNs < callNs + 40 * us;
        });
        if (found == starts_.end()) return;
        const int64_t startNs = *found;
        starts_.erase(found);  // no two begin at once, or the first would be ambiguous
        const int64_t endNs = startNs + upTo(14) * us;
        const uint32_t stream = random_() % 3 == 0 ? other_ : compute_;
        static constexpr std::array kinds{MemcpyKind::HtoD, MemcpyKind::DtoH, MemcpyKind::DtoD, MemcpyKind::PtoP,
                                          MemcpyKind::HtoH};
        switch (random_() % 5) {
            case 0:
                builder_.addMemcpy(stream, kinds[random_() % kinds.size()], upTo(5000), startNs, endNs, correlation);
                break;
            case 1: builder_.addMemset(stream, 8, startNs, endNs, correlation); break;
            case 2:
                builder_.addKernel(stream, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", startNs, endNs, correlation);
                break;
            default: builder_.addKernel(stream, "gemm", startNs, endNs, correlation);
        }
    }

    std::mt19937 random_;
    SimulatedTrace builder_;
    uint32_t main_, autograd_, loader_, compute_, other_;
    uint32_t correlation_ = 0;
    std::vector<int64_t> starts_;
};

}  // namespace lanescope
