// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/explain/Rule.h"

namespace lanescope::explain {

// All rules, each defined in the file of its kin. `rules.cpp` has their order. Only rules that
// interact name each other; all other code uses the members of `Rule`.

extern const Rule allocationsRule;
extern const Rule attentionMaskRule;
extern const Rule autotuningRule;
extern const Rule channelsFirstRule;
extern const Rule compilingRule;
extern const Rule dataMovementRule;
extern const Rule denseEmbeddingsRule;
extern const Rule doublePrecisionRule;
extern const Rule evaluationInStepRule;
extern const Rule exposedCommunicationRule;
extern const Rule exposedCopiesRule;
extern const Rule farFromRoofRule;
extern const Rule gilWaitsRule;
extern const Rule gpuIdleRule;
extern const Rule gpuThrottledRule;
extern const Rule graphCapturesRule;
extern const Rule graphGapsRule;
extern const Rule hostSyncRule;
extern const Rule hostWaitsRule;
extern const Rule hostWorkRule;
extern const Rule idleBetweenStepsRule;
extern const Rule idleSmsRule;
extern const Rule inputDataRule;
extern const Rule irregularWorkRule;
extern const Rule kernelLoopRule;
extern const Rule lateRankRule;
extern const Rule launchBoundRule;
extern const Rule longKernelRule;
extern const Rule memsetsRule;
extern const Rule nvlinkUnusedRule;
extern const Rule oddStepsRule;
extern const Rule pageableCopiesRule;
extern const Rule queuedIdleRule;
extern const Rule recomputationRule;
extern const Rule singleAttentionRule;
extern const Rule singlePrecisionRule;
extern const Rule stepPatternRule;
extern const Rule syncCopiesRule;
extern const Rule syncMemsetsRule;
extern const Rule typeConversionsRule;
extern const Rule unalignedProductsRule;
extern const Rule unbalancedRanksRule;
extern const Rule unfusedChainsRule;
extern const Rule unfusedOptimizerRule;
extern const Rule writtenAttentionRule;

}  // namespace lanescope::explain
