// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"

namespace lanescope::explain {

/// A condition under which a run fails: "launch_bound", "late_rank > 5ms", "any > 10%".
struct RuleCondition {
    std::string text;          ///< Text as written by the user.
    std::optional<Rule> rule;  ///< Nullopt for "any".
    // The finding must exceed both in the mean step.
    int64_t aboveNs = 0;
    double aboveShare = 0;

    bool isMetBy(const Finding& finding) const {
        return (!rule || *rule == finding.rule) && finding.maxGainNs > aboveNs &&
               finding.share > aboveShare;
    }
};

/// Parses a condition. The error lists the rules, or explains thresholds.
Result<RuleCondition> parseRuleCondition(std::string_view text);

/// Parses a rule. The error lists the rules.
Result<Rule> parseRule(std::string_view text);

}  // namespace lanescope::explain
