// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/NvmlLibrary.h"

#include <string>

#include "model/format/optionValues.h"

namespace lanescope::capture {

std::optional<NvmlLibrary> NvmlLibrary::open(int* result) {
    if (result != nullptr) *result = -1;
    const std::string other = environment("LANESCOPE_NVML");
    NvmlLibrary nvml(DynamicLibrary(other.empty() ? "libnvidia-ml.so.1" : other));
    const DynamicLibrary& library = nvml.opened_;
    int (*initialise)() = nullptr;
    if (!library || !library.find(initialise, "nvmlInit_v2")) return std::nullopt;
    const int initialised = initialise();
    if (result != nullptr) *result = initialised;
    if (initialised != nvmlSuccess) return std::nullopt;
    library.find(nvml.shutdown_, "nvmlShutdown");
    library.find(nvml.systemDriverVersion, "nvmlSystemGetDriverVersion");
    library.find(nvml.systemCudaVersion, "nvmlSystemGetCudaDriverVersion_v2");
    library.find(nvml.systemProcessName, "nvmlSystemGetProcessName");
    library.find(nvml.deviceCount, "nvmlDeviceGetCount_v2");
    library.find(nvml.deviceByIndex, "nvmlDeviceGetHandleByIndex_v2");
    library.find(nvml.deviceByUuid, "nvmlDeviceGetHandleByUUID");
    library.find(nvml.deviceName, "nvmlDeviceGetName");
    library.find(nvml.deviceUuid, "nvmlDeviceGetUUID");
    library.find(nvml.devicePciInfo, "nvmlDeviceGetPciInfo_v3");
    library.find(nvml.deviceMemory, "nvmlDeviceGetMemoryInfo");
    library.find(nvml.deviceMemoryInUse, "nvmlDeviceGetMemoryInfo_v2");
    library.find(nvml.deviceComputeCapability, "nvmlDeviceGetCudaComputeCapability");
    library.find(nvml.devicePcieGeneration, "nvmlDeviceGetMaxPcieLinkGeneration");
    library.find(nvml.devicePcieWidth, "nvmlDeviceGetMaxPcieLinkWidth");
    library.find(nvml.deviceMemoryBusWidth, "nvmlDeviceGetMemoryBusWidth");
    library.find(nvml.deviceMaximumClock, "nvmlDeviceGetMaxClockInfo");
    library.find(nvml.deviceCpuAffinity, "nvmlDeviceGetCpuAffinity");
    library.find(nvml.deviceLinkState, "nvmlDeviceGetNvLinkState");
    library.find(nvml.deviceLinkVersion, "nvmlDeviceGetNvLinkVersion");
    library.find(nvml.deviceLinkEnd, "nvmlDeviceGetNvLinkRemoteDeviceType");
    library.find(nvml.deviceLinkPeer, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    library.find(nvml.deviceCommonAncestor, "nvmlDeviceGetTopologyCommonAncestor");
    library.find(nvml.deviceUtilization, "nvmlDeviceGetUtilizationRates");
    library.find(nvml.devicePower, "nvmlDeviceGetPowerUsage");
    library.find(nvml.deviceEnergy, "nvmlDeviceGetTotalEnergyConsumption");
    library.find(nvml.deviceTemperature, "nvmlDeviceGetTemperature");
    library.find(nvml.deviceClock, "nvmlDeviceGetClockInfo");
    // The function's older name returns the same reasons.
    if (!library.find(nvml.deviceThrottleReasons, "nvmlDeviceGetCurrentClocksEventReasons"))
        library.find(nvml.deviceThrottleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library.find(nvml.devicePcieThroughput, "nvmlDeviceGetPcieThroughput");
    // The second version has the same layout.
    if (!library.find(nvml.deviceProcesses, "nvmlDeviceGetComputeRunningProcesses_v3"))
        library.find(nvml.deviceProcesses, "nvmlDeviceGetComputeRunningProcesses_v2");
    library.find(nvml.deviceFieldValues, "nvmlDeviceGetFieldValues");
    library.find(nvml.deviceMigMode, "nvmlDeviceGetMigMode");
    library.find(nvml.gpmSupport, "nvmlGpmQueryDeviceSupport");
    library.find(nvml.gpmAllocate, "nvmlGpmSampleAlloc");
    library.find(nvml.gpmFree, "nvmlGpmSampleFree");
    library.find(nvml.gpmSample, "nvmlGpmSampleGet");
    library.find(nvml.gpmMetrics, "nvmlGpmMetricsGet");
    return nvml;
}

NvmlLibrary::NvmlLibrary(NvmlLibrary&& other) noexcept
    : NvmlFunctions(other), opened_(std::move(other.opened_)), shutdown_(std::exchange(other.shutdown_, nullptr)) {}

NvmlLibrary& NvmlLibrary::operator=(NvmlLibrary&& other) noexcept {
    std::swap(static_cast<NvmlFunctions&>(*this), static_cast<NvmlFunctions&>(other));
    std::swap(opened_, other.opened_);
    std::swap(shutdown_, other.shutdown_);
    return *this;
}

NvmlLibrary::~NvmlLibrary() {
    if (shutdown_ != nullptr) shutdown_();
}

std::optional<int64_t> numberIn(const NvmlFieldValue& field) {
    if (field.result != nvmlSuccess) return std::nullopt;
    switch (field.valueType) {
        case nvmlDouble: return static_cast<int64_t>(field.value.real);
        case nvmlUnsignedInt: return field.value.unsignedInt;
        case nvmlUnsignedLong: return static_cast<int64_t>(field.value.unsignedLong);
        case nvmlUnsignedLongLong: return static_cast<int64_t>(field.value.unsignedLongLong);
        case nvmlSignedLongLong: return field.value.signedLongLong;
        case nvmlSignedInt: return field.value.signedInt;
        case nvmlUnsignedShort: return field.value.unsignedShort;
        default: return std::nullopt;
    }
}

}  // namespace lanescope::capture
