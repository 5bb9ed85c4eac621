// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmLibrary.h"

#include "capture/cupti/findCupti.h"
#include "capture/options/AgentOptions.h"
#include "model/format/optionValues.h"

namespace lanescope::capture {

bool PmLibrary::open(const std::vector<std::filesystem::path>& folders, std::string& problem) {
    const std::string other = environment("LANESCOPE_CUDA");
    DynamicLibrary driver(other.empty() ? "libcuda.so.1" : other);
    if (!driver) {
        problem = "There is no NVIDIA driver; no GPU metrics were sampled.";
        return false;
    }
    if (const char* missing = findDriver(driver)) {
        problem =
            std::string("The NVIDIA driver has no ") + missing + "; no GPU metrics were sampled. Use a newer driver.";
        return false;
    }
    agent::OpenedCupti cupti = agent::findCupti(environment(agent::cuptiVariable));
    const char* missing = cupti.handle ? findCuptiFunctions(cupti.handle) : "";
    if (missing == nullptr) return true;
    std::string searched = cupti.searched;
    for (const std::filesystem::path& folder : folders) {
        for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
            const std::string path = folder / name;
            searched += (searched.empty() ? "" : ", ") + path;
            DynamicLibrary library(path);
            if (library && findCuptiFunctions(library) == nullptr) return true;
        }
    }
    if (missing != nullptr && *missing != '\0')
        problem = cupti.path + " has no " + missing + "; no GPU metrics were sampled. Use CUPTI of CUDA 12.6 or newer.";
    else
        problem =
            "No CUPTI library was found; no GPU metrics were sampled. Set LANESCOPE_CUPTI to the path of libcupti.so "
            "(tried " +
            searched + ").";
    return false;
}

const char* PmLibrary::findDriver(DynamicLibrary& driver) {
    driver.need(init, "cuInit");
    driver.need(deviceCount, "cuDeviceGetCount");
    driver.need(device, "cuDeviceGet");
    driver.need(deviceName, "cuDeviceGetName");
    driver.need(deviceUuid, "cuDeviceGetUuid");
    const char* const missing = driver.missing();
    driver.stay();
    return missing;
}

const char* PmLibrary::findCuptiFunctions(DynamicLibrary& cupti) {
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
    const char* const missing = cupti.missing();
    cupti.stay();
    return missing;
}

std::string PmLibrary::describe(CUptiResult result) const {
    const char* text = nullptr;
    if (resultString != nullptr) resultString(result, &text);
    return std::string(text != nullptr ? text : "CUPTI error") + " (" + std::to_string(result) + ")";
}

}  // namespace lanescope::capture
