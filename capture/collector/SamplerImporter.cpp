#include "capture/collector/SamplerImporter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "model/format/factNames.h"

namespace lanescope {

namespace {

constexpr size_t mostCounters = 1'000'000;
constexpr size_t mostMetrics = 4096;
constexpr size_t mostNotes = 100;
constexpr int64_t gpuBits = 0xff;
/// A sample that is older than one before it by more than this was not just told late.
constexpr int64_t longestDelayNs = 1'000'000'000;

/// As Nsight Systems numbers them: the lowest byte is the GPU.
int64_t metricType(int64_t gpu) {
    return gpu & gpuBits;
}

std::optional<int64_t> unlessNegative(int64_t value) {
    return value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<SamplerImporter>> SamplerImporter::open(
    const std::filesystem::path& path, TraceWriter& trace, const GpuInventory& gpus,
    int64_t sessionStartNs, uint32_t host, int64_t& lastCounter) {
    auto reader = log::LogReader::open(path);
    if (!reader) return fail(reader.error());
    return std::unique_ptr<SamplerImporter>(
        new SamplerImporter(std::move(*reader), trace, gpus, sessionStartNs, host, lastCounter));
}

SamplerImporter::SamplerImporter(log::LogReader reader, TraceWriter& trace,
                                 const GpuInventory& gpus, int64_t sessionStartNs, uint32_t host,
                                 int64_t& lastCounter)
    : reader_(std::move(reader)),
      process_{trace, LogStrings(trace.strings), sessionStartNs, host, 0},
      gpus_(gpus),
      lastCounter_(lastCounter) {}

bool SamplerImporter::isSamplerLog(const std::filesystem::path& path) {
    return path.stem().stem().extension() == ".sampler";
}

size_t SamplerImporter::poll(size_t maximumBlocks) {
    if (problem_) return 0;
    const Result<size_t> blocks = reader_.poll(*this, maximumBlocks);
    if (blocks) return *blocks;
    problem_ = blocks.error();
    return 0;
}

void SamplerImporter::visit(const log::StringRecord& record, std::string_view text) {
    process_.strings.add(record.id, text);
}

void SamplerImporter::visit(const log::PropertyRecord& record) {
    properties_.insert_or_assign(std::string(process_.strings.text(record.name)),
                                 std::string(process_.strings.text(record.value)));
}

void SamplerImporter::visit(const log::ClockRecord& record) {
    latestNs_ = std::max(latestNs_, record.realtimeNs);
}

void SamplerImporter::visit(const log::NoteRecord& record) {
    if (++notes_ > mostNotes) return;
    process_.trace.healthOfLog(severityFrom(static_cast<int64_t>(record.severity)),
                               process_.strings.text(record.code),
                               process_.strings.text(record.sentence), {},
                               process_.time(record.timestampNs));
}

void SamplerImporter::visit(const log::DroppedRecord& record) {
    dropped_ += record.count;
}

void SamplerImporter::visit(const log::EndRecord& record) {
    end_ = record;
    latestNs_ = std::max(latestNs_, record.timestampNs);
}

void SamplerImporter::visit(const log::SampledGpuRecord& record) {
    gpuIds_.insert_or_assign(record.gpu,
                             gpus_.find(process_.strings.text(record.uuid)).value_or(record.gpu));
}

std::optional<int64_t> SamplerImporter::gpuId(int64_t gpu) const {
    if (gpu < 0) return std::nullopt;
    const auto known = gpuIds_.find(static_cast<uint32_t>(gpu));
    return known != gpuIds_.end() ? known->second : gpu;
}

void SamplerImporter::visit(const log::CounterRecord& record) {
    // After a loss of blocks counters are announced again.
    if (counters_.size() >= mostCounters || counters_.contains(record.counter)) return;
    Counter counter;
    counter.record = record;
    counter.id = ++lastCounter_;
    // Numbers of strings may be others later.
    counter.texts = {std::string(process_.strings.text(record.source)),
                     std::string(process_.strings.text(record.name)),
                     std::string(process_.strings.text(record.title)),
                     std::string(process_.strings.text(record.unit)),
                     std::string(process_.strings.text(record.device)),
                     std::string(process_.strings.text(record.direction))};
    counters_.emplace(record.counter, std::move(counter));
}

void SamplerImporter::visit(const log::SamplesRecord& record,
                            std::span<const log::SampleValue> values) {
    latestNs_ = std::max(latestNs_, record.timestampNs);
    for (const log::SampleValue& value : values)
        if (const auto counter = counters_.find(value.counter); counter != counters_.end())
            take(counter->second, record.timestampNs, value);
}

void SamplerImporter::take(Counter& counter, int64_t timeNs, const log::SampleValue& value) {
    if (value.type != log::SampleType::Unknown && timeNs > counter.latestNs) {
        if (counter.count++ == 0) counter.firstNs = timeNs;
        counter.latestNs = timeNs;
    }
    if (!counter.written) {
        insert(counter, timeNs, value);
        return;
    }
    const int64_t latestNs = counter.repeatedNs.value_or(counter.writtenNs);
    if (timeNs <= latestNs) {  // Read twice, or told late.
        const bool isOld = latestNs - timeNs > longestDelayNs;
        if (value.type != log::SampleType::Unknown)
            outOfOrder_ += isOld ? 1 : 0;
        else if (!isOld)  // What was read just before a call that hung is unknown from there on.
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
    TraceWriter& trace = process_.trace;
    const int64_t time = process_.time(timeNs);
    const auto real = std::bit_cast<double>(value.bits);
    if (value.type == log::SampleType::Integer)
        trace.counterSamples.insert(counter.id, time, static_cast<int64_t>(value.bits));
    else if (value.type == log::SampleType::Real && std::isfinite(real))
        trace.counterSamples.insert(counter.id, time, real);
    else
        trace.counterSamples.insert(counter.id, time, nullptr);
    counter.written = value;
    counter.writtenNs = timeNs;
    counter.repeatedNs.reset();
}

void SamplerImporter::visit(const log::GpuProcessRecord& record) {
    const std::string_view name = process_.strings.text(record.name);
    const auto insert = [&](const auto& nameOrNull) {
        process_.trace.gpuProcesses.insert(process_.time(record.timestampNs), gpuId(record.gpu),
                                           record.processId, nameOrNull,
                                           unlessNegative(record.bytes));
    };
    if (name.empty())
        insert(nullptr);
    else
        insert(name);
}

void SamplerImporter::visit(const log::SamplingMomentRecord& record) {
    process_.trace.samplingMoments.insert(
        process_.time(record.timestampNs), process_.strings.text(record.range), record.occurrence,
        record.isEnd != 0 ? 1 : 0, globalPid(record.processId, process_.host),
        process_.time(record.readBeginNs), process_.time(record.readEndNs));
}

void SamplerImporter::visit(const log::GpuMetricRecord& record) {
    if (metrics_.size() < mostMetrics)
        metrics_.insert_or_assign({record.gpu, record.metric},
                                  std::string(process_.strings.text(record.name)));
}

void SamplerImporter::visit(const log::GpuMetricSamplesRecord& record,
                            std::span<const uint64_t> words) {
    const int64_t type = metricType(gpuId(record.gpu).value_or(0));
    const size_t stride = size_t{record.metricCount} + 1;
    for (size_t at = 0; at + stride <= words.size(); at += stride) {
        const auto timeNs = static_cast<int64_t>(words[at]);
        latestNs_ = std::max(latestNs_, timeNs);
        for (uint32_t metric = 0; metric < record.metricCount; ++metric) {
            const auto value = std::bit_cast<double>(words[at + 1 + metric]);
            if (std::isfinite(value))
                process_.trace.gpuMetrics.insert(process_.time(timeNs), type, metric, value);
            else
                process_.trace.gpuMetrics.insert(process_.time(timeNs), type, metric, nullptr);
        }
    }
}

void SamplerImporter::finish(const std::string& hostName) {
    process_.pid = reader_.header() ? reader_.header()->pid : 0;
    writeCounters(hostName);
    writeMetrics();
    for (const auto& [name, value] : properties_)
        process_.trace.property(hostFactName(hostName, name), value);
    writeHealth();
}

void SamplerImporter::writeCounters(const std::string& hostName) {
    const auto unlessEmpty = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
    };
    for (auto& [number, counter] : counters_) {
        const log::CounterRecord& record = counter.record;
        if (counter.written) {
            // From here on nothing is known.
            const log::SampleValue unknown{number, log::SampleType::Unknown, 0};
            const int64_t latestNs = counter.repeatedNs.value_or(counter.writtenNs);
            take(counter, std::max(latestNs_, latestNs + 1), unknown);
        }
        const Texts& texts = counter.texts;
        process_.trace.counters.insert(
            counter.id, texts.source, texts.name, texts.title, texts.unit,
            record.meaning <= log::CounterMeaning::Amount ? record.meaning
                                                          : log::CounterMeaning::Gauge,
            gpuId(record.gpu),
            record.processId != 0 ? std::optional(globalPid(record.processId, process_.host))
                                  : std::nullopt,
            unlessNegative(record.link), unlessNegative(record.core), unlessEmpty(texts.device),
            unlessEmpty(texts.direction),
            std::isfinite(record.granularity) ? unlessZero(record.granularity) : std::nullopt,
            unlessZero(record.wrapBits), unlessEmpty(hostName),
            counter.count > 1
                ? std::optional((counter.latestNs - counter.firstNs) / (counter.count - 1))
                : std::nullopt);
    }
}

void SamplerImporter::writeMetrics() {
    for (const auto& [key, name] : metrics_) {
        const int64_t gpu = gpuId(key.first).value_or(0);
        process_.trace.gpuMetricNames.insert(
            metricType(gpu), gpu, fmt::format("GPU Metrics [{}]", gpu), key.second, name);
    }
}

void SamplerImporter::writeHealth() {
    TraceWriter& trace = process_.trace;
    const std::string file = reader_.path().filename().string();
    if (problem_) trace.health(Severity::Error, HealthCode::LogUnreadable, problem_->sentence);
    if (reader_.isDamaged())
        trace.health(Severity::Error, HealthCode::LogDamaged,
                     fmt::format("The last {} bytes of the log {} could not be read: they are "
                                 "damaged.",
                                 reader_.bytesNotUnderstood(), file));
    if (dropped_ > 0)
        trace.health(
            Severity::Warning, HealthCode::SamplesDropped,
            fmt::format("Samples were lost {} times, because the disk was full.", dropped_), {}, {},
            static_cast<int64_t>(dropped_));
    if (outOfOrder_ > 0)
        trace.health(Severity::Warning, HealthCode::SamplesOutOfOrder,
                     fmt::format("{} samples in the log {} are older than others before them and "
                                 "were left out.",
                                 outOfOrder_, file),
                     {}, {}, outOfOrder_);
    if (!end_ && !problem_ && latestNs_ != 0)
        trace.health(
            Severity::Warning, HealthCode::SamplerEnded,
            fmt::format("A sampler ended abnormally at {:.1f} s: it was killed, crashed or "
                        "hung, so its counters end there. The program was not affected.",
                        static_cast<double>(process_.time(latestNs_)) / 1e9),
            {}, process_.time(latestNs_));
}

}  // namespace lanescope
