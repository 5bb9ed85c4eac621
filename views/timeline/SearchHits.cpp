#include "views/timeline/SearchHits.h"

namespace lanescope {

void SearchHits::set(const std::vector<EventRef>& hits) {
    slices_.clear();
    for (auto& rows : isHit_) rows.clear();
    count_ = 0;
    for (const EventRef event : hits) {
        const auto kind = static_cast<size_t>(event.kind());
        if (!event.isValid() || kind >= kindCount) continue;
        std::vector<bool>& rows = isHit_[kind];
        if (event.row() >= rows.size()) rows.resize(size_t{event.row()} + 1);
        rows[event.row()] = true;
        ++count_;
    }
}

bool SearchHits::contains(EventRef event) const {
    const auto kind = static_cast<size_t>(event.kind());
    return kind < kindCount && event.row() < isHit_[kind].size() && isHit_[kind][event.row()];
}

const std::vector<uint32_t>& SearchHits::slicesOf(const Lane& lane) const {
    const auto [entry, isNew] = slices_.try_emplace(&lane);
    if (isNew && !isEmpty()) {
        for (uint32_t slice = 0; slice < lane.size(); ++slice) {
            if (contains(lane.event[slice])) entry->second.push_back(slice);
        }
    }
    return entry->second;
}

}  // namespace lanescope
