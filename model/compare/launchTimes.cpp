// SPDX-License-Identifier: Apache-2.0
#include "model/compare/launchTimes.h"

#include <algorithm>
#include <utility>

#include "model/values/Statistics.h"

namespace lanescope::compare {

LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows,
                        std::span<const GpuWork> work, const WorkPlaces& places) {
    LargeVector<uint32_t> calls(trace.memory.get());
    auto window = windows.begin();
    for (const GpuWork& each : work) {
        while (window != windows.end() && window->endNs <= each.startNs) ++window;
        if (window == windows.end()) break;
        if (each.startNs >= window->startNs && each.call != noIndex &&
            each.event.kind() == EventKind::Kernel)
            calls.push_back(each.call);
    }
    // The kernels of a graph have one call, and those of other streams may run between them.
    std::sort(calls.begin(), calls.end());
    const auto end = std::unique(calls.begin(), calls.end());
    LargeVector<int64_t> takenNs(trace.memory.get());
    for (auto call = calls.begin(); call != end; ++call)
        takenNs.push_back(trace.apiCalls.endNs[*call] - trace.apiCalls.startNs[*call]);
    const size_t count = takenNs.size();
    auto [place, placeCount] = places.ofMost({calls.data(), count});
    return {static_cast<int64_t>(count), static_cast<int64_t>(medianOf({takenNs.data(), count})),
            std::move(place), placeCount};
}

}  // namespace lanescope::compare
