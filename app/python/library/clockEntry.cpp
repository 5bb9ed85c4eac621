// SPDX-License-Identifier: Apache-2.0
// The clocks of many machines, for Python's comparison of ranks. The rules are those of
// entryPoints.cpp.

#include <cstdint>
#include <exception>
#include <vector>

#include "model/merge/fitClocks.h"

/// Fits clocks by what several of them saw (`lanescope::fitClocks`). Sightings come by moment; all
/// moments are causal. `out` takes offset, origin, drift, error and number of moments of each
/// clock. False for a clock that is none, or without memory.
extern "C" __attribute__((visibility("default"))) bool lanescopeFitClocks(
    uint32_t clocks, int64_t sightings, const uint32_t* moment, const uint32_t* clock,
    const int64_t* beginNs, const int64_t* endNs, double* out) noexcept {
    using namespace lanescope;
    try {
        std::vector<CommonMoment> moments;
        for (int64_t row = 0; row < sightings; ++row) {
            if (clock[row] >= clocks) return false;
            if (row == 0 || moment[row] != moment[row - 1]) moments.push_back({{}, true});
            moments.back().sightings.push_back({clock[row], beginNs[row], endNs[row]});
        }
        const ClockFit fit = fitClocks(clocks, moments);
        for (const FittedClock& each : fit.clocks) {
            *out++ = static_cast<double>(each.map.offsetNs);
            *out++ = static_cast<double>(each.map.originNs);
            *out++ = each.map.driftNsPerNs;
            *out++ = static_cast<double>(each.errorNs);
            *out++ = static_cast<double>(each.moments);
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}
