// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/format/GlobalId.h"
#include "model/format/tables/ApiCalls.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// What costs nothing without a profiler, of `ENUM_CUPTI_OVERHEAD_TYPE`. The others, such as the
/// loading of modules, take their time anyway.
struct Overhead {
    int64_t type;
    std::string_view name;
    int64_t totalNs = 0;
};

}  // namespace

void readOverhead(LoadContext& context) {
    std::array<Overhead, 3> overheads{{{3, "flushing CUPTI's buffers"},
                                       {4, "CUPTI's instrumentation"},
                                       {5, "setting up CUPTI's resources"}}};
    constexpr const auto& k = tables::overheads;
    TableReader reader(context, k, {k.start, k.end, k.overheadType, k.globalTid}, "overhead");
    while (reader.next()) {
        const std::optional<int64_t> thread = reader.integer(k.globalTid);
        const int64_t type = reader.integerOr(k.overheadType, 0);
        const auto found = std::find_if(overheads.begin(), overheads.end(),
                                        [&](const Overhead& each) { return each.type == type; });
        // Work on no thread of the program does not hold the program up.
        if (found == overheads.end() || !thread || threadIdOf(*thread) == 0) continue;
        const std::optional<TimeRange> times = reader.times(k.start, k.end);
        if (!times) continue;
        const int64_t room = std::numeric_limits<int64_t>::max() / 4 - found->totalNs;
        found->totalNs += std::min(times->endNs - times->startNs, room);
    }
    std::sort(overheads.begin(), overheads.end(),
              [](const Overhead& a, const Overhead& b) { return a.totalNs > b.totalNs; });
    int64_t totalNs = 0;
    std::string parts;
    for (const Overhead& each : overheads) {
        if (each.totalNs == 0) continue;
        totalNs += each.totalNs;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", each.name,
                             formatDuration(each.totalNs));
    }
    if (totalNs > 0)
        context.note({Severity::Info, HealthCode::ProfilerOverhead,
                      fmt::format("The profiler itself took {} on the program's threads: {}.",
                                  formatDuration(totalNs), parts)});
}

}  // namespace lanescope
