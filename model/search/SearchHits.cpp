// SPDX-License-Identifier: Apache-2.0
#include "model/search/SearchHits.h"

#include <algorithm>
#include <array>

#include "model/trace/kinds/eventFacts.h"

namespace lanescope {

namespace {

/// Returns true if a bit of `[first, end)` is set, word by word.
bool anyBit(const std::vector<uint64_t>& words, size_t first, size_t end) {
    constexpr size_t bits = 64;
    while (first < end) {
        const size_t word = first / bits;
        const size_t from = first % bits;
        const size_t count = std::min(bits - from, end - first);
        const uint64_t mask = (count == bits ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
        if ((words[word] & mask) != 0) return true;
        first += count;
    }
    return false;
}

}  // namespace

SliceMarks::SliceMarks(uint32_t sliceCount)
    : words_((size_t{sliceCount} + wordBits - 1) / wordBits), summary_((words_.size() + wordBits - 1) / wordBits) {}

void SliceMarks::set(uint32_t slice) {
    const size_t word = slice / wordBits;
    words_[word] |= uint64_t{1} << slice % wordBits;
    summary_[word / wordBits] |= uint64_t{1} << word % wordBits;
}

bool SliceMarks::contains(uint32_t slice) const {
    const size_t word = slice / wordBits;
    return word < words_.size() && (words_[word] >> slice % wordBits & 1) != 0;
}

bool SliceMarks::any(uint32_t first, uint32_t end) const {
    end = static_cast<uint32_t>(std::min<size_t>(end, words_.size() * wordBits));
    if (first >= end) return false;
    // Whole words are tested by their summary, the slices around them one by one.
    const size_t firstWord = (size_t{first} + wordBits - 1) / wordBits;
    const size_t endWord = end / wordBits;
    if (firstWord >= endWord) return anyBit(words_, first, end);
    return anyBit(words_, first, firstWord * wordBits) || anyBit(summary_, firstWord, endWord) ||
           anyBit(words_, endWord * wordBits, end);
}

namespace {

class HitRows {
  public:
    explicit HitRows(const std::vector<EventRef>& events) {
        for (const EventRef event : events) {
            std::vector<bool>& rows = rows_[static_cast<size_t>(event.kind())];
            if (event.row() >= rows.size()) rows.resize(std::max<size_t>(event.row() + size_t{1}, rows.size() * 2));
            rows[event.row()] = true;
        }
    }
    bool contains(EventRef event) const {
        const std::vector<bool>& rows = rows_[static_cast<size_t>(event.kind())];
        return event.row() < rows.size() && rows[event.row()];
    }
    bool has(EventKind kind) const { return !rows_[static_cast<size_t>(kind)].empty(); }

  private:
    std::array<std::vector<bool>, EventRef::kindLimit> rows_;
};

/// Returns true if a track of this kind could contain one of the hits.
bool mayHold(TrackKind track, const HitRows& hits) {
    return std::ranges::any_of(kindsInOrder(),
                               [&](EventKind kind) { return hits.has(kind) && lanescope::mayHold(track, kind); });
}

SliceMarks marksOf(const Lane& lane, const HitRows& hits) {
    constexpr uint32_t blockSize = 4096;
    SliceMarks marks;
    std::vector<EventRef> events(std::min(blockSize, lane.size()));
    for (uint32_t first = 0; first < lane.size(); first += blockSize) {
        const uint32_t count = std::min(blockSize, lane.size() - first);
        lane.event.copyTo(std::span(events).first(count), first);
        for (uint32_t index = 0; index < count; ++index) {
            if (!hits.contains(events[index])) continue;
            if (marks.isEmpty()) marks = SliceMarks(lane.size());
            marks.set(first + index);
        }
    }
    return marks;
}

std::vector<int64_t> placesOf(const Trace& trace, const std::vector<EventRef>& events) {
    std::vector<int64_t> places;
    const int64_t stepNs = std::max<int64_t>(1, trace.range.durationNs() / SearchHits::placeCount);
    const bool isThinned = events.size() > size_t{SearchHits::placeCount};
    for (const EventRef event : events) {
        const int64_t startNs = trace.rangeOf(event).startNs;
        if (!isThinned || places.empty() || startNs - places.back() >= stepNs) places.push_back(startNs);
    }
    return places;
}

}  // namespace

SearchHitsPtr SearchHits::of(const Trace& trace, std::vector<EventRef> events) {
    std::shared_ptr<SearchHits> result(new SearchHits);
    std::erase_if(events, [](EventRef event) { return !event.isValid(); });
    result->places_ = placesOf(trace, events);
    const HitRows hits(events);
    for (const Track& track : trace.tracks) {
        std::vector<SliceMarks>& marks = result->marks_.emplace_back();
        if (!mayHold(track.kind, hits)) continue;
        for (const Lane& lane : track.lanes) marks.push_back(marksOf(lane, hits));
    }
    result->events_ = std::move(events);
    return result;
}

bool SearchHits::touches(uint32_t track, uint32_t lane, uint32_t firstSlice, uint32_t count) const {
    if (track >= marks_.size() || lane >= marks_[track].size()) return false;
    return marks_[track][lane].any(firstSlice, firstSlice + count);
}

}  // namespace lanescope
