// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingQuery.h"

#include <fmt/format.h>

#include "model/values/knownRangeName.h"

namespace lanescope::explain {

namespace {

/// A text as SQL has it.
std::string sqlText(std::string_view text) {
    std::string made = "'";
    for (const char each : text) made += each == '\'' ? "''" : std::string(1, each);
    return made + "'";
}

/// What all names have that a pattern stands for, for LIKE: "step #" is "step %". What the names
/// themselves have of LIKE's letters fits any, which finds no less.
std::string likePattern(std::string_view pattern) {
    std::string like;
    for (const char each : pattern) like += each == '#' ? '%' : each;
    return sqlText(like);
}

/// Whether `s.value` is a name. Of one that is pages long a trace keeps how it begins, and then
/// "... (5050 bytes, 37bf3100821600e2)"; its file has all of it.
std::string isCalled(std::string_view name) {
    constexpr size_t longest = 4'000;
    const size_t end = name.rfind("... (");
    if (name.size() < longest || end == std::string_view::npos || !name.ends_with(')'))
        return "s.value = " + sqlText(name);
    // In bytes: a character may take several.
    const std::string begin = sqlText(name.substr(0, end));
    return fmt::format("substr(CAST(s.value AS BLOB), 1, {}) = CAST({} AS BLOB)", end, begin);
}

std::string rangesLike(std::string_view pattern, std::string_view order) {
    return fmt::format(
        "SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} ORDER BY {}",
        likePattern(pattern), order);
}

/// Those of which people know the name, which may hold a slash itself, so that only its end is
/// known; what a compiler or a framework writes behind it may stand there.
std::string rangesCalled(std::string_view name, std::string_view order) {
    if (name.ends_with(')') && name.find(" (") != std::string_view::npos)
        return rangesLike(fmt::format("#{}#", searchedPart(name)), order);
    const std::string whole = fmt::format("#{}", name);
    return fmt::format(
        "SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} OR text "
        "LIKE {} ORDER BY {}",
        likePattern(whole), likePattern(whole + ", #"), order);
}

/// Its steps: their ranges, or the kernel that each begins with.
std::string stepsOf(const compare::RunSummary& run, std::string_view order) {
    if (run.pattern.empty()) return {};
    if (run.source != StepSource::KernelPattern) return rangesLike(run.pattern, order);
    return fmt::format(
        "SELECT s.value AS kernel, k.start, k.\"end\" - k.start AS ns FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE {} ORDER BY "
        "{}",
        isCalled(run.pattern), order);
}

}  // namespace

std::string queryOf(const compare::RunSummary& run, const Finding& finding) {
    switch (finding.rule) {
        case Rule::StepPattern:
        case Rule::IdleBetweenSteps:
            return stepsOf(run, "start");
        case Rule::OddSteps:
            // A kernel that begins a step does not take what the step takes.
            return stepsOf(run,
                           run.source == StepSource::KernelPattern ? "start" : "ns DESC LIMIT 10");
        case Rule::InputData:
            if (finding.path.empty())
                return "SELECT start, bytes, \"end\" - start AS ns FROM "
                       "CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 1 ORDER BY start";
            return rangesCalled(finding.path.substr(finding.path.rfind('/') + 1),
                                "ns DESC LIMIT 20");
        default:
            return std::string(factsOf(finding.rule).sql);
    }
}

}  // namespace lanescope::explain
