// SPDX-License-Identifier: Apache-2.0
#include "model/trace/gpuNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lanescope {

namespace {

/// Limit of scanned calls; nearly every call has a known prefix.
constexpr size_t maxScannedCalls = 1000;

bool isAmdGpu(const Gpu& gpu) {
    constexpr std::array<std::string_view, 4> words{"AMD", "Instinct", "Radeon", "gfx"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return gpu.name.find(word) != std::string::npos; });
}

}  // namespace

GpuApi gpuApi(const Trace& trace) {
    const size_t scanned = std::min(trace.apiCalls.name.size(), maxScannedCalls);
    for (size_t row = 0; row < scanned; ++row)
        if (const auto api = gpuApiOf(trace.strings.at(trace.apiCalls.name[row]))) return *api;
    return std::ranges::any_of(trace.gpus, isAmdGpu) ? GpuApi::Hip : GpuApi::Cuda;
}

std::string_view processorsName(const Gpu& gpu) {
    return isAmdGpu(gpu) ? "CUs" : "SMs";
}

const std::vector<ThrottleReason>& throttleReasons() {
    static const std::vector<ThrottleReason> reasons{
        {0x1, "idle", false, "it has nothing to do"},
        {0x2, "clocks set by the user", false, "its clocks are set to that"},
        {0x4, "power cap", true, "it draws all the power that it may"},
        {0x8, "hardware slowdown", true, "its hardware slows it down, for heat or power"},
        {0x10, "sync boost", true, "it is held to the clocks of the GPUs in its group"},
        {0x20, "software thermal", true, "it is as hot as it may be in the long run"},
        {0x40, "hardware thermal", true, "it is too hot"},
        {0x80, "hardware power brake", true, "the machine's supply asks it to draw less"},
        {0x100, "display clocks", false, "a display asks for that"},
    };
    return reasons;
}

uint64_t slowingReasons() {
    uint64_t flags = 0;
    for (const ThrottleReason& each : throttleReasons())
        if (each.isSlowdown) flags |= each.bit;
    return flags;
}

std::string throttleReasonNames(double flags) {
    constexpr double maxFlags = 9e15;  // Whole numbers are exact below this.
    if (!(flags > 0) || flags > maxFlags) return {};
    auto bits = static_cast<uint64_t>(flags);
    std::string names;
    for (const ThrottleReason& reason : throttleReasons()) {
        if ((bits & reason.bit) == 0) continue;
        bits &= ~reason.bit;
        if (!reason.isSlowdown) continue;
        if (!names.empty()) names += ", ";
        names += reason.name;
    }
    if (bits != 0) names += fmt::format("{}reason 0x{:x}", names.empty() ? "" : ", ", bits);
    return names;
}

}  // namespace lanescope
