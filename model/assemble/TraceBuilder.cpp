// SPDX-License-Identifier: Apache-2.0
#include "model/assemble/TraceBuilder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/assemble/finishTrace.h"
#include "model/format/GlobalId.h"
#include "model/format/checksums.h"
#include "model/text/formatValue.h"
#include "model/trace/kinds/MemoryEvent.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

size_t LaunchConfigs::Hash::operator()(const LaunchConfig& config) const {
    uint64_t hash = mixed(0);
    const auto mix = [&hash](uint64_t part) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    };
    mix(uint64_t{config.demangledName} << 32 | config.shortName);
    mix(uint64_t{config.grid[0]} << 32 | config.grid[1]);
    mix(uint64_t{config.grid[2]} << 32 | config.block[0]);
    mix(uint64_t{config.block[1]} << 32 | config.block[2]);
    mix(uint64_t{config.registersPerThread} << 32 | config.mangledName);
    mix(uint64_t{config.staticSharedBytes} << 32 | config.dynamicSharedBytes);
    return static_cast<size_t>(hash);
}

uint32_t LaunchConfigs::indexOf(const LaunchConfig& config, LaunchConfigColumn& configs) {
    const auto [found, isNew] = indexOf_.try_emplace(config, static_cast<uint32_t>(configs.size()));
    if (isNew) configs.push_back(config);
    return found->second;
}

namespace {

HealthNote counted(Severity severity, HealthCode code, std::string sentence, int64_t count) {
    return {severity, code, std::move(sentence), {}, {}, count};
}

constexpr size_t maxProcesses = 1 << 16;
constexpr size_t maxThreads = 1 << 16;
constexpr size_t maxStreams = 1 << 14;
constexpr size_t maxGpus = 1 << 10;
constexpr size_t maxCounters = 1 << 16;
constexpr uint32_t maxStacks = 1u << 26;
// Measured final memory of each, with its tracks and lanes. `minNameRoom` and `nameRoomPerByte` are the share of named
// subjects in the memory for opening a file, which is 32 MiB and 16 times its size.
constexpr size_t processBytes = 800, threadBytes = 1000, streamBytes = 700, counterBytes = 1300;
constexpr uint64_t minNameRoom = uint64_t{24} << 20, nameRoomPerByte = 10;
// The GPU columns of a `MemcpyTable` have this width.
static_assert(maxGpus <= INT16_MAX);

/// A probe for whether a kind counts its events itself.
constexpr auto ignoreCount = [](std::string_view, int64_t) {};

/// Returns the beginning of a name with its length and hash.
std::string shortened(std::string_view name) {
    constexpr size_t maxRemarkBytes = 64;
    size_t end = TraceBuilder::maxNameBytes - maxRemarkBytes;
    // Not within a character.
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    Fnv1a hash;
    hash.add(name);
    return fmt::format("{}... ({} bytes, {:016x})", name.substr(0, end), name.size(), hash.value());
}

std::string shown(std::string_view name) {
    return name.size() <= TraceBuilder::maxNameBytes ? std::string(name) : shortened(name);
}

void replace(Column<StringIndex>& numbers, const std::vector<StringIndex>& names) {
    Column<StringIndex> named(numbers.memory());
    for (const uint32_t number : numbers) named.push_back(number < names.size() ? names[number] : StringIndex{0});
    numbers = std::move(named);
}

/// Notes the number of events without times, unless the recorder has noted it for each process.
void noteUntimed(std::span<const EventCount> counts, std::vector<HealthNote>& health) {
    const int64_t found = sumOf(counts, &EventCount::untimed);
    int64_t noted = 0;
    for (const HealthNote& note : health)
        if (note.code == HealthCode::Untimed) noted += std::clamp<int64_t>(note.count.value_or(0), 0, found);
    if (noted >= found) return;
    for (const EventCount& count : counts)
        if (count.untimed > 0)
            health.push_back(
                counted(Severity::Warning, HealthCode::Untimed,
                        fmt::format("{} of {} {} have no start and end in the file. All numbers omit them.",
                                    formatCount(count.untimed), formatCount(count.total), count.name),
                        count.untimed));
}

bool isNoted(std::span<const HealthNote> health, HealthCode code) {
    return std::ranges::any_of(health, [code](const HealthNote& note) { return note.code == code; });
}

std::set<int64_t> processesNoted(std::span<const HealthNote> health, HealthCode code) {
    std::set<int64_t> processes;
    for (const HealthNote& note : health)
        if (note.code == code && note.globalPid) processes.insert(*note.globalPid);
    return processes;
}

}  // namespace

void SkipTally::addRows(std::string_view where, int64_t rows) {
    if (rows > 0) byPlace_.try_emplace(std::string(where)).first->second.rows += rows;
}

void SkipTally::addValues(std::string_view where, int64_t values) {
    if (values > 0) byPlace_.try_emplace(std::string(where)).first->second.values += values;
}

void SkipTally::addCounter(const CounterValues& values) {
    resets_ += values.resetCount;
    wraps_ += values.wrapCount;
}

void SkipTally::note(TraceBuilder& builder) const {
    builder.noteSome(
        resets_, Severity::Warning, HealthCode::CountersReset,
        fmt::format("Sampled counters were reset {} time{} (GPU reset?); their values in those intervals are unknown.",
                    formatCount(resets_), resets_ == 1 ? "" : "s"));
    builder.noteSome(wraps_, Severity::Info, HealthCode::CountersWrapped,
                     fmt::format("Sampled counters wrapped around to 0 {} time{}; corrected.", formatCount(wraps_),
                                 wraps_ == 1 ? "" : "s"));
    for (const auto& [where, tally] : byPlace_) {
        builder.noteSome(
            tally.rows, Severity::Warning, HealthCode::RowsLeftOut,
            fmt::format("{} {} skipped: invalid content.", formatCount(tally.rows),
                        tally.rows == 1 ? fmt::format("row of {} was", where) : fmt::format("rows of {} were", where)));
        builder.noteSome(tally.values, Severity::Warning, HealthCode::ValuesIgnored,
                         fmt::format("{} in {} {} of the wrong kind or out of range.",
                                     tally.values == 1 ? "1 value" : formatCount(tally.values) + " values", where,
                                     tally.values == 1 ? "was ignored: it is" : "were ignored: they are"));
    }
}

size_t TraceBuilder::StreamHash::operator()(const StreamKey& key) const {
    uint64_t hash = uint64_t{key.process} << 32 | key.gpu;
    for (const int64_t part : {key.context, key.stream}) hash = mixed(hash ^ static_cast<uint64_t>(part));
    return static_cast<size_t>(hash);
}

TraceBuilder::TraceBuilder(std::shared_ptr<LargeMemory> memory) : trace_(new Trace()), nameRoom_(UINT64_MAX) {
    trace_->memory = std::move(memory);
    trace_->strings = StringTable(this->memory());
    forEachTable(*trace_, [this]<class Table>(Table& table) { table = tableIn<Table>(this->memory()); });
}

void TraceBuilder::noteNotShown(int64_t count, std::string_view what) {
    noteSome(count, Severity::Info, HealthCode::NotShown,
             fmt::format("Not shown here: {} {}.", formatCount(count), what));
}

StringIndex TraceBuilder::intern(std::string_view text) {
    return trace_->strings.intern(text.size() <= maxNameBytes ? text : shortened(text));
}

void TraceBuilder::setPath(const std::filesystem::path& path) {
    trace_->path = path;
    trace_->title = path.filename().string();
}

void TraceBuilder::boundNamesBy(uint64_t fileBytes) {
    nameRoom_ = minNameRoom + nameRoomPerByte * std::min(fileBytes, uint64_t{1} << 48);
}

bool TraceBuilder::reserveRoom(size_t bytes) {
    if (nameRoom_ < bytes) return false;
    nameRoom_ -= bytes;
    return true;
}

size_t TraceBuilder::remainingCounters() const {
    return std::min<uint64_t>(maxCounters - std::min(maxCounters, trace_->counters.size()), nameRoom_ / counterBytes);
}

uint32_t TraceBuilder::gpu(int64_t id) {
    if (const auto found = gpus_.find(id); found != gpus_.end()) return found->second;
    if (trace_->gpus.size() >= maxGpus) return noIndex;
    const auto index = static_cast<uint32_t>(trace_->gpus.size());
    trace_->gpus.emplace_back().id = id;
    gpus_.emplace(id, index);
    return index;
}

uint32_t TraceBuilder::process(int64_t globalPid) {
    const int64_t id = processOf(globalPid);
    if (lastProcess_.first == id && lastProcess_.second != noIndex) return lastProcess_.second;
    auto found = processes_.find(id);
    if (found == processes_.end()) {
        if (trace_->processes.size() >= maxProcesses || !reserveRoom(processBytes)) return noIndex;
        Process& process = trace_->processes.emplace_back();
        process.globalPid = id;
        process.pid = processIdOf(id);
        const auto index = static_cast<uint32_t>(trace_->processes.size() - 1);
        found = processes_.emplace(id, index).first;
    }
    lastProcess_ = {id, found->second};
    return found->second;
}

uint32_t TraceBuilder::thread(int64_t globalTid) {
    if (lastThread_.first == globalTid && lastThread_.second != noIndex) return lastThread_.second;
    auto found = threads_.find(globalTid);
    if (found == threads_.end()) {
        const uint32_t owner = process(globalTid);
        if (owner == noIndex || trace_->threads.size() >= maxThreads || !reserveRoom(threadBytes)) return noIndex;
        trace_->threads.push_back({.globalTid = globalTid, .tid = threadIdOf(globalTid), .process = owner});
        const auto index = static_cast<uint32_t>(trace_->threads.size() - 1);
        found = threads_.emplace(globalTid, index).first;
    }
    lastThread_ = {globalTid, found->second};
    return found->second;
}

uint32_t TraceBuilder::stream(uint32_t process, uint32_t gpu, int64_t contextId, int64_t streamId) {
    const StreamKey key{process, gpu, contextId, streamId};
    if (lastStream_.first == key && lastStream_.second != noIndex) return lastStream_.second;
    auto found = streams_.find(key);
    if (found == streams_.end()) {
        if (!isProcess(process) || !isGpu(gpu) || trace_->streams.size() >= maxStreams || !reserveRoom(streamBytes))
            return noIndex;
        trace_->streams.push_back({process, gpu, contextId, streamId, false});
        const auto index = static_cast<uint32_t>(trace_->streams.size() - 1);
        found = streams_.emplace(key, index).first;
    }
    lastStream_ = {key, found->second};
    return found->second;
}

uint32_t TraceBuilder::stack(uint32_t parent, StringIndex function, StringIndex file, uint32_t line, StringIndex module,
                             StringIndex operators, StringIndex code) {
    StackTable& stacks = trace_->stacks;
    const auto isText = [this](StringIndex text) { return text < trace_->strings.size(); };
    if (stacks.size() >= maxStacks || (parent != noIndex && parent >= stacks.size()) || !isText(function) ||
        !isText(file) || !isText(module) || !isText(operators) || !isText(code))
        return noIndex;
    stacks.parent.push_back(parent);
    stacks.function.push_back(function);
    stacks.file.push_back(file);
    stacks.line.push_back(line);
    stacks.module.push_back(module);
    stacks.operators.push_back(operators);
    stacks.code.push_back(code);
    return stacks.size() - 1;
}

void TraceBuilder::nameProcess(int64_t globalPid, std::string_view name) {
    processNames_[processOf(globalPid)] = shown(name);
}

void TraceBuilder::nameThread(int64_t globalTid, std::string_view name) { threadNames_[globalTid] = shown(name); }

void TraceBuilder::eventCall(const EventCallRow& row, EventCallTable& table) {
    // Not events of the trace, so they are dropped without a note.
    if (row.stream >= trace_->streams.size() || table.size() >= EventRef::maxRow) return;
    table.stream.push_back(row.stream);
    table.event.push_back(row.event);
    table.eventSync.push_back(row.eventSync);
    table.correlation.push_back(row.correlation);
}

void TraceBuilder::eventRecord(const EventCallRow& row) { eventCall(row, trace_->eventRecords); }

void TraceBuilder::eventWait(const EventCallRow& row) { eventCall(row, trace_->eventWaits); }

void TraceBuilder::backward(EventRef forward, EventRef backward) {
    const auto isRange = [this](EventRef event) {
        return event.kind() == EventKind::Nvtx && event.row() < trace_->nvtx.size();
    };
    BackwardTable& table = trace_->backwards;
    if (!isRange(forward) || !isRange(backward) || table.size() >= EventRef::maxRow) return;
    table.forward.push_back(forward.row());
    table.backward.push_back(backward.row());
}

void TraceBuilder::nccl(EventRef range, const NcclRow& row) {
    if (range.kind() != EventKind::Nvtx || range.row() >= trace_->nvtx.size()) return;
    NcclTable& table = trace_->nccl;
    table.nvtx.push_back(range.row());
    table.operation.push_back(row.operation);
    table.bytes.push_back(row.bytes);
    table.communicator.push_back(row.communicator);
    table.facts.push_back(row.facts);
}

void TraceBuilder::amendNccl(uint32_t row, const NcclRow& better) {
    NcclTable& table = trace_->nccl;
    if (row >= table.size()) return;
    table.operation.set(row, better.operation);
    table.bytes.set(row, better.bytes);
    table.communicator.set(row, better.communicator);
    table.facts.set(row, better.facts);
}

void TraceBuilder::nameNvtx(const std::vector<StringIndex>& domains, const std::vector<StringIndex>& categories) {
    replace(trace_->nvtx.domain, domains);
    replace(trace_->nvtx.category, categories);
}

void TraceBuilder::counter(CounterSeries series, CounterSamples samples) {
    if (samples.timesNs.empty()) return;
    series.isMeanOfInterval = samples.meaning != CounterMeaning::Gauge;
    CounterValues values = counterValues(std::move(samples));
    skipped_.addCounter(values);
    series.unit = values.unit;
    series.set(values.timesNs, values.values, values.endNs);
    counter(std::move(series));
}

void TraceBuilder::counter(CounterSeries series) {
    if (series.isEmpty()) return;
    series.name = shown(series.name);
    const bool isPlace =
        (series.gpu == noIndex || isGpu(series.gpu)) && (series.process == noIndex || isProcess(series.process));
    if (isPlace && remainingCounters() > 0 && reserveRoom(counterBytes))
        trace_->counters.push_back(std::move(series));
    else
        skip(kinds::CounterSample::plural, series.size());
}

void TraceBuilder::count(std::string_view name, int64_t total, int64_t untimed) {
    trace_->counts.push_back({std::string(name), total, untimed});
}

void TraceBuilder::assignNames() {
    for (Process& process : trace_->processes) {
        const auto found = processNames_.find(process.globalPid);
        if (process.name.empty() && found != processNames_.end()) process.name = found->second;
    }
    for (Thread& thread : trace_->threads) {
        const auto found = threadNames_.find(thread.globalTid);
        if (thread.name.empty() && found != threadNames_.end()) thread.name = found->second;
        Process& process = trace_->processes[thread.process];
        if (thread.tid == process.pid && process.name.empty()) process.name = thread.name;
    }
}

void TraceBuilder::countRemainingKinds() {
    const auto take = [this](std::string_view name, int64_t rows) {
        const auto& counts = trace_->counts;
        const bool isCounted =
            std::ranges::any_of(counts, [name](const EventCount& count) { return count.name == name; });
        if (!isCounted && rows > 0) count(name, rows, 0);
    };
    forEachKind([&](auto each) {
        using Kind = decltype(each);
        if constexpr (requires(const Trace& trace) { Kind::forEachCount(trace, ignoreCount); })
            Kind::forEachCount(*trace_, take);
        else if constexpr (each.origin == kinds::Origin::Recorded)
            take(each.plural, each.size(*trace_));
    });
    take(kinds::MemoryEvent::plural, trace_->memoryEvents.size());
}

bool TraceBuilder::finish(unsigned threads, const std::stop_token& stop) {
    assignNames();
    countRemainingKinds();
    skipped_.note(*this);
    noteMissingEvents(trace_->counts, trace_->processes, trace_->health);
    return finishTrace(*trace_, threads, stop);
}

void noteMissingEvents(std::span<const EventCount> counts, std::span<const Process> processes,
                       std::vector<HealthNote>& health) {
    noteUntimed(counts, health);
    if (std::ranges::all_of(counts, [](const EventCount& each) { return each.total == 0; }))
        health.push_back({Severity::Warning, HealthCode::NoEvents,
                          isNoted(health, HealthCode::NotShown)
                              ? "Nothing of this trace can be shown: it has no CUDA work, API calls or NVTX ranges, "
                                "only data listed as not shown."
                              : "This trace has no events: no CUDA work, API call or NVTX range was recorded."});
    const std::set<int64_t> noted = processesNoted(health, HealthCode::ProcessEndedAbnormally);
    for (const Process& process : processes)
        if (process.endedAbnormally && !noted.contains(process.globalPid))
            health.push_back(
                {Severity::Warning, HealthCode::ProcessEndedAbnormally,
                 fmt::format("Process {}: left no exit record, its last events may be missing.", process.pid),
                 process.globalPid});
}

}  // namespace lanescope
