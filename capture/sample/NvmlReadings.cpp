// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/NvmlReadings.h"

#include <utility>

#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

constexpr int64_t hzPerMhz = 1'000'000;
constexpr int temperatureOfGpu = 0;

}  // namespace

void NvmlReadings::begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu,
                         SampleLog& log, std::vector<std::string>& absent) {
    struct Kind {
        Value value;
        const char *name, *title, *unit;
        const char *secondName, *secondTitle;
    };
    // The driver averages utilization over up to a second by itself.
    static constexpr Kind kinds[] = {
        {Value::Utilization, "gpu.utilization", "GPU utilization", "%", "memory.utilization",
         "Memory utilization"},
        {Value::Memory, "memory.used", "Memory used", "B", "memory.total", "Memory"},
        {Value::Power, "power", "Power", "W", nullptr, nullptr},
        {Value::Temperature, "temperature", "Temperature", "C", nullptr, nullptr},
        {Value::SmClock, "clock.sm", "SM clock", "Hz", nullptr, nullptr},
        {Value::MemoryClock, "clock.memory", "Memory clock", "Hz", nullptr, nullptr},
        {Value::ThrottleReasons, "throttle.reasons", "Why clocks are held down", "flags", nullptr,
         nullptr},
    };
    for (const Kind& kind : kinds) {
        SampleBatch ignored;
        // A value that the GPU does not have now it never has.
        const int result = read(nvml, device, {kind.value, 1, 1}, ignored);
        if (result != nvmlSuccess) {
            absent.emplace_back(kind.name);
            continue;
        }
        const auto addCounter = [&](const char* name, const char* title) {
            CounterDescription counter{"nvml", name, title, kind.unit, log::CounterMeaning::Gauge};
            counter.gpu = gpu;
            return log.addCounter(std::move(counter));
        };
        Reading reading{kind.value, addCounter(kind.name, kind.title), 0};
        if (kind.secondName != nullptr)
            reading.second = addCounter(kind.secondName, kind.secondTitle);
        readings_.push_back(reading);
    }
}

int NvmlReadings::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Value value,
                         SampleLog& log) {
    for (const Reading& reading : readings_) {
        if (reading.value != value) continue;
        batch_.clear();
        const int64_t askedNs = sampleTimeNs();
        const int result = read(nvml, device, reading, batch_);
        // Of a GPU that is lost all is unknown, which its sampler says at once.
        if (!isLost(result)) log.write(answerTimeNs(askedNs), batch_);
        return result;
    }
    return nvmlSuccess;
}

void NvmlReadings::tellUnknown(Value value, SampleLog& log) {
    batch_.clear();
    for (const Reading& reading : readings_) {
        if (reading.value != value) continue;
        batch_.addUnknown(reading.counter);
        if (reading.second != 0) batch_.addUnknown(reading.second);
    }
    log.write(sampleTimeNs(), batch_);
}

int NvmlReadings::read(const NvmlFunctions& nvml, NvmlFunctions::Device device,
                       const Reading& reading, SampleBatch& batch) {
    const auto call = [&](auto function, auto... arguments) {
        return function == nullptr ? int{nvmlNotSupported} : function(device, arguments...);
    };
    int result = nvmlNotSupported;
    unsigned number = 0;
    switch (reading.value) {
        case Value::Utilization: {
            NvmlUtilization busy{};
            result = call(nvml.deviceUtilization, &busy);
            if (result != nvmlSuccess) break;
            batch.add(reading.counter, int64_t{busy.gpu});
            batch.add(reading.second, int64_t{busy.memory});
            return result;
        }
        case Value::Memory: {
            NvmlMemoryInUse inUse{};
            inUse.version = nvmlMemoryInUseVersion;
            NvmlMemory memory{};
            result = call(nvml.deviceMemoryInUse, &inUse);
            if (result == nvmlSuccess)
                memory = {inUse.total, inUse.free, inUse.used};
            else if (result == nvmlNotSupported)
                result = call(nvml.deviceMemory, &memory);
            if (result != nvmlSuccess) break;
            batch.add(reading.counter, static_cast<int64_t>(memory.used));
            batch.add(reading.second, static_cast<int64_t>(memory.total));
            return result;
        }
        case Value::Power:
            result = call(nvml.devicePower, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, number / 1e3);
            break;
        case Value::Temperature:
            result = call(nvml.deviceTemperature, temperatureOfGpu, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, int64_t{number});
            break;
        case Value::SmClock:
        case Value::MemoryClock:
            result =
                call(nvml.deviceClock,
                     int{reading.value == Value::SmClock ? nvmlSmClock : nvmlMemoryClock}, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, number * hzPerMhz);
            break;
        case Value::ThrottleReasons: {
            unsigned long long reasons = 0;
            result = call(nvml.deviceThrottleReasons, &reasons);
            if (result == nvmlSuccess) batch.add(reading.counter, static_cast<int64_t>(reasons));
            break;
        }
    }
    if (result != nvmlSuccess) {
        batch.addUnknown(reading.counter);
        if (reading.second != 0) batch.addUnknown(reading.second);
    }
    return result;
}

}  // namespace lanescope::capture
