// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/fleet/readFleetReport.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

/// A report of many ranks as a sheet; what is read of it is ordered, scaled and asked as a map
/// does.
void readFleetReport(Bytes bytes) {
    const auto report = fleet::readFleetReport(
        Database::adopt(databaseOf(textOf(bytes)).release(), "fuzz.sqlite"), "fuzz.sqlite");
    if (!report) return require(!report.error().sentence.empty(), "An error says nothing.");
    const fleet::FleetReport& made = **report;
    require(made.ranks.size() <= fleet::mostCells / made.steps.size(), "A map is too large.");
    for (size_t each = 0; each < fleet::measureCount; ++each) {
        const auto measure = static_cast<fleet::Measure>(each);
        const fleet::MapScale scale = fleet::scaleOf(made, measure);
        for (size_t row = 0; row < made.ranks.size(); ++row) {
            const float share = scale.shareOf(made.valueOf(measure, row, 0));
            require(std::isnan(share) || std::abs(share) <= 1, "A share is none.");
        }
    }
    for (const auto order : {fleet::RowOrder::Machine, fleet::RowOrder::Role, fleet::RowOrder::Lost,
                             fleet::RowOrder::Rank})
        require(fleet::ordered(made, order).rows.size() == made.ranks.size(), "A rank is lost.");
    if (const auto part = fleet::tellingPart(made))
        require(part->ranks.size() <= fleet::mostShown, "Too much is told.");
    for (size_t row = 0; row < made.ranks.size(); ++row)
        require(std::isfinite(made.ranks[row].lostNs), "A loss is no number.");
}

}  // namespace lanescope::fuzz
