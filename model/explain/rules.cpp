// SPDX-License-Identifier: Apache-2.0
#include "model/explain/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "model/format/optionValues.h"
#include "model/format/text.h"
#include "model/text/formatValue.h"
#include "model/text/nearestNames.h"

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
    &farFromRoofRule,
    &writtenAttentionRule,
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

namespace {

std::optional<double> parsePercent(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    text = trimmed(text.substr(0, text.size() - 1), " ");
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isWhole = error == std::errc() && end == text.data() + text.size();
    return isWhole && value >= 0 && value <= 100 ? std::optional(value / 100) : std::nullopt;
}

}  // namespace

Result<const Rule*> parseRule(std::string_view text, RuleList rules) {
    if (const Rule* rule = ruleCalled(trimmed(text, " "), rules)) return rule;
    std::vector<std::string_view> names;
    for (const Rule* rule : rules) names.push_back(rule->id);
    return fail("There is no rule \"{}\". The nearest names are {}.", printable(text), nearestNames(text, names));
}

Result<RuleCondition> parseRuleCondition(std::string_view text, RuleList rules) {
    RuleCondition condition;
    condition.text = std::string(text);
    const size_t sign = text.find('>');
    const std::string_view name = trimmed(text.substr(0, sign), " ");
    if (name != "any") {
        const Result<const Rule*> rule = parseRule(name, rules);
        if (!rule) return fail(rule.error());
        condition.rule = *rule;
    }
    if (sign == std::string_view::npos) return condition;
    const std::string_view threshold = trimmed(text.substr(sign + 1), " ");
    if (const std::optional<double> share = parsePercent(threshold)) {
        condition.aboveShare = *share;
        return condition;
    }
    // A missing unit would mean seconds and never hold, without notice.
    const bool hasUnit = !threshold.empty() && threshold.back() >= 'A';
    const std::optional<int64_t> ns = hasUnit ? parseDuration(threshold) : std::nullopt;
    if (!ns || *ns < 0)
        return fail("\"{}\" is no threshold: say a time of the mean step with its unit, as 5ms, or a share, as 10%.",
                    printable(threshold));
    condition.aboveNs = *ns;
    return condition;
}

}  // namespace lanescope::explain
