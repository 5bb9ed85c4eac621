// SPDX-License-Identifier: Apache-2.0
// The clocks of many machines, for Python's comparison of ranks. The rules are those of
// entryPoints.cpp.

#include <cstdint>
#include <exception>
#include <vector>

#include "model/merge/fitClocks.h"

/// Fits clocks by what several of them saw (`lanescope::fitClocks`). Sightings come by moment; all
/// moments are causal. `out` takes offset, origin, drift, error and number of moments of each
/// clock, and how often it was set; `settings` takes, of at most `room` of these, clock after clock
/// and by time, its number, the last moment before and the first one after by its own time, by how
/// much it was set, and offset, origin and drift from then on. False for a clock that is none, or
/// without memory.
extern "C" __attribute__((visibility("default"))) bool lanescopeFitClocks(
    uint32_t clocks, int64_t sightings, const uint32_t* moment, const uint32_t* clock,
    const int64_t* beginNs, const int64_t* endNs, double* out, int64_t room,
    double* settings) noexcept {
    using namespace lanescope;
    try {
        std::vector<CommonMoment> moments;
        for (int64_t row = 0; row < sightings; ++row) {
            if (clock[row] >= clocks) return false;
            if (row == 0 || moment[row] != moment[row - 1]) moments.push_back({{}, true});
            moments.back().sightings.push_back({clock[row], beginNs[row], endNs[row]});
        }
        const ClockFit fit = fitClocks(clocks, moments);
        const auto tellLine = [](const ClockLine& line, double*& to) {
            *to++ = static_cast<double>(line.offsetNs);
            *to++ = static_cast<double>(line.originNs);
            *to++ = line.driftNsPerNs;
        };
        for (uint32_t number = 0; number < clocks; ++number) {
            const FittedClock& each = fit.clocks[number];
            tellLine(each.map, out);
            *out++ = static_cast<double>(each.errorNs);
            *out++ = static_cast<double>(each.moments);
            *out++ = static_cast<double>(each.settings.size());
            for (size_t place = 0; place < each.settings.size() && room > 0; ++place, --room) {
                const ClockSetting& setting = each.settings[place];
                for (const int64_t value :
                     {int64_t{number}, setting.afterNs, setting.beforeNs, setting.byNs})
                    *settings++ = static_cast<double>(value);
                tellLine(each.map.later[place].line, settings);
            }
        }
        return true;
    } catch (const std::exception&) {
        return false;
    }
}
