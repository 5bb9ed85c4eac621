// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

/// Ranks of one job, each a process with a thread, a GPU and a stream for NCCL.
struct SimulatedRanks {
    explicit SimulatedRanks(int rankCount) {
        for (int rank = 0; rank < rankCount; ++rank) {
            processes.push_back(builder.addProcess(100 + static_cast<uint32_t>(rank), "python3", rank));
            threads.push_back(builder.addThread(processes.back(), 100));
            gpus.push_back(builder.addGpu());
            streams.push_back(builder.addStream(processes.back(), gpus.back(), 7));
        }
    }

    /// Adds an NCCL call of 10 us, and its kernel, if any.
    void addCall(size_t rank, std::string_view operation, int64_t bytes, int64_t callNs,
                 std::optional<TimeRange> kernel, const NcclFacts& facts, uint64_t communicator) {
        constexpr int64_t us = 1'000;
        builder.addNccl(threads[rank], operation, bytes, callNs, callNs + 10 * us, communicator, facts);
        if (kernel)
            builder.launch(threads[rank], streams[rank], "ncclDevKernel_AllReduce_Sum", callNs + us, kernel->startNs,
                           kernel->endNs);
    }

    SimulatedTrace builder;
    std::vector<uint32_t> processes, threads, gpus, streams;
};

}  // namespace lanescope
