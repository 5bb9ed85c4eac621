// SPDX-License-Identifier: Apache-2.0
#include "model/importers/events/ImportedEvents.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "model/format/factNames.h"
#include "model/format/text.h"
#include "model/numbers/MixedMap.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Memcpy.h"
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
         {&Tally::events, &Tally::flows, &Tally::otherFlows, &Tally::overheads, &Tally::overheadNs, &Tally::callStacks,
          &Tally::untimed, &Tally::negative, &Tally::unknown, &Tally::fractions, &Tally::oddWork,
          &Tally::untimedKernels, &Tally::untimedCopies, &Tally::untimedMemsets})
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

ImportedFile endOf(const ProtoStream& stream, ImportedEvents& events) {
    ImportedFile file;
    file.bytes = stream.bytesRead();
    file.readError = stream.readError();
    file.isClosed = stream.end() == ProtoStream::End::Complete || stream.end() == ProtoStream::End::Malformed;
    file.isTooLong = stream.end() == ProtoStream::End::TooLong;
    if (stream.end() == ProtoStream::End::Malformed) events.addCorruption(stream.fieldAt(), stream.bytesRead());
    return file;
}

namespace {

using Json = nlohmann::json;

/// Returns the fact as JSON, or null if it is missing or invalid.
Json parsed(const TopLevelFacts& facts, std::string_view name) {
    const auto found = facts.find(name);
    if (found == facts.end()) return nullptr;
    Json value = Json::parse(found->second, nullptr, false);
    return value.is_discarded() ? Json(nullptr) : value;
}

std::optional<int64_t> numberIn(const Json& object, const char* key) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int64_t>();
}

/// Returns the value of the first existing key. Versions use different names.
int64_t numberIn(const Json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (const std::optional<int64_t> number = numberIn(object, key)) return std::max<int64_t>(0, *number);
    return 0;
}

int smallNumber(int64_t value) { return value <= INT32_MAX ? static_cast<int>(value) : 0; }

/// Returns "13.0" for 13000, CUDA's notation of versions.
std::string cudaVersion(const std::string& text) {
    const std::optional<int64_t> number = decimalOf(text, 0);
    if (!number || *number < 1000) return text;
    return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

void describeGpus(const TopLevelFacts& facts, TraceBuilder& builder) {
    Json devices = parsed(facts, "deviceProperties");
    if (!devices.is_array()) devices = parsed(facts, "computeProperties");
    if (!devices.is_array()) return;
    for (Gpu& gpu : builder.gpus())
        for (const Json& device : devices) {
            if (numberIn(device, "id") != gpu.id) continue;
            const auto name = device.find("name");
            if (name != device.end() && name->is_string()) gpu.name = name->get<std::string>();
            gpu.memoryBytes = numberIn(device, {"totalGlobalMem"});
            gpu.smCount = smallNumber(numberIn(device, {"numSms", "multiProcessorCount"}));
            gpu.computeMajor = smallNumber(numberIn(device, {"computeMajor", "major"}));
            gpu.computeMinor = smallNumber(numberIn(device, {"computeMinor", "minor"}));
        }
}

void describeRank(const TopLevelFacts& facts, EmitContext& output) {
    const uint32_t main = output.identities.mainProcess();
    if (main == noIndex) return;
    Process& process = output.builder.processes()[main];
    if (output.rank >= 0) process.rank = output.rank;
    const std::optional<int64_t> size = numberIn(parsed(facts, "distributedInfo"), "world_size");
    if (size && *size > 0) process.worldSize = smallNumber(*size);
}

/// Returns the profiler's options for recording more than times.
std::string options(const TopLevelFacts& facts) {
    constexpr std::array<std::string_view, 5> names{"record_shapes", "with_stack", "profile_memory", "with_modules",
                                                    "with_flops"};
    std::string list;
    for (const std::string_view name : names)
        if (facts.contains(name)) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
    return list;
}

void addOther(const TopLevelFacts& facts, std::string_view key, std::string_view shown, TraceDescription& trace) {
    const auto found = facts.find(key);
    if (found != facts.end() && !found->second.empty())
        trace.facts.others.push_back({std::string(shown), found->second});
}

void noteCorruption(const ImportedFile& file, const CorruptionTally& corruption, HealthCode code,
                    TraceBuilder& builder) {
    builder.noteSome(corruption.places, Severity::Warning, code,
                     fmt::format("The file is corrupt in {} place{}: {} bytes could not be read, the first at byte {}. "
                                 "The intact part is shown.",
                                 formatCount(corruption.places), corruption.places == 1 ? "" : "s",
                                 formatCount(corruption.bytes), formatCount(static_cast<int64_t>(corruption.firstAt))));
    if (file.isTopLevelCorrupt)
        builder.note(Severity::Warning, code,
                     "Some metadata of the file is corrupt; GPUs, ranks or the time of day may be missing.");
    if (file.isTooLong)
        noteTooLong(builder, file.bytes);
    else if (!file.isClosed)
        noteTruncation(builder, file.bytes, file.areEventsComplete ? "facts about GPUs and ranks" : "events",
                       file.readError);
}

/// Notes calls whose work is missing, unless all of them are (`checkLaunches`).
void noteCallsWithoutWork(const EmitFindings& findings, bool isWhole, TraceBuilder& builder) {
    // A few in the middle may be launches of nothing.
    constexpr int64_t minLostDivisor = 20;
    const int64_t count = findings.callsWithoutWork;
    if (count == 0 || count == findings.launches) return;
    if (findings.callsWithoutWorkBetween * minLostDivisor >= findings.launches) {
        builder.note(Severity::Warning, HealthCode::CallsWithoutWork,
                     fmt::format("{} of {} calls that launch GPU work have none in the file, {} of them before others "
                                 "that have: the profiler lost it. Idle time may be such work.",
                                 formatCount(count), formatCount(findings.launches),
                                 formatCount(findings.callsWithoutWorkBetween)),
                     count);
        return;
    }
    builder.note(Severity::Info, HealthCode::CallsWithoutWork,
                 fmt::format("{} calls launch GPU work that is not in the file: {}.", formatCount(count),
                             isWhole ? "the profiler omits work that ran after it stopped"
                                     : "missing, or omitted by the profiler"),
                 count);
}

/// Counts events with those that have no time, which `noteMissingEvents` reports.
void countUntimed(const ImportedTally& tally, TraceBuilder& builder) {
    const Trace& trace = builder.trace();
    const auto count = [&](std::string_view name, int64_t rows, int64_t untimed) {
        if (untimed > 0) builder.count(name, rows + untimed, untimed);
    };
    count(kinds::Kernel::plural, trace.kernels.size(), tally.untimedKernels);
    count(kinds::Memcpy::plural, trace.memcpys.size(), tally.untimedCopies);
    count(kinds::Memset::plural, trace.memsets.size(), tally.untimedMemsets);
}

/// `isWhole` means that no part of the file is known to be missing.
void noteFit(const EmitFindings& findings, bool isWhole, TraceBuilder& builder) {
    noteCallsWithoutWork(findings, isWhole, builder);
    builder.noteSome(
        findings.workWithoutCall, Severity::Info, HealthCode::WorkWithoutCall,
        fmt::format("{} GPU operations have no call in the file: launched before the profiler started, or by "
                    "a CUDA graph{}.",
                    formatCount(findings.workWithoutCall), isWhole ? "" : ", or their call is missing"));
    builder.noteSome(
        findings.unmatchedFlowEnds, Severity::Info, HealthCode::BackwardUnknown,
        fmt::format("{} ends of flow events between forward and backward operators are ignored: they have no "
                    "other end, several ends, or no operator around them.",
                    formatCount(findings.unmatchedFlowEnds)));
    builder.noteSome(
        findings.unmatchedBackwards, Severity::Info, HealthCode::BackwardUnknown,
        fmt::format("{} backward operators have no flow event, because their forward operators ran before the "
                    "profiler started, or have ambiguous numbers.",
                    formatCount(findings.unmatchedBackwards)));
    builder.noteSome(
        findings.overlaps, Severity::Info, HealthCode::StreamOverlap,
        fmt::format("{} GPU operations start before the previous one on their stream ends, by up to {}; they "
                    "are drawn below it.",
                    formatCount(findings.overlaps), formatDuration(findings.maxOverlapNs)));
}

}  // namespace

int rankOf(const TopLevelFacts& facts, const std::filesystem::path& path) {
    constexpr int maxRank = 1 << 24;
    const Json distributed = parsed(facts, "distributedInfo");
    if (const std::optional<int64_t> rank = numberIn(distributed, "rank"))
        return *rank >= 0 && *rank < maxRank ? static_cast<int>(*rank) : -1;
    return rankInName(path.filename().string()).value_or(-1);
}

void describeImportedFile(const ImportedFile& file, EmitContext& output) {
    const TopLevelFacts& facts = file.facts;
    TraceDescription& trace = output.builder.description();
    const bool isOfTorch =
        facts.contains("schemaVersion") || facts.contains("deviceProperties") || facts.contains("distributedInfo");
    trace.producer = isOfTorch ? "torch.profiler" : "a JSON trace";
    const auto base = facts.find("baseTimeNanoseconds");
    const int64_t baseNs = base != facts.end() ? decimalOf(base->second, 0).value_or(0) : int64_t{0};
    // Older files have no base time and count since 1970. Times of newer files are far smaller.
    constexpr int64_t minUnixTimeNs = int64_t{1'000'000'000} * 1'000'000'000;
    constexpr int64_t maxTimeNs = int64_t{1} << 62;
    if (baseNs > 0 && baseNs < maxTimeNs && output.zeroNs < maxTimeNs - baseNs)
        trace.startUtcNs = baseNs + output.zeroNs;
    else if (output.zeroNs > minUnixTimeNs)
        trace.startUtcNs = output.zeroNs;
    describeGpus(facts, output.builder);
    describeRank(facts, output);
    if (const auto host = facts.find("host_name"); host != facts.end()) trace.facts.host = host->second;
    if (const auto version = facts.find("cuda_driver_version"); version != facts.end())
        trace.facts.driverCudaVersion = cudaVersion(version->second);
    trace.facts.recordOptions = options(facts);
    if (const auto version = facts.find("cuda_runtime_version"); version != facts.end())
        trace.facts.others.push_back({"CUDA runtime", cudaVersion(version->second)});
    addOther(facts, "cupti_version", "CUPTI", trace);
    addOther(facts, "hip_runtime_version", "HIP runtime", trace);
    addOther(facts, "roctracer_version", "roctracer", trace);
    addOther(facts, "trace_id", "Trace id", trace);
    addOther(facts, "PT_PROFILER_JOB_NAME", "Job", trace);
    const Json distributed = parsed(facts, "distributedInfo");
    if (distributed.is_object() && distributed.contains("nccl_version") && distributed["nccl_version"].is_string())
        trace.facts.others.push_back({"NCCL", distributed["nccl_version"].get<std::string>()});
}

void noteImportedFile(const ImportedFile& file, const EmitFindings& findings, EmitContext& output,
                      HealthCode corruption) {
    TraceBuilder& builder = output.builder;
    const ImportedTally& tally = output.events.tally;
    noteCorruption(file, output.events.corruption(), corruption, builder);
    noteFit(findings,
            file.isClosed && !file.isTooLong && output.events.corruption().places == 0 &&
                tally.untimed + output.events.skippedCount() == 0,
            builder);
    countUntimed(tally, builder);
    builder.skip("events without a time", tally.untimed);
    builder.skip("events", output.events.skippedCount());
    builder.skip("ends of ranges without a start", findings.unmatchedEdges);
    builder.ignore("durations below 0", tally.negative);
    if (tally.overheadNs > 0)
        builder.note(Severity::Info, HealthCode::ProfilerOverhead,
                     fmt::format("Profiler overhead: {1} in {0} intervals.", formatCount(tally.overheads),
                                 formatDuration(tally.overheadNs)));
    if (tally.fractions == 0 && !output.events.isEmpty())
        builder.note(Severity::Info, HealthCode::CoarseTimes,
                     "All times of the file are whole microseconds; shorter durations are shown as 0 or 1 \u00b5s.");
    builder.noteNotShown(tally.callStacks, "call stacks of operators");
    builder.noteNotShown(tally.otherFlows, "ends of flow events");
    builder.noteNotShown(tally.unknown, "events of an unknown kind");
}

void noteCorruptParts(std::string_view what, int64_t count, TraceBuilder& builder) {
    builder.noteSome(
        count, Severity::Warning, HealthCode::FileDamaged,
        fmt::format("The file is corrupt: {} of its {} could not be read. The intact part is shown. Copy it again.",
                    formatCount(count), what));
}

void noteTruncation(TraceBuilder& builder, uint64_t bytes, std::string_view what,
                    const std::optional<Error>& readError) {
    builder.note(
        Severity::Warning, HealthCode::FileCut,
        fmt::format("The file is truncated after {} bytes: {} are missing at its end. {}",
                    formatCount(static_cast<int64_t>(bytes)), what,
                    readError ? readError->sentence : "Copy it again, after the program that writes it has ended."));
}

void noteTooLong(TraceBuilder& builder, uint64_t bytes) {
    builder.note(Severity::Warning, HealthCode::FileCut,
                 fmt::format("Only the first {} of the file are shown.", formatBytes(static_cast<int64_t>(bytes))));
}

}  // namespace lanescope
