#include "capture/cupti/PmSampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "capture/sample/makePmSampler.h"

namespace lanescope {

namespace {

constexpr int mostDevices = 64;

/// As the driver writes it.
std::string uuidText(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (int at = 0; at < 16; ++at) {
        if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[at]));
    }
    return text;
}

}  // namespace

bool PmSampler::begin() {
    std::string problem;
    int count = 0;
    if (!library_.open(folders_, problem)) {
        log_.note(log::NoteSeverity::Warning, "gpu-metrics-absent", problem);
        return false;
    }
    if (library_.init(0) != CUDA_SUCCESS || library_.deviceCount(&count) != CUDA_SUCCESS ||
        count == 0) {
        log_.note(log::NoteSeverity::Warning, "gpu-metrics-absent",
                  "CUDA finds no GPU here, so no GPU metrics were sampled.");
        return false;
    }
    auto initialized =
        parameters<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    if (const CUptiResult result = library_.initialize(&initialized)) {
        sayWhyNot({{result, {}}});
        return false;
    }
    Refusals refusals;
    for (uint32_t device = 0; device < static_cast<uint32_t>(std::min(count, mostDevices));
         ++device) {
        CUdevice handle = 0;
        CUuuid uuid{};
        char name[96] = {};
        if (library_.device(&handle, static_cast<int>(device)) != CUDA_SUCCESS) continue;
        library_.deviceUuid(&uuid, handle);
        library_.deviceName(name, sizeof name - 1, handle);
        auto gpu = std::make_unique<PmGpu>(library_, device);
        if (const CUptiResult result = gpu->prepare(hz_, takePeriodNs_)) {
            refusals[result].push_back(device);
            continue;
        }
        log_.addGpu(device, uuidText(uuid), name);
        for (size_t at = 0; at < gpu->titles().size(); ++at)
            log_.addMetric(device, static_cast<uint32_t>(at), gpu->titles()[at]);
        gpus_.push_back(std::move(gpu));
    }
    // All at once, so that none waits with a full buffer for the others to be prepared.
    std::erase_if(gpus_, [&refusals](const auto& gpu) {
        const CUptiResult result = gpu->start();
        if (result != CUPTI_SUCCESS) refusals[result].push_back(gpu->device());
        return result != CUPTI_SUCCESS;
    });
    sayWhyNot(refusals);
    if (!gpus_.empty()) log_.property("gpuMetricsHz", fmt::format("{:g}", hz_));
    return !gpus_.empty();
}

/// One line for each reason, however many GPUs have it.
void PmSampler::sayWhyNot(const Refusals& refusals) {
    for (const auto& [result, devices] : refusals) {
        std::string reason = fmt::format("CUPTI answered {}", library_.describe(result));
        if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
            reason =
                "this user may not read hardware counters; run as root or with CAP_SYS_ADMIN, or "
                "load the driver with NVreg_RestrictProfilingToAdminUsers=0";
        if (result == CUPTI_ERROR_HARDWARE_BUSY)
            reason =
                "another tool holds the hardware counters, such as DCGM, Nsight or another record";
        if (result == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED ||
            result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
            reason = "virtual GPUs do not show them unless the host permits it";
        std::string which;
        if (!devices.empty())
            which = fmt::format(" of CUDA's GPU{} {}", devices.size() == 1 ? "" : "s",
                                fmt::join(devices, ", "));
        log_.note(log::NoteSeverity::Warning, "gpu-metrics-absent",
                  fmt::format("No GPU metrics were sampled{}: {}.", which, reason));
    }
}

bool PmSampler::sample() {
    std::erase_if(gpus_, [this](const auto& gpu) { return !take(*gpu); });
    return !gpus_.empty();
}

bool PmSampler::take(PmGpu& gpu) {
    uint64_t overflowed = 0;
    const CUptiResult result = gpu.take(words_, overflowed);
    log_.writeMetrics(gpu.device(), static_cast<uint32_t>(gpu.titles().size()), words_);
    if (overflowed > 0) log_.writeDropped(overflowed);
    if (result == CUPTI_SUCCESS) return true;
    log_.note(log::NoteSeverity::Warning, "gpu-metrics-ended",
              fmt::format("Sampling of CUDA's GPU {} ended early: CUPTI answered {}.", gpu.device(),
                          library_.describe(result)));
    return false;
}

void PmSampler::end() {
    for (const auto& gpu : gpus_) {
        gpu->stop();
        take(*gpu);
        log_.property(fmt::format("gpuMetricsClock{}", gpu->device()), gpu->clock().describe());
    }
}

std::unique_ptr<Sampler> makePmSampler(SampleLog& log, double hz, int64_t takePeriodNs,
                                       std::vector<std::filesystem::path> folders) {
    return std::make_unique<PmSampler>(log, hz, takePeriodNs, std::move(folders));
}

}  // namespace lanescope
