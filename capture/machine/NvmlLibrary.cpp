#include "capture/machine/NvmlLibrary.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace lanescope::capture {

std::optional<NvmlLibrary> NvmlLibrary::open(int* result) {
    if (result != nullptr) *result = -1;
    const char* other = std::getenv("LANESCOPE_NVML");
    void* handle = dlopen(other != nullptr && *other != '\0' ? other : "libnvidia-ml.so.1",
                          RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return std::nullopt;
    NvmlLibrary library(handle);
    int (*initialise)() = nullptr;
    if (!library.find(initialise, "nvmlInit_v2")) return std::nullopt;
    const int initialised = initialise();
    if (result != nullptr) *result = initialised;
    if (initialised != nvmlSuccess) return std::nullopt;
    library.find(library.shutdown_, "nvmlShutdown");
    library.find(library.systemDriverVersion, "nvmlSystemGetDriverVersion");
    library.find(library.systemCudaVersion, "nvmlSystemGetCudaDriverVersion_v2");
    library.find(library.systemProcessName, "nvmlSystemGetProcessName");
    library.find(library.deviceCount, "nvmlDeviceGetCount_v2");
    library.find(library.deviceByIndex, "nvmlDeviceGetHandleByIndex_v2");
    library.find(library.deviceName, "nvmlDeviceGetName");
    library.find(library.deviceUuid, "nvmlDeviceGetUUID");
    library.find(library.devicePciInfo, "nvmlDeviceGetPciInfo_v3");
    library.find(library.deviceMemory, "nvmlDeviceGetMemoryInfo");
    library.find(library.deviceComputeCapability, "nvmlDeviceGetCudaComputeCapability");
    library.find(library.devicePcieGeneration, "nvmlDeviceGetMaxPcieLinkGeneration");
    library.find(library.devicePcieWidth, "nvmlDeviceGetMaxPcieLinkWidth");
    library.find(library.deviceMemoryBusWidth, "nvmlDeviceGetMemoryBusWidth");
    library.find(library.deviceMaximumClock, "nvmlDeviceGetMaxClockInfo");
    library.find(library.deviceCpuAffinity, "nvmlDeviceGetCpuAffinity");
    library.find(library.deviceLinkState, "nvmlDeviceGetNvLinkState");
    library.find(library.deviceLinkVersion, "nvmlDeviceGetNvLinkVersion");
    library.find(library.deviceLinkEnd, "nvmlDeviceGetNvLinkRemoteDeviceType");
    library.find(library.deviceLinkPeer, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    library.find(library.deviceCommonAncestor, "nvmlDeviceGetTopologyCommonAncestor");
    library.find(library.deviceUtilization, "nvmlDeviceGetUtilizationRates");
    library.find(library.devicePower, "nvmlDeviceGetPowerUsage");
    library.find(library.deviceEnergy, "nvmlDeviceGetTotalEnergyConsumption");
    library.find(library.deviceTemperature, "nvmlDeviceGetTemperature");
    library.find(library.deviceClock, "nvmlDeviceGetClockInfo");
    // Its older name knows the same reasons.
    if (!library.find(library.deviceThrottleReasons, "nvmlDeviceGetCurrentClocksEventReasons"))
        library.find(library.deviceThrottleReasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library.find(library.devicePcieThroughput, "nvmlDeviceGetPcieThroughput");
    // The second version has the same layout.
    if (!library.find(library.deviceProcesses, "nvmlDeviceGetComputeRunningProcesses_v3"))
        library.find(library.deviceProcesses, "nvmlDeviceGetComputeRunningProcesses_v2");
    library.find(library.deviceFieldValues, "nvmlDeviceGetFieldValues");
    library.find(library.deviceMigMode, "nvmlDeviceGetMigMode");
    library.find(library.gpmSupport, "nvmlGpmQueryDeviceSupport");
    library.find(library.gpmAllocate, "nvmlGpmSampleAlloc");
    library.find(library.gpmFree, "nvmlGpmSampleFree");
    library.find(library.gpmSample, "nvmlGpmSampleGet");
    library.find(library.gpmMetrics, "nvmlGpmMetricsGet");
    return library;
}

NvmlLibrary::NvmlLibrary(NvmlLibrary&& other) noexcept
    : NvmlFunctions(other),
      handle_(std::exchange(other.handle_, nullptr)),
      shutdown_(std::exchange(other.shutdown_, nullptr)) {}

NvmlLibrary& NvmlLibrary::operator=(NvmlLibrary&& other) noexcept {
    std::swap(static_cast<NvmlFunctions&>(*this), static_cast<NvmlFunctions&>(other));
    std::swap(handle_, other.handle_);
    std::swap(shutdown_, other.shutdown_);
    return *this;
}

NvmlLibrary::~NvmlLibrary() {
    if (shutdown_ != nullptr) shutdown_();
    if (handle_ != nullptr) dlclose(handle_);
}

template <class Function>
bool NvmlLibrary::find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
}

std::optional<int64_t> numberIn(const NvmlFieldValue& field) {
    if (field.result != nvmlSuccess) return std::nullopt;
    switch (field.valueType) {
        case nvmlDouble:
            return static_cast<int64_t>(field.value.real);
        case nvmlUnsignedInt:
            return field.value.unsignedInt;
        case nvmlUnsignedLong:
            return static_cast<int64_t>(field.value.unsignedLong);
        case nvmlUnsignedLongLong:
            return static_cast<int64_t>(field.value.unsignedLongLong);
        case nvmlSignedLongLong:
            return field.value.signedLongLong;
        case nvmlSignedInt:
            return field.value.signedInt;
        case nvmlUnsignedShort:
            return field.value.unsignedShort;
        default:
            return std::nullopt;
    }
}

}  // namespace lanescope::capture
