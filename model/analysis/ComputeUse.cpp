// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/ComputeUse.h"

#include <algorithm>

#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

std::optional<double> shareOf(double rate, int64_t peak) {
    return peak > 0 ? std::optional(rate / static_cast<double>(peak)) : std::nullopt;
}

}  // namespace

std::string_view identifier(MfuSource source) { return enumText(source, {"none", "counters", "shapes"}); }

bool ComputeUse::isCounted() const {
    return countedNs > 0 && modelPerStep > 0 &&
           static_cast<double>(knownKernelNs) >= minCountedShare * static_cast<double>(kernelNs);
}

double ComputeUse::countedPerSecond(bool withRepeated) const {
    if (!isCounted()) return 0;
    const double perStep = static_cast<double>(modelPerStep) + static_cast<double>(withRepeated ? repeatedPerStep : 0);
    return perStep * static_cast<double>(countedSteps) * 1e9 / static_cast<double>(countedNs);
}

MfuSource ComputeUse::source() const {
    // Shapes of a few steps, recorded for the purpose, make these longer.
    const bool areFew = readings > 0 && 2 * countedSteps < readSteps;
    if (isCounted() && !areFew) return MfuSource::Shapes;
    return readings > 0 ? MfuSource::Counters : MfuSource::None;
}

std::optional<double> ComputeUse::mfu() const { return source() == MfuSource::Shapes ? byShapes() : byCounters(); }

std::optional<double> ComputeUse::hfu() const {
    return isCounted() ? shareOf(countedPerSecond(true), peakPerSecond()) : std::nullopt;
}

std::optional<double> ComputeUse::byShapes() const {
    return isCounted() ? shareOf(countedPerSecond(false), peakPerSecond()) : std::nullopt;
}

std::optional<double> ComputeUse::byCounters() const {
    return readings > 0 ? shareOf(static_cast<double>(activePerSecond), peakPerSecond()) : std::nullopt;
}

int64_t ShapedWork::aboveRoofNs() const {
    if (roofNs <= 0) return 0;
    // Stored numbers may have any value.
    const double ns = static_cast<double>(kernelNs) - static_cast<double>(roofNs) * static_cast<double>(count);
    return static_cast<int64_t>(std::clamp(ns, 0.0, 1e18));
}

std::optional<double> ShapedWork::ofRoof() const {
    if (roofNs <= 0 || kernelNs <= 0) return std::nullopt;
    return static_cast<double>(roofNs) * static_cast<double>(count) / static_cast<double>(kernelNs);
}

}  // namespace lanescope::analysis
