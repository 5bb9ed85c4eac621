#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/export/comparison/comparisonRows.h"

namespace lanescope {

// Sentences that text and HTML share. They hold names from the traces as they are: the caller
// escapes.

/// "[2] " before what is about one of several candidates; empty where there is only one.
std::string candidateMark(const ComparisonReport& report, size_t candidate);
/// What heads its columns: "[2]", or "Candidate" where there is only one.
std::string candidateColumn(const ComparisonReport& report, size_t candidate);

/// Something that makes the numbers doubtful.
struct ReportCaution {
    std::optional<size_t> candidate;  ///< Empty: it is said about all of several candidates alike.
    std::string sentence;
};
/// The cautions of all candidates, each sentence once.
std::vector<ReportCaution> cautionsOf(const ComparisonReport& report);

/// A step that stands out; those of the baseline once, however many candidates there are.
struct ReportOutlier {
    std::optional<size_t> candidate;  ///< Empty: of the baseline.
    const RunOutlier* outlier = nullptr;
};
std::vector<ReportOutlier> outliersOf(const ComparisonReport& report);

/// "exposed communication +12.30 ms, AllReduce in backward".
std::string outlierReason(const OutlierStep& step);

/// "20 steps "step #", rank 0, GPU 0: median 78.18 ms".
std::string stepsSentence(const RunSummary& run, uint32_t worker, const StepDistribution& steps);
/// "steps "step #"", "steps found by their kernels", "the whole run as one step".
std::string sourceSentence(const RunSummary& run);
/// "rank 0, GPU 0", or "rank 0, GPU 0 against rank 1, GPU 1".
std::string placeSentence(const ComparisonReport& report, const CandidateGroup& group);

/// "< 0.001" or "0.042"; with "p = " or "p < " before.
std::string pValueText(double pValue);
std::string pValueEquation(double pValue);
/// "199.2", "0.0021": a bandwidth in GB/s without its unit, "-" for none.
std::string rateText(const ContributorShare* share);
/// "2 x NVIDIA H200, joined by NVLink".
std::string gpusSentence(const SummaryFacts& facts);

}  // namespace lanescope
