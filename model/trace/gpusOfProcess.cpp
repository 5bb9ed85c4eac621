// SPDX-License-Identifier: Apache-2.0
#include "model/trace/gpusOfProcess.h"

#include <map>

namespace lanescope {

namespace {

constexpr double smallestShare = 0.01;

}  // namespace

std::vector<uint32_t> gpusOfProcess(const Trace& trace, uint32_t process) {
    std::map<uint32_t, double> busyNs;
    double allNs = 0;
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Stream) continue;
        const Stream& stream = trace.streams[track.subject];
        if (stream.process != process) continue;
        for (const Lane& lane : track.lanes) {
            const auto ns = static_cast<double>(lane.busyBefore(lane.size()));
            busyNs[stream.gpu] += ns;
            allNs += ns;
        }
    }
    std::vector<uint32_t> gpus;
    for (const auto& [gpu, ns] : busyNs)
        if (ns >= smallestShare * allNs) gpus.push_back(gpu);
    return gpus;
}

}  // namespace lanescope
