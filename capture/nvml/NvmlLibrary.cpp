#include "capture/nvml/NvmlLibrary.h"

#include <dlfcn.h>

#include <utility>

namespace lanescope {

std::optional<NvmlLibrary> NvmlLibrary::open() {
    void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return std::nullopt;
    NvmlLibrary library(handle);
    int (*initialise)() = nullptr;
    library.find(initialise, "nvmlInit_v2");
    if (initialise == nullptr || initialise() != 0) return std::nullopt;
    library.find(library.shutdown_, "nvmlShutdown");
    library.find(library.systemDriverVersion, "nvmlSystemGetDriverVersion");
    library.find(library.systemCudaVersion, "nvmlSystemGetCudaDriverVersion_v2");
    library.find(library.deviceCount, "nvmlDeviceGetCount_v2");
    library.find(library.deviceByIndex, "nvmlDeviceGetHandleByIndex_v2");
    library.find(library.deviceName, "nvmlDeviceGetName");
    library.find(library.deviceUuid, "nvmlDeviceGetUUID");
    library.find(library.devicePciInfo, "nvmlDeviceGetPciInfo_v3");
    library.find(library.deviceMemory, "nvmlDeviceGetMemoryInfo");
    library.find(library.deviceComputeCapability, "nvmlDeviceGetCudaComputeCapability");
    library.find(library.devicePcieGeneration, "nvmlDeviceGetMaxPcieLinkGeneration");
    library.find(library.devicePcieWidth, "nvmlDeviceGetMaxPcieLinkWidth");
    library.find(library.deviceLinkState, "nvmlDeviceGetNvLinkState");
    library.find(library.deviceLinkEnd, "nvmlDeviceGetNvLinkRemoteDeviceType");
    library.find(library.deviceLinkPeer, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
    library.find(library.deviceCommonAncestor, "nvmlDeviceGetTopologyCommonAncestor");
    return library;
}

NvmlLibrary::NvmlLibrary(NvmlLibrary&& other) noexcept
    : systemDriverVersion(other.systemDriverVersion),
      systemCudaVersion(other.systemCudaVersion),
      deviceCount(other.deviceCount),
      deviceByIndex(other.deviceByIndex),
      deviceName(other.deviceName),
      deviceUuid(other.deviceUuid),
      devicePciInfo(other.devicePciInfo),
      deviceMemory(other.deviceMemory),
      deviceComputeCapability(other.deviceComputeCapability),
      devicePcieGeneration(other.devicePcieGeneration),
      devicePcieWidth(other.devicePcieWidth),
      deviceLinkState(other.deviceLinkState),
      deviceLinkEnd(other.deviceLinkEnd),
      deviceLinkPeer(other.deviceLinkPeer),
      deviceCommonAncestor(other.deviceCommonAncestor),
      handle_(std::exchange(other.handle_, nullptr)),
      shutdown_(std::exchange(other.shutdown_, nullptr)) {}

NvmlLibrary::~NvmlLibrary() {
    if (shutdown_ != nullptr) shutdown_();
    if (handle_ != nullptr) dlclose(handle_);
}

template <class Function>
void NvmlLibrary::find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
}

}  // namespace lanescope
