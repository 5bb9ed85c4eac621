// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/ProcessWindows.h"

#include <algorithm>

namespace lanescope::capture {

void ProcessWindows::add(const log::WindowRecord& record) {
    areThere_ = true;
    if (record.isBegin == 0) {
        // Without its beginning nobody knows how far an end reaches back.
        if (latest_ && !windows_[*latest_].endNs)
            windows_[*latest_].endNs = std::max(windows_[*latest_].startNs, record.timestampNs);
        return;
    }
    const auto known = placeOf_.find(record.index);
    if (known != placeOf_.end() && windows_[known->second].startNs == record.timestampNs) {
        latest_ = known->second;
        return;
    }
    if (!windows_.empty() && !windows_.back().endNs)
        windows_.back().endNs = std::max(windows_.back().startNs, record.timestampNs);
    latest_.reset();
    if (windows_.size() >= maximumCount) return;
    latest_ = windows_.size();
    placeOf_[record.index] = windows_.size();
    windows_.push_back({record.index, record.timestampNs, std::nullopt});
}

}  // namespace lanescope::capture
