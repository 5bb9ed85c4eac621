// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/PacketReader.h"

#include <fmt/format.h>

#include <algorithm>

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

constexpr size_t maxTracks = size_t{1} << 20;
/// Deeper tracks form a circle.
constexpr int maxDepth = 64;
constexpr size_t maxNameBytes = 4096;

std::string shortened(std::string_view text) { return std::string(text.substr(0, maxNameBytes)); }

int64_t small(uint64_t value) { return static_cast<int32_t>(value); }

void takeProcess(std::string_view message, PerfettoTrack& track) {
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isNumber()) track.process = small(field.value);
        if (field.number == 6 && field.isBytes()) track.processName = shortened(field.bytes);
    }
}

void takeThread(std::string_view message, PerfettoTrack& track) {
    for (const uint32_t number : {1u, 2u, 5u})
        for (const ProtoField& field : ProtoCursor(message)) {
            if (field.number != number) continue;
            if (number == 1 && field.isNumber()) track.process = small(field.value);
            if (number == 2 && field.isNumber()) track.thread = field.signedValue();
            if (number == 5 && field.isBytes()) track.threadName = shortened(field.bytes);
        }
}

void takeCounter(std::string_view message, PerfettoTrack& track) {
    track.isCounter = true;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 3 && field.isNumber())
            track.unit = field.value == 3 ? "bytes" : field.value == 1 ? "ns" : "";
        if (field.number == 6 && field.isBytes()) track.unit = shortened(field.bytes);
        if (field.number == 4 && field.isNumber()) track.multiplier = field.signedValue();
        if (field.number == 5 && field.isNumber()) track.isIncremental = field.value != 0;
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
bool SliceJoiner::forEachOfRuns(const Edges& edges, size_t first, size_t last, auto visit) {
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

uint32_t PerfettoTracks::numberOf(uint64_t uuid) {
    const auto found = numbers_.find(uuid);
    if (found != numbers_.end()) return found->second;
    if (tracks_.size() >= maxTracks) return noTrack;
    const auto number = static_cast<uint32_t>(tracks_.size());
    numbers_.emplace(uuid, number);
    tracks_.emplace_back().uuid = uuid;
    return number;
}

uint32_t PerfettoTracks::numberOfThread(int64_t process, int64_t thread) {
    // An id that no track of the file has.
    const uint64_t uuid =
        mixed(static_cast<uint64_t>(process)) ^ mixed(static_cast<uint64_t>(thread) + 0x9e3779b97f4a7c15u);
    const uint32_t number = numberOf(uuid);
    if (number == noTrack) return number;
    tracks_[number].process = process;
    tracks_[number].thread = thread;
    return number;
}

void PerfettoTracks::nameThread(int64_t process, int64_t thread, std::string_view name) {
    const uint32_t number = numberOfThread(process, thread);
    if (number != noTrack) tracks_[number].threadName = shortened(name);
}

void PerfettoTracks::describe(std::string_view message) {
    uint64_t uuid = 0;
    for (const ProtoField& field : ProtoCursor(message))
        if (field.number == 1 && field.isNumber()) uuid = field.value;
    const uint32_t number = numberOf(uuid);
    if (number == noTrack) return;
    PerfettoTrack& track = tracks_[number];
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 5 && field.isNumber()) track.parent = field.value;
        if (!field.isBytes()) continue;
        if (field.number == 2 || field.number == 10 || field.number == 13) track.name = shortened(field.bytes);
        if (field.number == 3) takeProcess(field.bytes, track);
        if (field.number == 4) takeThread(field.bytes, track);
        if (field.number == 8) takeCounter(field.bytes, track);
    }
    if (!track.process || track.thread) return;
    const std::string& name = track.processName.empty() ? track.name : track.processName;
    if (!name.empty()) processNames_[*track.process] = name;
}

const PerfettoTrack* PerfettoTracks::above(const PerfettoTrack& track) const {
    if (track.parent == 0) return nullptr;
    const auto found = numbers_.find(track.parent);
    return found != numbers_.end() ? &tracks_[found->second] : nullptr;
}

PerfettoPlace PerfettoTracks::placeOf(uint32_t number) const {
    PerfettoPlace place;
    const PerfettoTrack& own = tracks_[number];
    const PerfettoTrack* outermost = &own;
    const PerfettoTrack* track = &own;
    bool hasThread = false, hasProcess = false;
    for (int depth = 0; track != nullptr && depth < maxDepth; ++depth, track = above(*track)) {
        outermost = track;
        if (track->thread && !hasThread) {
            hasThread = true;
            place.thread = fmt::format("{}", *track->thread);
            place.threadName = track->threadName.empty() ? track->name : track->threadName;
        }
        if (track->process && !hasProcess) {
            hasProcess = true;
            place.process = fmt::format("{}", *track->process);
            // Some writers do not make a thread a child of its process.
            place.processName = valueOr(processNames_, *track->process, std::string());
        }
    }
    if (!hasProcess) place.process = outermost == &own ? "" : outermost->name;
    if (!hasThread) place.thread = own.name.empty() ? fmt::format("track {}", own.uuid) : own.name;
    if (!hasThread) place.threadName = own.name;
    return place;
}

}  // namespace lanescope
