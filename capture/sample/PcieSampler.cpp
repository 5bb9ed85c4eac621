// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/PcieSampler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

constexpr unsigned gpmVersion = 1;
constexpr unsigned maximumGpus = 1024;
constexpr double bytesPerKb = 1000;

}  // namespace

bool PcieSampler::begin() {
    nvml_ = NvmlLibrary::open();
    unsigned count = 0;
    if (!nvml_ || nvml_->devicePcieThroughput == nullptr || nvml_->deviceCount == nullptr ||
        nvml_->deviceByIndex == nullptr || nvml_->deviceCount(&count) != nvmlSuccess)
        return false;
    for (unsigned index = 0; index < std::min(count, maximumGpus); ++index) {
        Gpu gpu;
        NvmlGpmSupport support{gpmVersion, 0};
        unsigned ignored = 0;
        if (nvml_->deviceByIndex(index, &gpu.device) != nvmlSuccess) continue;
        const bool hasGpm = nvml_->gpmSupport != nullptr &&
                            nvml_->gpmSupport(gpu.device, &support) == nvmlSuccess &&
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

}  // namespace lanescope::capture
