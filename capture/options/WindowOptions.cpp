// SPDX-License-Identifier: Apache-2.0
#include "capture/options/WindowOptions.h"

namespace lanescope::agent {

std::optional<int64_t> WindowOptions::count() const {
    const bool mayBeEndless = trigger == WindowTrigger::Time && durationNs == 0;
    if (isEverything() || mayBeEndless || repeat <= 0) return std::nullopt;
    return repeat;
}

void setRange(std::string_view text, WindowOptions& windows) {
    const size_t at = text.rfind('@');
    windows.rangeName = text.substr(0, at);
    windows.anyDomain = at == std::string_view::npos;
    windows.rangeDomain = windows.anyDomain ? std::string_view() : text.substr(at + 1);
}

bool setTriggerRange(std::string_view text, WindowOptions& windows) {
    static constexpr std::string_view nvtx = "nvtx:";
    if (text == "cudaProfilerApi") {
        windows.trigger = WindowTrigger::CudaProfilerCalls;
        return true;
    }
    if (!text.starts_with(nvtx)) return false;
    text.remove_prefix(nvtx.size());
    if (text.empty() || text.front() == '@') return false;
    windows.trigger = WindowTrigger::NvtxRange;
    setRange(text, windows);
    return true;
}

}  // namespace lanescope::agent
