// SPDX-License-Identifier: Apache-2.0
#include "model/compare/launchTimes.h"

#include <algorithm>

#include "model/values/Statistics.h"

namespace lanescope::compare {

int64_t LaunchTimes::recorderNs() const {
    const auto each =
        static_cast<double>(std::clamp<int64_t>(medianNs - plainLaunchNs, 0, mostRecorderNs));
    return static_cast<int64_t>(
        std::min(static_cast<double>(count) * each, static_cast<double>(greatestTimeNs)));
}

LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows,
                        std::span<const GpuWork> work) {
    LaunchTimes launches;
    LargeVector<int64_t> takenNs(trace.memory.get());
    auto window = windows.begin();
    uint32_t before = noIndex;
    for (const GpuWork& each : work) {
        while (window != windows.end() && window->endNs <= each.startNs) ++window;
        if (window == windows.end()) break;
        // A graph is launched by one call, and its kernels begin one after the other.
        if (each.startNs < window->startNs || each.call == noIndex || each.call == before) continue;
        before = each.call;
        ++launches.count;
        if (each.event.kind() == EventKind::Kernel)
            takenNs.push_back(trace.apiCalls.endNs[each.call] - trace.apiCalls.startNs[each.call]);
    }
    if (takenNs.size() == 0) return launches;
    const auto middle = takenNs.begin() + static_cast<ptrdiff_t>(takenNs.size() / 2);
    std::nth_element(takenNs.begin(), middle, takenNs.end());
    launches.medianNs = *middle;
    return launches;
}

}  // namespace lanescope::compare
