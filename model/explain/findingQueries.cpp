// SPDX-License-Identifier: Apache-2.0
#include "model/explain/findingQueries.h"

#include <fmt/format.h>

#include "model/text/knownRangeName.h"

namespace lanescope::explain {

using namespace analysis;

namespace {

/// Returns a text as an SQL literal.
std::string sqlText(std::string_view text) {
    std::string made = "'";
    for (const char each : text) made += each == '\'' ? "''" : std::string(1, each);
    return made + "'";
}

/// Returns the LIKE pattern of all names that match a pattern: "step #" gives "step %". LIKE's
/// special characters in names match anything, which finds no fewer.
std::string likePattern(std::string_view pattern) {
    std::string like;
    for (const char each : pattern) like += each == '#' ? '%' : each;
    return sqlText(like);
}

/// Returns a condition that `s.value` is a name. A trace keeps only the start of very long names,
/// then "... (5050 bytes, 37bf3100821600e2)"; its file has all of it.
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
    return fmt::format("SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} ORDER BY {}",
                       likePattern(pattern), order);
}

}  // namespace

std::string rangesQuery(std::string_view name, std::string_view order) {
    if (name.ends_with(')') && name.find(" (") != std::string_view::npos)
        return rangesLike(fmt::format("#{}#", searchedPart(name)), order);
    const std::string whole = fmt::format("#{}", name);
    return fmt::format(
        "SELECT text, start, \"end\" - start AS ns FROM NVTX_EVENTS WHERE text LIKE {} OR text "
        "LIKE {} ORDER BY {}",
        likePattern(whole), likePattern(whole + ", #"), order);
}

std::string stepsQuery(const RunSummary& run, std::string_view order) {
    // An iteration of a loop is no row of a table.
    if (run.pattern.empty() || run.source == StepSource::PythonLoop) return {};
    if (run.source != StepSource::KernelPattern) return rangesLike(run.pattern, order);
    return fmt::format(
        "SELECT s.value AS kernel, k.start, k.\"end\" - k.start AS ns FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName WHERE {} ORDER BY "
        "{}",
        isCalled(run.pattern), order);
}

}  // namespace lanescope::explain
