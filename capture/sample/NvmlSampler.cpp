#include "capture/sample/NvmlSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

using log::CounterMeaning;

constexpr unsigned maximumGpus = 1024;
constexpr unsigned maximumLinks = 64;
constexpr size_t maximumProcesses = 256;
constexpr int64_t processPeriodNs = 1'000'000'000;
constexpr int64_t largestClockDifferenceNs = 10'000'000'000;
constexpr double bytesPerKiB = 1024;
constexpr int64_t hzPerMhz = 1'000'000;
constexpr int temperatureOfGpu = 0;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

NvmlFieldValue ask(NvmlField field, unsigned scope = 0) {
    NvmlFieldValue value{};
    value.fieldId = field;
    value.scopeId = scope;
    return value;
}

}  // namespace

bool NvmlSampler::begin() {
    int result = 0;
    nvml_ = NvmlLibrary::open(&result);
    unsigned count = 0;
    if (nvml_ && nvml_->deviceCount != nullptr) result = nvml_->deviceCount(&count);
    if (!nvml_ || result != nvmlSuccess) return sayWhyNot(result);
    for (unsigned index = 0; index < std::min(count, maximumGpus); ++index) {
        Gpu gpu;
        gpu.index = static_cast<int>(index);
        if (nvml_->deviceByIndex == nullptr ||
            nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess)
            continue;
        describe(gpu);
        gpus_.push_back(std::move(gpu));
    }
    if (gpus_.empty())
        log_.note(log::NoteSeverity::Info, "nvml-absent",
                  "The driver shows no GPU here, so there are no GPU counters.");
    return !gpus_.empty();
}

bool NvmlSampler::sayWhyNot(int result) {
    const char* reason = "the driver does not answer";
    if (result == -1 || result == nvmlDriverNotLoaded) reason = "there is no NVIDIA driver";
    if (result == nvmlNoPermission) reason = "the driver does not permit it to this user";
    if (result == nvmlVersionMismatch)
        reason = "the driver's library and kernel module are of different versions";
    log_.note(
        log::NoteSeverity::Info, "nvml-absent",
        fmt::format("NVML could not be asked, because {}; there are no GPU counters.", reason));
    return false;
}

void NvmlSampler::describe(Gpu& gpu) {
    char uuid[96] = {}, name[96] = {};
    if (nvml_->deviceUuid != nullptr) nvml_->deviceUuid(gpu.device, uuid, sizeof uuid - 1);
    if (nvml_->deviceName != nullptr) nvml_->deviceName(gpu.device, name, sizeof name - 1);
    log_.addGpu(static_cast<uint32_t>(gpu.index), uuid, name);
    std::vector<std::string> absent;
    addReadings(gpu, absent);
    addFields(gpu, absent);
    gpu.tellsProcesses = nvml_->deviceProcesses != nullptr;
    if (absent.empty()) return;
    unsigned isMig = 0, isPending = 0;
    const bool asksMig = nvml_->deviceMigMode != nullptr &&
                         nvml_->deviceMigMode(gpu.device, &isMig, &isPending) == nvmlSuccess;
    log_.note(log::NoteSeverity::Info, "counters-absent",
              fmt::format("GPU {} does not tell its {}{}.", gpu.index, joined(absent),
                          asksMig && isMig != 0 ? "; it is split by MIG" : ""));
}

uint32_t NvmlSampler::addCounter(const Gpu& gpu, const char* name, const char* title,
                                 const char* unit, CounterMeaning meaning) {
    CounterDescription counter{source(), name, title, unit, meaning};
    counter.gpu = gpu.index;
    return log_.addCounter(std::move(counter));
}

void NvmlSampler::addReadings(Gpu& gpu, std::vector<std::string>& absent) {
    struct Kind {
        Value value;
        const char *name, *title, *unit;
        const char *secondName, *secondTitle;
        CounterMeaning meaning;
    };
    // The driver averages utilization over up to a second by itself.
    static constexpr Kind kinds[] = {
        {Value::Utilization, "gpu.utilization", "GPU utilization", "%", "memory.utilization",
         "Memory utilization", CounterMeaning::Gauge},
        {Value::Memory, "memory.used", "Memory used", "B", "memory.total", "Memory",
         CounterMeaning::Gauge},
        {Value::Power, "power", "Power", "W", nullptr, nullptr, CounterMeaning::Gauge},
        {Value::Temperature, "temperature", "Temperature", "C", nullptr, nullptr,
         CounterMeaning::Gauge},
        {Value::SmClock, "clock.sm", "SM clock", "Hz", nullptr, nullptr, CounterMeaning::Gauge},
        {Value::MemoryClock, "clock.memory", "Memory clock", "Hz", nullptr, nullptr,
         CounterMeaning::Gauge},
        {Value::ThrottleReasons, "throttle.reasons", "Why clocks are held down", "flags", nullptr,
         nullptr, CounterMeaning::Gauge},
    };
    for (const Kind& kind : kinds) {
        SampleBatch ignored;
        // A value that the GPU does not have now it never has.
        const int result = read(gpu, {kind.value, 1, 1}, ignored);
        if (result != nvmlSuccess) {
            absent.emplace_back(kind.name);
            continue;
        }
        Reading reading{kind.value, addCounter(gpu, kind.name, kind.title, kind.unit, kind.meaning),
                        0};
        if (kind.secondName != nullptr)
            reading.second =
                addCounter(gpu, kind.secondName, kind.secondTitle, kind.unit, kind.meaning);
        gpu.readings.push_back(reading);
    }
}

void NvmlSampler::addFields(Gpu& gpu, std::vector<std::string>& absent) {
    if (nvml_->deviceFieldValues == nullptr) {
        absent.emplace_back("energy");
        absent.emplace_back("nvlink");
        return;
    }
    const auto add = [&](const NvmlFieldValue& field, CounterDescription counter) {
        counter.source = source();
        counter.gpu = gpu.index;
        counter.meaning = CounterMeaning::Cumulative;
        gpu.fields.push_back(field);
        gpu.fieldCounters.push_back(log_.addCounter(std::move(counter)));
    };
    NvmlFieldValue energy = ask(nvmlTotalEnergy);
    if (nvml_->deviceFieldValues(gpu.device, 1, &energy) == nvmlSuccess && numberIn(energy)) {
        CounterDescription counter;
        counter.name = "energy";
        counter.title = "Energy";
        counter.unit = "J";
        counter.granularity = 0.001;
        add(energy, std::move(counter));
    } else {
        absent.emplace_back("energy");
    }
    for (unsigned link = 0; link < maximumLinks; ++link) {
        unsigned isActive = 0;
        // The first number that the GPU does not know ends the list.
        if (nvml_->deviceLinkState == nullptr ||
            nvml_->deviceLinkState(gpu.device, link, &isActive) != nvmlSuccess)
            break;
        if (isActive == 0) continue;
        NvmlFieldValue both[] = {ask(nvmlLinkTransmittedKiB, link), ask(nvmlLinkReceivedKiB, link)};
        if (nvml_->deviceFieldValues(gpu.device, 2, both) != nvmlSuccess || !numberIn(both[0]) ||
            !numberIn(both[1])) {
            absent.push_back(fmt::format("nvlink {}", link));
            continue;
        }
        for (const NvmlFieldValue& field : both) {
            const bool isTransmitted = field.fieldId == nvmlLinkTransmittedKiB;
            CounterDescription counter;
            counter.name = isTransmitted ? "nvlink.tx" : "nvlink.rx";
            counter.title =
                fmt::format("NVLink {} {}", link, isTransmitted ? "transmitted" : "received");
            counter.unit = "B";
            counter.link = static_cast<int>(link);
            counter.direction = isTransmitted ? "tx" : "rx";
            counter.granularity = bytesPerKiB;
            add(field, std::move(counter));
        }
    }
}

int NvmlSampler::read(const Gpu& gpu, const Reading& reading, SampleBatch& batch) const {
    const auto call = [&](auto function, auto... arguments) {
        return function == nullptr ? int{nvmlNotSupported} : function(gpu.device, arguments...);
    };
    int result = nvmlNotSupported;
    unsigned number = 0;
    switch (reading.value) {
        case Value::Utilization: {
            NvmlUtilization busy{};
            result = call(nvml_->deviceUtilization, &busy);
            if (result != nvmlSuccess) break;
            batch.add(reading.counter, int64_t{busy.gpu});
            batch.add(reading.second, int64_t{busy.memory});
            return result;
        }
        case Value::Memory: {
            NvmlMemory memory{};
            result = call(nvml_->deviceMemory, &memory);
            if (result != nvmlSuccess) break;
            batch.add(reading.counter, static_cast<int64_t>(memory.used));
            batch.add(reading.second, static_cast<int64_t>(memory.total));
            return result;
        }
        case Value::Power:
            result = call(nvml_->devicePower, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, number / 1e3);
            break;
        case Value::Temperature:
            result = call(nvml_->deviceTemperature, temperatureOfGpu, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, int64_t{number});
            break;
        case Value::SmClock:
        case Value::MemoryClock:
            result =
                call(nvml_->deviceClock,
                     int{reading.value == Value::SmClock ? nvmlSmClock : nvmlMemoryClock}, &number);
            if (result == nvmlSuccess) batch.add(reading.counter, number * hzPerMhz);
            break;
        case Value::ThrottleReasons: {
            unsigned long long reasons = 0;
            result = call(nvml_->deviceThrottleReasons, &reasons);
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

bool NvmlSampler::sample() {
    const int64_t nowNs = realtimeNs();
    const bool asksProcesses = nowNs >= nextProcessesNs_;
    if (asksProcesses) nextProcessesNs_ = nowNs + processPeriodNs;
    bool isAny = false;
    for (Gpu& gpu : gpus_) {
        if (gpu.isLost) continue;
        sampleFields(gpu);
        batch_.clear();
        const int64_t timeNs = realtimeNs();
        for (const Reading& reading : gpu.readings)
            if (!gpu.isLost) noticeLoss(gpu, read(gpu, reading, batch_));
        if (gpu.isLost) continue;
        log_.write(timeNs, batch_);
        if (asksProcesses) sampleProcesses(gpu);
        isAny = true;
    }
    return isAny;
}

void NvmlSampler::sampleMoment() {
    for (Gpu& gpu : gpus_)
        if (!gpu.isLost) sampleFields(gpu);
}

void NvmlSampler::sampleFields(Gpu& gpu) {
    if (gpu.fields.empty()) return;
    const int64_t nowNs = realtimeNs();
    const int result = nvml_->deviceFieldValues(gpu.device, static_cast<int>(gpu.fields.size()),
                                                gpu.fields.data());
    if (noticeLoss(gpu, result)) return;
    // Values of one call share a moment, but not always to the microsecond.
    int64_t batchTimeNs = 0;
    batch_.clear();
    for (size_t at = 0; at < gpu.fields.size(); ++at) {
        const NvmlFieldValue& field = gpu.fields[at];
        if (noticeLoss(gpu, field.result)) return;
        int64_t timeNs = static_cast<int64_t>(field.timestampUs) * 1000;
        if (timeNs < nowNs - largestClockDifferenceNs || timeNs > nowNs + largestClockDifferenceNs)
            timeNs = nowNs;
        if (timeNs != batchTimeNs) {
            log_.write(batchTimeNs, batch_);
            batch_.clear();
            batchTimeNs = timeNs;
        }
        const std::optional<int64_t> number =
            result == nvmlSuccess ? numberIn(field) : std::nullopt;
        if (!number)
            batch_.addUnknown(gpu.fieldCounters[at]);
        else if (field.fieldId == nvmlTotalEnergy)
            batch_.add(gpu.fieldCounters[at], static_cast<double>(*number) / 1e3);
        else
            batch_.add(gpu.fieldCounters[at], *number * int64_t{1024});
    }
    log_.write(batchTimeNs, batch_);
}

void NvmlSampler::sampleProcesses(Gpu& gpu) {
    if (!gpu.tellsProcesses) return;
    processes_.resize(maximumProcesses);
    auto count = static_cast<unsigned>(processes_.size());
    const int result = nvml_->deviceProcesses(gpu.device, &count, processes_.data());
    if (result != nvmlSuccess) {
        // Where it is refused once it always is; more than we take is no reason to stop.
        gpu.tellsProcesses = result == nvmlInsufficientSize;
        return;
    }
    const int64_t timeNs = realtimeNs();
    for (size_t at = 0; at < std::min<size_t>(count, processes_.size()); ++at) {
        const NvmlProcess& process = processes_[at];
        log::GpuProcessRecord record{};
        record.timestampNs = timeNs;
        record.gpu = static_cast<uint32_t>(gpu.index);
        record.processId = process.pid;
        record.bytes = process.usedBytes == ~0ull ? -1 : static_cast<int64_t>(process.usedBytes);
        log_.write(record, nameOfProcess(process.pid));
    }
}

std::string NvmlSampler::nameOfProcess(unsigned pid) const {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

/// True if the GPU is lost; from then on nothing of it is read.
bool NvmlSampler::noticeLoss(Gpu& gpu, int result) {
    if (result != nvmlGpuIsLost && result != nvmlResetRequired) return gpu.isLost;
    if (gpu.isLost) return true;
    gpu.isLost = true;
    log_.writeUnknown(realtimeNs(), source(), gpu.index);
    log_.note(log::NoteSeverity::Warning, "gpu-lost",
              fmt::format("GPU {} was lost: the driver says that it {}. Its counters are unknown "
                          "from then on.",
                          gpu.index,
                          result == nvmlGpuIsLost ? "has fallen off its bus or cannot be reached"
                                                  : "must be reset"));
    return true;
}

}  // namespace lanescope
