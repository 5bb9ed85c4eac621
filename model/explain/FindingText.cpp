// SPDX-License-Identifier: Apache-2.0
#include "model/explain/FindingText.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/analysis/requestSteps.h"
#include "model/analysis/shownNumbers.h"
#include "model/text/formatValue.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns the innermost ranges of a path that fit.
std::string shortPath(std::string_view path) {
    constexpr size_t maxColumns = 160;
    std::string text = printable(path);
    while (displayWidth(text) > maxColumns) {
        const size_t next = text.find('/', text.starts_with("…/") ? std::string_view("…/").size() : 0);
        if (next == std::string::npos || next + 1 == text.size()) return elideEnd(text, maxColumns);
        text = "…/" + text.substr(next + 1);
    }
    return text;
}

}  // namespace

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
    return (finding_.path.empty() ? "" : " in " + shortPath(finding_.path)) +
           (finding_.launched.empty() ? "" : ", " + shortContributorName(finding_.launched, true));
}

std::string FindingText::times() const {
    return fmt::format("{} {}", countText(finding_.countPerStep), isWhole() ? "in all" : "per " + unit());
}

std::string FindingText::gaps() const {
    const std::string count = countText(finding_.countPerStep);
    return fmt::format("in {} gap{} {}", count, count == "1" ? "" : "s", isWhole() ? "in all" : "per " + unit());
}

std::string FindingText::onlyThere(DistinctionOf of) const {
    const auto& all = worker().distinctions;
    const auto found = std::ranges::find(all, of, &Distinction::of);
    if (found == all.end()) return {};
    const bool isOfRank = of == DistinctionOf::Rank;
    const std::string name = shortContributorName(found->name, true);
    const std::string where = isOfRank ? "Only this rank" : "Only these " + unit() + "s";
    const std::string time = timeText(static_cast<double>(found->ns));
    switch (found->kind) {
        case DistinctionKind::Range:
            return fmt::format(" {} {} the range \"{}\", {} in each of {} {}s.", where, isOfRank ? "has" : "have", name,
                               time, found->steps, unit());
        case DistinctionKind::Line:
            return fmt::format(" {} {} at {}, for {} in each of {} {}s.", where, isOfRank ? "is" : "are", name, time,
                               found->steps, unit());
        case DistinctionKind::Thread: break;
    }
    return fmt::format(" {} {} calls of the {}, {} in each of {} {}s.", where, isOfRank ? "has" : "have", name, time,
                       found->steps, unit());
}

std::string shareText(double share) { return percentText(100 * share) + " %"; }

}  // namespace lanescope::explain
