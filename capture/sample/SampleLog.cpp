// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/SampleLog.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

/// Minimum reported change; a smaller one may be a slewed clock.
constexpr int64_t minSettingNs = 500'000'000;
constexpr int maxSettings = 10;

std::string_view bytesOf(const void* data, size_t bytes) { return {static_cast<const char*>(data), bytes}; }

}  // namespace

void SampleBatch::add(uint32_t counter, double value) {
    if (std::isfinite(value))
        values_.push_back({counter, log::SampleType::Real, std::bit_cast<uint64_t>(value)});
    else
        addUnknown(counter);
}

SampleLog::SampleLog(log::LogFolder folder, std::string nameWithoutSuffix, uint64_t maxBytes)
    : maxBytes_(maxBytes), file_(std::move(folder), std::move(nameWithoutSuffix)), writer_(file_) {}

void SampleLog::addGpu(uint32_t gpu, std::string_view uuid, std::string_view name) {
    const std::lock_guard lock(mutex_);
    gpus_.push_back({gpu, std::string(uuid), std::string(name)});
    writeGpu(gpus_.back());
}

uint32_t SampleLog::addCounter(CounterDescription description) {
    const std::lock_guard lock(mutex_);
    counters_.push_back(std::move(description));
    const auto number = static_cast<uint32_t>(counters_.size());
    writeCounter(number);
    return number;
}

void SampleLog::write(int64_t timeNs, const SampleBatch& batch) {
    const auto values = batch.values();
    if (values.empty()) return;
    const std::lock_guard lock(mutex_);
    log::SamplesRecord record{{}, timeNs, static_cast<uint32_t>(values.size()), 0};
    writer_.writeWithTail(record, bytesOf(values.data(), values.size_bytes()), timeNs);
}

void SampleLog::writeUnknown(int64_t timeNs, std::string_view source, int gpu) {
    SampleBatch batch;
    {
        const std::lock_guard lock(mutex_);
        for (size_t index = 0; index < counters_.size(); ++index)
            if (counters_[index].source == source && (gpu < 0 || counters_[index].gpu == gpu))
                batch.addUnknown(static_cast<uint32_t>(index + 1));
    }
    write(timeNs, batch);
}

void SampleLog::write(log::GpuProcessRecord process, std::string_view name) {
    const std::lock_guard lock(mutex_);
    process.name = writer_.string(name);
    writer_.write(process, process.timestampNs);
}

void SampleLog::write(log::SamplingMomentRecord moment, std::string_view range) {
    const std::lock_guard lock(mutex_);
    moment.range = writer_.string(range);
    writer_.write(moment, moment.timestampNs);
}

void SampleLog::addMetric(uint32_t gpu, uint32_t metric, std::string_view name) {
    const std::lock_guard lock(mutex_);
    metrics_.push_back({gpu, metric, std::string(name)});
    writeMetric(metrics_.back());
}

void SampleLog::writeMetrics(uint32_t gpu, uint32_t metricCount, std::span<const uint64_t> words) {
    if (words.empty()) return;
    const std::lock_guard lock(mutex_);
    const auto times = static_cast<uint32_t>(words.size() / (metricCount + 1));
    log::GpuMetricSamplesRecord record{{}, gpu, metricCount, times, 0};
    writer_.writeWithTail(record, bytesOf(words.data(), words.size_bytes()),
                          static_cast<int64_t>(words[words.size() - metricCount - 1]));
}

uint32_t SampleLog::code(std::string_view function, std::string_view file) {
    const std::lock_guard lock(mutex_);
    if (codes_.size() >= maxCodes) return 0;
    const auto next = static_cast<uint32_t>(codes_.size() + 1);
    const auto [known, isNew] = codeNumbers_.try_emplace({std::string(function), std::string(file)}, next);
    if (isNew) codes_.push_back(&known->first);
    return known->second;
}

uint32_t SampleLog::stack(uint32_t parent, uint32_t code, int32_t line) {
    const std::lock_guard lock(mutex_);
    if (code == 0 || stacks_.size() >= maxStacks) return 0;
    const auto next = static_cast<uint32_t>(stacks_.size() + 1);
    const auto [known, isNew] = stackNumbers_.try_emplace({parent, code, line}, next);
    if (!isNew) return known->second;
    stacks_.push_back(known->first);
    stackWrittenIn_.push_back(0);
    writeStack(next);
    return next;
}

bool SampleLog::isMissing(uint32_t& writtenIn) const {
    const uint32_t here = writer_.generation() + 1;
    return std::exchange(writtenIn, here) != here;
}

void SampleLog::writeStack(uint32_t number) {
    if (number == 0 || number > stacks_.size() || !isMissing(stackWrittenIn_[number - 1])) return;
    writeStack(std::get<0>(stacks_[number - 1]));
    const auto& [parent, code, line] = stacks_[number - 1];
    const uint32_t function = writer_.string(codes_[code - 1]->first);
    const uint32_t file = writer_.string(codes_[code - 1]->second);
    log::StackRecord record{{}, number, parent, function, file, static_cast<uint32_t>(line), 0};
    writer_.write(record);
}

void SampleLog::addProcess(uint32_t process, uint32_t parent, std::string_view program, std::string_view python) {
    addWatched(process, 0, {parent, std::string(program), std::string(python)});
}

void SampleLog::addThread(uint32_t process, uint32_t thread, std::string_view name) {
    addWatched(process, thread, {0, std::string(name), {}});
}

void SampleLog::addWatched(uint32_t process, uint32_t thread, Watched watched) {
    const std::lock_guard lock(mutex_);
    if (watched_.size() >= maxWatched) watched_.clear();
    watched_[{process, thread}] = std::move(watched);
    writeWatched(process, thread);
}

void SampleLog::writeWatched(uint32_t process, uint32_t thread) {
    const auto known = watched_.find({process, thread});
    if (known == watched_.end() || !isMissing(known->second.writtenIn)) return;
    const uint32_t name = writer_.string(known->second.name);
    if (thread != 0) {
        log::WatchedThreadRecord record{{}, process, thread, name, 0};
        return writer_.write(record);
    }
    log::WatchedProcessRecord record{{}, process, known->second.parent, name, writer_.string(known->second.python)};
    writer_.write(record);
}

void SampleLog::write(log::ThreadRunRecord run, std::string_view call) {
    const std::lock_guard lock(mutex_);
    writeWatched(run.processId, 0);
    writeWatched(run.processId, run.threadId);
    writeStack(run.stack);
    writeStack(run.holderStack);
    run.call = writer_.string(call);
    writer_.write(run, run.endNs);
}

void SampleLog::note(Severity severity, HealthCode code, std::string_view sentence, uint64_t count) {
    const std::lock_guard lock(mutex_);
    writer_.note(severity, code, sentence, count);
}

void SampleLog::property(std::string_view name, std::string_view value) {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(properties_, name, &std::pair<std::string, std::string>::first);
    if (known == properties_.end())
        properties_.emplace_back(name, value);
    else
        known->second = value;
    writer_.property(name, value);
}

void SampleLog::writeGpu(const Gpu& gpu) {
    log::SampledGpuRecord record{{}, gpu.gpu, writer_.string(gpu.uuid), writer_.string(gpu.name), 0};
    writer_.write(record);
}

void SampleLog::writeCounter(uint32_t number) {
    const CounterDescription& counter = counters_[number - 1];
    log::CounterRecord record{};
    record.counter = number;
    record.source = writer_.string(counter.source);
    record.name = writer_.string(counter.name);
    record.title = writer_.string(counter.title);
    record.unit = writer_.string(counter.unit);
    record.device = writer_.string(counter.device);
    record.direction = writer_.string(counter.direction);
    record.meaning = counter.meaning;
    record.gpu = counter.gpu;
    record.link = counter.link;
    record.core = counter.core;
    record.processId = counter.processId;
    record.granularity = counter.granularity;
    writer_.write(record);
}

void SampleLog::writeMetric(const Metric& metric) {
    log::GpuMetricRecord record{{}, metric.gpu, metric.metric, writer_.string(metric.name), 0};
    writer_.write(record);
}

void SampleLog::flush() {
    const std::lock_guard lock(mutex_);
    if (hasEnded_) return;
    noticeClock();
    log::ClockRecord clock{{}, sampleTimeNs(), log::monotonicNs(), 0};
    writer_.write(clock, clock.realtimeNs);
    flushNow();
    if (file_.totalBytes() < maxBytes_ && !file_.isRingStuck()) return;
    file_.keepRing(0, 0);  // The end is short.
    writer_.note(Severity::Warning, HealthCode::SamplesLimit,
                 "The log of the samplers reached " + std::to_string(file_.totalBytes() >> 20) +
                     " MiB; sampling stopped. Use a lower sampling rate.");
    endNow(log::EndReason::LogFull);
}

/// Reports a change of the system time, which the times in the trace do not follow.
void SampleLog::noticeClock() {
    const int64_t aheadNs = realtimeAheadNs();
    if (std::abs(aheadNs - clockAheadNs_) < minSettingNs || ++settings_ > maxSettings) return;
    clockAheadNs_ = aheadNs;
    const double seconds = static_cast<double>(aheadNs) / 1e9;
    writer_.note(Severity::Warning, HealthCode::ClockSet,
                 fmt::format("The clock of this machine was set during sampling. Times in this trace are not affected; "
                             "the clock is now {:+.1f} s relative to them.",
                             seconds));
}

void SampleLog::flushNow() {
    file_.flush();
    if (file_.isPartDue() && writer_.beginPart()) repeatDefinitions();
    const uint64_t lost = file_.takeLostBlocks();
    if (lost == 0) return;
    // Later records may refer to the lost ones.
    writer_.startAgain();
    repeatDefinitions();
    writer_.dropped(Loss::LogBlocks, lost);
}

/// Writes the definitions that later records refer to, except for those that are written with their first use.
void SampleLog::repeatDefinitions() {
    for (const auto& [name, value] : properties_) writer_.property(name, value);
    for (const Gpu& gpu : gpus_) writeGpu(gpu);
    for (uint32_t number = 1; number <= counters_.size(); ++number) writeCounter(number);
    for (const Metric& metric : metrics_) writeMetric(metric);
}

void SampleLog::end() {
    const std::lock_guard lock(mutex_);
    if (!hasEnded_) endNow(log::EndReason::Exit);
}

void SampleLog::endNow(log::EndReason reason) {
    log::EndRecord record{{}, sampleTimeNs(), reason, 0};
    writer_.write(record, record.timestampNs);
    writer_.stop();
    hasEnded_ = true;
}

}  // namespace lanescope::capture
