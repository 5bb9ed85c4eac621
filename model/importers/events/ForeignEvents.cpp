// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ForeignEvents.h"

#include <algorithm>
#include <limits>

namespace lanescope {

namespace {

/// More than any file names for a reason.
constexpr size_t mostNames = size_t{1} << 17;
constexpr size_t mostCounters = 4096;
/// So that no sum of two times of a file overflows.
constexpr int64_t furthestNs = int64_t{1} << 61;

/// The number of `key` in `list`, where it is added if it is new; the last possible one once they
/// are too many.
template <class Key, class List>
uint32_t numberOf(std::map<Key, uint32_t>& known, List& list, const Key& key, size_t most) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (list.size() >= most) return static_cast<uint32_t>(list.size() - 1);
    known.emplace(key, static_cast<uint32_t>(list.size()));
    list.push_back(key);
    return static_cast<uint32_t>(list.size() - 1);
}

bool isPossible(int64_t startNs, int64_t durationNs) {
    return startNs > -furthestNs && startNs < furthestNs && durationNs < furthestNs;
}

}  // namespace

JsonEvents::JsonEvents(TraceBuilder& builder)
    : edges(builder.memory()),
      gpuWork(builder.memory()),
      arrowEnds(builder.memory()),
      sequences(builder.memory()),
      builder_(builder),
      range_{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()} {
    for (Slices& slices : slices_) slices = Slices(builder.memory());
}

void JsonEvents::see(int64_t startNs, int64_t endNs) {
    range_.startNs = std::min(range_.startNs, startNs);
    range_.endNs = std::max(range_.endNs, endNs);
}

template <class Item, class Take>
void JsonEvents::takeEach(const std::vector<Item>& items, BlockList<Item>& into, Take take) {
    for (Item item : items) {
        if (!take(item) || into.size() >= EventRef::maximumRow)
            ++leftOut_;
        else
            into.push_back(item);
    }
}

void JsonEvents::take(const ScannedChunk& chunk, uint64_t offset) {
    tally += chunk.tally;
    for (const auto& [begin, end] : chunk.damage) damage_.add(offset + begin, offset + end);
    Numbers texts, ofThreads, ofPlaces, ofLaunches;
    for (const std::string_view text : chunk.strings.all()) texts.push_back(builder_.intern(text));
    for (const JsonThread& each : chunk.threads)
        ofThreads.push_back(numberOf(threadNumbers_, threads,
                                     Thread{std::string(each.process), std::string(each.thread)},
                                     mostNames));
    for (const JsonPlace& each : chunk.places)
        ofPlaces.push_back(numberOf(placeNumbers_, places, each, mostNames));
    for (JsonLaunch each : chunk.launches) {
        each.name = texts[each.name];
        ofLaunches.push_back(numberOf(launchNumbers_, launches, each, EventRef::maximumRow));
    }
    takeSlices(chunk, texts, ofThreads, ofPlaces);
    takeEach(chunk.edges, edges, [&](JsonEdge& edge) {
        edge.name = texts[edge.name];
        edge.thread = ofThreads[edge.thread];
        edge.category = texts[edge.category];
        edge.id = texts[edge.id];
        if (!isPossible(edge.timeNs, 0)) return false;
        see(edge.timeNs, edge.timeNs);
        return true;
    });
    takeEach(chunk.gpuWork, gpuWork, [&](JsonGpuWork& work) {
        work.place = ofPlaces[work.place];
        if (work.kind == JsonEventKind::Kernel) work.config = ofLaunches[work.config];
        if (!isPossible(work.startNs, work.durationNs)) return false;
        see(work.startNs, work.startNs + work.durationNs);
        return true;
    });
    takeEach(chunk.arrowEnds, arrowEnds, [&](JsonArrowEnd& end) {
        end.thread = ofThreads[end.thread];
        return isPossible(end.timeNs, 0);
    });
    takeNames(chunk);
    takeSamples(chunk, texts);
}

void JsonEvents::takeSlices(const ScannedChunk& chunk, const Numbers& texts,
                            const Numbers& ofThreads, const Numbers& ofPlaces) {
    constexpr auto operators = static_cast<size_t>(JsonEventKind::Operator);
    const size_t operatorsBefore = slices_[operators].size();
    for (const JsonCollective& each : chunk.collectives) {
        JsonCollective said = each;
        said.slice += operatorsBefore;
        for (uint32_t* text :
             {&said.operation, &said.datatype, &said.group, &said.groupName, &said.ranks})
            *text = texts[*text];
        collectives.push_back(said);
    }
    takeEach(chunk.sequences, sequences, [&](JsonSequence& said) {
        said.slice += static_cast<uint32_t>(operatorsBefore);
        return operatorsBefore < EventRef::maximumRow;
    });
    for (size_t kind = 0; kind < slices_.size(); ++kind) {
        const bool hasText = kind == operators;
        const bool hasPlace = kind == static_cast<size_t>(JsonEventKind::GpuAnnotation);
        takeEach(chunk.slices[kind], slices_[kind], [&](JsonSlice& slice) {
            slice.name = texts[slice.name];
            slice.category = texts[slice.category];
            if (!hasPlace) slice.thread = ofThreads[slice.thread];
            if (hasText) slice.extra = texts[slice.extra];
            if (hasPlace) slice.extra = ofPlaces[slice.extra];
            // An operator is left out later, so that the numbers of those after it stay.
            if (!isPossible(slice.startNs, slice.durationNs)) return hasText;
            see(slice.startNs, slice.startNs + std::max<int64_t>(0, slice.durationNs));
            return true;
        });
    }
}

void JsonEvents::takeNames(const ScannedChunk& chunk) {
    for (const JsonName& each : chunk.names) {
        const std::string name(chunk.strings.at(each.name));
        const std::string process(each.whose.process);
        if (each.isOfThread && threadNames.size() < mostNames)
            threadNames[Thread{process, std::string(each.whose.thread)}] = name;
        else if (!each.isOfThread && processNames.size() < mostNames)
            processNames[process] = name;
    }
}

void JsonEvents::takeSamples(const ScannedChunk& chunk, const Numbers& texts) {
    Numbers ofCounters;
    for (const JsonCounter& each : chunk.counters) {
        const Counter counter{each.meaning,     std::string(each.process), texts[each.name],
                              texts[each.part], each.deviceType,           each.device};
        const bool isTooMany =
            !counterNumbers_.contains(counter) && counters.size() >= mostCounters;
        ofCounters.push_back(
            isTooMany ? noIndex : numberOf(counterNumbers_, counters, counter, mostCounters));
    }
    while (samples.size() < counters.size()) samples.emplace_back(builder_.memory());
    for (const JsonSample& sample : chunk.samples) {
        const uint32_t counter = ofCounters[sample.counter];
        if (counter == noIndex || !isPossible(sample.timeNs, 0)) {
            ++leftOut_;
            continue;
        }
        see(sample.timeNs, sample.timeNs);
        samples[counter].push_back({sample.timeNs, sample.value});
    }
}

}  // namespace lanescope
