// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"

namespace lanescope::explain {

/// A condition under which a run fails: "launch_bound", "late_rank > 5ms", "any > 10%".
struct RuleCondition {
    std::string text;            ///< Text as written by the user.
    const Rule* rule = nullptr;  ///< Null for "any".
    // The finding must exceed both in the mean step.
    int64_t aboveNs = 0;
    double aboveShare = 0;

    bool isMetBy(const Finding& finding) const {
        return (rule == nullptr || rule == finding.rule) && finding.maxGainNs > aboveNs && finding.share > aboveShare;
    }
};

/// Parses a condition. The error lists the rules, or explains thresholds.
Result<RuleCondition> parseRuleCondition(std::string_view text, RuleList rules = allRules());

/// Parses a rule. The error lists the rules.
Result<const Rule*> parseRule(std::string_view text, RuleList rules = allRules());

}  // namespace lanescope::explain
