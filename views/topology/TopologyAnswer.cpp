// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/topology/TopologyAnswer.h"

#include "model/summary/reports.h"

namespace lanescope::views {

std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace,
                                                     std::optional<TimeRange> range) {
    auto answer = std::make_shared<TopologyAnswer>();
    static_cast<TopologyDescription&>(*answer) = describeTopology(*trace, range);
    answer->range = range;
    if (auto links = makeReport(*trace, "nvlink_by_range", range))
        answer->links = std::move(*links);
    answer->trace = std::move(trace);
    return answer;
}

}  // namespace lanescope::views
