// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/NvmlReadings.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

constexpr int maxLinks = 64;
constexpr int allLinks = -1;
constexpr int64_t bytesPerKiB = 1024;
constexpr double joulesPerMillijoule = 1e-3;
/// Maximum age of NVML's own timestamp; an older one is not the time of the value.
constexpr int64_t maxAgeNs = 10'000'000'000;
/// Maximum difference to the query that is due to a coarse clock and not to an older value.
constexpr int64_t coarseClockNs = 2'000'000;

NvmlFieldValue question(NvmlField field, int link) {
    NvmlFieldValue value{};
    value.fieldId = field;
    value.scopeId = link == allLinks ? nvmlAllLinks : static_cast<unsigned>(link);
    return value;
}

CounterDescription describe(const char* name, std::string title, const char* unit, int gpu) {
    CounterDescription counter{"nvml", name, std::move(title), unit, log::CounterMeaning::Cumulative};
    counter.gpu = gpu;
    return counter;
}

}  // namespace

void NvmlFields::begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
                       std::vector<std::string>& absent) {
    if (nvml.deviceFieldValues == nullptr) {
        absent.insert(absent.end(), {"energy", "nvlink"});
        return;
    }
    const int64_t askedNs = sampleTimeNs();
    NvmlFieldValue energy = question(nvmlTotalEnergy, 0);
    if (nvml.deviceFieldValues(device, 1, &energy) == nvmlSuccess && numberIn(energy)) {
        CounterDescription counter = describe("energy", "Energy", "J", gpu);
        counter.granularity = joulesPerMillijoule;
        partsOf(Group::Energy).push_back({{energy}, {log.addCounter(std::move(counter))}});
        write(partsOf(Group::Energy).back(), askedNs, true, log);
    } else {
        absent.emplace_back("energy");
    }
    bool isAny = false;
    for (int link = 0; link < maxLinks; ++link) {
        unsigned isActive = 0;
        // The first number unknown to the GPU ends the list.
        if (nvml.deviceLinkState == nullptr ||
            nvml.deviceLinkState(device, static_cast<unsigned>(link), &isActive) != nvmlSuccess)
            break;
        if (isActive == 0) continue;
        isAny = true;
        if (!addLinks(nvml, device, gpu, link, log)) absent.push_back(fmt::format("nvlink {}", link));
    }
    if (isAny && !addLinks(nvml, device, gpu, allLinks, log)) absent.emplace_back("nvlink sums");
}

/// Adds both directions of a link or of all links. Returns false if the GPU does not report them.
bool NvmlFields::addLinks(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, int link, SampleLog& log) {
    Part part;
    const int64_t askedNs = sampleTimeNs();
    part.fields = {question(nvmlLinkTransmittedKiB, link), question(nvmlLinkReceivedKiB, link)};
    if (nvml.deviceFieldValues(device, 2, part.fields.data()) != nvmlSuccess) return false;
    for (const NvmlFieldValue& field : part.fields)
        if (!numberIn(field)) return false;
    const std::string subject = link == allLinks ? "NVLink" : fmt::format("NVLink {}", link);
    for (const bool isReceived : {false, true}) {
        CounterDescription counter = describe(isReceived ? "nvlink.rx" : "nvlink.tx",
                                              subject + (isReceived ? " received" : " transmitted"), "B", gpu);
        counter.link = link;
        counter.direction = std::string(isReceived ? "rx" : "tx");
        counter.granularity = bytesPerKiB;
        part.counters.push_back(log.addCounter(std::move(counter)));
    }
    write(part, askedNs, true, log);
    partsOf(link == allLinks ? Group::LinkSums : Group::Links).push_back(std::move(part));
    return true;
}

int NvmlFields::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Group group, SampleLog& log,
                       const std::function<bool()>& isWantedElsewhere) {
    int firstProblem = nvmlSuccess;
    for (Part& part : partsOf(group)) {
        if (isWantedElsewhere && isWantedElsewhere()) break;
        const int result = sample(nvml, device, part, log);
        if (firstProblem == nvmlSuccess) firstProblem = result;
    }
    return firstProblem;
}

int NvmlFields::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Part& part, SampleLog& log) {
    const int64_t askedNs = sampleTimeNs();
    int firstProblem = nvml.deviceFieldValues(device, static_cast<int>(part.fields.size()), part.fields.data());
    write(part, askedNs, firstProblem == nvmlSuccess, log);
    for (const NvmlFieldValue& field : part.fields)
        if (firstProblem == nvmlSuccess) firstProblem = field.result;
    return firstProblem;
}

void NvmlFields::write(const Part& part, int64_t askedNs, bool isAnswered, SampleLog& log) {
    const int64_t nowNs = sampleTimeNs(), ownNs = answerTimeNs(askedNs);
    const int64_t aheadNs = realtimeAheadNs();
    for (size_t at = 0; at < part.fields.size(); ++at) {
        const NvmlFieldValue& field = part.fields[at];
        const std::optional<int64_t> number = isAnswered ? numberIn(field) : std::nullopt;
        // NVML reports CLOCK_REALTIME.
        const int64_t reportedNs = static_cast<int64_t>(field.timestampUs) * 1000 - aheadNs;
        const bool isReported = number && ownNs == askedNs && reportedNs >= askedNs - maxAgeNs && reportedNs <= nowNs &&
                                (reportedNs >= askedNs || reportedNs <= askedNs - coarseClockNs);
        const int64_t timeNs = isReported ? reportedNs : ownNs;
        batch_.clear();
        if (!number)
            batch_.addUnknown(part.counters[at]);
        else if (field.fieldId == nvmlTotalEnergy)
            batch_.add(part.counters[at], static_cast<double>(*number) * joulesPerMillijoule);
        else
            batch_.add(part.counters[at], *number * bytesPerKiB);
        log.write(timeNs, batch_);
    }
}

namespace {

constexpr int64_t hzPerMhz = 1'000'000;
constexpr int temperatureOfGpu = 0;

}  // namespace

void NvmlReadings::begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
                         std::vector<std::string>& absent) {
    struct Kind {
        Value value;
        const char *name, *title, *unit;
        const char *secondName, *secondTitle;
    };
    // The driver itself averages utilization over up to a second.
    static constexpr Kind kinds[] = {
        {Value::Utilization, "gpu.utilization", "GPU utilization", "%", "memory.utilization", "Memory utilization"},
        {Value::Memory, "memory.used", "Memory used", "B", "memory.total", "Memory"},
        {Value::Power, "power", "Power", "W", nullptr, nullptr},
        {Value::Temperature, "temperature", "Temperature", "C", nullptr, nullptr},
        {Value::SmClock, "clock.sm", "SM clock", "Hz", nullptr, nullptr},
        {Value::MemoryClock, "clock.memory", "Memory clock", "Hz", nullptr, nullptr},
        {Value::ThrottleReasons, "throttle.reasons", "Reasons for reduced clocks", "flags", nullptr, nullptr},
    };
    for (const Kind& kind : kinds) {
        SampleBatch ignored;
        // A value that the GPU lacks now stays missing.
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
        if (kind.secondName != nullptr) reading.second = addCounter(kind.secondName, kind.secondTitle);
        readings_.push_back(reading);
    }
}

int NvmlReadings::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Value value, SampleLog& log) {
    for (const Reading& reading : readings_) {
        if (reading.value != value) continue;
        batch_.clear();
        const int64_t askedNs = sampleTimeNs();
        const int result = read(nvml, device, reading, batch_);
        // For a lost GPU all values are unknown, which its sampler writes at once.
        if (!isLost(result)) log.write(answerTimeNs(askedNs), batch_);
        return result;
    }
    return nvmlSuccess;
}

void NvmlReadings::markUnknown(Value value, SampleLog& log) {
    batch_.clear();
    for (const Reading& reading : readings_) {
        if (reading.value != value) continue;
        batch_.addUnknown(reading.counter);
        if (reading.second != 0) batch_.addUnknown(reading.second);
    }
    log.write(sampleTimeNs(), batch_);
}

int NvmlReadings::read(const NvmlFunctions& nvml, NvmlFunctions::Device device, const Reading& reading,
                       SampleBatch& batch) {
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
                call(nvml.deviceClock, int{reading.value == Value::SmClock ? nvmlSmClock : nvmlMemoryClock}, &number);
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
