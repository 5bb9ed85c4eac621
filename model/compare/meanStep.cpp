// SPDX-License-Identifier: Apache-2.0
#include "model/compare/meanStep.h"

#include <algorithm>
#include <span>

#include "model/compare/judgeSteps.h"

namespace lanescope::compare {

MeanStep meanStep(const WorkerSummary& worker, int64_t quantumNs) {
    MeanStep mean;
    mean.exposedNs.resize(worker.contributors.size());
    const int64_t divisor = static_cast<int64_t>(worker.steps.size()) * quantumNs;
    if (divisor == 0) return mean;
    const auto share = [&](std::span<const int64_t> sums, int64_t ns) {
        std::vector<int64_t> shares = shareOut(sums, divisor, ns / quantumNs);
        for (int64_t& each : shares) each *= quantumNs;
        return shares;
    };
    const int64_t wallNs = worker.totalWallNs();
    mean.ns = (wallNs / divisor + (wallNs % divisor * 2 >= divisor ? 1 : 0)) * quantumNs;
    const std::vector<int64_t> parts = share(worker.totalParts().ns, mean.ns);
    std::copy(parts.begin(), parts.end(), mean.parts.ns.begin());
    for (size_t part = 0; part < stepPartCount; ++part) {
        std::vector<int64_t> sums;
        std::vector<size_t> places;
        for (size_t index = 0; index < worker.contributors.size(); ++index) {
            if (worker.contributors[index].part != static_cast<StepPart>(part)) continue;
            sums.push_back(worker.contributors[index].exposedNs);
            places.push_back(index);
        }
        const std::vector<int64_t> shares = share(sums, mean.parts.ns[part]);
        for (size_t index = 0; index < places.size(); ++index)
            mean.exposedNs[places[index]] = shares[index];
    }
    return mean;
}

}  // namespace lanescope::compare
