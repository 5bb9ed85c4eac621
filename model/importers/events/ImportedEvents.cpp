// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ImportedEvents.h"

#include <algorithm>
#include <limits>

#include "model/format/text.h"
#include "model/numbers/MixedMap.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

using Kind = ImportedEventKind;

constexpr std::array<std::pair<std::string_view, Kind>, 31> categories{{
    {"cpu_op", Kind::Operator},
    {"python_function", Kind::Python},
    {"cuda_runtime", Kind::RuntimeCall},
    {"kernel", Kind::Kernel},
    {"cuda_driver", Kind::DriverCall},
    {"user_annotation", Kind::Annotation},
    {"gpu_user_annotation", Kind::GpuAnnotation},
    {"gpu_memcpy", Kind::Memcpy},
    {"gpu_memset", Kind::Memset},
    {"cuda_sync", Kind::Sync},
    {"cuda_event", Kind::CudaEvent},
    {"overhead", Kind::Overhead},
    {"trace", Kind::Window},
    {"operator", Kind::Operator},
    {"runtime", Kind::RuntimeCall},
    {"memcpy", Kind::Memcpy},
    {"memset", Kind::Memset},
    {"user", Kind::Annotation},
    {"hip_runtime", Kind::RuntimeCall},
    {"xpu_runtime", Kind::RuntimeCall},
    {"xpu_driver", Kind::DriverCall},
    {"xpu_sync", Kind::Sync},
    {"mtia_runtime", Kind::RuntimeCall},
    {"glow_runtime", Kind::RuntimeCall},
    {"privateuse1_runtime", Kind::RuntimeCall},
    {"privateuse1_driver", Kind::DriverCall},
    {"hpu_op", Kind::Operator},
    {"driver", Kind::DriverCall},
    {"sync", Kind::Sync},
    {"gpumemcpy", Kind::Memcpy},
    {"gpumemset", Kind::Memset},
}};

bool isSameWord(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, [](char c) { return lowerCase(c); });
}

MemcpyKind directionOf(std::string_view word) {
    for (int number = 1; number < memcpyKindCount; ++number) {
        const auto kind = static_cast<MemcpyKind>(number);
        if (word == name(kind)) return kind;
    }
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 4> older{{
        {"CopyHostToDevice", MemcpyKind::HtoD},
        {"CopyDeviceToHost", MemcpyKind::DtoH},
        {"CopyDeviceToDevice", MemcpyKind::DtoD},
        {"CopyHostToHost", MemcpyKind::HtoH},
    }};
    for (const auto& [text, kind] : older)
        if (word == text) return kind;
    return MemcpyKind::Unknown;
}

MemoryKind memoryOf(std::string_view word) {
    for (int number = 0; number < memoryKindCount - 1; ++number) {
        const auto kind = static_cast<MemoryKind>(number);
        if (word == longName(kind)) return kind;
    }
    return MemoryKind::Unknown;
}

/// More than any real file needs.
constexpr size_t maxNames = size_t{1} << 17;
constexpr size_t maxImportedCounters = 4096;
/// A limit so that the sum of two times of a file cannot overflow.
constexpr int64_t maxTimeNs = int64_t{1} << 61;

/// Returns the index of `key` in `list`, adding it if new. Returns the last possible index if the list is full.
template <class Key, class List>
uint32_t numberOf(std::map<Key, uint32_t>& known, List& list, const Key& key, size_t maxSize) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    if (list.size() >= maxSize) return static_cast<uint32_t>(list.size() - 1);
    known.emplace(key, static_cast<uint32_t>(list.size()));
    list.push_back(key);
    return static_cast<uint32_t>(list.size() - 1);
}

bool isPossible(int64_t startNs, int64_t durationNs) {
    return startNs > -maxTimeNs && startNs < maxTimeNs && durationNs < maxTimeNs;
}

}  // namespace

void ChunkStrings::grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (uint32_t index = 0; index < texts_.size(); ++index) {
        auto at = static_cast<size_t>(hashes_[index]);
        while (slots_[at & (slots_.size() - 1)] != 0) ++at;
        slots_[at & (slots_.size() - 1)] = index + 1;
    }
}

uint32_t ChunkStrings::add(std::string_view text) {
    if (slots_.size() <= 2 * texts_.size()) grow();
    const uint64_t hash = mixed(text);
    for (auto at = static_cast<size_t>(hash);; ++at) {
        uint32_t& slot = slots_[at & (slots_.size() - 1)];
        if (slot == 0) {
            texts_.push_back(text);
            hashes_.push_back(hash);
            slot = static_cast<uint32_t>(texts_.size());
        } else if (hashes_[slot - 1] != hash || texts_[slot - 1] != text) {
            continue;
        }
        return slot - 1;
    }
}

std::string_view ChunkStrings::kept(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return value.text;
    return unescaped_.emplace_back(unescaped(value.text));
}

uint32_t ChunkStrings::add(const JsonValue& value) {
    if (!value.isString() || !value.isEscaped) return add(value.text);
    return addMade(unescaped(value.text));
}

uint32_t ChunkStrings::addMade(const std::string& text) {
    const size_t known = texts_.size();
    unescaped_.push_back(text);
    const uint32_t index = add(std::string_view(unescaped_.back()));
    if (texts_.size() == known) unescaped_.pop_back();
    return index;
}

ImportedTally& ImportedTally::operator+=(const ImportedTally& other) {
    using Tally = ImportedTally;
    for (int64_t Tally::*each :
         {&Tally::events, &Tally::otherFlows, &Tally::overheads, &Tally::overheadNs, &Tally::callStacks,
          &Tally::untimed, &Tally::negative, &Tally::unknown, &Tally::fractions, &Tally::untimedKernels,
          &Tally::untimedCopies, &Tally::untimedMemsets})
        this->*each += other.*each;
    return *this;
}

void CorruptionTally::add(uint64_t begin, uint64_t end) {
    if (places == 0) firstAt = begin;
    if (places == 0 || begin > lastEnd) ++places;
    bytes += static_cast<int64_t>(end - begin);
    lastEnd = end;
}

ImportedEventKind eventKindOf(std::string_view category) {
    for (const auto& [name, kind] : categories)
        if (isSameWord(category, name)) return kind;
    return Kind::Other;
}

bool isFunctionOf(std::string_view api, std::string_view name) {
    return name.starts_with(api) && name.size() > api.size() && isUpper(name[api.size()]);
}

bool isAnnotationName(std::string_view name) {
    constexpr std::array<std::string_view, 5> beginnings{"ProfilerStep#", "enumerate(DataLoader)#", "Optimizer.",
                                                         "nccl:", "DistributedDataParallel."};
    return std::ranges::any_of(beginnings, [name](std::string_view each) { return name.starts_with(each); });
}

CopyName copyNameOf(std::string_view name) {
    CopyName copy;
    const size_t open = name.find('(');
    const size_t close = name.rfind(')');
    std::string_view words = name.substr(0, open);
    for (const std::string_view word : {std::string_view("Memcpy "), std::string_view("Memset ")})
        if (words.starts_with(word)) words.remove_prefix(word.size());
    while (words.ends_with(' ')) words.remove_suffix(1);
    copy.kind = directionOf(words);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return copy;
    const std::string_view memories = name.substr(open + 1, close - open - 1);
    const size_t separator = memories.find(" -> ");
    if (separator == std::string_view::npos) {
        copy.destination = memoryOf(memories);
    } else {
        copy.source = memoryOf(memories.substr(0, separator));
        copy.destination = memoryOf(memories.substr(separator + 4));
    }
    return copy;
}

SyncType syncTypeOf(std::string_view name) {
    for (const SyncType type : {SyncType::StreamWaitEvent, SyncType::Event, SyncType::Stream, SyncType::Context})
        if (name.starts_with(torchName(type))) return type;
    return SyncType::Unknown;
}

int64_t streamNumberOf(std::string_view name) {
    constexpr std::string_view stream = "stream ";
    if (name.starts_with(stream)) name.remove_prefix(stream.size());
    const std::optional<int64_t> number = decimalOf(name.substr(0, name.find(' ')), 0);
    return number && *number >= 0 ? *number : -1;
}

ImportedEvents::ImportedEvents(TraceBuilder& builder)
    : edges(builder.memory()),
      gpuWork(builder.memory()),
      untimedWork(builder.memory()),
      flowEnds(builder.memory()),
      sequences(builder.memory()),
      builder_(builder),
      range_{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()} {
    for (Slices& slices : slices_) slices = Slices(builder.memory());
}

void ImportedEvents::see(int64_t startNs, int64_t endNs) {
    range_.startNs = std::min(range_.startNs, startNs);
    range_.endNs = std::max(range_.endNs, endNs);
}

void ImportedEvents::countUntimed(ImportedEventKind kind) {
    if (kind == ImportedEventKind::Kernel) ++tally.untimedKernels;
    if (kind == ImportedEventKind::Memcpy) ++tally.untimedCopies;
    if (kind == ImportedEventKind::Memset) ++tally.untimedMemsets;
}

void ImportedEvents::dropTime(int64_t timeNs) {
    if (range_.startNs != timeNs) return;
    BlockList<ImportedGpuWork> timed(builder_.memory());
    gpuWork.consume([&](const ImportedGpuWork& work) {
        if (work.startNs == timeNs) countUntimed(work.kind);
        (work.startNs == timeNs ? untimedWork : timed).push_back(work);
    });
    gpuWork = std::move(timed);
    Slices annotations(builder_.memory());
    slices(ImportedEventKind::GpuAnnotation).consume([&](const ImportedSlice& slice) {
        if (slice.startNs != timeNs) annotations.push_back(slice);
    });
    slices(ImportedEventKind::GpuAnnotation) = std::move(annotations);
    findRange();
}

void ImportedEvents::findRange() {
    range_ = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const Slices& each : slices_)
        each.forEach([this](const ImportedSlice& slice) {
            if (isPossible(slice.startNs, slice.durationNs))
                see(slice.startNs, slice.startNs + std::max<int64_t>(0, slice.durationNs));
        });
    edges.forEach([this](const ImportedEdge& edge) { see(edge.timeNs, edge.timeNs); });
    gpuWork.forEach([this](const ImportedGpuWork& work) { see(work.startNs, work.startNs + work.durationNs); });
    for (const BlockList<Sample>& each : samples)
        each.forEach([this](const Sample& sample) { see(sample.timeNs, sample.timeNs); });
}

template <class Item, class Take>
void ImportedEvents::takeEach(const std::vector<Item>& items, BlockList<Item>& into, Take take) {
    for (Item item : items) {
        if (!take(item) || into.size() >= EventRef::maxRow)
            ++skippedCount_;
        else
            into.push_back(item);
    }
}

void ImportedEvents::take(const ImportedChunk& chunk, uint64_t offset) {
    tally += chunk.tally;
    for (const auto& [begin, end] : chunk.corruption) corruption_.add(offset + begin, offset + end);
    Numbers texts, ofThreads, ofPlaces, ofLaunches;
    for (const std::string_view text : chunk.strings.all()) texts.push_back(builder_.intern(text));
    for (const ImportedThread& each : chunk.threads)
        ofThreads.push_back(
            numberOf(threadNumbers_, threads, Thread{std::string(each.process), std::string(each.thread)}, maxNames));
    for (const ImportedPlace& each : chunk.places) ofPlaces.push_back(numberOf(placeNumbers_, places, each, maxNames));
    for (ImportedLaunch each : chunk.launches) {
        each.name = texts[each.name];
        ofLaunches.push_back(numberOf(launchNumbers_, launches, each, EventRef::maxRow));
    }
    takeSlices(chunk, texts, ofThreads, ofPlaces);
    takeEach(chunk.edges, edges, [&](ImportedEdge& edge) {
        edge.name = texts[edge.name];
        edge.thread = ofThreads[edge.thread];
        edge.category = texts[edge.category];
        edge.id = texts[edge.id];
        if (!isPossible(edge.timeNs, 0)) return false;
        see(edge.timeNs, edge.timeNs);
        return true;
    });
    takeEach(chunk.gpuWork, gpuWork, [&](ImportedGpuWork& work) {
        work.place = ofPlaces[work.place];
        if (work.kind == ImportedEventKind::Kernel) work.config = ofLaunches[work.config];
        if (!isPossible(work.startNs, work.durationNs)) return false;
        see(work.startNs, work.startNs + work.durationNs);
        return true;
    });
    takeEach(chunk.untimedWork, untimedWork, [&](ImportedGpuWork& work) {
        work.place = ofPlaces[work.place];
        countUntimed(work.kind);
        return true;
    });
    takeEach(chunk.flowEnds, flowEnds, [&](ImportedFlowEnd& end) {
        end.thread = ofThreads[end.thread];
        return isPossible(end.timeNs, 0);
    });
    takeNames(chunk);
    takeSamples(chunk, texts);
}

void ImportedEvents::takeSlices(const ImportedChunk& chunk, const Numbers& texts, const Numbers& ofThreads,
                                const Numbers& ofPlaces) {
    constexpr auto operators = static_cast<size_t>(ImportedEventKind::Operator);
    const size_t operatorsBefore = slices_[operators].size();
    for (const ImportedCollective& each : chunk.collectives) {
        ImportedCollective copied = each;
        copied.slice += operatorsBefore;
        for (uint32_t* text : {&copied.operation, &copied.datatype, &copied.group, &copied.groupName, &copied.ranks})
            *text = texts[*text];
        collectives.push_back(copied);
    }
    takeEach(chunk.sequences, sequences, [&](ImportedSequence& copied) {
        copied.slice += static_cast<uint32_t>(operatorsBefore);
        return operatorsBefore < EventRef::maxRow;
    });
    for (size_t kind = 0; kind < slices_.size(); ++kind) {
        const bool hasText = kind == operators;
        const bool hasPlace = kind == static_cast<size_t>(ImportedEventKind::GpuAnnotation);
        takeEach(chunk.slices[kind], slices_[kind], [&](ImportedSlice& slice) {
            slice.name = texts[slice.name];
            slice.category = texts[slice.category];
            if (!hasPlace) slice.thread = ofThreads[slice.thread];
            if (hasText) slice.extra = texts[slice.extra];
            if (hasPlace) slice.extra = ofPlaces[slice.extra];
            // An operator is skipped later, so that the numbers of later ones remain valid.
            if (!isPossible(slice.startNs, slice.durationNs)) return hasText;
            see(slice.startNs, slice.startNs + std::max<int64_t>(0, slice.durationNs));
            return true;
        });
    }
}

void ImportedEvents::takeNames(const ImportedChunk& chunk) {
    for (const ImportedName& each : chunk.names) {
        const std::string name(chunk.strings.at(each.name));
        const std::string process(each.owner.process);
        if (each.isOfThread && threadNames.size() < maxNames)
            threadNames[Thread{process, std::string(each.owner.thread)}] = name;
        else if (!each.isOfThread && processNames.size() < maxNames)
            processNames[process] = name;
    }
}

void ImportedEvents::takeSamples(const ImportedChunk& chunk, const Numbers& texts) {
    Numbers ofCounters;
    for (const ImportedCounter& each : chunk.counters) {
        const Counter counter{each.meaning,     std::string(each.process), texts[each.name],
                              texts[each.part], each.deviceType,           each.device};
        const bool isTooMany = !counterNumbers_.contains(counter) && counters.size() >= maxImportedCounters;
        ofCounters.push_back(isTooMany ? noIndex : numberOf(counterNumbers_, counters, counter, maxImportedCounters));
    }
    while (samples.size() < counters.size()) samples.emplace_back(builder_.memory());
    for (const ImportedSample& sample : chunk.samples) {
        const uint32_t counter = ofCounters[sample.counter];
        if (counter == noIndex || !isPossible(sample.timeNs, 0)) {
            ++skippedCount_;
            continue;
        }
        see(sample.timeNs, sample.timeNs);
        samples[counter].push_back({sample.timeNs, sample.value});
    }
}

}  // namespace lanescope
