#include "capture/cupti/PmLibrary.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "capture/cupti/findCupti.h"

namespace lanescope {

namespace {

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace

bool PmLibrary::open(std::string& problem) {
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) {
        problem = "There is no NVIDIA driver, so there are no GPU metrics.";
        return false;
    }
    const OpenedCupti cupti = findCupti(environment("LANESCOPE_CUPTI"));
    if (cupti.handle == nullptr) {
        problem =
            "No CUPTI library was found, so no GPU metrics were sampled; set LANESCOPE_CUPTI to "
            "the path of libcupti.so (tried " +
            cupti.searched + ").";
        return false;
    }
    const char* missing = nullptr;
    const auto need = [&](void* library, auto& function, const char* name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
        if (function == nullptr && missing == nullptr) missing = name;
    };
    need(driver, init, "cuInit");
    need(driver, deviceCount, "cuDeviceGetCount");
    need(driver, device, "cuDeviceGet");
    need(driver, deviceName, "cuDeviceGetName");
    need(driver, deviceUuid, "cuDeviceGetUuid");
    need(cupti.handle, resultString, "cuptiGetResultString");
    need(cupti.handle, initialize, "cuptiProfilerInitialize");
    need(cupti.handle, chipName, "cuptiDeviceGetChipName");
    need(cupti.handle, hostInitialize, "cuptiProfilerHostInitialize");
    need(cupti.handle, hostDeinitialize, "cuptiProfilerHostDeinitialize");
    need(cupti.handle, addMetrics, "cuptiProfilerHostConfigAddMetrics");
    need(cupti.handle, configSize, "cuptiProfilerHostGetConfigImageSize");
    need(cupti.handle, config, "cuptiProfilerHostGetConfigImage");
    need(cupti.handle, passes, "cuptiProfilerHostGetNumOfPasses");
    need(cupti.handle, evaluate, "cuptiProfilerHostEvaluateToGpuValues");
    need(cupti.handle, availability, "cuptiPmSamplingGetCounterAvailability");
    need(cupti.handle, enable, "cuptiPmSamplingEnable");
    need(cupti.handle, setConfig, "cuptiPmSamplingSetConfig");
    need(cupti.handle, counterDataSize, "cuptiPmSamplingGetCounterDataSize");
    need(cupti.handle, initializeCounterData, "cuptiPmSamplingCounterDataImageInitialize");
    need(cupti.handle, start, "cuptiPmSamplingStart");
    need(cupti.handle, stop, "cuptiPmSamplingStop");
    need(cupti.handle, decode, "cuptiPmSamplingDecodeData");
    need(cupti.handle, counterDataInfo, "cuptiPmSamplingGetCounterDataInfo");
    need(cupti.handle, sampleInfo, "cuptiPmSamplingCounterDataGetSampleInfo");
    if (missing == nullptr) return true;
    problem = cupti.path + " has no " + missing +
              ", so no GPU metrics were sampled; that takes CUPTI of CUDA 12.6 or newer.";
    return false;
}

std::string PmLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (resultString != nullptr) resultString(result, &text);
    return std::string(text != nullptr ? text : "CUPTI error") + " (" + std::to_string(result) +
           ")";
}

}  // namespace lanescope
