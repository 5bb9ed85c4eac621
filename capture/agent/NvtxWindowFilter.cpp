// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxWindowFilter.h"

namespace lanescope::agent {

namespace {

constexpr size_t mostOpenRanges = 1u << 20;  // a program that never ends its ranges must not cost

}  // namespace

bool NvtxWindowFilter::keeps(const log::NvtxRecord& call, OpenRanges& ofThread) {
    if (windows_.isEverything()) return true;
    const bool isInside = windows_.isOpenAt(call.timestampNs);
    const auto level = static_cast<size_t>(call.level);
    switch (call.event) {
        case log::NvtxEvent::Mark:
            return isInside;
        case log::NvtxEvent::Push: {
            if (ofThread.size() <= call.domain) ofThread.resize(call.domain + size_t{1});
            std::vector<bool>& levels = ofThread[call.domain];
            if (levels.size() <= level) levels.resize(level + 1);
            levels[level] = isInside;
            return isInside;
        }
        case log::NvtxEvent::Pop: {
            if (ofThread.size() <= call.domain || ofThread[call.domain].size() <= level)
                return false;
            const bool isKept = ofThread[call.domain][level];
            ofThread[call.domain][level] = false;
            return isKept;
        }
        case log::NvtxEvent::Start:
            if (started_.size() >= mostOpenRanges) started_.clear();
            started_[call.rangeId] = isInside;
            return isInside;
        case log::NvtxEvent::End: {
            const auto found = started_.find(call.rangeId);
            // Started on another thread a moment ago, whose calls come later.
            if (found == started_.end()) return isInside;
            const bool isKept = found->second;
            started_.erase(found);
            return isKept;
        }
    }
    return isInside;
}

}  // namespace lanescope::agent
