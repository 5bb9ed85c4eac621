// SPDX-License-Identifier: Apache-2.0
#include "model/notes/markTracks.h"

#include <algorithm>

namespace lanescope {

std::vector<std::string> trackPath(const Trace& trace, uint32_t track) {
    std::vector<std::string> path;
    auto at = static_cast<int64_t>(track);
    while (at >= 0 && at < static_cast<int64_t>(trace.tracks.size())) {
        const Track& step = trace.tracks[static_cast<size_t>(at)];
        path.push_back(step.title);
        if (step.parent >= at) break;
        at = step.parent;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path) {
    if (path.empty()) return noIndex;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].title == path.back() && trackPath(trace, track) == path)
            return track;
    return noIndex;
}

}  // namespace lanescope
