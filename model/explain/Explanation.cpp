// SPDX-License-Identifier: Apache-2.0
#include "model/explain/Explanation.h"

#include <algorithm>
#include <utility>

#include "model/explain/RunFindings.h"
#include "model/explain/sayExplanation.h"
#include "model/trace/healthNotes.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Sorts findings by time, but a cause before its consequences (`Rule::order`).
void orderFindings(const RunSummary& run, RuleList rules, std::vector<Finding>& findings) {
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.maxGainNs > b.maxGainNs; });
    for (const Rule* rule : rules)
        if (rule->order != nullptr) rule->order(run, findings);
}

}  // namespace

Explanation explain(const RunSummary& run, const MutedRules& muted, RuleList rules) {
    Explanation made;
    RunFindings found(run, made);
    // With NCCL's kernels only it is unknown when the GPU did nothing, or nothing else.
    const bool isNcclOnly = run.facts.producerKind == ProducerKind::NcclInspector;
    if (found.hasTime())
        for (const Rule* rule : rules)
            if (!isNcclOnly || rule->isForNcclOnly) found.evaluate(*rule, muted.contains(rule));
    orderFindings(run, rules, made.findings);
    writeExplanation(run, made);
    return made;
}

}  // namespace lanescope::explain
