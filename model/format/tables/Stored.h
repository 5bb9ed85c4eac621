// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

// What is made of the events when a recording is closed, so that no events are read for it later.
// One family with one version, `storedVersion`; `model/compare` writes and reads it.

struct StoredFacts : TableOf<StoredFacts> {
    constexpr StoredFacts()
        : TableOf("LANESCOPE_STORED", "a fact of what is stored or of the run") {}

    Text<"name"> name{this, "the fact; gpuName may come several times"};
    OptionalAny<"value"> value{this, "a number or a text"};
};
inline constexpr StoredFacts storedFacts;

struct StoredHealth : TableOf<StoredHealth> {
    constexpr StoredHealth()
        : TableOf("LANESCOPE_STORED_HEALTH", "a warning about the run, gravest first") {}

    Integer<"severity"> severity{this, "as in LANESCOPE_HEALTH"};
    Text<"code"> code{this, "as in LANESCOPE_HEALTH; it may be one of a reader"};
    OptionalInteger<"globalPid"> globalPid{this, "the process it is about; NULL for the whole run"};
    OptionalInteger<"count"> count{this, "how many; NULL if not countable"};
    Text<"sentence"> sentence{this, "for the user"};
};
inline constexpr StoredHealth storedHealth;

struct StoredWorkers : TableOf<StoredWorkers> {
    constexpr StoredWorkers()
        : TableOf("LANESCOPE_STORED_WORKERS", "a worker: one process on one GPU") {}

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
inline constexpr StoredWorkers storedWorkers;

struct StoredSteps : TableOf<StoredSteps> {
    constexpr StoredSteps()
        : TableOf("LANESCOPE_STORED_STEPS", "a step; its parts sum to wallNs") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"number"> number{this, "of the step, from 0, warm-up included"};
    OptionalText<"name"> name{this, "of the step"};
    Integer<"startNs"> startNs{this, "when it began, ns"};
    Integer<"wallNs"> wallNs{this, "how long it took on the GPU, ns"};
    OptionalInteger<"onCpuNs"> onCpuNs{this, "how long its NVTX range took on the CPU, ns"};
};
inline constexpr StoredSteps storedSteps;

struct StoredParts : TableOf<StoredParts> {
    constexpr StoredParts()
        : TableOf("LANESCOPE_STORED_PARTS", "a part of a step; those of no time are left out") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Integer<"step"> step{this, "place of the step among those of its worker, from 0"};
    Text<"part"> part{this, "the part, by its identifier"};
    Integer<"ns"> ns{this, "how much of the step, ns"};
};
inline constexpr StoredParts storedParts;

struct StoredContributors : TableOf<StoredContributors> {
    constexpr StoredContributors()
        : TableOf("LANESCOPE_STORED_CONTRIBUTORS", "what a part is made of, over all steps") {}

    Integer<"worker"> worker{this, "number of the worker"};
    Text<"part"> part{this, "the part, by its identifier"};
    Text<"kind"> kind{this, "what contributes, by its identifier"};
    Text<"trait"> trait{this, "what else is known of it, by its identifier"};
    Text<"name"> name{this, "its name"};
    Text<"path"> path{this, "NVTX ranges around it"};
    Integer<"count"> count{this, "how many there were"};
    Integer<"exposedNs"> exposedNs{this, "sums to the part over all steps, ns"};
    Integer<"totalNs"> totalNs{this, "with hidden time, ns"};
    Integer<"bytes"> bytes{this, "bytes"};
    Integer<"busBytes"> busBytes{this, "bytes that each link carried"};
    Integer<"firstPlace"> firstPlace{this, "in the first step that has it"};
};
inline constexpr StoredContributors storedContributors;

struct StoredOutliers : TableOf<StoredOutliers> {
    constexpr StoredOutliers()
        : TableOf("LANESCOPE_STORED_OUTLIERS", "a step that took much longer") {}

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
inline constexpr StoredOutliers storedOutliers;

}  // namespace lanescope::tables
