#include "capture/cupti/PmLibrary.h"

#include <dlfcn.h>

#include <cstdlib>

#include "capture/cupti/findCupti.h"

namespace lanescope::capture {

namespace {

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

}  // namespace

bool PmLibrary::open(const std::vector<std::filesystem::path>& folders, std::string& problem) {
    const std::string other = environment("LANESCOPE_CUDA");
    void* driver = ::dlopen(other.empty() ? "libcuda.so.1" : other.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) {
        problem = "There is no NVIDIA driver, so there are no GPU metrics.";
        return false;
    }
    if (const char* missing = findDriver(driver)) {
        problem = std::string("The NVIDIA driver has no ") + missing +
                  ", so no GPU metrics were sampled; it is too old.";
        return false;
    }
    const agent::OpenedCupti cupti = agent::findCupti(environment("LANESCOPE_CUPTI"));
    const char* missing = cupti.handle != nullptr ? findCuptiFunctions(cupti.handle) : "";
    if (missing == nullptr) return true;
    std::string searched = cupti.searched;
    for (const std::filesystem::path& folder : folders) {
        for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
            const std::string path = folder / name;
            searched += (searched.empty() ? "" : ", ") + path;
            void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (library != nullptr && findCuptiFunctions(library) == nullptr) return true;
        }
    }
    if (cupti.handle != nullptr)
        problem = cupti.path + " has no " + missing +
                  ", so no GPU metrics were sampled; that takes CUPTI of CUDA 12.6 or newer.";
    else
        problem =
            "No CUPTI library was found, so no GPU metrics were sampled; set LANESCOPE_CUPTI to "
            "the path of libcupti.so (tried " +
            searched + ").";
    return false;
}

namespace {

/// Looks functions up, and remembers the first that is missing.
class Lookup {
  public:
    explicit Lookup(void* library) : library_(library) {}
    template <class Function>
    void need(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library_, name));
        if (function == nullptr && missing_ == nullptr) missing_ = name;
    }
    const char* missing() const { return missing_; }

  private:
    void* const library_;
    const char* missing_ = nullptr;
};

}  // namespace

const char* PmLibrary::findDriver(void* library) {
    Lookup driver(library);
    driver.need(init, "cuInit");
    driver.need(deviceCount, "cuDeviceGetCount");
    driver.need(device, "cuDeviceGet");
    driver.need(deviceName, "cuDeviceGetName");
    driver.need(deviceUuid, "cuDeviceGetUuid");
    return driver.missing();
}

const char* PmLibrary::findCuptiFunctions(void* library) {
    Lookup cupti(library);
    cupti.need(resultString, "cuptiGetResultString");
    cupti.need(initialize, "cuptiProfilerInitialize");
    cupti.need(chipName, "cuptiDeviceGetChipName");
    cupti.need(hostInitialize, "cuptiProfilerHostInitialize");
    cupti.need(hostDeinitialize, "cuptiProfilerHostDeinitialize");
    cupti.need(addMetrics, "cuptiProfilerHostConfigAddMetrics");
    cupti.need(configSize, "cuptiProfilerHostGetConfigImageSize");
    cupti.need(config, "cuptiProfilerHostGetConfigImage");
    cupti.need(passes, "cuptiProfilerHostGetNumOfPasses");
    cupti.need(evaluate, "cuptiProfilerHostEvaluateToGpuValues");
    cupti.need(availability, "cuptiPmSamplingGetCounterAvailability");
    cupti.need(enable, "cuptiPmSamplingEnable");
    cupti.need(setConfig, "cuptiPmSamplingSetConfig");
    cupti.need(counterDataSize, "cuptiPmSamplingGetCounterDataSize");
    cupti.need(initializeCounterData, "cuptiPmSamplingCounterDataImageInitialize");
    cupti.need(start, "cuptiPmSamplingStart");
    cupti.need(stop, "cuptiPmSamplingStop");
    cupti.need(decode, "cuptiPmSamplingDecodeData");
    cupti.need(counterDataInfo, "cuptiPmSamplingGetCounterDataInfo");
    cupti.need(sampleInfo, "cuptiPmSamplingCounterDataGetSampleInfo");
    return cupti.missing();
}

std::string PmLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (resultString != nullptr) resultString(result, &text);
    return std::string(text != nullptr ? text : "CUPTI error") + " (" + std::to_string(result) +
           ")";
}

}  // namespace lanescope::capture
