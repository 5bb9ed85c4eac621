// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/SliceJoiner.h"

#include <algorithm>
#include <vector>

#include "model/numbers/LargeMemory.h"

namespace lanescope {

namespace {

void setDuration(JsonEvents& events, const SliceJoiner::Place& place, int64_t durationNs) {
    if (place.index == SliceJoiner::Place::nowhere) return;
    if (place.isWork) {
        if (place.index < events.gpuWork.size())
            events.gpuWork[place.index].durationNs = durationNs;
    } else if (JsonEvents::Slices& slices = events.slices(place.kind);
               place.index < slices.size()) {
        slices[place.index].durationNs = durationNs;
    }
}

}  // namespace

/// Whether beginnings and ends fit together in the order in which they stand in the file.
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

/// `visit(begin, end)` for each slice, if beginnings are followed by as many ends each time, the
/// first of these ending the first of those; else false, and some may have been visited.
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

/// By time; at one time what began before ends first, then slices begin, and those that take no
/// time end.
void SliceJoiner::sortByTime(Edges& edges, size_t first, size_t last) {
    const auto at = [&edges](size_t index) {
        return edges.begin() + static_cast<std::ptrdiff_t>(index);
    };
    std::stable_sort(at(first), at(last),
                     [](const Edge& a, const Edge& b) { return a.timeNs < b.timeNs; });
    size_t openBefore = 0;
    for (size_t begin = first; begin < last;) {
        size_t end = begin;
        size_t begins = 0;
        while (end < last && edges[end].timeNs == edges[begin].timeNs)
            begins += edges[end++].isBegin ? 1 : 0;
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

SliceJoiner::Unmatched SliceJoiner::join(JsonEvents& events, int64_t lastNs) {
    Unmatched unmatched;
    sortLarge(edges_, [](const Edge& a, const Edge& b) { return a.track < b.track; });
    std::vector<const Edge*> open;
    for (size_t first = 0; first < edges_.size();) {
        size_t last = first;
        while (last < edges_.size() && edges_[last].track == edges_[first].track) ++last;
        if (!isNested(edges_, first, last)) {
            const bool isOfRuns =
                forEachOfRuns(edges_, first, last, [&](const Edge& begin, const Edge& end) {
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
                setDuration(events, open.back()->place,
                            std::max<int64_t>(0, edge.timeNs - open.back()->timeNs));
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
