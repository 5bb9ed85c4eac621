// SPDX-License-Identifier: Apache-2.0
#include "model/explain/rules.h"

#include <algorithm>
#include <array>

namespace lanescope::explain {

namespace {

// In order: a rule ignores time of earlier ones (`AccountedTime`); some ask for findings (`RunFindings::has`).
constexpr std::array rules{
    &lateRankRule,
    &oddStepsRule,
    &stepPatternRule,
    &unbalancedRanksRule,
    &inputDataRule,
    &allocationsRule,
    &syncCopiesRule,
    &syncMemsetsRule,
    &pageableCopiesRule,
    &graphCapturesRule,
    &compilingRule,
    &gilWaitsRule,
    &hostWaitsRule,
    &hostWorkRule,
    &hostSyncRule,
    &launchBoundRule,
    &graphGapsRule,
    &queuedIdleRule,
    &exposedCopiesRule,
    &denseEmbeddingsRule,
    &memsetsRule,
    &nvlinkUnusedRule,
    &exposedCommunicationRule,
    &gpuThrottledRule,
    &doublePrecisionRule,
    &singlePrecisionRule,
    &singleAttentionRule,
    &farFromRoofRule,
    &writtenAttentionRule,
    &attentionMaskRule,
    &channelsFirstRule,
    &recomputationRule,
    &evaluationInStepRule,
    &unfusedOptimizerRule,
    &kernelLoopRule,
    &unfusedChainsRule,
    &unalignedProductsRule,
    &irregularWorkRule,
    &typeConversionsRule,
    &dataMovementRule,
    &idleSmsRule,
    &autotuningRule,
    &longKernelRule,
    &idleBetweenStepsRule,
    &gpuIdleRule,
};

}  // namespace

RuleList allRules() { return rules; }

const Rule* ruleCalled(std::string_view id, RuleList rules) {
    const auto found = std::ranges::find(rules, id, &Rule::id);
    return found == rules.end() ? nullptr : *found;
}

}  // namespace lanescope::explain
