// SPDX-License-Identifier: Apache-2.0
#include "model/compare/workPlaces.h"

#include "model/trace/kinds/workStacks.h"
#include "model/trace/stacks.h"
#include "model/values/Statistics.h"

namespace lanescope::compare {

namespace {

// How a place is meant, above its frame; no trace has as many frames.
constexpr uint32_t lentBit = 1u << 31, capturedBit = 1u << 30, frameBits = capturedBit - 1;

PythonPlace placeOf(const Trace& trace, const GpuWork& work) {
    if (graphNodeOf(trace, work.event) != noIndex) return pythonPlace(trace, work.event);
    if (work.call == noIndex) return {};
    return pythonPlace(trace, EventRef(EventKind::Api, work.call));
}

}  // namespace

WorkPlaces::WorkPlaces(const Trace& trace) : trace_(trace), frames_(ownPlaces(trace)) {}

void WorkPlaces::add(const GpuWork& work) {
    const int64_t ns = work.endNs - work.startNs;
    int64_t& wholeNs = wholeNs_[work.contributor];
    wholeNs = saturatingSum(wholeNs, ns);
    const PythonPlace place = placeOf(trace_, work);
    if (place.stack >= frames_.size() || frames_[place.stack] > frameBits) return;
    const uint32_t key =
        frames_[place.stack] | (place.isLent ? lentBit : 0) | (place.isCaptured ? capturedBit : 0);
    int64_t& launchedNs = launchedNs_[uint64_t{work.contributor} << 32 | key];
    launchedNs = saturatingSum(launchedNs, ns);
}

std::vector<std::string> WorkPlaces::texts(size_t contributors) const {
    std::vector<std::string> made(contributors);
    for (const auto& [key, ns] : launchedNs_) {
        const auto contributor = static_cast<ContributorTable::Id>(key >> 32);
        if (contributor >= contributors || ns <= wholeNs_.at(contributor) - ns) continue;
        const auto place = static_cast<uint32_t>(key);
        made[contributor] = (place & capturedBit) != 0 ? "captured at "
                            : (place & lentBit) != 0   ? "called from "
                                                       : "launched at ";
        made[contributor] += frameText(trace_, place & frameBits);
    }
    return made;
}

}  // namespace lanescope::compare
