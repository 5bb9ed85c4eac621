#include "views/topology/TopologyAnswer.h"

#include <set>

#include "model/summary/reports.h"

namespace lanescope {

std::shared_ptr<const TopologyAnswer> answerTopology(TracePtr trace,
                                                     std::optional<TimeRange> range) {
    auto answer = std::make_shared<TopologyAnswer>();
    answer->range = range;
    answer->uses = linkUse(*trace, range);
    answer->verdict = judgeNvlink(*trace, range);
    if (auto links = makeReport(*trace, "nvlink_by_range", range))
        answer->links = std::move(*links);
    std::set<int64_t> gpus;
    for (const Gpu& gpu : trace->gpus) gpus.insert(gpu.id);
    for (const GpuConnection& connection : trace->interconnect.connections)
        gpus.insert({connection.gpu, connection.peer});
    for (const GpuAffinity& affinity : trace->interconnect.affinities) gpus.insert(affinity.gpu);
    gpus.erase(noGpuId);
    answer->gpus.assign(gpus.begin(), gpus.end());
    answer->trace = std::move(trace);
    return answer;
}

}  // namespace lanescope
