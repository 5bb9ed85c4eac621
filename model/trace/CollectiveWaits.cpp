// SPDX-License-Identifier: Apache-2.0
#include "model/trace/CollectiveWaits.h"

#include <algorithm>
#include <tuple>

#include "model/values/sortLarge.h"

namespace lanescope {

CollectiveWaits::CollectiveWaits(const Trace& trace) : waits_(trace.memory.get()) {
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const NcclFacts facts = trace.nccl.facts[row];
        if (facts.waitedNs <= 0 || facts.operationCount == 0) continue;
        const uint32_t process = trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
        waits_.push_back({process, facts.gpu.startNs, facts.waitedNs});
    }
    // Of calls that share a kernel the one that waited longest is found.
    sortLarge(waits_, [](const Wait& a, const Wait& b) {
        return std::tie(a.process, a.startNs, b.waitedNs) <
               std::tie(b.process, b.startNs, a.waitedNs);
    });
}

int64_t CollectiveWaits::ofKernel(uint32_t process, int64_t startNs) const {
    const auto found = std::lower_bound(waits_.begin(), waits_.end(), std::tie(process, startNs),
                                        [](const Wait& wait, const auto& key) {
                                            return std::tie(wait.process, wait.startNs) < key;
                                        });
    const bool isKnown =
        found != waits_.end() && found->process == process && found->startNs == startNs;
    return isKnown ? found->waitedNs : 0;
}

}  // namespace lanescope
