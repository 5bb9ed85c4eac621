// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/versionHazards.h"

#include <iterator>

#include "capture/cupti/CuptiLibrary.h"

namespace lanescope::agent {

namespace {

bool always(const HazardFacts&) {
    return true;
}
bool inGraphs(const HazardFacts& facts) {
    return facts.sawGraphNode;
}
bool inLongRuns(const HazardFacts& facts) {
    return facts.isLong;
}

constexpr VersionHazard hazards[] = {
    {CuptiLibrary::version13_0_0, CuptiLibrary::version13_0_1, &always, Severity::Warning,
     HealthCode::Cupti1300,
     "CUPTI 13.0.0 loses synchronization records and may crash; CUDA 13.0 update 1 has a good "
     "one."},
    {CuptiLibrary::version13_2, CuptiLibrary::version13_3, &always, Severity::Info,
     HealthCode::Cupti132Slow,
     "CUPTI 13.2 slows CUDA calls that are made again and again; CUDA 13.3 has a better one."},
    {0, CuptiLibrary::version13_3, &inGraphs, Severity::Info, HealthCode::CuptiGraphLeak,
     "CUPTI before 13.3 loses some memory with each copy in a CUDA graph that it records; for long "
     "runs record graphs as a whole."},
    {0, CuptiLibrary::version13_4 + 1, &inLongRuns, Severity::Info, HealthCode::CuptiLongRun,
     "CUPTI before 13.4 update 1 takes more and more CPU time in runs of many hours, and may name "
     "kernels wrongly after modules were loaded again; for such runs record windows."},
};

}  // namespace

const VersionHazard* versionHazard(size_t index) {
    return index < std::size(hazards) ? &hazards[index] : nullptr;
}

bool applies(const VersionHazard& hazard, const HazardFacts& facts) {
    return facts.version >= hazard.firstVersion && facts.version < hazard.endVersion &&
           hazard.matters(facts);
}

bool mayDisableKinds(uint32_t version) {
    return version != CuptiLibrary::version13_0_0;
}

bool crashesOnWholeGraphs(uint32_t version, const std::string& realFileName) {
    const char* fixed = nullptr;
    if (version == CuptiLibrary::version12_4) fixed = ".2024.1.";
    if (version == CuptiLibrary::version12_5) fixed = ".2024.2.";
    if (!fixed) return false;
    const size_t at = realFileName.find(fixed);
    return at == std::string::npos || realFileName.compare(at + 8, std::string::npos, "0") == 0;
}

}  // namespace lanescope::agent
