// SPDX-License-Identifier: Apache-2.0
#include "model/trace/callWord.h"

#include <algorithm>
#include <array>

namespace lanescope {

namespace {

constexpr std::string_view cuda = "CUDA", hip = "HIP";
/// Calls, of which nearly each tells.
constexpr size_t mostLookedAt = 1000;

bool isOfAmd(const Gpu& gpu) {
    constexpr std::array<std::string_view, 4> words{"AMD", "Instinct", "Radeon", "gfx"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return gpu.name.find(word) != std::string::npos; });
}

}  // namespace

std::string_view callWord(const Trace& trace) {
    const size_t looked = std::min(trace.apiCalls.name.size(), mostLookedAt);
    for (size_t row = 0; row < looked; ++row) {
        const std::string_view call = trace.strings.at(trace.apiCalls.name[row]);
        if (call.starts_with("hip") || call.starts_with("hsa")) return hip;
        if (call.starts_with("cu")) return cuda;
    }
    return std::ranges::any_of(trace.gpus, isOfAmd) ? hip : cuda;
}

std::string_view coresWord(const Gpu& gpu) {
    return isOfAmd(gpu) ? "CUs" : "SMs";
}

}  // namespace lanescope
