// SPDX-License-Identifier: Apache-2.0
#include "model/notes/markTracks.h"

#include <algorithm>
#include <string_view>

#include "model/values/lowerCase.h"

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

namespace {

/// Streams were once called by their number alone: "Stream 7" is "Compute, stream 7".
bool isCalled(std::string_view title, std::string_view wanted) {
    if (title == wanted) return true;
    const bool isOfStream = wanted.starts_with("Stream ") || wanted.starts_with("Default stream ");
    return isOfStream && title.size() > wanted.size() + 1 &&
           title[title.size() - wanted.size() - 2] == ',' &&
           title[title.size() - wanted.size()] == lowerCase(wanted.front()) &&
           title.substr(title.size() - wanted.size() + 1) == wanted.substr(1);
}

bool isCalled(const Trace& trace, uint32_t track, const std::vector<std::string>& path) {
    const std::vector<std::string> titles = trackPath(trace, track);
    return std::equal(
        titles.begin(), titles.end(), path.begin(), path.end(),
        [](const auto& title, const auto& wanted) { return isCalled(title, wanted); });
}

}  // namespace

uint32_t trackOfPath(const Trace& trace, const std::vector<std::string>& path) {
    if (path.empty()) return noIndex;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (isCalled(trace.tracks[track].title, path.back()) && isCalled(trace, track, path))
            return track;
    return noIndex;
}

}  // namespace lanescope
