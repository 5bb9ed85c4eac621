// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/storedKernelGroups.h"

#include <optional>
#include <utility>

#include "model/format/Sqlite.h"
#include "model/format/tables/Schema.h"
#include "model/format/tables/Stored.h"
#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

constexpr const auto& t = tables::storedKernelGroups;

/// Maximum per worker. Programs have some dozens.
constexpr size_t maxGroups = 4096;

/// Reads a row; nullopt if a cell is invalid.
class GroupRow {
  public:
    explicit GroupRow(const Statement& statement) : statement_(statement) {}

    int64_t number(tables::ColumnOf<tables::StoredKernelGroups> column) {
        const auto place = static_cast<int>(column.number());
        isGood_ = isGood_ && statement_.isInteger(place);
        return isGood_ ? statement_.integer(place) : 0;
    }
    std::string text(tables::ColumnOf<tables::StoredKernelGroups> column) {
        return std::string(statement_.text(static_cast<int>(column.number())));
    }
    template <class Enumeration>
    Enumeration identified(tables::ColumnOf<tables::StoredKernelGroups> column, Enumeration last) {
        const auto found = fromIdentifier(statement_.text(static_cast<int>(column.number())), last);
        isGood_ = isGood_ && found.has_value();
        return found.value_or(last);
    }
    bool isGood() const { return isGood_; }

  private:
    const Statement& statement_;
    bool isGood_ = true;
};

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
    auto statement = database.prepare(selectSql(t));
    if (!statement) return false;
    size_t left = maxGroups * summary.workers.size();
    auto row = statement->step();
    for (; row && *row && left-- > 0; row = statement->step()) {
        GroupRow cells(*statement);
        const int64_t worker = cells.number(t.worker);
        KernelGroup group{cells.identified(t.family, KernelFamily::Other),
                          cells.identified(t.precision, KernelPrecision::Int8),
                          cells.identified(t.trait, KernelTrait::Tuning),
                          cells.identified(t.purpose, LaunchPurpose::Evaluation),
                          cells.identified(t.sequence, KernelSequence::Attention),
                          cells.number(t.isSmallGrid) != 0,
                          cells.number(t.count),
                          cells.number(t.exposedNs),
                          cells.number(t.sequences),
                          cells.text(t.name),
                          cells.text(t.launched)};
        if (!cells.isGood() || worker < 0 || static_cast<size_t>(worker) >= summary.workers.size()) return false;
        summary.workers[static_cast<size_t>(worker)].kernels.push_back(std::move(group));
    }
    return row && !*row;
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
