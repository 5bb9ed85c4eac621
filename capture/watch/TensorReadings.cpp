// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/TensorReadings.h"

#include <bit>

namespace lanescope::capture {

namespace {

constexpr std::string_view activityName = "tensor.activity", clockName = "clock.sm";

/// The sampler's longest period is 1 s. Longer ones lost a reading.
constexpr int64_t maxReadingNs = 2'000'000'000;

}  // namespace

void TensorReadings::operator()(const log::StringRecord& record, std::string_view text) {
    if (text == activityName || text == clockName || text.starts_with("GPU-"))
        names_.set(record.id, std::string(text.substr(0, 64)));
}

void TensorReadings::operator()(const log::SampledGpuRecord& record) {
    const std::string* const uuid = names_.find(record.uuid);
    if (uuid && gpus_.size() < maxCounters) gpus_[record.gpu].uuid = *uuid;
}

void TensorReadings::operator()(const log::CounterRecord& record) {
    const std::string* const name = names_.find(record.name);
    if (name && record.gpu >= 0 && counters_.size() < maxCounters)
        counters_[record.counter] = {static_cast<uint32_t>(record.gpu), *name == clockName};
}

void TensorReadings::operator()(const log::SamplesRecord& record, std::span<const log::SampleValue> values) {
    for (const log::SampleValue& value : values) {
        const auto counter = counters_.find(value.counter);
        const auto found = counter == counters_.end() ? gpus_.end() : gpus_.find(counter->second.first);
        if (found == gpus_.end()) continue;
        Gpu& gpu = found->second;
        double number = value.type == log::SampleType::Real ? std::bit_cast<double>(value.bits) : -1;
        if (value.type == log::SampleType::Integer) number = static_cast<double>(std::bit_cast<int64_t>(value.bits));
        if (counter->second.second) {
            gpu.clockHz = number;
            continue;
        }
        const bool isNext = record.timestampNs > gpu.latestNs && record.timestampNs - maxReadingNs <= gpu.latestNs;
        if (isNext && number >= 0 && number <= 100 && gpu.clockHz > 0)
            gpu.readings.push_back({gpu.latestNs, record.timestampNs, number / 100, gpu.clockHz});
        if (gpu.readings.size() > maxReadings) gpu.readings.pop_front();
        gpu.latestNs = record.timestampNs;
    }
}

std::optional<TensorUse> TensorReadings::useOf(std::string_view uuid, int64_t startNs, int64_t endNs) const {
    for (const auto& [index, gpu] : gpus_) {
        if (gpu.uuid != uuid) continue;
        TensorUse use;
        int64_t readUntilNs = startNs;
        for (const Reading& each : gpu.readings) {
            if (each.endNs <= readUntilNs || each.startNs > readUntilNs || readUntilNs >= endNs) continue;
            const auto share =
                static_cast<double>(std::min(each.endNs, endNs) - readUntilNs) / static_cast<double>(endNs - startNs);
            use.activity += share * each.activity;
            use.activeHz += share * each.activity * each.clockHz;
            use.readNs += each.endNs - each.startNs;
            readUntilNs = each.endNs;
        }
        if (readUntilNs >= endNs && endNs > startNs) return use;
    }
    return std::nullopt;
}

}  // namespace lanescope::capture
