#include "capture/collector/ProcessWindows.h"

#include <algorithm>

namespace lanescope {

void ProcessWindows::add(const log::WindowRecord& record) {
    areThere_ = true;
    const bool isOpen = !windows_.empty() && !windows_.back().endNs;
    if (record.isBegin == 0) {
        // Without its beginning nobody knows how far an end reaches back.
        if (isOpen) windows_.back().endNs = std::max(windows_.back().startNs, record.timestampNs);
        return;
    }
    if (isOpen) windows_.back().endNs = std::max(windows_.back().startNs, record.timestampNs);
    if (windows_.size() < maximumCount)
        windows_.push_back({record.index, record.timestampNs, std::nullopt});
}

}  // namespace lanescope
