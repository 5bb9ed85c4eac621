// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/groupKernels.h"
#include "model/analysis/stepPatterns.h"
#include "model/explain/Rule.h"
#include "model/format/Result.h"

namespace lanescope::explain {

/// Forecast of the saving of a finding per step.
struct Saving {
    int64_t ns = 0;
    int64_t marginNs = 0;  ///< Half of its 95 % interval.
    bool operator==(const Saving&) const = default;
};

/// A problem that a rule found in a run. Times are of the mean step.
struct Finding {
    const Rule* rule = nullptr;  ///< Never null in an explanation.
    /// Index into `RunSummary::workers`.
    uint32_t worker = 0;
    /// Time of the finding per step, no forecast: most changes save less.
    int64_t maxGainNs = 0;
    double share = 0;  ///< Share of the mean step.
    /// Saving by the replay of the recorded causes (`StepForecast`); nullopt if there is none.
    std::optional<Saving> saving;
    bool isOnlyOfSubject = true;  ///< Its time is only of its rule's subject, so a replay can forecast the saving.
    int64_t forecastNs = 0;       ///< Saving per step by rates or by what remains, with idle time in loops; 0 without.
    /// Additional late launches in the mean step that may be profiler overhead.
    int64_t overheadNs = 0;
    /// Main contributor ("in host code (no CUDA call)", "AllReduce") and its NVTX ranges; empty if unknown.
    analysis::ContributorName contributor;
    std::string path;
    analysis::CodePlace launched;  ///< Line of the launch, if it is work (`analysis::Contributor::launched`).
    double countPerStep = 0;       ///< Count of the contributor; 0 if meaningless.
    int64_t mainNs = 0;            ///< Contributor's part of the time, overhead included; 0 if unknown.
    /// Time of an example on the clock of the trace: the longest step, if relevant.
    std::optional<int64_t> atNs;
    /// The affected steps if they form a pattern.
    std::optional<analysis::StepPattern> pattern;
    /// Findings about the same pauses at the same line, which have no place of their own.
    std::vector<Finding> merged;
    std::string written;   ///< Its kernels' line outside of backward passes (`analysis::KernelGroup::written`).
    std::string sentence;  ///< Text for people.
    std::string code;      ///< Text of its line: "a.py:49: x = torch.tensor(rows)". Empty if unknown.
    std::string brief;     ///< The same in at most `maxBriefWords` words: whose, what, and the main cause.
    std::string advice;    ///< First thing to try.
    /// A query of the trace file that shows the finding in its own steps and ranges; empty if none does.
    std::string sql;
    int64_t evidenceNs = 0;  ///< Sum of the column `ns` of its rows, over all steps; 0 if unknown.
    bool operator==(const Finding&) const = default;
};

inline constexpr size_t maxBriefWords = 12;

/// Time of one worker's mean step by part, rounded so that it sums up.
struct WorkerParts {
    uint32_t worker = 0;
    int64_t meanNs = 0;
    analysis::StepParts parts;  ///< They sum to `meanNs`.
    bool operator==(const WorkerParts&) const = default;
};

/// Explanation of one run.
struct Explanation {
    std::string sentence;       ///< The answer in one sentence.
    std::string what = "step";  ///< Unit of all times: "step", or "run" for a run without steps.
    /// The explained steps and their share of the run: "59 of 60 steps "step #", in all 71 % of the time from the first
    /// to the last GPU work. Skipped: 1 as warm-up.". Empty without steps, and for a run that is explained as a whole.
    std::string steps;
    /// "The GPU computes: matrix products 61 % (bf16), elementwise 21 %." Empty unless compute is the largest part.
    std::string compute;
    std::vector<analysis::FamilySum> families;  ///< The compute time of the critical worker by family, largest first.
    std::vector<WorkerParts> workers;           ///< Workers with steps.
    std::vector<Finding> findings;              ///< Largest possible gain first.
    std::vector<std::string> caveats;           ///< Caveats, as sentences.
    std::string covered;                        ///< `steps` in short: "59 of 60 "step #"". Empty without steps.
    bool operator==(const Explanation&) const = default;
};

/// Rules that are evaluated but not reported.
using MutedRules = std::set<const Rule*>;

/// Explains a run by its summary alone, without the rules in `muted`. O(workers * contributors); any thread.
Explanation explain(const analysis::RunSummary& run, const MutedRules& muted = {}, RuleList rules = allRules());

/// Returns "41.2 %", and with repeated operations "41.2 %, HFU 48.0 %"; empty if unknown or far below a percent.
std::string useText(const analysis::ComputeUse& use);

/// A condition under which a run fails: "launch_bound", "late_rank > 5ms", "any > 10%".
struct RuleCondition {
    std::string text;            ///< Text as written by the user.
    const Rule* rule = nullptr;  ///< Null for "any".
    // The finding must exceed both in the mean step.
    int64_t aboveNs = 0;
    double aboveShare = 0;

    bool isMetBy(const Finding& finding) const {
        return ((rule == nullptr || rule == finding.rule) && finding.maxGainNs > aboveNs &&
                finding.share > aboveShare) ||
               std::ranges::any_of(finding.merged, [this](const Finding& each) { return isMetBy(each); });
    }
};

/// Parses a condition. The error lists the rules, or explains thresholds.
Result<RuleCondition> parseRuleCondition(std::string_view text, RuleList rules = allRules());

/// Parses a rule. The error lists the rules.
Result<const Rule*> parseRule(std::string_view text, RuleList rules = allRules());

}  // namespace lanescope::explain
