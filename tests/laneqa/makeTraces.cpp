// SPDX-License-Identifier: Apache-2.0
//
// Writes the 40 simulated traces of LaneQA and their truth: `laneqa-traces FOLDER`. The truth is what is put in here,
// not what any analysis finds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "model/export/traceFile.h"
#include "model/format/OutputFile.h"
#include "model/trace/kinds/CpuState.h"
#include "tests/support/SimulatedTrace.h"

using namespace lanescope;

namespace {

constexpr int64_t us = 1'000, ms = 1'000'000;
constexpr int steps = 30, kernelsPerStep = 8;
constexpr int64_t kernelNs = 2 * ms;
constexpr int64_t aheadNs = 300 * us;  ///< The CPU launches that much before its work starts.

enum class Fault { None, Host, Data, Sync, Copy, Communication, LateRank };

const char* nameOf(Fault fault) {
    switch (fault) {
        case Fault::Host: return "host";
        case Fault::Data: return "data";
        case Fault::Sync: return "sync";
        case Fault::Copy: return "copy";
        case Fault::Communication: return "communication";
        case Fault::LateRank: return "late_rank";
        case Fault::None: break;
    }
    return "none";
}

struct Scenario {
    Fault fault = Fault::None;
    double costMs = 0;  ///< Per step.
    int ranks = 1;
    int lateRank = -1;
    bool hasStacks = false;  ///< Thread states with Python stacks were recorded.
    int line = 0;            ///< Line of the host's work.
};

/// The kernels have names that mislead: the longest one is never the fault.
constexpr const char* kernelNames[] = {"ampere_bf16_gemm_128x128", "flash_fwd_kernel", "layer_norm_kernel",
                                       "elementwise_add"};

/// One rank of the simulated program.
struct Rank {
    uint32_t main, compute, communication;
    int64_t gpuNs = 0;  ///< End of its work so far.
    int64_t cpuNs = 0;  ///< End of its last range.
};

class Program {
  public:
    Program(const Scenario& scenario, uint32_t seed) : scenario_(scenario), random_(seed) {
        for (int number = 0; number < scenario.ranks; ++number) {
            const auto pid = static_cast<uint32_t>(4242 + number);
            const uint32_t gpu = made_.addGpu();
            const bool isFirst = number == 0;
            const uint32_t process = isFirst ? 0 : made_.addProcess(pid, "python3", number);
            if (isFirst && scenario.ranks > 1) made_.processes()[0].rank = 0;
            ranks_.push_back({made_.addThread(process, pid, "python3"), made_.addStream(process, gpu, 7, true),
                              made_.addStream(process, gpu, 20), 2 * ms});
        }
        const uint32_t outer = made_.stack(noIndex, made_.intern("main"), made_.intern("/srv/train.py"), 12);
        usual_ = made_.stack(outer, made_.intern("forward"), made_.intern("/srv/model.py"), 31);
        slow_ = made_.stack(outer, made_.intern("prepare"), made_.intern("/srv/batch.py"), scenario.line);
    }

    TracePtr run() {
        for (int number = 0; number < steps; ++number) step(number);
        return made_.finish();
    }

  private:
    bool has(Fault fault) const { return scenario_.fault == fault; }
    int64_t costNs() const { return static_cast<int64_t>(scenario_.costMs * ms); }

    int64_t jittered(int64_t ns) {
        return static_cast<int64_t>(static_cast<double>(ns) * std::uniform_real_distribution(0.99, 1.01)(random_));
    }

    void state(const Rank& rank, int64_t startNs, int64_t endNs, ThreadState state, uint32_t stack) {
        if (!scenario_.hasStacks || endNs <= startNs) return;
        kinds::CpuState::Row row;
        row.startNs = startNs;
        row.endNs = endNs;
        row.thread = rank.main;
        row.state = state;
        row.stack = stack;
        row.cpuNs = state == ThreadState::Running ? endNs - startNs : 0;
        made_.add<kinds::CpuState>(row);
    }

    uint32_t call(const Rank& rank, const char* name, int64_t startNs, int64_t endNs) {
        made_.addApi(rank.main, name, startNs, endNs, ++correlation_);
        return correlation_;
    }

    /// Computes a step of a rank and returns the time at which its CPU has launched all of it.
    int64_t compute(Rank& rank, int64_t cpuNs, bool isLate) {
        if (has(Fault::Copy)) {
            const uint32_t copy = call(rank, "cudaMemcpyAsync", cpuNs, cpuNs + 10 * us);
            const int64_t endNs = rank.gpuNs + costNs();
            made_.addMemcpy(rank.compute, MemcpyKind::HtoD, costNs() * 9, rank.gpuNs + 2 * us, endNs, copy,
                            MemoryKind::Pageable);
            rank.gpuNs = endNs;
            cpuNs += 12 * us;
        }
        for (int kernel = 0; kernel < kernelsPerStep; ++kernel) {
            if (has(Fault::Host) && kernel == kernelsPerStep / 2) {
                // The GPU runs out of work, and then waits for the host.
                const int64_t untilNs = rank.gpuNs + costNs();
                state(rank, cpuNs, untilNs, ThreadState::Running, slow_);
                cpuNs = untilNs;
            }
            const uint32_t launch = call(rank, "cudaLaunchKernel", cpuNs, cpuNs + 4 * us);
            const int64_t startNs = std::max(rank.gpuNs + 1 * us, cpuNs + 5 * us);
            const int64_t extraNs = isLate ? costNs() / kernelsPerStep : 0;
            rank.gpuNs = startNs + jittered(kernelNs) + extraNs;
            made_.addKernel(rank.compute, kernelNames[kernel % 4], startNs, rank.gpuNs, launch);
            cpuNs += 6 * us;
            if (!has(Fault::Sync)) continue;
            const uint32_t wait = call(rank, "cudaStreamSynchronize", cpuNs, rank.gpuNs + 3 * us);
            made_.addSync(rank.compute, SyncType::Stream, cpuNs + 1 * us, rank.gpuNs + 2 * us, wait);
            cpuNs = rank.gpuNs + costNs() / kernelsPerStep - 5 * us;
        }
        return cpuNs;
    }

    void step(int number) {
        std::vector<int64_t> startsNs, launchedNs;
        int64_t latestNs = 0;
        for (size_t index = 0; index < ranks_.size(); ++index) {
            Rank& rank = ranks_[index];
            int64_t cpuNs = std::max(rank.gpuNs - aheadNs, rank.cpuNs);
            startsNs.push_back(cpuNs);
            if (has(Fault::Data)) {
                const int64_t untilNs = rank.gpuNs + costNs();
                made_.addNvtx(rank.main, "dataloader next", cpuNs + 2 * us, untilNs);
                state(rank, cpuNs, untilNs, ThreadState::Lock, usual_);
                cpuNs = untilNs;
            }
            cpuNs = compute(rank, cpuNs, static_cast<int>(index) == scenario_.lateRank);
            launchedNs.push_back(cpuNs);
            latestNs = std::max(latestNs, rank.gpuNs);
        }
        for (size_t index = 0; index < ranks_.size(); ++index) {
            Rank& rank = ranks_[index];
            int64_t cpuNs = launchedNs[index];
            if (ranks_.size() > 1) {
                NcclFacts facts;
                made_.addNccl(rank.main, "AllReduce", 32 << 20, cpuNs, cpuNs + 8 * us);
                const uint32_t launch = call(rank, "cudaLaunchKernel", cpuNs + 2 * us, cpuNs + 6 * us);
                const int64_t startNs = std::max(rank.gpuNs + 1 * us, cpuNs + 7 * us);
                const int64_t workNs = has(Fault::Communication) ? costNs() : 200 * us;
                const int64_t endNs = std::max(latestNs, startNs) + workNs;
                made_.addKernel(rank.communication, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)",
                                startNs, endNs, launch);
                cpuNs += 10 * us;
                rank.gpuNs = endNs;
            }
            const int64_t endNs = std::max(cpuNs, rank.gpuNs - aheadNs);
            state(rank, cpuNs, endNs, ThreadState::Running, usual_);
            made_.addNvtx(rank.main, fmt::format("step {}", number), startsNs[index], endNs - 1 * us);
            rank.cpuNs = endNs;
        }
        // All ranks begin the next step together.
        int64_t commonNs = 0;
        for (const Rank& rank : ranks_) commonNs = std::max(commonNs, rank.gpuNs);
        for (Rank& rank : ranks_) rank.gpuNs = commonNs;
    }

    Scenario scenario_;
    std::mt19937 random_;
    SimulatedTrace made_;
    std::vector<Rank> ranks_;
    uint32_t usual_ = 0, slow_ = 0, correlation_ = 0;
};

std::vector<Scenario> scenarios() {
    std::vector<Scenario> all;
    for (int index = 0; index < 8; ++index) all.push_back({Fault::None, 0, 1 << (index % 3), -1, index % 2 == 1, 77});
    for (int index = 0; index < 6; ++index)
        all.push_back({Fault::Host, 3.0 + 2 * index, 1 + index % 2, -1, index < 4, 80 + 7 * index});
    for (int index = 0; index < 5; ++index) all.push_back({Fault::Data, 4.0 + 3 * index, 1 + index % 2, -1, false, 0});
    for (int index = 0; index < 5; ++index) all.push_back({Fault::Sync, 2.4 + 1.6 * index, 1, -1, false, 0});
    for (int index = 0; index < 5; ++index) all.push_back({Fault::Copy, 2.0 + 2 * index, 1 + index % 2, -1, false, 0});
    for (int index = 0; index < 5; ++index)
        all.push_back({Fault::Communication, 3.0 + 2 * index, 2 + 2 * (index % 2), -1, false, 0});
    for (int index = 0; index < 6; ++index)
        all.push_back({Fault::LateRank, 3.2 + 1.6 * index, 2 + 2 * (index % 2), index % 2 + index / 4, false, 0});
    return all;
}

/// Topics of the last question, and whether the trace has data about them.
struct Topic {
    const char* text;
    bool isKnown;
};

Topic topicOf(const Scenario& scenario, size_t number) {
    switch (number % 5) {
        case 0: return {"how much GPU time per step the kernels take", true};
        case 1: return {"which Python line the host thread was in while the GPU waited", scenario.hasStacks};
        case 2: return {"whether one rank is later than the others", scenario.ranks > 1};
        case 3: return {"how much device memory the program allocates in each step", false};
        default: return {"whether the program became slower than last week", false};
    }
}

nlohmann::ordered_json truthOf(const Scenario& scenario, size_t number) {
    const Topic topic = topicOf(scenario, number);
    const bool hasLine = scenario.fault == Fault::Host && scenario.hasStacks;
    const bool isHealthy = scenario.fault == Fault::None;
    return {{"trace", fmt::format("{:02}.sqlite", number)},
            {"cause", nameOf(scenario.fault)},
            {"ms", std::round(scenario.costMs * 10) / 10},
            {"rank", scenario.fault == Fault::LateRank ? std::to_string(scenario.lateRank)
                     : scenario.ranks > 1              ? "none"
                                                       : "unknown"},
            {"line", hasLine                           ? fmt::format("batch.py:{}", scenario.line)
                     : isHealthy && scenario.hasStacks ? "none"
                                                       : "unknown"},
            {"topic", topic.text},
            {"known", topic.isKnown ? "yes" : "no"}};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: laneqa-traces FOLDER\n", stderr);
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    nlohmann::ordered_json truth = nlohmann::ordered_json::array();
    const std::vector<Scenario> all = scenarios();
    for (size_t number = 0; number < all.size(); ++number) {
        const auto seed = static_cast<uint32_t>(number + 1);
        truth.push_back(truthOf(all[number], number));
        const TracePtr trace = Program(all[number], seed).run();
        if (const auto written = writeTraceFile(*trace, folder / fmt::format("{:02}.sqlite", number)); !written) {
            std::fprintf(stderr, "%s\n", written.error().sentence.c_str());
            return 1;
        }
    }
    if (const auto written = writeAtomically(folder / "truth.json", truth.dump(1) + "\n"); !written) {
        std::fprintf(stderr, "%s\n", written.error().sentence.c_str());
        return 1;
    }
    return 0;
}
