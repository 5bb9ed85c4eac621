// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/format/TimeRange.h"

namespace lanescope::explain {

struct Finding;
class FindingText;
class RunFindings;

/// Rows of a trace file that show a finding.
struct Evidence {
    std::string sql;    ///< Empty if a file has no such rows.
    int64_t sumNs = 0;  ///< Sum of their column `ns`, over all steps; 0 if they are no times of the finding.
};

/// A problem that one run can show: its texts, and functions that find and report it. Its address identifies it.
struct Rule {
    std::string_view id = {};     ///< Name for users and files: "host_sync".
    std::string_view title = {};  ///< A finding in at most seven words: "GPU waits for launches".
    std::string_view finds = {};  ///< Its condition, in one sentence.
    /// First advice. {api} stands for "CUDA" or "HIP", {prefix} for "cuda" or "hip".
    std::string_view advice = {};
    std::string_view jaxAdvice = {};    ///< Advice for programs of JAX; empty for `advice`.
    std::string_view otherAdvice = {};  ///< Advice for programs without a known framework; empty for `advice`.
    /// A query of the trace file that shows a finding; empty if none does, or if `evidence` makes it.
    std::string_view sql = {};
    /// Removable calls or work of a finding: a forecast without them replaces `Finding::maxGainNs`.
    std::optional<causality::Subject> subject = std::nullopt;
    /// Adds the findings of a run (`RunFindings::add`).
    void (*find)(RunFindings& run) = nullptr;
    /// Returns the sentence of a finding.
    std::string (*say)(const FindingText& text) = nullptr;

    // Most rules need none of the following members.

    /// Returns the rows for a finding by the names and steps of the run. Null for `sql`.
    Evidence (*evidence)(const FindingText& text) = nullptr;
    /// Returns the advice for a finding if it depends on the evidence. Null for `adviceOf` the rule.
    std::string (*advise)(const FindingText& text) = nullptr;
    /// Returns the place of a finding. Null or nullopt for the longest piece of its contributor.
    std::optional<TimeRange> (*place)(const analysis::RunSummary& run, const Finding& finding) = nullptr;
    /// Returns the part that makes single steps longer, nullopt if not all of them. Null for findings about all steps.
    std::optional<analysis::StepPart> (*longerPart)(const analysis::RunSummary& run, const Finding& finding) = nullptr;
    /// Moves a cause before its consequences in findings that are sorted by time.
    void (*order)(const analysis::RunSummary& run, std::vector<Finding>& findings) = nullptr;
    /// The part of the step that contains all of a finding about a thread; else nullopt.
    std::optional<analysis::StepPart> part = std::nullopt;
    bool isOfLateRank = false;    ///< All other ranks wait for the worker of a finding.
    bool isOfLaunches = false;    ///< A finding has the line of most launches if that of its thread is unknown.
    bool isForNcclOnly = false;   ///< Also valid if only NCCL's kernels are known.
    bool isBetweenSteps = false;  ///< The time of a finding is between the steps.
    bool namesWorker = false;     ///< The sentence of a finding names its worker, or is about several.
    bool isEstimate = false;      ///< Cause or time of a finding are estimated, not measured.

    /// Returns true for findings about single steps instead of all.
    bool isOfSingleSteps() const { return longerPart != nullptr; }
};

using RuleList = std::span<const Rule* const>;

/// Returns all rules in the order of evaluation: a rule relies on the findings of earlier ones.
RuleList allRules();

/// Returns null for a name that no rule has.
const Rule* ruleCalled(std::string_view id, RuleList rules = allRules());

}  // namespace lanescope::explain
