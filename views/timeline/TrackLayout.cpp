#include "views/timeline/TrackLayout.h"

#include <algorithm>

namespace lanescope {
namespace {

bool holdsOwnSlices(const Track& track) {
    return std::any_of(track.lanes.begin(), track.lanes.end(), [](const Lane& lane) {
        return lane.size() > 0 && lane.category.front() != SliceCategory::Busy;
    });
}

}  // namespace

void TrackLayout::setTracks(std::span<const Track> tracks) {
    tracks_ = tracks;
    folded_.assign(tracks.size(), false);
    isParent_.assign(tracks.size(), false);
    spaceAbove_.clear();
    spaceBelow_ = 0;
    for (size_t i = 0; i < tracks.size(); ++i) {
        folded_[i] = tracks[i].isInitiallyFolded;
        const int32_t parent = tracks[i].parent;
        if (parent >= 0 && static_cast<size_t>(parent) < i) isParent_[parent] = true;
    }
    rebuild();
}

void TrackLayout::setMetrics(const LayoutMetrics& metrics) {
    if (metrics == metrics_) return;
    metrics_ = metrics;
    rebuild();
}

void TrackLayout::setSpaces(std::vector<int> above, int below) {
    if (above == spaceAbove_ && below == spaceBelow_) return;
    spaceAbove_ = std::move(above);
    spaceBelow_ = below;
    rebuild();
}

bool TrackLayout::canFold(uint32_t track) const {
    return track < tracks_.size() && (isParent_[track] || tracks_[track].lanes.size() > 1);
}

void TrackLayout::setFolded(uint32_t track, bool isFolded) {
    if (!canFold(track) || folded_[track] == isFolded) return;
    folded_[track] = isFolded;
    rebuild();
}

void TrackLayout::setAllFolded(bool isFolded) {
    for (uint32_t track = 0; track < folded_.size(); ++track) {
        if (canFold(track)) folded_[track] = isFolded;
    }
    rebuild();
}

bool TrackLayout::reveal(uint32_t track) {
    bool hasChanged = false;
    for (auto each = static_cast<int32_t>(track);
         each >= 0 && static_cast<size_t>(each) < tracks_.size();) {
        hasChanged = hasChanged || folded_[each];
        folded_[each] = false;
        const int32_t parent = tracks_[each].parent;
        each = parent < each ? parent : -1;
    }
    if (hasChanged) rebuild();
    return hasChanged;
}

LayoutRow TrackLayout::makeRow(uint32_t track) const {
    LayoutRow row;
    row.track = track;
    row.canFold = canFold(track);
    row.isFolded = row.canFold && folded_[track];
    // A stream has children too, but its lanes are its own kernels and stay as they are.
    row.isHeader = isParent_[track] && !row.isFolded && !holdsOwnSlices(tracks_[track]);
    row.laneCount = static_cast<int>(tracks_[track].lanes.size());
    row.laneHeight = metrics_.laneHeight;
    if (tracks_[track].kind == TrackKind::Counter) {
        row.laneHeight = metrics_.counterHeight;
    } else if (row.isHeader) {
        row.laneCount = std::min(row.laneCount, 1);
        row.laneHeight = metrics_.summaryHeight;
    } else if (row.isFolded && !isParent_[track]) {
        row.laneHeight = metrics_.squeezedLaneHeight;
    }
    const int lanesHeight = row.laneCount * row.laneHeight;
    row.height = std::max(metrics_.headerHeight, lanesHeight + 2 * metrics_.padding);
    row.lanesTop = (row.height - lanesHeight) / 2;
    return row;
}

void TrackLayout::rebuild() {
    rows_.clear();
    rowOfTrack_.assign(tracks_.size(), -1);
    std::vector<bool> isHidden(tracks_.size(), false);
    int top = 0;
    for (uint32_t track = 0; track < tracks_.size(); ++track) {
        const int32_t parent = tracks_[track].parent;
        if (parent >= 0 && static_cast<uint32_t>(parent) < track) {
            isHidden[track] = isHidden[parent] || folded_[parent];
        }
        if (isHidden[track]) continue;
        LayoutRow row = makeRow(track);
        row.top = top + (track < spaceAbove_.size() ? spaceAbove_[track] : 0);
        top = row.bottom();
        rowOfTrack_[track] = static_cast<int32_t>(rows_.size());
        rows_.push_back(row);
    }
    top += spaceBelow_;
    totalHeight_ = top == 0 ? 0 : top + metrics_.bottomSpace;
}

std::span<const LayoutRow> TrackLayout::rowsBetween(int top, int bottom) const {
    const auto first = std::partition_point(
        rows_.begin(), rows_.end(), [&](const LayoutRow& row) { return row.bottom() <= top; });
    const auto last = std::partition_point(first, rows_.end(),
                                           [&](const LayoutRow& row) { return row.top < bottom; });
    return {first, last};
}

const LayoutRow* TrackLayout::rowAt(int y) const {
    const auto rows = rowsBetween(y, y + 1);
    return rows.empty() ? nullptr : &rows.front();
}

const LayoutRow* TrackLayout::rowOf(uint32_t track) const {
    if (track >= rowOfTrack_.size() || rowOfTrack_[track] < 0) return nullptr;
    return &rows_[rowOfTrack_[track]];
}

const LayoutRow* TrackLayout::visibleRowOf(uint32_t track) const {
    for (auto each = static_cast<int32_t>(track);
         each >= 0 && static_cast<size_t>(each) < tracks_.size();) {
        if (const LayoutRow* row = rowOf(each)) return row;
        const int32_t parent = tracks_[each].parent;
        each = parent < each ? parent : -1;
    }
    return nullptr;
}

std::optional<LanePosition> TrackLayout::laneAt(int y) const {
    const LayoutRow* row = rowAt(y);
    if (!row || row->laneCount == 0) return std::nullopt;
    const int offset = y - row->top - row->lanesTop;
    if (offset < 0 || offset >= row->laneCount * row->laneHeight) return std::nullopt;
    return LanePosition{row->track, static_cast<uint32_t>(offset / row->laneHeight)};
}

}  // namespace lanescope
