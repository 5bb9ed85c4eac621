// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "model/analysis/rooflineRows.h"
#include "model/analysis/shownNumbers.h"
#include "model/reports/reports.h"

namespace lanescope {

namespace {

/// Returns "measured memory", "data sheet compute"; empty without a roof.
std::string roofText(const analysis::ShapedWork& work) {
    if (work.roofNs <= 0) return {};
    return fmt::format("{} {}", work.isMeasured ? "measured" : "data sheet", work.isMemoryBound ? "memory" : "compute");
}

Cell cellOf(const std::optional<int64_t>& value) { return value ? Cell(*value) : Cell(); }

}  // namespace

ReportTable rooflineTable(const Trace& trace, const analysis::Roofline& roofline) {
    ReportTable table{.columns = {{"Operator", Unit::Text},
                                  {"Shape", Unit::Text},
                                  {"Precision", Unit::Text},
                                  {"Calls", Unit::Count},
                                  {"GPU Time", Unit::Nanoseconds},
                                  {"Compute", Unit::TeraflopsPerSecond},
                                  {"Memory", Unit::GigabytesPerSecond},
                                  {"Of Roof", Unit::Percent},
                                  {"Roof", Unit::Text},
                                  {"Above Roof", Unit::Nanoseconds},
                                  {"Above Roof Per Step", Unit::Nanoseconds},
                                  {"GPU", Unit::Identifier},
                                  {"Line", Unit::Text},
                                  {"Kernel", Unit::Text}}};
    for (const analysis::RooflineRow& row : roofline.rows) {
        const analysis::ShapedWork& work = row.work;
        const std::optional<double> ofRoof = work.ofRoof();
        const bool isElementwise = work.kind == OperatorKind::Elementwise;
        table.searches.push_back(work.kernel);
        table.rows.push_back({work.operation + (work.isRecomputed ? ", repeated" : ""), work.shape, work.precision,
                              work.count, work.kernelNs, isElementwise ? Cell() : Cell(row.flopsPerSecond() / 1e12),
                              row.bytesPerSecond() / 1e9, ofRoof ? Cell(100 * *ofRoof) : Cell(), roofText(work),
                              ofRoof ? Cell(work.aboveRoofNs()) : Cell(), cellOf(row.aboveRoofPerStepNs),
                              trace.gpus[row.gpu].id, work.place, work.kernel});
    }
    if (table.rows.empty()) return table;
    const double known = roofline.kernelNs > 0
                             ? static_cast<double>(roofline.knownKernelNs) / static_cast<double>(roofline.kernelNs)
                             : 0;
    table.notes.push_back(fmt::format("Shapes are known for {} % of the time of kernels.",
                                      analysis::percentText(100 * std::min(known, 1.0))));
    table.notes.push_back("Memory: each operand and result once. A rate above the roof means data in the L2 cache.");
    return table;
}

const Report rooflineReport{
    .info = {"roofline", "Operators Against Peak Rates",
             "Rate of each operator shape and Python line against the highest rate of GPU or memory"},
    .build = [](const ReportQuery& query) {
        return rooflineTable(query.trace, analysis::rooflineOf(query.trace, query.range));
    }};

}  // namespace lanescope
