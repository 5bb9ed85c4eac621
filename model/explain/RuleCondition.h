// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/explain/Explanation.h"
#include "model/format/Result.h"

namespace lanescope::explain {

/// When a run is not good enough: "launch_bound", "late_rank > 5ms", "any > 10%".
struct RuleCondition {
    std::string text;          ///< As it was given.
    std::optional<Rule> rule;  ///< Nothing for "any".
    // A finding that takes more of the mean step than both.
    int64_t aboveNs = 0;
    double aboveShare = 0;

    bool isMetBy(const Finding& finding) const {
        return (!rule || *rule == finding.rule) && finding.mostGainNs > aboveNs &&
               finding.share > aboveShare;
    }
};

/// Fails with a sentence that lists the rules, or says what a threshold is.
Result<RuleCondition> parseRuleCondition(std::string_view text);

/// Fails with a sentence that lists the rules.
Result<Rule> parseRule(std::string_view text);

}  // namespace lanescope::explain
