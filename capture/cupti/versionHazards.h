// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/log/Records.h"
#include "capture/options/AgentOptions.h"

namespace lanescope::agent {

/// What is known of a run, for judging which faults of its CUPTI matter.
struct HazardFacts {
    uint32_t version = 0;
    bool sawGraphNode = false;  ///< Work inside a CUDA graph, recorded one by one.
    bool isLong = false;        ///< Recording for hours.
};

/// A known fault of some versions of CUPTI, by NVIDIA's release notes.
struct VersionHazard {
    uint32_t firstVersion, endVersion;  ///< From the one on, before the other.
    bool (*matters)(const HazardFacts& facts);
    Severity severity;
    HealthCode code;
    const char* sentence;
};

/// The fault at `index`, or null past the last.
const VersionHazard* versionHazard(size_t index);
/// Whether the fault bears on the run.
bool applies(const VersionHazard& hazard, const HazardFacts& facts);

/// Whether kinds can be switched off while the program works: doing so can lock up CUPTI 13.0.0,
/// and the program with it.
bool mayDisableKinds(uint32_t version);

/// Whether recording CUDA graphs as a whole crashes this CUPTI: 12.4 and 12.5 before their updates,
/// which only the name of the library's file tells ("libcupti.so.2024.1.0"; update 1 is ".1").
bool crashesOnWholeGraphs(uint32_t version, const std::string& realFileName);

}  // namespace lanescope::agent
