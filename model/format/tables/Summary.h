#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

// What a comparison needs to know of a run; `model/compare` writes and reads it.

struct SummaryFacts : TableOf<SummaryFacts> {
    constexpr SummaryFacts()
        : TableOf("LANESCOPE_SUMMARY", "a fact of the stored summary or of the run") {}

    Text<"name"> name{this, "the fact; gpuName and healthWarning may come several times"};
    OptionalAny<"value"> value{this, "a number or a text"};
};
inline constexpr SummaryFacts summaryFacts;

struct SummaryWorkers : TableOf<SummaryWorkers> {
    constexpr SummaryWorkers()
        : TableOf("LANESCOPE_SUMMARY_WORKERS", "a worker: one process on one GPU") {}

    Integer<"worker"> worker{this, "its number, from 0"};
    Integer<"pid"> pid{this, "a plain PID"};
    OptionalInteger<"rank"> rank{this, "of a distributed job; NULL outside one"};
    OptionalText<"processName"> processName{this, "as on its command line"};
    Integer<"gpuId"> gpuId{this, "the GPU"};
    OptionalText<"gpuName"> gpuName{this, "as the driver calls it"};
    Integer<"endedAbnormally"> endedAbnormally{this, "1: the last of its events may be missing"};
    Integer<"foundSteps"> foundSteps{this, "how many steps were found"};
    Integer<"warmUpSteps"> warmUpSteps{this, "how many were left out at the beginning"};
    Integer<"isLastLeftOut"> isLastLeftOut{this, "1: the last was cut and left out"};
};
inline constexpr SummaryWorkers summaryWorkers;

struct SummarySteps : TableOf<SummarySteps> {
    constexpr SummarySteps()
        : TableOf("LANESCOPE_SUMMARY_STEPS", "a step; its parts sum to wallNs") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"number"> number{this, "of the step, from 0, warm-up included"};
    OptionalText<"name"> name{this, "of the step"};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    Integer<"wallNs"> wallNs{this, "how long it took, ns"};
    Integer<"compute"> compute{this, "ns"};
    Integer<"exposed_communication"> exposedCommunication{this, "ns"};
    Integer<"exposed_ptop"> exposedPtoP{this, "copies between GPUs, ns"};
    Integer<"exposed_htod"> exposedHtoD{this, "copies to a GPU, ns"};
    Integer<"exposed_dtoh"> exposedDtoH{this, "copies to the host, ns"};
    Integer<"exposed_dtod"> exposedDtoD{this, "copies within a GPU, ns"};
    Integer<"exposed_other_copy"> exposedOtherCopy{this, "ns"};
    Integer<"memset"> memset{this, "ns"};
    Integer<"data_loading_idle"> dataLoadingIdle{this, "ns"};
    Integer<"synchronization_idle"> synchronizationIdle{this, "ns"};
    Integer<"launch_bound_idle"> launchBoundIdle{this, "ns"};
    Integer<"other_idle"> otherIdle{this, "ns"};
};
inline constexpr SummarySteps summarySteps;

struct SummaryContributors : TableOf<SummaryContributors> {
    constexpr SummaryContributors()
        : TableOf("LANESCOPE_SUMMARY_CONTRIBUTORS", "what a part is made of, over all steps") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"part"> part{this, "the part, by its identifier"};
    Text<"kind"> kind{this, "what contributes"};
    Text<"name"> name{this, "its name"};
    Text<"path"> path{this, "NVTX ranges around it"};
    Integer<"count"> count{this, "how many there were"};
    Integer<"exposedNs"> exposedNs{this, "sums to the part over all steps, ns"};
    Integer<"totalNs"> totalNs{this, "with hidden time, ns"};
    Integer<"bytes"> bytes{this, "bytes"};
    Integer<"busBytes"> busBytes{this, "bytes that each link carried"};
    Integer<"firstPlace"> firstPlace{this, "in the first step that has it"};
};
inline constexpr SummaryContributors summaryContributors;

struct SummaryOutliers : TableOf<SummaryOutliers> {
    constexpr SummaryOutliers()
        : TableOf("LANESCOPE_SUMMARY_OUTLIERS", "a step that took much longer") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"number"> number{this, "of the step"};
    OptionalText<"name"> name{this, "of the step"};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    Integer<"wallNs"> wallNs{this, "how long it took, ns"};
    Integer<"excessNs"> excessNs{this, "over the median, ns"};
    Text<"part"> part{this, "that grew most, by its identifier"};
    Integer<"partExcessNs"> partExcessNs{this, "by how much, ns"};
    Text<"contributor"> contributor{this, "that grew most in it"};
    Text<"path"> path{this, "NVTX ranges around that"};
};
inline constexpr SummaryOutliers summaryOutliers;

}  // namespace lanescope::tables
