// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerLaunches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/trace/Track.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// A stream with this share of the work of the busiest is a main stream.
constexpr double mainShare = 0.5;

/// Evidence for the main streams, best first.
enum class StreamEvidence : uint8_t { Kernels, Graphs, Memory };
constexpr size_t streamEvidenceCount = 3;

size_t firstFrom(const LargeVector<int64_t>& times, int64_t timeNs) {
    return static_cast<size_t>(std::lower_bound(times.begin(), times.end(), timeNs) - times.begin());
}

size_t countWithin(const LargeVector<int64_t>& times, TimeRange range) {
    return range.isEmpty() ? 0 : firstFrom(times, range.endNs) - firstFrom(times, range.startNs);
}

/// Sorts the GPU work of a run by worker.
class Gatherer {
  public:
    explicit Gatherer(const Trace& trace)
        : trace_(trace), workerOf_(trace.streams.size(), noIndex), sumsNs_(trace.streams.size()) {
        const GpusOfProcesses gpus(trace);
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
        for (uint32_t process = 0; process < trace.processes.size(); ++process)
            for (const uint32_t gpu : gpus.of(process)) {
                numbers.emplace(std::pair(process, gpu), static_cast<uint32_t>(workers_.size()));
                workers_.push_back({process, gpu, LargeVector<Launch>(trace.memory.get()), {}});
            }
        for (uint32_t stream = 0; stream < trace.streams.size(); ++stream) {
            const auto worker = numbers.find({trace.streams[stream].process, trace.streams[stream].gpu});
            if (worker == numbers.end()) continue;
            workerOf_[stream] = worker->second;
            workers_[worker->second].streams.push_back(stream);
        }
    }

    std::vector<WorkerLaunches> gather() {
        const LaunchRows calls(trace_);
        std::vector<bool> isNccl(trace_.launchConfigs.size());
        for (size_t config = 0; config < isNccl.size(); ++config)
            isNccl[config] = trace_.launchConfigs[config].isCollective();
        const auto always = [](uint32_t) { return true; };
        add(trace_.kernels, calls.ofKernel, StreamEvidence::Kernels,
            [&](uint32_t row) { return !isNccl[trace_.kernels.config[row]]; });
        add(trace_.memcpys, calls.ofMemcpy, StreamEvidence::Memory, always);
        add(trace_.memsets, calls.ofMemset, StreamEvidence::Memory, always);
        add(trace_.graphs, calls.ofGraph, StreamEvidence::Graphs, always);
        std::vector<WorkerLaunches> result;
        for (Worker& worker : workers_)
            result.emplace_back(worker.process, worker.gpu, std::move(worker.launches), mainStreamsOf(worker));
        return result;
    }

  private:
    using Launch = WorkerLaunches::Launch;
    struct Worker {
        uint32_t process, gpu;
        LargeVector<Launch> launches;
        std::vector<uint32_t> streams;  ///< In order.
    };

    template <class Table, class Counts>
    void add(const Table& table, const LargeVector<uint32_t>& calls, StreamEvidence evidence, Counts counts) {
        for (uint32_t row = 0; row < table.size(); ++row) {
            const uint32_t stream = table.stream[row];
            if (workerOf_[stream] == noIndex) continue;
            const bool isKnown = calls[row] != noIndex;
            const int64_t launchNs = isKnown ? trace_.apiCalls.startNs[calls[row]] : table.startNs[row];
            workers_[workerOf_[stream]].launches.push_back(
                {launchNs, table.startNs[row], table.endNs[row], stream, isKnown, evidence == StreamEvidence::Memory});
            int64_t& sumNs = sumsNs_[stream][static_cast<size_t>(evidence)];
            if (counts(row)) sumNs = saturatingSum(sumNs, table.endNs[row] - table.startNs[row]);
        }
    }

    std::vector<uint32_t> mainStreamsOf(const Worker& worker) const {
        std::vector<uint32_t> streams;
        for (size_t evidence = 0; evidence < streamEvidenceCount && streams.empty(); ++evidence) {
            int64_t maxStreamNs = 0;
            for (const uint32_t stream : worker.streams) maxStreamNs = std::max(maxStreamNs, sumsNs_[stream][evidence]);
            if (maxStreamNs == 0) continue;
            for (const uint32_t stream : worker.streams)
                if (static_cast<double>(sumsNs_[stream][evidence]) >= mainShare * static_cast<double>(maxStreamNs))
                    streams.push_back(stream);
        }
        return streams;
    }

    const Trace& trace_;
    std::vector<Worker> workers_;
    std::vector<uint32_t> workerOf_;                                ///< By stream.
    std::vector<std::array<int64_t, streamEvidenceCount>> sumsNs_;  ///< By stream.
};

}  // namespace

WorkerLaunches::WorkerLaunches(uint32_t process, uint32_t gpu, LargeVector<Launch> launches,
                               const std::vector<uint32_t>& mainStreams)
    : process_(process),
      gpu_(gpu),
      launchNs_(launches.get_allocator().memory()),
      sumsNs_(launches.get_allocator().memory()),
      computingNs_(launches.get_allocator().memory()),
      mainNs_(launches.get_allocator().memory()),
      endNs_(launches.get_allocator().memory()),
      startNs_(launches.get_allocator().memory()) {
    sortLarge(launches, [](const Launch& a, const Launch& b) { return a.launchNs < b.launchNs; });
    sumsNs_.push_back(0);
    for (const Launch& each : launches) {
        launchNs_.push_back(each.launchNs);
        if (!each.isMemory) computingNs_.push_back(each.launchNs);
        sumsNs_.push_back(saturatingSum(sumsNs_.back(), each.endNs - each.startNs));
        const bool isMain = std::binary_search(mainStreams.begin(), mainStreams.end(), each.stream);
        if (!isMain || !each.isCallKnown) continue;
        mainNs_.push_back(each.launchNs);
        endNs_.push_back(endNs_.empty() ? each.endNs : std::max(endNs_.back(), each.endNs));
        startNs_.push_back(each.startNs);
    }
    if (computingNs_.empty()) computingNs_ = launchNs_;
    for (size_t index = startNs_.size(); index-- > 1;)
        startNs_[index - 1] = std::min(startNs_[index - 1], startNs_[index]);
}

size_t WorkerLaunches::count(TimeRange launched) const { return countWithin(launchNs_, launched); }

size_t WorkerLaunches::countComputing(TimeRange launched) const { return countWithin(computingNs_, launched); }

int64_t WorkerLaunches::gpuNs(TimeRange launched) const {
    if (launched.isEmpty()) return 0;
    return sumsNs_[firstFrom(launchNs_, launched.endNs)] - sumsNs_[firstFrom(launchNs_, launched.startNs)];
}

int64_t WorkerLaunches::halfLaunchedNs() const { return launchNs_.empty() ? 0 : launchNs_[launchNs_.size() / 2]; }

int64_t WorkerLaunches::onGpu(int64_t cpuNs) const {
    const size_t next = firstFrom(mainNs_, cpuNs);
    int64_t gpuNs = cpuNs;
    if (next < startNs_.size()) gpuNs = std::min(gpuNs, startNs_[next]);
    if (next > 0) gpuNs = std::max(gpuNs, endNs_[next - 1]);
    return gpuNs;
}

std::vector<WorkerLaunches> launchesOf(const Trace& trace) { return Gatherer(trace).gather(); }

}  // namespace lanescope
