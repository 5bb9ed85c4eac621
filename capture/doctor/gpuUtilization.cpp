#include "capture/doctor/gpuUtilization.h"

#include <dlfcn.h>

namespace lanescope::capture {

namespace {

/// Shares of the last sample period in percent, as NVML's documentation lays it out.
struct Utilization {
    unsigned gpu = 0, memory = 0;
};

template <class Function>
bool find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

std::optional<unsigned> gpuUtilization(const std::string& uuid) {
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::nullopt;
    int (*initialise)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*byUuid)(const char*, void**) = nullptr;
    int (*utilization)(void*, Utilization*) = nullptr;
    std::optional<unsigned> percent;
    if (find(library, initialise, "nvmlInit_v2") && find(library, shutdown, "nvmlShutdown") &&
        find(library, byUuid, "nvmlDeviceGetHandleByUUID") &&
        find(library, utilization, "nvmlDeviceGetUtilizationRates") && initialise() == 0) {
        void* device = nullptr;
        Utilization rates;
        if (byUuid(uuid.c_str(), &device) == 0 && utilization(device, &rates) == 0)
            percent = rates.gpu;
        shutdown();
    }
    dlclose(library);
    return percent;
}

}  // namespace lanescope::capture
