// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/NvmlSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

namespace {

constexpr unsigned gpmVersion = 1;
constexpr unsigned maxPcieGpus = 1024;
constexpr double bytesPerKb = 1000;

}  // namespace

bool PcieSampler::begin() {
    nvml_ = NvmlLibrary::open();
    unsigned count = 0;
    if (!nvml_ || nvml_->devicePcieThroughput == nullptr || nvml_->deviceCount == nullptr ||
        nvml_->deviceByIndex == nullptr || nvml_->deviceCount(&count) != nvmlSuccess)
        return false;
    for (unsigned index = 0; index < std::min(count, maxPcieGpus); ++index) {
        Gpu gpu;
        NvmlGpmSupport support{gpmVersion, 0};
        unsigned ignored = 0;
        if (nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess) continue;
        const bool hasGpm = nvml_->gpmSupport != nullptr && nvml_->gpmSupport(gpu.device, &support) == nvmlSuccess &&
                            support.isSupported != 0;
        if (hasGpm || nvml_->devicePcieThroughput(gpu.device, 0, &ignored) != nvmlSuccess) continue;
        for (const bool isReceived : {false, true}) {
            CounterDescription counter{source(), isReceived ? "pcie.rx" : "pcie.tx",
                                       isReceived ? "PCIe received" : "PCIe transmitted", "B/s",
                                       log::CounterMeaning::Average};
            counter.gpu = static_cast<int>(index);
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
            if (nvml_->devicePcieThroughput(gpu.device, direction, &kbPerSecond) == nvmlSuccess)
                batch_.add(gpu.counters[direction], kbPerSecond * bytesPerKb);
            else
                batch_.addUnknown(gpu.counters[direction]);
        }
        log_.write(sampleTimeNs(), batch_);
    }
    return true;
}

namespace {

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
constexpr int64_t maxAgeNs = 6'000'000'000;
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
        log_.note(Severity::Info, HealthCode::NvmlAbsent, "The driver shows no GPU here; there are no GPU counters.");
    return !gpus_.empty();
}

bool NvmlSampler::reportFailure(int result) {
    const char* reason = "the driver does not answer";
    if (result == -1 || result == nvmlDriverNotLoaded) reason = "there is no NVIDIA driver";
    if (result == nvmlNoPermission) reason = "the driver denies access to this user";
    if (result == nvmlVersionMismatch) reason = "the driver's library and kernel module have different versions";
    log_.note(Severity::Info, HealthCode::NvmlAbsent,
              fmt::format("NVML cannot be used, because {}; there are no GPU counters.", reason));
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
              fmt::format("{} split by MIG: counters are of the whole GPU with all instances, and "
                          "counters of an instance{} are unknown.",
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
    return std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return !gpu.isLost; });
}

void NvmlSampler::expireOldValues(int64_t nowNs) {
    for (size_t query = 0; query < readNs_.size(); ++query) {
        const int64_t wantedNs = std::max(periodNs_, queries[query].periodNs);
        if (readNs_[query] == 0 || nowNs - readNs_[query] < std::max(maxAgeNs, 2 * wantedNs)) continue;
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
    if (query == energyQuery || query == linkSumsQuery) {
        const auto group = query == energyQuery ? NvmlFields::Group::Energy : NvmlFields::Group::LinkSums;
        noticeLoss(gpu, gpu.fields.sample(*nvml_, gpu.device, group, log_));
        return;
    }
    if (query == processesQuery) {
        noticeLoss(gpu, sampleProcesses(gpu));
        return;
    }
    const auto reading = static_cast<NvmlReadings::Value>(query);
    noticeLoss(gpu, gpu.readings.sample(*nvml_, gpu.device, reading, log_));
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
bool NvmlSampler::noticeLoss(Gpu& gpu, int result) {
    if (!isLost(result)) return gpu.isLost;
    if (gpu.isLost) return true;
    gpu.isLost = true;
    log_.writeUnknown(sampleTimeNs(), source(), gpu.index);
    log_.note(Severity::Warning, HealthCode::GpuLost,
              fmt::format("GPU {} was lost: the driver reports that it {}. Its counters are "
                          "unknown from then on.",
                          gpu.index,
                          result == nvmlGpuIsLost ? "has fallen off its bus or cannot be reached" : "must be reset"));
    return true;
}

}  // namespace lanescope::capture
