// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/fleet/FleetReport.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

namespace {

/// Draws the map in each measure.
void drawMap(const fleet::FleetReport& made) {
    for (size_t each = 0; each < fleet::measureCount; ++each) {
        const auto measure = static_cast<fleet::Measure>(each);
        require(!fleet::name(measure).empty(), "A measure has no name.");
        const fleet::MapScale scale = fleet::scaleOf(made, measure);
        for (size_t row = 0; row < made.ranks.size(); ++row) {
            const float share = scale.shareOf(made.valueOf(measure, row, 0));
            require(std::isnan(share) || std::abs(share) <= 1, "A share is none.");
        }
    }
    for (const auto order :
         {fleet::RowOrder::Machine, fleet::RowOrder::Role, fleet::RowOrder::Lost, fleet::RowOrder::Rank})
        require(fleet::ordered(made, order).rows.size() == made.ranks.size(), "A rank is lost.");
}

/// Opens the traces of findings, and finds their places.
void followFindings(const fleet::FleetReport& made, const Scratch& scratch) {
    for (const fleet::ReportFinding& finding : made.findings) {
        (void)made.valueOf(fleet::measureOf(finding), 0, 0);
        const fleet::TellingPart part = fleet::tellingPart(finding);
        std::vector<size_t> rows;
        for (const int64_t rank : part.ranks)
            if (const auto row = made.rowOf(rank)) rows.push_back(*row);
        // No file named by an untrusted report exists, so none is read.
        if (const auto traces = fleet::tracesOf(made, rows, scratch / "chosen"); !traces)
            require(!traces.error().sentence.empty(), "An error says nothing.");
        if (!part.steps) continue;
        const auto [first, end] = made.columnsOf(*part.steps);
        require(first <= end && end <= made.steps.size(), "Steps are not there.");
        for (const size_t row : rows)
            for (size_t column = first; column < end; ++column)
                require(!std::isinf(made.lateNs(row, column)), "A rank is late for ever.");
    }
    (void)fleet::folderElsewhere(made);
    if (const auto part = fleet::tellingPart(made))
        require(part->ranks.size() <= fleet::maxShownRanks, "Too much is reported.");
}

}  // namespace

/// A report of many ranks as a sheet, opened as a file by the viewer; the result is sorted, scaled
/// and queried like in a map.
void readFleetReport(Bytes bytes) {
    static const Scratch scratch;
    const SqlitePtr database = databaseOf(textOf(bytes));
    const auto path = scratch.write("fleet.sqlite", bytesOf(database.get()));
    const bool isOne = fleet::isFleetReport(path);
    const auto report = fleet::readFleetReport(path);
    if (!report) return require(!report.error().sentence.empty(), "An error says nothing.");
    const fleet::FleetReport& made = **report;
    require(isOne, "A report is not detected as one.");
    require(made.ranks.size() <= fleet::maxCells / made.steps.size(), "A map is too large.");
    drawMap(made);
    followFindings(made, scratch);
    require(std::isfinite(made.medianStepNs()), "A step has no end.");
    for (size_t row = 0; row < made.ranks.size(); ++row)
        require(std::isfinite(made.ranks[row].lostNs), "A loss is no number.");
}

}  // namespace lanescope::fuzz
