// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/GpuWork.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/numbers/LargeMemory.h"
#include "model/trace/Track.h"

namespace lanescope::analysis {

namespace {

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

class Gatherer {
  public:
    Gatherer(const RunContext& run, const WorkerId& worker, ContributorTable& contributors)
        : run_(run),
          trace_(run.trace),
          worker_(worker),
          rows_(run.rows.of(worker.process, worker.gpu)),
          contributors_(contributors),
          work_(trace_.memory.get()) {}

    void addKernels() {
        const KernelTable& table = trace_.kernels;
        for (const uint32_t row : rows_.kernels) {
            GpuWork work = workAt(table, {EventKind::Kernel, row}, run_.calls.ofKernel);
            const LaunchConfig& config = trace_.launchConfigs[table.config[row]];
            if (config.isCollective())
                describeCollective(config.collective, work);
            else
                work.contributor = kernel(config.demangledName, work.path);
            work_.push_back(work);
        }
    }

    void addMemory() {
        const MemcpyTable& copies = trace_.memcpys;
        for (const uint32_t row : rows_.memcpys) {
            GpuWork work = workAt(copies, {EventKind::Memcpy, row}, run_.calls.ofMemcpy);
            work.part = partOf(copies.kind[row]);
            work.bytes = copies.bytes[row];
            const MemoryKind host = hostMemory(copies, row);
            const auto key = static_cast<uint32_t>(copies.kind[row]) << 8 | static_cast<uint32_t>(host);
            work.contributor = contributors_.find(work.part, ContributorKind::Copy, key, work.path, run_.paths,
                                                  [&] { return copyName(copies.kind[row], host); });
            if (host == MemoryKind::Pageable) contributors_.setTrait(work.contributor, ContributorTrait::Pageable);
            work_.push_back(work);
        }
        const MemsetTable& sets = trace_.memsets;
        for (const uint32_t row : rows_.memsets) {
            GpuWork work = workAt(sets, {EventKind::Memset, row}, run_.calls.ofMemset);
            work.part = StepPart::Memset;
            work.bytes = sets.bytes[row];
            work.contributor = contributors_.find(work.part, ContributorKind::Memset, 0, work.path, run_.paths,
                                                  [] { return std::string("memset"); });
            work_.push_back(work);
        }
    }

    /// Adds launches of graphs without further information: mostly compute.
    void addGraphs() {
        const GraphTable& graphs = trace_.graphs;
        for (const uint32_t row : rows_.graphs) {
            GpuWork work = workAt(graphs, {EventKind::Graph, row}, run_.calls.ofGraph);
            work.part = StepPart::Compute;
            work.contributor = contributors_.find(work.part, ContributorKind::Graph, 0, work.path, run_.paths,
                                                  [] { return std::string("CUDA graphs"); });
            work_.push_back(work);
        }
    }

    LargeVector<GpuWork> finish() {
        addCollectiveBytes();
        sortLarge(work_, [](const GpuWork& a, const GpuWork& b) { return a.startNs < b.startNs; });
        return std::move(work_);
    }

  private:
    template <class Table>
    GpuWork workAt(const Table& table, EventRef event, const LargeVector<uint32_t>& calls) const {
        const uint32_t row = event.row();
        GpuWork work;
        work.event = event;
        work.startNs = table.startNs[row];
        work.endNs = table.endNs[row];
        work.movingFromNs = work.startNs;
        work.call = calls[row];
        if (work.call != noIndex)
            work.path =
                run_.pathAt(trace_.apiCalls.thread[work.call], worker_.stepThread, trace_.apiCalls.startNs[work.call]);
        return work;
    }

    ContributorTable::Id kernel(StringIndex name, RangePaths::Id path) {
        return contributors_.find(StepPart::Compute, ContributorKind::Kernel, name, path, run_.paths,
                                  [&] { return std::string(trace_.strings.at(name)); });
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
    void addCollectiveBytes() {
        LargeVector<GpuWork*> kernels(trace_.memory.get());
        for (GpuWork& work : work_)
            if (work.part == StepPart::ExposedCommunication && work.call != noIndex) kernels.push_back(&work);
        const ApiTable& calls = trace_.apiCalls;
        sortLarge(kernels,
                  [&](const auto* a, const auto* b) { return calls.startNs[a->call] < calls.startNs[b->call]; });
        Collectives::Taker collectives(run_.collectives);
        for (GpuWork* work : kernels) {
            const CollectiveBytes amount = collectives.take(calls.thread[work->call], calls.startNs[work->call]);
            work->bytes = amount.bytes;
            work->busBytes = amount.busBytes;
        }
    }

    const RunContext& run_;
    const Trace& trace_;
    const WorkerId& worker_;
    const WorkRows::WorkerRows rows_;
    ContributorTable& contributors_;
    LargeVector<GpuWork> work_;
};

}  // namespace

LargeVector<GpuWork> workOf(const RunContext& run, const WorkerId& worker, ContributorTable& contributors) {
    Gatherer gatherer(run, worker, contributors);
    gatherer.addKernels();
    gatherer.addMemory();
    gatherer.addGraphs();
    return gatherer.finish();
}

}  // namespace lanescope::analysis
