// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/explain/Explanation.h"
#include "model/explain/RunFindings.h"
#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/format/threadStates.h"
#include "model/trace/Trace.h"

namespace lanescope::explain {

/// Place of a finding in the trace.
struct FindingPlace {
    TimeRange step;  ///< The shown step; the place itself between steps.
    TimeRange
        range;  ///< The gap, the work or the time that is the finding there; the whole step if there is no single one.
    TimeRange view;  ///< Shows the range in its step; a part of the step if the range would be invisible in it.
    /// The work that takes the time; invalid for idle time and if unknown.
    EventRef event;
    bool isGap = false;                 ///< `range` is a gap of the GPU.
    std::optional<uint32_t> stepIndex;  ///< In `WorkerSummary::steps`.
};

/// Returns an example of a finding, one of the most expensive: the gap before late work, the copy, the collective for
/// which the other ranks wait, or the place of its rule (`Rule::place`). A finding about single steps has its place in
/// one of these, others elsewhere where possible. No two of `all`, the findings of the explanation in their order, have
/// the same range. Fails if the trace is not that of the summary, which was made with the default selection. O(n log n)
/// in the events of its worker for each finding up to it, of all workers for a late rank; any thread.
Result<FindingPlace> placeOf(const Trace& trace, const analysis::RunSummary& run, const Finding& finding,
                             std::span<const Finding> all = {});

/// A query of the trace file for the time of a worker's GPU. SQLite splits that time at the events of the file, so that
/// the rows add up to the time of a finding. Sets of intervals ("layers") that may overlap decide about each piece.
class EvidenceQuery {
  public:
    EvidenceQuery(const analysis::RunSummary& run, uint32_t worker) : run_(run), worker_(run.workers[worker]) {}
    /// For the worker of a finding.
    explicit EvidenceQuery(const FindingText& text) : EvidenceQuery(text.run(), text.finding().worker) {}

    /// Adds the calls of the worker's process that fulfil a condition about `s.value`, their name.
    void addCalls(std::string_view layer, std::string_view condition);
    void addCalls(std::string_view layer, const std::vector<std::string>& names);
    /// Adds the layer "sync": calls of the worker's process that wait for the GPU.
    void addWaits();
    /// Adds the times in which the launching threads of the worker's process were in one of these states, or only its
    /// main thread. The file must have been recorded by Lanescope.
    void addStates(std::string_view layer, const std::vector<ThreadState>& states, bool isOfMain);
    /// Adds the times in which launching threads of the worker's process were sampled in functions of Python files with
    /// one of these endings. Lanescope must have recorded the file.
    void addFunctionsOf(std::string_view layer, const std::vector<std::string_view>& fileEndings);
    /// Adds the times of captures, and of the instantiation of their graphs.
    void addCaptures(std::string_view layer);
    /// Adds the ranges of these known names in the worker's process.
    void addRanges(std::string_view layer, const std::vector<std::string>& names);

    /// Returns rows for gaps between GPU work: start, ns in the steps, the next work and the call that launched it.
    /// `where` is a condition of the layers (`p.layer > 0`), of `g.late` and `g.queued` (launched too late, in time),
    /// and `g.next` ("HtoD", the name of a kernel).
    std::string gaps(std::string_view where) const;
    /// Returns the same rows for the waits (`addWaits`) and the time after them that is due to them, or for the rest.
    std::string gapsByWaits(std::string_view where, bool isOfWaits) const;
    /// Returns rows for the gaps outside all steps.
    std::string pauses() const;
    /// Returns rows for work that `mine` selects, with the time in which nothing of `other` ran: start, ns, name.
    std::string exposed(const std::vector<std::string>& mine, const std::vector<std::string>& other) const;
    /// Returns rows for steps: number, start, ns, time of `part` in `part_ns`, 1 in `longer` for `affected` ones.
    Evidence steps(analysis::StepPart part, const std::vector<uint32_t>& affected) const;
    /// Returns rows for the workers of a run: label, and ns in which only collectives ran, or other kernels ran.
    static std::string perWorker(const analysis::RunSummary& run, bool isOfCollectives);

    // Sets of GPU work, each with the columns start, end, launch and name.
    std::string collectives() const;  ///< NCCL's kernels.
    /// All other kernels without these names, and graphs that are recorded as a whole.
    std::string otherKernels(const std::vector<std::string>& without = {}) const;
    std::string kernelsNamed(const std::vector<std::string>& names) const;  ///< At most `maxNames`.
    std::string copies(std::string_view condition = {}) const;
    std::string memsets() const;

  private:
    std::string work(std::string_view table, std::string_view name, std::string_view join,
                     std::string_view condition) const;
    std::string gapPieces() const;
    bool hasWaits() const;
    std::vector<TimeRange> mergedSteps() const;
    std::string spans() const;
    std::string allWork() const;
    std::string ofProcess(std::string_view column) const;
    bool has(analysis::ContributorKind kind) const;

    const analysis::RunSummary& run_;
    const analysis::WorkerSummary& worker_;
    std::vector<std::pair<std::string, std::string>> layers_;  ///< Name and query of start and end.
};

/// Maximum names of kernels or calls in a query.
inline constexpr size_t maxNames = 40;

/// Returns true for contributors of a finding.
using IsOf = bool (*)(const analysis::Contributor&);

/// Returns the exposed time of contributors in all steps.
int64_t sumNs(const analysis::WorkerSummary& worker, IsOf isOf);
/// Returns the names of kernels, each once.
std::vector<std::string> namesOf(const analysis::WorkerSummary& worker, IsOf isOf);
/// Returns the names of the calls in or after which the GPU was idle, each once.
std::vector<std::string> callsOf(const analysis::WorkerSummary& worker, IsOf isOf);

/// Returns the gaps in which the CPU was in the calls of idle time of a kind.
Evidence gapsInCalls(const FindingText& text, IsOf isOf);

/// Returns the query for kernels that their names alone identify.
Evidence evidenceByName(const FindingText& text, bool (*isOf)(const analysis::KernelGroup&));

/// Returns a text as an SQL literal.
std::string sqlText(std::string_view text);

}  // namespace lanescope::explain
