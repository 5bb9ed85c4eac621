// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/firstArrangement.h"

#include <algorithm>
#include <climits>
#include <tuple>

#include "model/trace/gpusOfProcess.h"

namespace lanescope::views {
namespace {

/// GPUs before processes, each by rank; what belongs to no rank stands behind.
using Place = std::tuple<int, int, uint32_t>;

struct Ranks {
    explicit Ranks(const Trace& trace) : ofGpu(trace.gpus.size(), INT_MAX) {
        for (uint32_t process = 0; process < trace.processes.size(); ++process) {
            const std::vector<uint32_t> gpus = gpusOfProcess(trace, process);
            gpuOf.push_back(gpus.empty() ? noIndex : gpus.front());
            const int rank = trace.processes[process].rank.value_or(INT_MAX);
            for (const uint32_t gpu : gpus) ofGpu[gpu] = std::min(ofGpu[gpu], rank);
        }
    }
    Place placeOf(const Track& track) const {
        if (track.kind == TrackKind::Gpu && track.subject < ofGpu.size())
            return {0, ofGpu[track.subject], track.subject};
        if (track.kind == TrackKind::Process && track.subject < gpuOf.size() &&
            gpuOf[track.subject] != noIndex)
            return {1, ofGpu[gpuOf[track.subject]], gpuOf[track.subject]};
        return {2, INT_MAX, noIndex};
    }
    std::vector<int> ofGpu;       ///< The least rank that works on it.
    std::vector<uint32_t> gpuOf;  ///< The first GPU of a process.
};

}  // namespace

TrackArrangement firstArrangement(const Trace& trace) {
    TrackArrangement arrangement;
    const auto gpus = std::count_if(
        trace.tracks.begin(), trace.tracks.end(),
        [](const Track& track) { return track.kind == TrackKind::Gpu && track.parent < 0; });
    if (static_cast<size_t>(gpus) < manyGpus) return arrangement;
    const Ranks ranks(trace);
    const std::vector<std::string> paths = trackPaths(trace.tracks);
    std::vector<uint32_t> top;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].parent < 0) top.push_back(track);
    std::stable_sort(top.begin(), top.end(), [&](uint32_t a, uint32_t b) {
        return ranks.placeOf(trace.tracks[a]) < ranks.placeOf(trace.tracks[b]);
    });
    if (top.size() >= manyRows) arrangement.height = RowHeight::Compact;
    // An arrangement names all tracks, from top to bottom, if they stand otherwise than in the
    // trace.
    const bool isMoved = !std::is_sorted(top.begin(), top.end());
    for (const uint32_t group : top) {
        const TrackKind kind = trace.tracks[group].kind;
        const bool isGroup = kind == TrackKind::Gpu || kind == TrackKind::Process;
        if (isGroup && !trace.tracks[group].isInitiallyFolded)
            arrangement.folded.push_back(paths[group]);
        for (uint32_t track = group; isMoved && track < trace.tracks.size() &&
                                     (track == group || trace.tracks[track].parent >= 0);
             ++track)
            arrangement.order.push_back(paths[track]);
    }
    return arrangement;
}

}  // namespace lanescope::views
