#pragma once

#include <optional>

namespace lanescope {

// The few functions of NVML that we call, as its documentation declares them. The library is opened
// at run time and its header is not needed to build. Every function returns 0 on success.

struct NvmlPciInfo {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
};

struct NvmlMemory {
    unsigned long long total, free, used;
};

/// Numbers of `nvmlIntNvLinkDeviceType_t`.
enum NvmlLinkEnd : int { nvmlEndGpu = 0, nvmlEndSwitch = 2 };

/// NVML, opened and initialised; shut down and closed at the end. Functions that this driver lacks
/// are null. NVML itself may be called from any thread.
class NvmlLibrary {
  public:
    using Device = void*;

    /// Nothing if there is no driver or it does not work.
    static std::optional<NvmlLibrary> open();
    NvmlLibrary(NvmlLibrary&& other) noexcept;
    NvmlLibrary& operator=(NvmlLibrary&&) = delete;
    ~NvmlLibrary();

    int (*systemDriverVersion)(char*, unsigned) = nullptr;
    int (*systemCudaVersion)(int*) = nullptr;
    int (*deviceCount)(unsigned*) = nullptr;
    int (*deviceByIndex)(unsigned, Device*) = nullptr;
    int (*deviceName)(Device, char*, unsigned) = nullptr;
    int (*deviceUuid)(Device, char*, unsigned) = nullptr;
    int (*devicePciInfo)(Device, NvmlPciInfo*) = nullptr;
    int (*deviceMemory)(Device, NvmlMemory*) = nullptr;
    int (*deviceComputeCapability)(Device, int*, int*) = nullptr;
    int (*devicePcieGeneration)(Device, unsigned*) = nullptr;
    int (*devicePcieWidth)(Device, unsigned*) = nullptr;
    int (*deviceLinkState)(Device, unsigned, unsigned*) = nullptr;
    int (*deviceLinkEnd)(Device, unsigned, int*) = nullptr;
    int (*deviceLinkPeer)(Device, unsigned, NvmlPciInfo*) = nullptr;
    int (*deviceCommonAncestor)(Device, Device, int*) = nullptr;

  private:
    explicit NvmlLibrary(void* handle) : handle_(handle) {}
    template <class Function>
    void find(Function& function, const char* name);

    void* handle_ = nullptr;
    int (*shutdown_)() = nullptr;
};

}  // namespace lanescope
