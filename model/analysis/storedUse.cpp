// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedUse.h"

#include <algorithm>

#include "model/analysis/StoredRows.h"
#include "model/format/Inserter.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Stored.h"

namespace lanescope::analysis {

namespace {

constexpr size_t maxUses = 4096;
constexpr size_t maxShapes = maxUses * maxShapedWorks;

bool areAtLeastZero(std::initializer_list<int64_t> values) {
    return std::ranges::all_of(values, [](int64_t each) { return each >= 0; });
}

bool isGood(const ShapedWork& work) {
    return areAtLeastZero({work.count, work.kernelNs, work.flops, work.bytes, work.roofNs});
}

}  // namespace

void writeUse(const Database& database, const std::vector<WorkerSummary>& workers, FirstError& error) {
    constexpr const auto& u = tables::storedUses;
    constexpr const auto& s = tables::storedShapes;
    Inserter uses(database, u, error);
    Inserter shapes(database, s, error);
    int64_t index = 0;
    for (const WorkerSummary& worker : workers) {
        const ComputeUse& use = worker.use;
        if (use != ComputeUse())
            uses.insert(u.worker = index, u.precision = use.precision, u.sheetPerSecond = use.sheetPerSecond,
                        u.measuredPerSecond = use.measuredPerSecond, u.sampler = use.sampler,
                        u.activePerSecond = use.activePerSecond, u.readings = use.readings, u.readingNs = use.readingNs,
                        u.knownNs = use.knownNs, u.readSteps = use.readSteps, u.isShared = use.isShared,
                        u.countedSteps = use.countedSteps, u.countedNs = use.countedNs,
                        u.modelPerStep = use.modelPerStep, u.repeatedPerStep = use.repeatedPerStep,
                        u.kernelNs = use.kernelNs, u.knownKernelNs = use.knownKernelNs, u.mfu = use.mfu());
        for (const ShapedWork& work : worker.shaped)
            shapes.insert(s.worker = index, s.kind = identifier(work.kind), s.operation = work.operation,
                          s.shape = work.shape, s.precision = work.precision, s.place = work.place,
                          s.kernel = work.kernel, s.isRecomputed = work.isRecomputed, s.count = work.count,
                          s.kernelNs = work.kernelNs, s.flops = work.flops, s.bytes = work.bytes,
                          s.roofNs = work.roofNs, s.isMemoryBound = work.isMemoryBound, s.isMeasured = work.isMeasured);
        ++index;
    }
}

bool readUse(const Database& database, std::vector<WorkerSummary>& workers) {
    constexpr const auto& u = tables::storedUses;
    StoredRows uses(database, u, maxUses);
    while (uses.next()) {
        WorkerSummary* worker = uses.itemOf(workers, u.worker);
        if (!worker) return false;
        ComputeUse& use = worker->use;
        use.precision = uses.text(u.precision);
        use.sheetPerSecond = uses.number(u.sheetPerSecond);
        use.measuredPerSecond = uses.number(u.measuredPerSecond);
        use.sampler = uses.text(u.sampler);
        use.activePerSecond = uses.number(u.activePerSecond);
        use.readings = uses.number(u.readings);
        use.readingNs = uses.number(u.readingNs);
        use.knownNs = uses.number(u.knownNs);
        use.readSteps = uses.number(u.readSteps);
        use.isShared = uses.flag(u.isShared);
        use.countedSteps = uses.number(u.countedSteps);
        use.countedNs = uses.number(u.countedNs);
        use.modelPerStep = uses.number(u.modelPerStep);
        use.repeatedPerStep = uses.number(u.repeatedPerStep);
        use.kernelNs = uses.number(u.kernelNs);
        use.knownKernelNs = uses.number(u.knownKernelNs);
    }
    constexpr const auto& s = tables::storedShapes;
    StoredRows shapes(database, s, maxShapes);
    while (shapes.next()) {
        WorkerSummary* worker = shapes.itemOf(workers, s.worker);
        if (!worker) return false;
        ShapedWork work;
        work.kind = shapes.identified(s.kind, OperatorKind::Elementwise);
        work.operation = shapes.text(s.operation);
        work.shape = shapes.text(s.shape);
        work.precision = shapes.text(s.precision);
        work.place = shapes.text(s.place);
        work.kernel = shapes.text(s.kernel);
        work.isRecomputed = shapes.flag(s.isRecomputed);
        work.count = shapes.number(s.count);
        work.kernelNs = shapes.number(s.kernelNs);
        work.flops = shapes.number(s.flops);
        work.bytes = shapes.number(s.bytes);
        work.roofNs = shapes.number(s.roofNs);
        work.isMemoryBound = shapes.flag(s.isMemoryBound);
        work.isMeasured = shapes.flag(s.isMeasured);
        worker->shaped.push_back(std::move(work));
    }
    return uses.isGood() && shapes.isGood();
}

bool isUseGood(const WorkerSummary& worker) {
    const ComputeUse& use = worker.use;
    const auto steps = static_cast<int64_t>(worker.steps.size());
    return areAtLeastZero({use.sheetPerSecond, use.measuredPerSecond, use.activePerSecond, use.readings, use.readingNs,
                           use.knownNs, use.readSteps, use.countedSteps, use.countedNs, use.modelPerStep,
                           use.repeatedPerStep, use.kernelNs, use.knownKernelNs}) &&
           use.readSteps <= steps && use.countedSteps <= steps && use.knownKernelNs <= use.kernelNs &&
           (use.readings > 0) == (use.knownNs > 0) && worker.shaped.size() <= maxShapedWorks &&
           std::ranges::all_of(worker.shaped, isGood);
}

}  // namespace lanescope::analysis
