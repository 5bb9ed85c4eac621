// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkerLaunches.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/trace/Column.h"
#include "model/trace/Track.h"
#include "model/trace/WorkRows.h"
#include "model/trace/processes.h"

namespace lanescope {

namespace {

/// A stream with this share of the work of the busiest is a main stream.
constexpr double mainShare = 0.5;

/// Evidence for the main streams, best first.
enum class StreamEvidence : uint8_t { Kernels, Graphs, Memory };
constexpr size_t streamEvidenceCount = 3;

/// Sorts the GPU work of a run by worker.
class Gatherer {
  public:
    explicit Gatherer(const Trace& trace) : trace_(trace), isNccl_(trace.launchConfigs.size()) {
        runTasks(defaultThreads(), {[this] { calls_.emplace(trace_); }, [this] { rows_.emplace(trace_); }});
        for (size_t config = 0; config < isNccl_.size(); ++config)
            isNccl_[config] = trace.launchConfigs.isCollective(config);
    }

    std::vector<WorkerLaunches> gather() {
        const GpusOfProcesses gpus(trace_);
        std::vector<std::pair<uint32_t, uint32_t>> workers;
        for (uint32_t process = 0; process < trace_.processes.size(); ++process)
            for (const uint32_t gpu : gpus.of(process)) workers.emplace_back(process, gpu);
        std::vector<std::optional<WorkerLaunches>> made(workers.size());
        Tasks tasks;
        for (size_t index = 0; index < workers.size(); ++index)
            tasks.emplace_back([&, index] {
                const auto [process, gpu] = workers[index];
                Sums sumsNs(trace_.streams.size());
                LargeVector<Launch> launches = launchesOf(rows_->of(process, gpu), sumsNs);
                made[index].emplace(process, gpu, std::move(launches), mainStreamsOf(process, gpu, sumsNs));
            });
        runTasks(defaultThreads(), tasks);
        std::vector<WorkerLaunches> result;
        for (std::optional<WorkerLaunches>& each : made) result.push_back(*std::move(each));
        return result;
    }

  private:
    using Launch = WorkerLaunches::Launch;
    using Sums = std::vector<std::array<int64_t, streamEvidenceCount>>;  ///< By stream.

    LargeVector<Launch> launchesOf(const WorkRows::WorkerRows& rows, Sums& sumsNs) const {
        LargeVector<Launch> launches(trace_.memory.get());
        launches.reserve(rows.kernels.size() + rows.memcpys.size() + rows.memsets.size() + rows.graphs.size());
        const auto always = [](uint32_t) { return true; };
        ColumnReader config(trace_.kernels.config);
        add(
            trace_.kernels, rows.kernels, calls_->ofKernel, StreamEvidence::Kernels,
            [&](uint32_t row) { return !isNccl_[config[row]]; }, launches, sumsNs);
        add(trace_.memcpys, rows.memcpys, calls_->ofMemcpy, StreamEvidence::Memory, always, launches, sumsNs);
        add(trace_.memsets, rows.memsets, calls_->ofMemset, StreamEvidence::Memory, always, launches, sumsNs);
        add(trace_.graphs, rows.graphs, calls_->ofGraph, StreamEvidence::Graphs, always, launches, sumsNs);
        return launches;
    }

    void add(const auto& table, std::span<const uint32_t> rows, const LargeVector<uint32_t>& calls,
             StreamEvidence evidence, auto counts, LargeVector<Launch>& launches, Sums& sumsNs) const {
        ColumnReader startNs(table.startNs), endNs(table.endNs), callNs(trace_.apiCalls.startNs);
        ColumnReader streams(table.stream);
        for (const uint32_t row : rows) {
            const uint32_t stream = streams[row];
            const bool isKnown = calls[row] != noIndex;
            const int64_t launchNs = isKnown ? callNs[calls[row]] : startNs[row];
            launches.push_back(
                {launchNs, startNs[row], endNs[row], stream, isKnown, evidence == StreamEvidence::Memory});
            int64_t& sumNs = sumsNs[stream][static_cast<size_t>(evidence)];
            if (counts(row)) sumNs = saturatingSum(sumNs, endNs[row] - startNs[row]);
        }
    }

    std::vector<uint32_t> mainStreamsOf(uint32_t process, uint32_t gpu, const Sums& sumsNs) const {
        std::vector<uint32_t> own, streams;
        for (uint32_t stream = 0; stream < trace_.streams.size(); ++stream)
            if (trace_.streams[stream].process == process && trace_.streams[stream].gpu == gpu) own.push_back(stream);
        for (size_t evidence = 0; evidence < streamEvidenceCount && streams.empty(); ++evidence) {
            int64_t maxStreamNs = 0;
            for (const uint32_t stream : own) maxStreamNs = std::max(maxStreamNs, sumsNs[stream][evidence]);
            if (maxStreamNs == 0) continue;
            for (const uint32_t stream : own)
                if (static_cast<double>(sumsNs[stream][evidence]) >= mainShare * static_cast<double>(maxStreamNs))
                    streams.push_back(stream);
        }
        return streams;
    }

    const Trace& trace_;
    std::optional<LaunchRows> calls_;
    std::optional<WorkRows> rows_;
    std::vector<bool> isNccl_;  ///< By launch configuration.
};

}  // namespace

size_t WorkerLaunches::Times::firstFrom(int64_t timeNs) const {
    constexpr size_t blockSize = Column<int64_t>::blockSize;
    const auto block = std::ranges::lower_bound(everyBlock_, timeNs) - everyBlock_.begin();
    if (block == 0) return 0;
    // The time is in the block before, or is the first of this one.
    const size_t first = static_cast<size_t>(block - 1) * blockSize;
    return *std::ranges::lower_bound(std::views::iota(first, std::min(first + blockSize, all_.size())), timeNs, {},
                                     [this](size_t index) { return all_[index]; });
}

WorkerLaunches::WorkerLaunches(uint32_t process, uint32_t gpu, LargeVector<Launch> launches,
                               const std::vector<uint32_t>& mainStreams)
    : process_(process),
      gpu_(gpu),
      launchNs_(launches.get_allocator().memory()),
      sumsNs_(launches.get_allocator().memory()),
      computing_(launches.get_allocator().memory()),
      mainNs_(launches.get_allocator().memory()),
      endNs_(launches.get_allocator().memory()),
      startNs_(launches.get_allocator().memory()) {
    // The order of equal ones does not matter: no sum ends between them.
    const auto isEarlier = [](const Launch& a, const Launch& b) { return a.launchNs < b.launchNs; };
    if (!std::ranges::is_sorted(launches, isEarlier)) std::ranges::sort(launches, isEarlier);
    const bool hasComputing = std::ranges::any_of(launches, [](const Launch& each) { return !each.isMemory; });
    int64_t sumNs = 0, endNs = INT64_MIN;
    uint32_t computing = 0;
    sumsNs_.push_back(sumNs);
    computing_.push_back(computing);
    LargeVector<int64_t> startsNs(launches.get_allocator().memory());
    for (const Launch& each : launches) {
        launchNs_.push_back(each.launchNs);
        sumNs =
            saturatingSum(sumNs, std::max<int64_t>(0, each.endNs - each.startNs));  // An invalid file may end it early.
        sumsNs_.push_back(sumNs);
        computing += !each.isMemory || !hasComputing ? 1 : 0;
        computing_.push_back(computing);
        const bool isMain = std::ranges::binary_search(mainStreams, each.stream);
        if (!isMain || !each.isCallKnown) continue;
        mainNs_.push_back(each.launchNs);
        endNs = std::max(endNs, each.endNs);
        endNs_.push_back(endNs);
        startsNs.push_back(each.startNs);
    }
    for (size_t index = startsNs.size(); index-- > 1;)
        startsNs[index - 1] = std::min(startsNs[index - 1], startsNs[index]);
    for (const int64_t startNs : startsNs) startNs_.push_back(startNs);
}

size_t WorkerLaunches::count(TimeRange launched) const { return launchNs_.countWithin(launched); }

size_t WorkerLaunches::countComputing(TimeRange launched) const {
    if (launched.isEmpty()) return 0;
    return computing_[launchNs_.firstFrom(launched.endNs)] - computing_[launchNs_.firstFrom(launched.startNs)];
}

int64_t WorkerLaunches::gpuNs(TimeRange launched) const {
    if (launched.isEmpty()) return 0;
    return sumsNs_[launchNs_.firstFrom(launched.endNs)] - sumsNs_[launchNs_.firstFrom(launched.startNs)];
}

int64_t WorkerLaunches::halfLaunchedNs() const { return launchNs_.empty() ? 0 : launchNs_[launchNs_.size() / 2]; }

int64_t WorkerLaunches::onGpu(int64_t cpuNs) const {
    const size_t next = mainNs_.firstFrom(cpuNs);
    int64_t gpuNs = cpuNs;
    if (next < startNs_.size()) gpuNs = std::min(gpuNs, startNs_[next]);
    if (next > 0) gpuNs = std::max(gpuNs, endNs_[next - 1]);
    return gpuNs;
}

std::vector<WorkerLaunches> launchesOf(const Trace& trace) { return Gatherer(trace).gather(); }

}  // namespace lanescope
