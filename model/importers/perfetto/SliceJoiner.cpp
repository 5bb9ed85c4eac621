// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/SliceJoiner.h"

#include <algorithm>
#include <vector>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

namespace {

void setDuration(ImportedEvents& events, const SliceJoiner::Place& place, int64_t durationNs) {
    if (place.index == SliceJoiner::Place::nowhere) return;
    if (place.isWork) {
        if (place.index < events.gpuWork.size()) events.gpuWork[place.index].durationNs = durationNs;
    } else if (ImportedEvents::Slices& slices = events.slices(place.kind); place.index < slices.size()) {
        slices[place.index].durationNs = durationNs;
    }
}

}  // namespace

/// Returns true if starts and ends are properly nested in the order of the file.
bool SliceJoiner::isNested(const Edges& edges, size_t first, size_t last) {
    struct Open {
        int64_t startNs, innerEndNs;
    };
    std::vector<Open> open;
    for (size_t at = first; at < last; ++at) {
        const Edge& edge = edges[at];
        if (edge.isBegin) {
            if (!open.empty() && edge.timeNs < open.back().startNs) return false;
            open.push_back({edge.timeNs, edge.timeNs});
            continue;
        }
        if (open.empty() || edge.timeNs < open.back().innerEndNs) return false;
        open.pop_back();
        if (!open.empty()) open.back().innerEndNs = std::max(open.back().innerEndNs, edge.timeNs);
    }
    return open.empty();
}

/// Calls `visit(begin, end)` for each slice, if each group of starts is followed by as many ends in
/// the same order. Returns false otherwise, possibly after some visits.
template <class Visitor>
bool SliceJoiner::forEachOfRuns(const Edges& edges, size_t first, size_t last, Visitor visit) {
    while (first < last) {
        size_t ends = first;
        while (ends < last && edges[ends].isBegin) ++ends;
        const size_t count = ends - first;
        if (count == 0 || count > last - ends) return false;
        for (size_t at = 0; at < count; ++at) {
            const Edge &begin = edges[first + at], &end = edges[ends + at];
            if (end.isBegin || end.timeNs < begin.timeNs) return false;
            visit(begin, end);
        }
        first = ends + count;
    }
    return true;
}

/// Sorts by time. At equal times, earlier slices end first, then slices begin, then those of length 0 end.
void SliceJoiner::sortByTime(Edges& edges, size_t first, size_t last) {
    const auto at = [&edges](size_t index) { return edges.begin() + static_cast<std::ptrdiff_t>(index); };
    std::stable_sort(at(first), at(last), [](const Edge& a, const Edge& b) { return a.timeNs < b.timeNs; });
    size_t openBefore = 0;
    for (size_t begin = first; begin < last;) {
        size_t end = begin;
        size_t begins = 0;
        while (end < last && edges[end].timeNs == edges[begin].timeNs) begins += edges[end++].isBegin ? 1 : 0;
        const size_t ends = end - begin - begins;
        const size_t endsFirst = std::min(openBefore, ends);
        size_t seen = 0;
        std::vector<Edge> inOrder, late;
        for (size_t index = begin; index < end; ++index) {
            const Edge& edge = edges[index];
            if (edge.isBegin) continue;
            (seen++ < endsFirst ? inOrder : late).push_back(edge);
        }
        for (size_t index = begin; index < end; ++index)
            if (edges[index].isBegin) inOrder.push_back(edges[index]);
        inOrder.insert(inOrder.end(), late.begin(), late.end());
        std::copy(inOrder.begin(), inOrder.end(), at(begin));
        openBefore = openBefore + begins > ends ? openBefore + begins - ends : 0;
        begin = end;
    }
}

SliceJoiner::Unmatched SliceJoiner::join(ImportedEvents& events, int64_t lastNs) {
    Unmatched unmatched;
    sortLarge(edges_, [](const Edge& a, const Edge& b) { return a.track < b.track; });
    std::vector<const Edge*> open;
    for (size_t first = 0; first < edges_.size();) {
        size_t last = first;
        while (last < edges_.size() && edges_[last].track == edges_[first].track) ++last;
        if (!isNested(edges_, first, last)) {
            const bool isOfRuns = forEachOfRuns(edges_, first, last, [&](const Edge& begin, const Edge& end) {
                setDuration(events, begin.place, end.timeNs - begin.timeNs);
            });
            if (isOfRuns) {
                first = last;
                continue;
            }
            sortByTime(edges_, first, last);
        }
        open.clear();
        for (size_t at = first; at < last; ++at) {
            const Edge& edge = edges_[at];
            if (edge.isBegin) {
                open.push_back(&edge);
            } else if (open.empty()) {
                ++unmatched.ends;
            } else {
                setDuration(events, open.back()->place, std::max<int64_t>(0, edge.timeNs - open.back()->timeNs));
                open.pop_back();
            }
        }
        for (const Edge* edge : open) {
            setDuration(events, edge->place, std::max<int64_t>(0, lastNs - edge->timeNs));
            ++unmatched.begins;
        }
        first = last;
    }
    return unmatched;
}

}  // namespace lanescope
