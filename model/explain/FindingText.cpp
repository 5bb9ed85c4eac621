// SPDX-License-Identifier: Apache-2.0
#include "model/explain/FindingText.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

bool FindingText::has(const Rule& rule) const {
    return std::ranges::any_of(
        made_.findings, [&](const Finding& each) { return each.rule == &rule && each.worker == finding_.worker; });
}

std::string FindingText::unit() const { return std::string(identifier(run_.kind)); }

std::string FindingText::per() const { return isWhole() ? std::string() : " per " + unit(); }

std::string FindingText::time() const {
    return fmt::format("{} of {} ({})", timeText(static_cast<double>(finding_.maxGainNs)),
                       isWhole() ? "the run" : "a " + unit(), shareText(finding_.share));
}

std::string FindingText::what() const { return shortName(finding_.contributor); }

std::string FindingText::where() const {
    return (finding_.path.empty() ? "" : " in " + printable(finding_.path)) +
           (finding_.launched.empty() ? "" : ", " + shortContributorName(finding_.launched, true));
}

std::string FindingText::times() const {
    return fmt::format("{} {}", countText(finding_.countPerStep), isWhole() ? "in all" : "per " + unit());
}

std::string FindingText::gaps() const {
    const std::string count = countText(finding_.countPerStep);
    return fmt::format("in {} gap{} {}", count, count == "1" ? "" : "s", isWhole() ? "in all" : "per " + unit());
}

std::string shareText(double share) { return percentText(100 * share) + " %"; }

}  // namespace lanescope::explain
