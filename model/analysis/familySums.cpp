// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/familySums.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/numbers/Statistics.h"

namespace lanescope::analysis {

std::vector<KernelGroup> kernelsOf(const WorkerSummary& worker) {
    if (!worker.kernels.empty()) return worker.kernels;
    std::vector<KernelGroup> groups;
    for (const Contributor& each : worker.contributors) {
        if (each.part != StepPart::Compute || each.kind != ContributorKind::Kernel) continue;
        const KernelClass is = kernelClass(each.name.work);
        KernelGroup& group = groups.emplace_back();
        group.family = is.family;
        group.precision = is.precision;
        group.trait = is.trait;
        group.count = each.count;
        group.exposedNs = each.exposedNs;
        group.name = each.name.work;
        group.launched = each.launched;
    }
    return groups;
}

std::vector<FamilySum> familySums(const WorkerSummary& worker) {
    struct Sum {
        FamilySum made;
        int64_t largestNs = -1;
        std::map<KernelPrecision, int64_t> ofPrecision;
    };
    std::map<KernelFamily, Sum> sums;
    int64_t restNs = worker.totalParts()[StepPart::Compute];
    for (const KernelGroup& each : kernelsOf(worker)) {
        Sum& sum = sums[each.family];
        sum.made.family = each.family;
        sum.made.count = saturatingSum(sum.made.count, each.count);
        sum.made.exposedNs = saturatingSum(sum.made.exposedNs, each.exposedNs);
        sum.ofPrecision[each.precision] = saturatingSum(sum.ofPrecision[each.precision], each.exposedNs);
        restNs -= each.exposedNs;
        if (each.exposedNs <= sum.largestNs) continue;
        sum.largestNs = each.exposedNs;
        sum.made.name = each.name;
        sum.made.launched = each.launched;
    }
    if (restNs > 0) {
        sums[KernelFamily::Other].made.family = KernelFamily::Other;
        sums[KernelFamily::Other].made.exposedNs += restNs;
    }
    std::vector<FamilySum> made;
    for (auto& [family, sum] : sums) {
        const bool multiplies = family == KernelFamily::MatrixProduct || family == KernelFamily::Convolution;
        for (const auto& [precision, ns] : sum.ofPrecision)
            if (multiplies && 2 * ns > sum.made.exposedNs) sum.made.precision = precision;
        made.push_back(std::move(sum.made));
    }
    std::ranges::stable_sort(made, std::ranges::greater(), &FamilySum::exposedNs);
    return made;
}

}  // namespace lanescope::analysis
