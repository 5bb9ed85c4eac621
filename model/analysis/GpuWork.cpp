// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/GpuWork.h"

#include <fmt/format.h>

#include <span>

#include "model/trace/Column.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope::analysis {

StepPart partOf(MemcpyKind kind) {
    switch (memcpyCategory(kind)) {
        case SliceCategory::MemcpyHtoD: return StepPart::ExposedHtoD;
        case SliceCategory::MemcpyDtoH: return StepPart::ExposedDtoH;
        case SliceCategory::MemcpyDtoD: return StepPart::ExposedDtoD;
        case SliceCategory::MemcpyPtoP: return StepPart::ExposedPtoP;
        default:  // No other category contains copies.
            return StepPart::ExposedOtherCopy;
    }
}

namespace {

/// Returns the kind of host memory, which limits the speed of a copy. Other copies need no mention.
MemoryKind hostMemory(const MemcpyTable& copies, uint32_t row) {
    const StepPart part = partOf(copies.kind[row]);
    if (part == StepPart::ExposedHtoD) return copies.sourceMemory[row];
    if (part == StepPart::ExposedDtoH) return copies.destinationMemory[row];
    return MemoryKind::Unknown;
}

/// "HtoD from pinned", "DtoH to pageable", "DtoD".
std::string copyName(MemcpyKind kind, MemoryKind host) {
    if (host == MemoryKind::Unknown) return std::string(name(kind));
    const bool isFromHost = partOf(kind) == StepPart::ExposedHtoD;
    return fmt::format("{} {} {}", name(kind), isFromHost ? "from" : "to", name(host));
}

/// Reads the columns that all kinds of work have, row by row in order.
template <class Table>
class WorkReader {
  public:
    WorkReader(const Table& table, EventKind kind, std::span<const uint32_t> rows, const LargeVector<uint32_t>& calls)
        : kind_(kind), rows_(rows), calls_(calls), startNs_(table.startNs), endNs_(table.endNs) {
        update();
    }
    bool isAtEnd() const { return next_ >= rows_.size(); }
    /// Start of the current row; only unless at the end.
    int64_t startNs() const { return currentNs_; }
    /// Returns the current row with its times and its call, and goes on to the next.
    GpuWork read() {
        const uint32_t row = rows_[next_++];
        GpuWork work{.startNs = currentNs_, .endNs = endNs_[row], .event = {kind_, row}};
        work.movingFromNs = work.startNs;
        work.call = calls_[row];
        update();
        return work;
    }

  private:
    void update() {
        if (!isAtEnd()) currentNs_ = startNs_[rows_[next_]];
    }

    const EventKind kind_;
    const std::span<const uint32_t> rows_;
    const LargeVector<uint32_t>& calls_;
    ColumnReader<int64_t> startNs_, endNs_;
    size_t next_ = 0;
    int64_t currentNs_ = 0;
};

class Gatherer {
  public:
    Gatherer(const RunContext& run, const WorkerId& worker, ContributorTable& contributors)
        : run_(run),
          trace_(run.trace),
          worker_(worker),
          rows_(run.rows.of(worker.process, worker.gpu)),
          contributors_(contributors),
          paths_(run),
          config_(trace_.kernels.config),
          callNs_(trace_.apiCalls.startNs),
          callThread_(trace_.apiCalls.thread) {}

    /// Merges the kinds of work, each of which is sorted by start.
    WorkList gather() {
        findCollectives();
        WorkReader kernels(trace_.kernels, EventKind::Kernel, rows_.kernels, run_.calls.ofKernel);
        WorkReader memcpys(trace_.memcpys, EventKind::Memcpy, rows_.memcpys, run_.calls.ofMemcpy);
        WorkReader memsets(trace_.memsets, EventKind::Memset, rows_.memsets, run_.calls.ofMemset);
        WorkReader graphs(trace_.graphs, EventKind::Graph, rows_.graphs, run_.calls.ofGraph);
        WorkList work(trace_.memory.get());
        const auto firstNs = [](const auto& reader) { return reader.isAtEnd() ? INT64_MAX : reader.startNs(); };
        while (!kernels.isAtEnd() || !memcpys.isAtEnd() || !memsets.isAtEnd() || !graphs.isAtEnd()) {
            // The first of equal ones.
            const std::array startsNs{firstNs(kernels), firstNs(memcpys), firstNs(memsets), firstNs(graphs)};
            const auto next = std::ranges::min_element(startsNs) - startsNs.begin();
            if (next == 0 && !kernels.isAtEnd())
                work.push_back(kernel(kernels.read()));
            else if (next <= 1 && !memcpys.isAtEnd())
                work.push_back(memcpy(memcpys.read()));
            else if (next <= 2 && !memsets.isAtEnd())
                work.push_back(memset(memsets.read()));
            else
                work.push_back(graph(graphs.read()));
        }
        return work;
    }

  private:
    /// A collective that a kernel runs.
    struct CollectiveKernel {
        uint32_t row = 0;
        CollectiveBytes amount;
    };

    void addPath(GpuWork& work) {
        if (work.call != noIndex)
            work.path = paths_.pathAt(callThread_[work.call], worker_.stepThread, callNs_[work.call]);
        if (work.path != 0 || !run_.paths.hasModules()) return;
        const auto pathOf = [&](const auto& table, uint32_t row) {
            return table.isStackLent[row] != 0 ? RangePaths::Id{0} : run_.paths.ofStack(table.stack[row]);
        };
        if (const uint32_t node = graphNodeOf(trace_, work.event); node != noIndex)
            work.path = pathOf(trace_.graphNodes, node);
        else if (work.call != noIndex)
            work.path = pathOf(trace_.apiCalls, work.call);
    }

    GpuWork kernel(GpuWork work) {
        addPath(work);
        const uint32_t row = work.event.row(), config = config_[row];
        if (trace_.launchConfigs.isCollective(config)) {
            describeCollective(trace_.launchConfigs.collective(config), work);
            if (nextCollective_ < collectives_.size() && collectives_[nextCollective_].row == row) {
                const CollectiveBytes& amount = collectives_[nextCollective_++].amount;
                work.bytes = amount.bytes;
                work.busBytes = amount.busBytes;
            }
            return work;
        }
        const StringIndex name = trace_.launchConfigs.demangledName(config);
        work.contributor = contributors_.find(StepPart::Compute, ContributorKind::Kernel, name, work.path, run_.paths,
                                              [&] { return std::string(trace_.strings.at(name)); });
        return work;
    }

    GpuWork memcpy(GpuWork work) {
        addPath(work);
        const MemcpyTable& copies = trace_.memcpys;
        const uint32_t row = work.event.row();
        work.part = partOf(copies.kind[row]);
        work.bytes = copies.bytes[row];
        const MemoryKind host = hostMemory(copies, row);
        const auto key = static_cast<uint32_t>(copies.kind[row]) << 8 | static_cast<uint32_t>(host);
        work.contributor = contributors_.find(work.part, ContributorKind::Copy, key, work.path, run_.paths,
                                              [&] { return copyName(copies.kind[row], host); });
        if (host == MemoryKind::Pageable) contributors_.setTrait(work.contributor, ContributorTrait::Pageable);
        return work;
    }

    GpuWork memset(GpuWork work) {
        addPath(work);
        work.part = StepPart::Memset;
        work.bytes = trace_.memsets.bytes[work.event.row()];
        work.contributor = contributors_.find(work.part, ContributorKind::Memset, 0, work.path, run_.paths,
                                              [] { return std::string("memset"); });
        return work;
    }

    /// Returns the launch of a graph without further information: mostly compute.
    GpuWork graph(GpuWork work) {
        addPath(work);
        work.part = StepPart::Compute;
        work.contributor = contributors_.find(work.part, ContributorKind::Graph, 0, work.path, run_.paths,
                                              [] { return std::string("CUDA graphs"); });
        return work;
    }

    void describeCollective(StringIndex operation, GpuWork& work) {
        work.part = StepPart::ExposedCommunication;
        work.contributor = collective(work.part, operation, work.path);
        const int64_t waitedNs = run_.waits.ofKernel(worker_.process, work.startNs);
        work.movingFromNs = std::min(work.startNs + waitedNs, work.endNs);
        if (work.movingFromNs > work.startNs)
            work.waiting = collective(StepPart::WaitingForRanks, operation, work.path);
    }

    /// Kernels of one operation differ by algorithm and data type; they are one collective.
    ContributorTable::Id collective(StepPart part, StringIndex operation, RangePaths::Id path) {
        return contributors_.find(part, ContributorKind::Collective, operation, path, run_.paths,
                                  [&] { return std::string(trace_.strings.at(operation)); });
    }

    /// `Collectives::Taker` must be called in the order of the calls.
    void findCollectives() {
        const LargeVector<uint32_t>& callOf = run_.calls.ofKernel;
        for (const uint32_t row : rows_.kernels)
            if (callOf[row] != noIndex && trace_.launchConfigs.isCollective(config_[row]))
                collectives_.push_back({row, {}});
        const ApiTable& calls = trace_.apiCalls;
        std::ranges::stable_sort(collectives_, {},
                                 [&](const CollectiveKernel& each) { return calls.startNs[callOf[each.row]]; });
        Collectives::Taker amounts(run_.collectives);
        for (CollectiveKernel& each : collectives_)
            each.amount = amounts.take(calls.thread[callOf[each.row]], calls.startNs[callOf[each.row]]);
        std::ranges::sort(collectives_, {}, &CollectiveKernel::row);
    }

    const RunContext& run_;
    const Trace& trace_;
    const WorkerId& worker_;
    const WorkRows::WorkerRows rows_;
    ContributorTable& contributors_;
    PathLookup paths_;
    ColumnReader<uint32_t> config_;
    ColumnReader<int64_t> callNs_;
    ColumnReader<uint32_t> callThread_;
    std::vector<CollectiveKernel> collectives_;
    size_t nextCollective_ = 0;
};

}  // namespace

WorkList workOf(const RunContext& run, const WorkerId& worker, ContributorTable& contributors) {
    return Gatherer(run, worker, contributors).gather();
}

}  // namespace lanescope::analysis
