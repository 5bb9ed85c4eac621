// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/NvmlSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"

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

constexpr int64_t hzPerMhz = 1'000'000;
constexpr int temperatureOfGpu = 0;

constexpr double bytesPerKb = 1000;

constexpr unsigned maxGpus = 1024;
constexpr size_t maxProcesses = 256;

constexpr int64_t defaultPeriodNs = 100'000'000;
/// Minimum intervals of event readings. The driver does not update energy faster; all links take a millisecond each.
constexpr int64_t energyAgainNs = 10'000'000, linksAgainNs = 1'000'000'000;
constexpr int64_t reportPeriodNs = 10'000'000'000;

struct Query {
    const char* name;
    int64_t periodNs;  ///< Period at the default rate, if it is cheap enough.
    double weight;
};
/// Queries: the values of `NvmlReadings` in their order, then the others. The driver itself averages utilization over
/// more than 100 ms. Processes come and go slowly, and memory clocks rarely change.
constexpr Query queries[] = {
    {"utilization", 200'000'000, 2},      {"memory", 100'000'000, 1},   {"power", 100'000'000, 1},
    {"temperature", 500'000'000, 1},      {"SM clock", 500'000'000, 1}, {"memory clock", 1'000'000'000, 0.25},
    {"throttle reasons", 100'000'000, 1}, {"energy", 1'000'000'000, 1}, {"NVLink sums", 100'000'000, 2},
    {"processes", 1'000'000'000, 0.5},
};
/// Maximum age of a value that should have been read sooner; an older one becomes unknown. Otherwise a GPU whose memory
/// was read before the program used it would stay empty. Longer than the trust in a guess of `Pace`.
constexpr int64_t maxValueAgeNs = 6'000'000'000;
constexpr size_t energyQuery = 7, linkSumsQuery = 8, processesQuery = 9;
constexpr size_t queryCount = std::size(queries);
static_assert(queryCount == processesQuery + 1);
static_assert(energyQuery == static_cast<size_t>(NvmlReadings::Value::ThrottleReasons) + 1);

/// Returns "GPU 0 is", "GPUs 0, 1 are".
std::string namesOf(const std::vector<int>& gpus, const char* one, const char* several) {
    const bool isOne = gpus.size() == 1;
    return fmt::format("GPU{} {} {}", isOne ? "" : "s", fmt::join(gpus, ", "), isOne ? one : several);
}

}  // namespace

void NvmlFields::begin(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, SampleLog& log,
                       std::vector<std::string>& absent) {
    if (nvml.deviceFieldValues == nullptr) {
        absent.insert(absent.end(), {"energy", "nvlink"});
        return;
    }
    const int64_t askedNs = sampleTimeNs();
    NvmlFieldValue energy = question(nvmlTotalEnergy, 0);
    if (nvml.deviceFieldValues(device, 1, &energy) == nvmlSuccess && numberIn(energy)) {
        CounterDescription counter{"nvml", "energy", "Energy", "J", log::CounterMeaning::Cumulative, gpu};
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
bool NvmlFields::addLinks(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, int link, SampleLog& log) {
    Part part;
    const int64_t askedNs = sampleTimeNs();
    part.fields = {question(nvmlLinkTransmittedKiB, link), question(nvmlLinkReceivedKiB, link)};
    if (nvml.deviceFieldValues(device, 2, part.fields.data()) != nvmlSuccess) return false;
    for (const NvmlFieldValue& field : part.fields)
        if (!numberIn(field)) return false;
    const std::string subject = link == allLinks ? "NVLink" : fmt::format("NVLink {}", link);
    for (const bool isReceived : {false, true}) {
        CounterDescription counter{
            "nvml", isReceived ? "nvlink.rx" : "nvlink.tx", {}, "B", log::CounterMeaning::Cumulative, gpu, link};
        counter.title = subject + (isReceived ? " received" : " transmitted");
        counter.direction = std::string(isReceived ? "rx" : "tx");
        counter.granularity = bytesPerKiB;
        part.counters.push_back(log.addCounter(std::move(counter)));
    }
    write(part, askedNs, true, log);
    partsOf(link == allLinks ? Group::LinkSums : Group::Links).push_back(std::move(part));
    return true;
}

int NvmlFields::sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Group group, SampleLog& log,
                       const std::function<bool()>& isWantedElsewhere) {
    int firstProblem = nvmlSuccess;
    for (Part& part : partsOf(group)) {
        if (isWantedElsewhere && isWantedElsewhere()) break;
        const int result = sample(nvml, device, part, log);
        if (firstProblem == nvmlSuccess) firstProblem = result;
    }
    return firstProblem;
}

int NvmlFields::sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Part& part, SampleLog& log) {
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

void NvmlReadings::begin(const NvmlLibrary& nvml, NvmlLibrary::Device device, int gpu, SampleLog& log,
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
        if (const int result = read(nvml, device, {kind.value, 1, 1}, ignored); result != nvmlSuccess) {
            absent.emplace_back(kind.name);
            continue;
        }
        const auto addCounter = [&](const char* name, const char* title) {
            return log.addCounter({"nvml", name, title, kind.unit, log::CounterMeaning::Gauge, gpu});
        };
        Reading reading{kind.value, addCounter(kind.name, kind.title), 0};
        if (kind.secondName != nullptr) reading.second = addCounter(kind.secondName, kind.secondTitle);
        readings_.push_back(reading);
    }
}

int NvmlReadings::sample(const NvmlLibrary& nvml, NvmlLibrary::Device device, Value value, SampleLog& log) {
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

int NvmlReadings::read(const NvmlLibrary& nvml, NvmlLibrary::Device device, const Reading& reading,
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

bool PcieSampler::begin() {
    nvml_ = NvmlLibrary::open();
    unsigned count = 0;
    if (!nvml_ || nvml_->devicePcieThroughput == nullptr || nvml_->deviceCount == nullptr ||
        nvml_->deviceByIndex == nullptr || nvml_->deviceCount(&count) != nvmlSuccess)
        return false;
    for (unsigned index = 0; index < std::min(count, maxGpus); ++index) {
        Gpu gpu;
        NvmlGpmSupport support{nvmlGpmVersion, 0};
        unsigned ignored = 0;
        if (nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess) continue;
        const bool hasGpm = nvml_->gpmSupport != nullptr && nvml_->gpmSupport(gpu.device, &support) == nvmlSuccess &&
                            support.isSupported != 0;
        if (hasGpm || nvml_->devicePcieThroughput(gpu.device, 0, &ignored) != nvmlSuccess) continue;
        for (const bool isReceived : {false, true}) {
            CounterDescription counter{source(), isReceived ? "pcie.rx" : "pcie.tx", {},
                                       "B/s",    log::CounterMeaning::Average,       static_cast<int>(index)};
            counter.title = isReceived ? "PCIe received" : "PCIe transmitted";
            counter.direction = std::string(isReceived ? "rx" : "tx");
            gpu.counters[isReceived ? 1 : 0] = log_.addCounter(std::move(counter));
        }
        gpus_.push_back(gpu);
    }
    return !gpus_.empty();
}

bool PcieSampler::sample() {
    for (const Gpu& gpu : gpus_) {
        batch_.clear();
        for (const int direction : {0, 1}) {
            unsigned kbPerSecond = 0;
            const bool isRead = nvml_->devicePcieThroughput(gpu.device, direction, &kbPerSecond) == nvmlSuccess;
            batch_.add(gpu.counters[direction], isRead ? std::optional(kbPerSecond * bytesPerKb) : std::nullopt);
        }
        log_.write(sampleTimeNs(), batch_);
    }
    return true;
}

bool NvmlSampler::begin() {
    int result = 0;
    nvml_ = NvmlLibrary::open(&result);
    unsigned count = 0;
    if (nvml_ && nvml_->deviceCount != nullptr) result = nvml_->deviceCount(&count);
    if (!nvml_ || result != nvmlSuccess) return reportFailure(result);
    for (const Query& query : queries)
        pace_.add(query.name,
                  periodNs_ < defaultPeriodNs ? query.periodNs * periodNs_ / defaultPeriodNs
                                              : std::max(periodNs_, query.periodNs),
                  query.weight);
    for (unsigned index = 0; index < std::min(count, maxGpus); ++index) {
        Gpu gpu;
        gpu.index = static_cast<int>(index);
        if (nvml_->deviceByIndex == nullptr || nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess) continue;
        describe(gpu);
        gpus_.push_back(std::move(gpu));
    }
    reportAbsent();
    // Each query ran once to check for an answer, and runs once more to measure its cost.
    for (size_t query = 0; query < queryCount; ++query) {
        pace_.addCost(query, 0);
        pace_.isDue(query, log::monotonicNs());
        ask(query);
    }
    if (gpus_.empty())
        log_.note(Severity::Info, HealthCode::NvmlAbsent,
                  "The driver shows no GPU here, so GPU counters are missing. Other data are recorded.");
    return !gpus_.empty();
}

bool NvmlSampler::reportFailure(int result) {
    const char* reason = "the driver does not answer";
    if (result == -1 || result == nvmlDriverNotLoaded) reason = "there is no NVIDIA driver";
    if (result == nvmlNoPermission) reason = "the driver denies access to this user";
    if (result == nvmlVersionMismatch) reason = "the driver's library and kernel module have different versions";
    log_.note(
        Severity::Info, HealthCode::NvmlAbsent,
        fmt::format("GPU counters are missing: NVML cannot be used, because {}. Other data are recorded.", reason));
    return false;
}

void NvmlSampler::describe(Gpu& gpu) {
    char uuid[96] = {}, name[96] = {};
    if (nvml_->deviceUuid != nullptr) nvml_->deviceUuid(gpu.device, uuid, sizeof uuid - 1);
    if (nvml_->deviceName != nullptr) nvml_->deviceName(gpu.device, name, sizeof name - 1);
    log_.addGpu(static_cast<uint32_t>(gpu.index), uuid, name);
    std::vector<std::string> absent;
    gpu.readings.begin(*nvml_, gpu.device, gpu.index, log_, absent);
    gpu.fields.begin(*nvml_, gpu.device, gpu.index, log_, absent);
    gpu.hasProcesses = nvml_->deviceProcesses != nullptr;
    unsigned isMig = 0, isPending = 0;
    const bool asksMig =
        nvml_->deviceMigMode != nullptr && nvml_->deviceMigMode(gpu.device, &isMig, &isPending) == nvmlSuccess;
    if (asksMig && isMig != 0) splitGpus_.push_back(gpu.index);
    if (!absent.empty()) absent_[fmt::format("{}", fmt::join(absent, ", "))].push_back(gpu.index);
}

/// Writes one line per missing item, for all GPUs together.
void NvmlSampler::reportAbsent() const {
    for (const auto& [values, gpus] : absent_)
        log_.note(Severity::Info, HealthCode::CountersAbsent,
                  fmt::format("{} not report {} {}.", namesOf(gpus, "does", "do"), gpus.size() == 1 ? "its" : "their",
                              values));
    if (splitGpus_.empty()) return;
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const bool isInstance = visible != nullptr && isMigUuid(visible);
    log_.note(Severity::Info, HealthCode::CountersOfWholeGpu,
              fmt::format("{} split by MIG: counters are of the whole GPU with all instances, and counters of an "
                          "instance{} are unknown.",
                          namesOf(splitGpus_, "is", "are"), isInstance ? fmt::format(" ({})", visible) : ""));
}

bool NvmlSampler::sample() {
    const int64_t nowNs = log::monotonicNs();
    for (size_t query = 0; query < queryCount; ++query) {
        if (!pace_.isDue(query, nowNs)) continue;
        ask(query);
        break;
    }
    expireOldValues(nowNs);
    reportPeriods(nowNs);
    return std::ranges::any_of(gpus_, [](const Gpu& gpu) { return !gpu.isLost; });
}

void NvmlSampler::expireOldValues(int64_t nowNs) {
    for (size_t query = 0; query < readNs_.size(); ++query) {
        const int64_t wantedNs = std::max(periodNs_, queries[query].periodNs);
        if (readNs_[query] == 0 || nowNs - readNs_[query] < std::max(maxValueAgeNs, 2 * wantedNs)) continue;
        readNs_[query] = 0;
        for (Gpu& gpu : gpus_)
            if (!gpu.isLost) gpu.readings.markUnknown(static_cast<NvmlReadings::Value>(query), log_);
    }
}

void NvmlSampler::ask(size_t query) {
    if (query < readNs_.size()) readNs_[query] = log::monotonicNs();
    pace_.begin();
    for (Gpu& gpu : gpus_)
        if (!gpu.isLost) ask(gpu, query);
    pace_.end(query);
}

void NvmlSampler::ask(Gpu& gpu, size_t query) {
    const auto sample = [&] {
        if (query == energyQuery) return gpu.fields.sample(*nvml_, gpu.device, NvmlFields::Group::Energy, log_);
        if (query == linkSumsQuery) return gpu.fields.sample(*nvml_, gpu.device, NvmlFields::Group::LinkSums, log_);
        if (query == processesQuery) return sampleProcesses(gpu);
        return gpu.readings.sample(*nvml_, gpu.device, static_cast<NvmlReadings::Value>(query), log_);
    };
    noticeLoss(gpu, sample());
}

/// Reports the period of each value when it changes, at most now and then.
void NvmlSampler::reportPeriods(int64_t nowNs) {
    if (nowNs < reportedNs_ + reportPeriodNs) return;
    reportedNs_ = nowNs;
    std::string text = pace_.describe();
    if (text == reported_) return;
    reported_ = std::move(text);
    log_.property(facts::samplerIntervals, reported_);
}

void NvmlSampler::sampleGroup(NvmlFields::Group group, const std::function<bool()>& isWantedElsewhere) {
    for (Gpu& gpu : gpus_)
        if (!gpu.isLost) noticeLoss(gpu, gpu.fields.sample(*nvml_, gpu.device, group, log_, isWantedElsewhere));
}

/// Requested readings do not count as cost.
int64_t NvmlSampler::sampleTime(const std::function<bool()>& isWantedElsewhere) {
    const int64_t nowNs = log::monotonicNs();
    sampleGroup(NvmlFields::Group::LinkSums);
    int64_t ageNs = nowNs - energyReadNs_;
    if (ageNs >= energyAgainNs) {
        ageNs = 0;
        energyReadNs_ = log::monotonicNs();
        sampleGroup(NvmlFields::Group::Energy);
    }
    if (nowNs >= linksReadNs_ + linksAgainNs) {
        linksReadNs_ = nowNs;
        sampleGroup(NvmlFields::Group::Links, isWantedElsewhere);
    }
    return ageNs;
}

void NvmlSampler::end() {
    // Totals of a whole recording need their end value; `begin` read the first one.
    for (const NvmlFields::Group group :
         {NvmlFields::Group::LinkSums, NvmlFields::Group::Energy, NvmlFields::Group::Links})
        sampleGroup(group);
    reportedNs_ = -reportPeriodNs;
    reportPeriods(log::monotonicNs());
}

int NvmlSampler::sampleProcesses(Gpu& gpu) {
    if (!gpu.hasProcesses) return nvmlSuccess;
    processes_.resize(maxProcesses);
    auto count = static_cast<unsigned>(processes_.size());
    const int result = nvml_->deviceProcesses(gpu.device, &count, processes_.data());
    if (result != nvmlSuccess) {
        // A refused query stays refused; more processes than fit is no reason to stop.
        gpu.hasProcesses = result == nvmlInsufficientSize;
        return result;
    }
    const int64_t timeNs = sampleTimeNs();
    for (size_t at = 0; at < std::min<size_t>(count, processes_.size()); ++at) {
        const NvmlProcess& process = processes_[at];
        log::GpuProcessRecord record{};
        record.timestampNs = timeNs;
        record.gpu = static_cast<uint32_t>(gpu.index);
        record.processId = process.pid;
        record.bytes = process.usedBytes == ~0ull ? -1 : static_cast<int64_t>(process.usedBytes);
        log_.write(record, nameOfProcess(process.pid));
    }
    return result;
}

std::string NvmlSampler::nameOfProcess(unsigned pid) const {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

/// Returns true if the GPU is lost; from then on nothing of it is read.
void NvmlSampler::noticeLoss(Gpu& gpu, int result) {
    if (!isLost(result) || gpu.isLost) return;
    gpu.isLost = true;
    log_.writeUnknown(sampleTimeNs(), source(), gpu.index);
    log_.note(
        Severity::Warning, HealthCode::GpuLost,
        fmt::format("GPU {} was lost: the driver reports that it {}. Its counters are unknown from then on.", gpu.index,
                    result == nvmlGpuIsLost ? "has fallen off its bus or cannot be reached" : "must be reset"));
}

}  // namespace lanescope::capture
