// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"

namespace lanescope::explain {

/// Returns the fact that only the steps, or the rank, of a finding have; null if there is none.
const analysis::Distinction* distinctionOf(const analysis::WorkerSummary& worker, const Finding& finding);

/// Parts of the sentence of a finding in the words of its run. Refers to all that it is made of.
class FindingText {
  public:
    FindingText(const analysis::RunSummary& run, const Explanation& explanation, const Finding& finding)
        : run_(run), made_(explanation), finding_(finding) {}

    const analysis::RunSummary& run() const { return run_; }
    const Finding& finding() const { return finding_; }
    const analysis::WorkerSummary& worker() const { return run_.workers[finding_.worker]; }
    /// Returns true if the same worker has a finding of a rule.
    bool has(const Rule& rule) const;

    /// Returns the repeated unit of the run: "step", "request".
    std::string unit() const;
    /// Returns " per step", or nothing for a run without steps.
    std::string per() const;
    double stepCount() const { return static_cast<double>(worker().steps.size()); }
    /// Returns "3.100 ms of a step (4.2 %)", or "... of the run (4.2 %)" for a run without steps.
    std::string time() const;
    /// Returns the short name of the contributor.
    std::string what() const;
    /// Returns " in forward, train.py:88": ranges and line of the contributor, as far as known.
    std::string where() const;
    /// Returns name and place of the contributor.
    std::string main() const { return what() + where(); }
    /// Returns "12.1 per step", or "12 in all" for a run without steps.
    std::string times() const;
    /// Returns "Copies take 3.100 ms of a step (4.2 %): mostly DtoD in forward, 12.1 per step." for "Copies take".
    std::string taking(std::string_view subject) const;
    /// Returns the gaps of the idle time: "in 12.1 gaps per step"; for rare ones "in 5 pauses of 40.20 ms, one every 12
    /// steps".
    std::string gaps() const;
    /// Returns the same for rare gaps, after a comma; else empty.
    std::string rarely() const;

    /// Returns another finding about all steps with the same cause and place; null if there is none.
    const Finding* ofSameCause() const;
    /// Returns advice about a cause that only the finding's steps or rank have, or of another finding, or `otherwise`.
    std::string adviseCause(std::string_view otherwise) const;
    /// Returns the fact that only the steps, or the rank, of the finding have; null if there is none.
    const analysis::Distinction* distinction() const { return distinctionOf(worker(), finding_); }

    /// Returns ' Only these steps have the range "tokenizer hiccup", 8.300 ms in each of 9 steps.', or of a rank.
    std::string onlyThere() const;

  private:
    bool isWhole() const { return run_.source == StepSource::WholeRun; }

    const analysis::RunSummary& run_;
    const Explanation& made_;
    const Finding& finding_;
};

/// Returns the share of a whole; 0 if there is none.
double shareOf(int64_t part, int64_t whole);
/// Returns "4.2 %" for a share of 0.042.
std::string shareText(double share);
/// Returns the text with a capital letter first.
std::string capitalized(std::string text);

}  // namespace lanescope::explain
