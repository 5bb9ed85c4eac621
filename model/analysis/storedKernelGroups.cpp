// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedKernelGroups.h"

#include "model/analysis/StoredRows.h"
#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Stored.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

constexpr const auto& t = tables::storedKernelGroups;

/// Maximum per worker. Programs have some dozens.
constexpr size_t maxGroups = 4096;

}  // namespace

bool areKernelGroupsGood(const WorkerSummary& worker) {
    int64_t leftNs = worker.totalParts()[StepPart::Compute];
    for (const KernelGroup& each : worker.kernels) {
        if (each.count < 0 || each.sequences < 0 || each.sequences > each.count || each.exposedNs < 0 ||
            each.exposedNs > leftNs)
            return false;
        leftNs -= each.exposedNs;
    }
    return worker.kernels.size() <= maxGroups && worker.usedMemoryBytes >= 0 && worker.memoryBytes >= 0 &&
           worker.singleRate >= 0 && worker.tensorFloatRate >= 0;
}

bool readKernelGroups(const Database& database, RunSummary& summary) {
    StoredRows rows(database, t, maxGroups * summary.workers.size());
    while (rows.next()) {
        WorkerSummary* worker = rows.itemOf(summary.workers, t.worker);
        if (!worker) return false;
        worker->kernels.push_back(
            {rows.identified(t.family, KernelFamily::Other), rows.identified(t.precision, KernelPrecision::Int8),
             rows.identified(t.trait, KernelTrait::Triangular), rows.identified(t.purpose, LaunchPurpose::Evaluation),
             rows.identified(t.sequence, KernelSequence::Attention), rows.flag(t.isSmallGrid), rows.number(t.count),
             rows.number(t.exposedNs), rows.number(t.sequences), rows.text(t.name), rows.text(t.launched)});
    }
    return rows.isGood();
}

void writeKernelGroups(const Database& database, const RunSummary& summary, FirstError& error) {
    Inserter rows(database, t, error);
    for (size_t worker = 0; worker < summary.workers.size(); ++worker)
        for (const KernelGroup& each : summary.workers[worker].kernels)
            rows.insert(t.worker = static_cast<int64_t>(worker), t.family = identifier(each.family),
                        t.precision = identifier(each.precision), t.trait = identifier(each.trait),
                        t.purpose = identifier(each.purpose), t.sequence = identifier(each.sequence),
                        t.isSmallGrid = each.isSmallGrid, t.count = each.count, t.exposedNs = each.exposedNs,
                        t.sequences = each.sequences, t.name = each.name, t.launched = each.launched);
}

}  // namespace lanescope::analysis
