// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/GpmSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

constexpr unsigned maxGpus = 1024;
/// Maximum earliness of a timer.
constexpr int64_t jitterNs = 1'000'000;

struct Metric {
    NvmlGpmMetricId id;
    const char *name, *title, *unit, *direction;
    double factor;  ///< From NVML's unit to the counter's.
};
constexpr double bytesPerMiB = 1 << 20;
constexpr Metric metrics[] = {
    {nvmlGpmSmActivity, "sm.activity", "SM activity", "%", "", 1},
    {nvmlGpmSmOccupancy, "sm.occupancy", "SM occupancy", "%", "", 1},
    {nvmlGpmTensorActivity, "tensor.activity", "Tensor activity", "%", "", 1},
    {nvmlGpmDramBandwidth, "dram.bandwidth", "DRAM bandwidth used", "%", "", 1},
    {nvmlGpmFp64Activity, "fp64.activity", "FP64 activity", "%", "", 1},
    {nvmlGpmFp32Activity, "fp32.activity", "FP32 activity", "%", "", 1},
    {nvmlGpmFp16Activity, "fp16.activity", "FP16 activity", "%", "", 1},
    {nvmlGpmPcieTransmitted, "pcie.tx", "PCIe transmitted", "B/s", "tx", bytesPerMiB},
    {nvmlGpmPcieReceived, "pcie.rx", "PCIe received", "B/s", "rx", bytesPerMiB},
    {nvmlGpmLinksReceived, "nvlink.rx", "NVLink received", "B/s", "rx", bytesPerMiB},
    {nvmlGpmLinksTransmitted, "nvlink.tx", "NVLink transmitted", "B/s", "tx", bytesPerMiB},
};

}  // namespace

GpmSampler::~GpmSampler() {
    for (Gpu& gpu : gpus_) release(gpu);
}

void GpmSampler::release(Gpu& gpu) {
    for (void** sample : {&gpu.before, &gpu.now})
        if (*sample != nullptr && nvml_->gpmFree != nullptr) nvml_->gpmFree(std::exchange(*sample, nullptr));
}

bool GpmSampler::begin() {
    nvml_ = NvmlLibrary::open();  // The NVML sampler reports why it is missing.
    unsigned count = 0;
    if (!nvml_ || nvml_->gpmSupport == nullptr || nvml_->gpmAllocate == nullptr || nvml_->gpmSample == nullptr ||
        nvml_->gpmMetrics == nullptr || nvml_->deviceCount == nullptr || nvml_->deviceByIndex == nullptr ||
        nvml_->deviceCount(&count) != nvmlSuccess)
        return false;
    answer_.resize(1);
    for (unsigned index = 0; index < std::min(count, maxGpus); ++index) {
        Gpu gpu;
        gpu.index = static_cast<int>(index);
        NvmlGpmSupport support{nvmlGpmVersion, 0};
        if (nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess ||
            nvml_->gpmSupport(gpu.device, &support) != nvmlSuccess || support.isSupported == 0 ||
            nvml_->gpmAllocate(&gpu.before) != nvmlSuccess || nvml_->gpmAllocate(&gpu.now) != nvmlSuccess) {
            release(gpu);
            continue;
        }
        char uuid[96] = {};
        if (nvml_->deviceUuid != nullptr) nvml_->deviceUuid(gpu.device, uuid, sizeof uuid - 1);
        log_.addGpu(index, uuid, {});
        gpus_.push_back(std::move(gpu));
    }
    return !gpus_.empty();
}

bool GpmSampler::sample() {
    if (!pace_.isDue(0, log::monotonicNs())) return true;
    bool isAny = false;
    pace_.begin();
    for (Gpu& gpu : gpus_)
        if (gpu.now != nullptr && sample(gpu)) isAny = true;
    pace_.end(0);
    return isAny;
}

/// Returns false if the GPU will provide nothing more.
bool GpmSampler::sample(Gpu& gpu) {
    const int64_t askedNs = sampleTimeNs();
    if (gpu.beforeNs != 0 && askedNs - gpu.beforeNs < minPeriodNs - jitterNs) return true;
    const int result = nvml_->gpmSample(gpu.device, gpu.now);
    const int64_t nowNs = answerTimeNs(askedNs);
    if (result != nvmlSuccess) {
        log_.writeUnknown(nowNs, source(), gpu.index);
        log_.note(Severity::Info, HealthCode::GpmAbsent,
                  fmt::format("GPU {}: no GPM samples{}.", gpu.index, gpu.beforeNs != 0 ? " any more" : ""));
        release(gpu);
        return false;
    }
    if (gpu.beforeNs == 0) {
        std::swap(gpu.before, gpu.now);
        gpu.beforeNs = nowNs;
        return true;
    }
    NvmlGpmMetrics& answer = answer_.front();
    answer.version = nvmlGpmVersion;
    answer.count = std::size(metrics);
    answer.sample1 = gpu.before;
    answer.sample2 = gpu.now;
    for (size_t at = 0; at < std::size(metrics); ++at)
        answer.metrics[at] = NvmlGpmMetric{metrics[at].id, 0, 0, nullptr, nullptr, nullptr};
    if (nvml_->gpmMetrics(&answer) == nvmlSuccess) {
        if (isArtefact()) return true;  // The next value includes this interval.
        if (gpu.counters.empty()) addCounters(gpu);
        batch_.clear();
        for (size_t at = 0; at < std::size(metrics); ++at) {
            if (gpu.counters[at] == 0) continue;
            const NvmlGpmMetric& metric = answer.metrics[at];
            if (metric.result == nvmlSuccess)
                batch_.add(gpu.counters[at], metric.value * metrics[at].factor);
            else
                batch_.addUnknown(gpu.counters[at]);
        }
        log_.write(answerTimeNs(nowNs), batch_);
    }
    std::swap(gpu.before, gpu.now);
    gpu.beforeNs = nowNs;
    return true;
}

void GpmSampler::addCounters(Gpu& gpu) {
    for (size_t at = 0; at < std::size(metrics); ++at) {
        const Metric& metric = metrics[at];
        uint32_t number = 0;
        if (answer_.front().metrics[at].result == nvmlSuccess) {
            CounterDescription counter{source(), metric.name, metric.title, metric.unit, log::CounterMeaning::Average};
            counter.gpu = gpu.index;
            counter.direction = metric.direction;
            number = log_.addCounter(std::move(counter));
        }
        gpu.counters.push_back(number);
    }
}

bool GpmSampler::isArtefact() const {
    const NvmlGpmMetrics& answer = answer_.front();
    return std::all_of(answer.metrics, answer.metrics + answer.count, [](const auto& metric) {
        return metric.result != nvmlSuccess || metric.value == 0 || !std::isfinite(metric.value);
    });
}

}  // namespace lanescope::capture
