// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/SamplerImporter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "capture/collector/TraceWriter.h"
#include "model/format/factNames.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Session.h"
#include "model/format/tables/Threads.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

namespace {

constexpr size_t maxWatchedThreads = 100'000;

constexpr size_t maxCounters = 1'000'000;
/// Number of readings that determine how often a counter is read.
constexpr int64_t readingsForInterval = 5;
constexpr size_t maxMetrics = 4096;
/// CPU time that the host of a virtual machine took from it, and the minimum share of a core and
/// the minimum duration to report.
constexpr std::string_view stolenTime = "cpu.steal";
constexpr double minStolenShare = 0.03;
constexpr int64_t minReportedNs = 1'000'000'000;
constexpr size_t maxSamplerNotes = 100;
constexpr int64_t gpuBits = 0xff;
/// A sample that is older than a previous one by more than this was not merely reported late.
constexpr int64_t maxDelayNs = 1'000'000'000;

/// Returns the type in Nsight Systems' numbering: the lowest byte is the GPU.
int64_t metricType(int64_t gpu) { return gpu & gpuBits; }

/// Returns nullopt for infinity and NaN.
std::optional<double> ifFinite(uint64_t bits) {
    const auto real = std::bit_cast<double>(bits);
    return std::isfinite(real) ? std::optional(real) : std::nullopt;
}

}  // namespace

void ThreadStateImporter::add(const log::WatchedProcessRecord& record) {
    if (processes_.size() < maxWatchedThreads)
        processes_.insert_or_assign(record.processId,
                                    Watched{std::string(context_.strings.text(record.program)), record.parentId});
}

void ThreadStateImporter::add(const log::WatchedThreadRecord& record) {
    if (names_.size() < maxWatchedThreads)
        names_.insert_or_assign({record.processId, record.threadId}, std::string(context_.strings.text(record.name)));
}

void ThreadStateImporter::add(const log::ThreadRunRecord& record) {
    if (record.endNs < record.startNs) return;
    latestNs_ = std::max(latestNs_, record.endNs);
    ++count_;
    if (seen_.size() < maxWatchedThreads) seen_.emplace(record.processId, record.threadId);
    std::optional<int64_t> call, holder;
    if (!context_.strings.text(record.call).empty()) call = context_.strings.traceId(record.call);
    if (record.holderThread != 0) holder = globalTid(record.processId, record.holderThread, context_.host);
    constexpr const auto& t = tables::threadStates;
    context_.trace.add(t, t.start = context_.time(record.startNs), t.end = context_.time(record.endNs),
                       t.globalTid = globalTid(record.processId, record.threadId, context_.host),
                       t.state = threadStateFrom(record.state), t.callchainId = context_.stacks.traceId(record.stack),
                       t.cpuNs = std::max<int64_t>(0, record.cpuNs), t.delayNs = std::max<int64_t>(0, record.delayNs),
                       t.callId = call, t.holderTid = holder,
                       t.holderCallchainId = context_.stacks.traceId(record.holderStack));
}

void ThreadStateImporter::finish(const std::set<int64_t>& logged) {
    std::set<uint32_t> processes;
    for (const auto& [process, thread] : seen_) processes.insert(process);
    for (const uint32_t process : processes) {
        const int64_t id = globalPid(process, context_.host);
        const auto watched = processes_.find(process);
        // A process whose parent is not part of the run has no group.
        if (watched != processes_.end() && processes.contains(watched->second.parent))
            context_.trace.property(facts::parentProcess, std::to_string(watched->second.parent), id);
        if (logged.contains(id)) continue;
        constexpr const auto& t = tables::processes;
        context_.trace.add(t, t.globalPid = id, t.pid = process,
                           t.name = watched == processes_.end() ? std::string() : watched->second.program);
    }
    for (const auto& [place, name] : names_) {
        if (!seen_.contains(place)) continue;
        // A name that the process reported itself has priority.
        constexpr int lesser = -1;
        context_.trace.nameThread(globalTid(place.first, place.second, context_.host), context_.trace.intern(name),
                                  lesser);
    }
}

Result<std::unique_ptr<SamplerImporter>> SamplerImporter::open(std::shared_ptr<const Folder> folder,
                                                               const std::string& name, TraceWriter& trace,
                                                               const GpuInventory& gpus, int64_t sessionStartNs,
                                                               uint32_t host, int64_t& lastCounter) {
    auto reader = log::LogReader::open(std::move(folder), name);
    if (!reader) return fail(reader.error());
    return std::unique_ptr<SamplerImporter>(
        new SamplerImporter(std::move(*reader), trace, gpus, sessionStartNs, host, lastCounter));
}

SamplerImporter::SamplerImporter(log::LogReader reader, TraceWriter& trace, const GpuInventory& gpus,
                                 int64_t sessionStartNs, uint32_t host, int64_t& lastCounter)
    : reader_(std::move(reader)),
      process_{trace, LogStrings(trace), LogStacks(trace), sessionStartNs, host, 0},
      gpus_(gpus),
      lastCounter_(lastCounter) {}

bool SamplerImporter::isSamplerLog(const std::string& name) {
    return std::filesystem::path(name).stem().stem().extension() == ".sampler";
}

size_t SamplerImporter::poll(size_t maxBlocks) {
    if (problem_) return 0;
    const auto receive = [this](const auto& record, const auto&... tail) -> void {
        if constexpr (requires { add(record, tail...); }) add(record, tail...);
        addWhereAccepted(record, process_, threads_);
    };
    const Result<size_t> blocks = reader_.poll(receive, maxBlocks);
    if (blocks) return *blocks;
    problem_ = blocks.error();
    return 0;
}

bool SamplerImporter::isTime(int64_t realtimeNs) {
    constexpr int64_t latest = int64_t{1} << 62;  // in the year 2116
    return realtimeNs >= 0 && realtimeNs <= latest;
}

void SamplerImporter::noteTime(int64_t realtimeNs) {
    if (isTime(realtimeNs)) latestNs_ = std::max(latestNs_, realtimeNs);
}

void SamplerImporter::add(const log::ClockRecord& record) { noteTime(record.realtimeNs); }

void SamplerImporter::add(const log::NoteRecord& record) {
    // Each file of a ring repeats them.
    if (notes_.size() >= maxSamplerNotes ||
        !notes_.emplace(record.timestampNs, process_.strings.text(record.sentence)).second)
        return;
    if (process_.strings.text(record.code) == identifier(HealthCode::ClockSet)) reportedClockSet_ = true;
    process_.trace.healthOfLog(severityFrom(static_cast<int64_t>(record.severity)), process_.strings.text(record.code),
                               process_.strings.text(record.sentence), {}, process_.time(record.timestampNs),
                               nullIfZero(int64_t{record.count}));
}

void SamplerImporter::add(const log::DroppedRecord& record) { dropped_[record.what] += record.count; }

void SamplerImporter::add(const log::EndRecord& record) {
    end_ = record;
    noteTime(record.timestampNs);
}

void SamplerImporter::add(const log::SampledGpuRecord& record) {
    gpuIds_.insert_or_assign(record.gpu, gpus_.find(process_.strings.text(record.uuid)).value_or(record.gpu));
}

std::optional<int64_t> SamplerImporter::gpuId(int64_t gpu) const {
    if (gpu < 0) return std::nullopt;
    const auto known = gpuIds_.find(static_cast<uint32_t>(gpu));
    return known != gpuIds_.end() ? known->second : gpu;
}

void SamplerImporter::add(const log::CounterRecord& record) {
    // After a loss of blocks counters are announced again.
    if (counters_.size() >= maxCounters || counters_.contains(record.counter)) return;
    Counter counter;
    counter.record = record;
    counter.id = ++lastCounter_;
    // String numbers may change later.
    counter.texts = {
        std::string(process_.strings.text(record.source)), std::string(process_.strings.text(record.name)),
        std::string(process_.strings.text(record.title)),  std::string(process_.strings.text(record.unit)),
        std::string(process_.strings.text(record.device)), std::string(process_.strings.text(record.direction))};
    announce(counter);
    counters_.emplace(record.counter, std::move(counter));
}

void SamplerImporter::add(const log::SamplesRecord& record, std::span<const log::SampleValue> values) {
    if (!isTime(record.timestampNs)) {
        outOfOrder_ += static_cast<int64_t>(values.size());
        return;
    }
    noteTime(record.timestampNs);
    for (const log::SampleValue& value : values)
        if (const auto counter = counters_.find(value.counter); counter != counters_.end())
            take(counter->second, record.timestampNs, value);
}

void SamplerImporter::take(Counter& counter, int64_t timeNs, const log::SampleValue& value) {
    if (value.type != log::SampleType::Unknown && timeNs > counter.latestNs) {
        if (counter.count++ == 0) {
            counter.firstNs = timeNs;
            counter.first = value;
        }
        counter.latestNs = timeNs;
        // Accurate enough for readers of the unfinished trace; the final value uses all readings.
        if (counter.count == readingsForInterval)
            process_.trace.setCounterInterval(counter.id, counter.intervalNs(), {});
    }
    if (!counter.written) return insert(counter, timeNs, value);
    const int64_t latestNs = counter.repeatedNs.value_or(counter.writtenNs);
    if (timeNs <= latestNs) {  // Read twice, or reported late.
        const bool isOld = latestNs - timeNs > maxDelayNs;
        if (value.type != log::SampleType::Unknown)
            outOfOrder_ += isOld ? 1 : 0;
        else if (!isOld)  // After a call that hung, the value is unknown from the last reading on.
            take(counter, latestNs + 1, value);
        return;
    }
    if (value.type == counter.written->type && value.bits == counter.written->bits) {
        counter.repeatedNs = timeNs;
        return;
    }
    const bool isGauge = counter.record.meaning == log::CounterMeaning::Gauge;
    if (counter.repeatedNs && !isGauge && counter.written->type != log::SampleType::Unknown)
        insert(counter, *counter.repeatedNs, *counter.written);
    insert(counter, timeNs, value);
}

void SamplerImporter::insert(Counter& counter, int64_t timeNs, const log::SampleValue& value) {
    constexpr const auto& t = tables::counterSamples;
    const auto add = [&](const auto& number) {
        process_.trace.add(t, t.counterId = counter.id, t.timestamp = process_.time(timeNs), t.value = number);
    };
    if (value.type == log::SampleType::Integer)
        add(static_cast<int64_t>(value.bits));
    else
        add(value.type == log::SampleType::Real ? ifFinite(value.bits) : std::nullopt);
    counter.written = value;
    counter.writtenNs = timeNs;
    counter.repeatedNs.reset();
}

void SamplerImporter::add(const log::GpuProcessRecord& record) {
    constexpr const auto& t = tables::gpuProcesses;
    process_.trace.add(t, t.timestamp = process_.time(record.timestampNs),
                       t.gpuId = gpuId(record.gpu).value_or(record.gpu), t.pid = record.processId,
                       t.name = nullIfEmpty(process_.strings.text(record.name)),
                       t.bytes = nullIfNegative(record.bytes));
}

void SamplerImporter::add(const log::SamplingMomentRecord& record) {
    constexpr const auto& t = tables::samplingMoments;
    process_.trace.add(t, t.timestamp = process_.time(record.timestampNs),
                       t.range = process_.strings.text(record.range), t.occurrence = record.occurrence,
                       t.isEnd = record.isEnd != 0, t.globalPid = globalPid(record.processId, process_.host),
                       t.readStart = process_.time(record.readBeginNs), t.readEnd = process_.time(record.readEndNs));
}

void SamplerImporter::add(const log::GpuMetricRecord& record) {
    if (metrics_.size() < maxMetrics)
        metrics_.insert_or_assign({record.gpu, record.metric}, std::string(process_.strings.text(record.name)));
}

void SamplerImporter::add(const log::GpuMetricSamplesRecord& record, std::span<const uint64_t> words) {
    const int64_t type = metricType(gpuId(record.gpu).value_or(0));
    const size_t stride = size_t{record.metricCount} + 1;
    for (size_t at = 0; at + stride <= words.size(); at += stride) {
        const auto timeNs = static_cast<int64_t>(words[at]);
        noteTime(timeNs);
        for (uint32_t metric = 0; metric < record.metricCount; ++metric) {
            constexpr const auto& t = tables::gpuMetrics;
            process_.trace.add(t, t.timestamp = process_.time(timeNs), t.typeId = type, t.metricId = metric,
                               t.value = ifFinite(words[at + 1 + metric]));
        }
    }
}

void SamplerImporter::finish(const std::string& hostName, const std::set<int64_t>& logged, bool goesOn) {
    process_.pid = reader_.header() ? reader_.header()->pid : 0;
    endCounters(hostName);
    writeMetrics();
    threads_.finish(logged);
    latestNs_ = std::max(latestNs_, threads_.latestNs());
    for (const auto& [name, value] : process_.properties) process_.trace.property(hostFactName(hostName, name), value);
    writeWarnings(goesOn);
}

/// Writes the counter at once, because readers of the unfinished trace need it for its samples.
void SamplerImporter::announce(const Counter& counter) {
    constexpr const auto& t = tables::counters;
    const log::CounterRecord& record = counter.record;
    const Texts& texts = counter.texts;
    std::optional<int64_t> process;
    if (record.processId != 0) process = globalPid(record.processId, process_.host);
    process_.trace.add(
        t, t.counterId = counter.id, t.source = texts.source, t.name = texts.name, t.title = texts.title,
        t.unit = texts.unit,
        t.meaning = record.meaning <= log::CounterMeaning::Amount ? record.meaning : log::CounterMeaning::Gauge,
        t.gpuId = gpuId(record.gpu), t.globalPid = process, t.link = nullIfNegative(record.link),
        t.core = nullIfNegative(record.core), t.device = nullIfEmpty(texts.device),
        t.direction = nullIfEmpty(texts.direction),
        t.granularity = std::isfinite(record.granularity) ? nullIfZero(record.granularity) : std::nullopt,
        t.wrapBits = nullIfZero(record.wrapBits));
}

void SamplerImporter::endCounters(const std::string& hostName) {
    for (auto& [number, counter] : counters_) {
        if (counter.written) {
            if (counter.texts.name == stolenTime) noteStolen(counter);
            const log::SampleValue unknown{number, log::SampleType::Unknown, 0};
            const int64_t latestNs = counter.repeatedNs.value_or(counter.writtenNs);
            take(counter, std::max(latestNs_, latestNs + 1), unknown);
        }
        process_.trace.setCounterInterval(counter.id, counter.intervalNs(), hostName);
    }
}

/// Reports stolen time, which matters for comparing runs and for finding the cause of a wait.
void SamplerImporter::noteStolen(const Counter& counter) {
    const int64_t elapsedNs = counter.latestNs - counter.firstNs;
    if (elapsedNs < minReportedNs || counter.first->type != log::SampleType::Real ||
        counter.written->type != log::SampleType::Real)
        return;
    const double seconds = static_cast<double>(elapsedNs) / 1e9;
    const double stolen = std::bit_cast<double>(counter.written->bits) - std::bit_cast<double>(counter.first->bits);
    if (!(stolen / seconds >= minStolenShare)) return;
    process_.trace.health(
        Severity::Warning, HealthCode::CpuStolen,
        fmt::format("The host of this virtual machine took {:.2f} of a core from it (counter cpu.steal: {:.1f} s in "
                    "{:.1f} s). CPU times of steps may be longer because of it.",
                    stolen / seconds, stolen, seconds));
}

void SamplerImporter::writeMetrics() {
    for (const auto& [key, name] : metrics_) {
        const int64_t gpu = gpuId(key.first).value_or(0);
        constexpr const auto& t = tables::gpuMetricNames;
        process_.trace.add(t, t.typeId = metricType(gpu), t.sourceId = gpu,
                           t.typeName = fmt::format("GPU Metrics [{}]", gpu), t.metricId = key.second,
                           t.metricName = name);
    }
}

void SamplerImporter::writeWarnings(bool goesOn) {
    TraceWriter& trace = process_.trace;
    reportLogCorruption(reader_, problem_, trace, {});
    for (const auto& [what, count] : dropped_)
        trace.health(Severity::Warning, HealthCode::SamplesDropped,
                     fmt::format("A sampler: lost {} {} ({}).", count, nounOf(what, count), nameOf(what).cause), {}, {},
                     static_cast<int64_t>(count));
    trace.healthCount(
        Severity::Warning, HealthCode::SamplesOutOfOrder, outOfOrder_,
        fmt::format("Log {2}: skipped {0} sample{1}, because {3} out of order or without a valid time.", outOfOrder_,
                    outOfOrder_ == 1 ? "" : "s", reader_.name(), outOfOrder_ == 1 ? "is" : "are"));
    const int brokenErrno = reader_.brokenErrno();
    if (!end_ && !problem_ && brokenErrno != 0)
        trace.health(Severity::Warning, HealthCode::SamplerEnded,
                     fmt::format("A sampler stopped at {:.1f} s, because its log could not be written ({}).",
                                 static_cast<double>(process_.time(latestNs_)) / 1e9, std::strerror(brokenErrno)),
                     {}, process_.time(latestNs_));
    else if (!end_ && !problem_ && latestNs_ != 0 && !goesOn)
        trace.health(Severity::Warning, HealthCode::SamplerEnded,
                     fmt::format("A sampler left no exit record after {:.1f} s (killed, crashed or hung); its counters "
                                 "end there. The program was not affected.",
                                 static_cast<double>(process_.time(latestNs_)) / 1e9),
                     {}, process_.time(latestNs_));
}

}  // namespace lanescope::capture
