// SPDX-License-Identifier: Apache-2.0
#include "model/trace/GpusOfProcesses.h"

#include <algorithm>
#include <map>

namespace lanescope {

namespace {

constexpr double smallestShare = 0.01;

}  // namespace

GpusOfProcesses::GpusOfProcesses(const Trace& trace) : gpus_(trace.processes.size()) {
    std::vector<std::map<uint32_t, double>> busyNs(trace.processes.size());
    for (const Track& track : trace.tracks) {
        if (track.kind != TrackKind::Stream) continue;
        const Stream& stream = trace.streams[track.subject];
        for (const Lane& lane : track.lanes)
            busyNs[stream.process][stream.gpu] += static_cast<double>(lane.busyBefore(lane.size()));
    }
    for (size_t process = 0; process < busyNs.size(); ++process) {
        const std::map<uint32_t, double>& spent = busyNs[process];
        double mostNs = 0;
        for (const auto& [gpu, ns] : spent) mostNs = std::max(mostNs, ns);
        std::vector<uint32_t>& gpus = gpus_[process];
        for (const auto& [gpu, ns] : spent)
            if (ns >= smallestShare * mostNs) gpus.push_back(gpu);
        counts_.push_back(gpus.size());
        if (gpus.size() <= mostGpus) continue;
        std::ranges::stable_sort(
            gpus, [&spent](uint32_t a, uint32_t b) { return spent.at(a) > spent.at(b); });
        gpus.resize(mostGpus);
        std::ranges::sort(gpus);
    }
}

}  // namespace lanescope
