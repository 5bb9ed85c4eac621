// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/WorkPlaces.h"

#include <algorithm>
#include <string_view>

#include "model/numbers/Statistics.h"
#include "model/trace/Column.h"
#include "model/trace/stacks.h"

namespace lanescope::analysis {

namespace {

// Meaning of a place, in bits above its frame; no trace has as many frames.
constexpr uint32_t lentBit = 1u << 31, capturedBit = 1u << 30, frameBits = capturedBit - 1;
constexpr double minLineShare = 0.2;

}  // namespace

WorkPlaces::WorkPlaces(const Trace& trace, std::span<const uint32_t> ownPlaces) : trace_(trace), frames_(ownPlaces) {}

PythonPlace WorkPlaces::placeOf(const GpuWork& work) const {
    if (frames_.empty()) return {};
    if (graphNodeOf(trace_, work.event) != noIndex) return pythonPlace(trace_, work.event);
    if (work.call == noIndex) return {};
    return pythonPlace(trace_, EventRef(EventKind::Api, work.call));
}

void WorkPlaces::add(const GpuWork& work) {
    if (frames_.empty()) return;
    const std::optional<uint32_t> key = keyOf(placeOf(work));
    if (!key) return;
    int64_t& launchedNs = launchedNs_[uint64_t{work.contributor} << 32 | *key];
    launchedNs = saturatingSum(launchedNs, work.endNs - work.movingFromNs);
}

std::optional<uint32_t> WorkPlaces::keyOf(const PythonPlace& place) const {
    if (place.stack >= frames_.size() || frames_[place.stack] > frameBits) return std::nullopt;
    return frames_[place.stack] | (place.isLent ? lentBit : 0) | (place.isCaptured ? capturedBit : 0);
}

bool WorkPlaces::isOfCaller(uint32_t key) { return (key & lentBit) != 0; }

std::string WorkPlaces::textOf(uint32_t key) const {
    const bool isLent = (key & lentBit) != 0;
    const std::string_view relation = (key & capturedBit) != 0 ? (isLent ? "captured by a call from " : "captured at ")
                                      : isLent                 ? "called from "
                                                               : "launched at ";
    return std::string(relation) + frameText(trace_, key & frameBits);
}

std::pair<std::string, int64_t> WorkPlaces::ofMost(std::span<const uint32_t> calls) const {
    std::unordered_map<uint32_t, int64_t> counts;
    for (const uint32_t call : calls)
        if (const auto key = keyOf(pythonPlace(trace_, EventRef(EventKind::Api, call)))) ++counts[*key];
    std::pair<uint32_t, int64_t> most{0, 0};
    for (const auto& [key, count] : counts)
        if (count > most.second || (count == most.second && key < most.first)) most = {key, count};
    const auto least = minLineShare * static_cast<double>(calls.size());
    if (most.second == 0 || static_cast<double>(most.second) < least) return {};
    return {textOf(most.first), most.second};
}

std::vector<std::string> WorkPlaces::texts(std::span<const Contributor> contributors) const {
    std::vector<std::string> made(contributors.size());
    for (const auto& [key, ns] : launchedNs_) {
        const uint64_t number = key >> 32;
        if (number >= contributors.size()) continue;
        const Contributor& contributor = contributors[number];
        const int64_t exposedNs = std::min(contributor.exposedNs, contributor.totalNs);
        const int64_t overlappedNs = contributor.totalNs - exposedNs;
        // In the worst case all overlapped time belongs to this line.
        if (ns - overlappedNs > exposedNs / 2) made[number] = textOf(static_cast<uint32_t>(key));
    }
    return made;
}

LaunchTimes launchTimes(const Trace& trace, std::span<const TimeRange> windows, const WorkList& work,
                        const WorkPlaces& places) {
    LargeVector<uint32_t> calls(trace.memory.get());
    auto window = windows.begin();
    for (WorkList::Reader each(work); !each.isAtEnd(); each.next()) {
        while (window != windows.end() && window->endNs <= each->startNs) ++window;
        if (window == windows.end()) break;
        if (each->startNs >= window->startNs && each->call != noIndex && each->event.kind() == EventKind::Kernel)
            calls.push_back(each->call);
    }
    // The kernels of a graph have one call, and those of other streams may run between them.
    std::ranges::sort(calls);
    const auto end = std::unique(calls.begin(), calls.end());
    LargeVector<int64_t> takenNs(trace.memory.get());
    takenNs.reserve(static_cast<size_t>(end - calls.begin()));
    ColumnReader startNs(trace.apiCalls.startNs), endNs(trace.apiCalls.endNs);
    for (auto call = calls.begin(); call != end; ++call) takenNs.push_back(endNs[*call] - startNs[*call]);
    const size_t count = takenNs.size();
    auto [place, placeCount] = places.ofMost({calls.data(), count});
    return {static_cast<int64_t>(count), static_cast<int64_t>(medianOf({takenNs.data(), count})), std::move(place),
            placeCount};
}

}  // namespace lanescope::analysis
