// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::capture {

/// Parameters of one of CUPTI's functions, empty but for their size.
template <class Params>
Params parameters(size_t structSize) {
    Params params{};
    params.structSize = structSize;
    return params;
}

/// The functions of the driver and of CUPTI that sampling hardware counters takes, opened at run
/// time and never closed. CUPTI finds libnvperf_host and libnvperf_target beside itself.
struct PmLibrary {
    decltype(&cuInit) init = nullptr;
    decltype(&cuDeviceGetCount) deviceCount = nullptr;
    decltype(&cuDeviceGet) device = nullptr;
    decltype(&cuDeviceGetName) deviceName = nullptr;
    decltype(&cuDeviceGetUuid) deviceUuid = nullptr;

    decltype(&cuptiGetResultString) resultString = nullptr;
    decltype(&cuptiProfilerInitialize) initialize = nullptr;
    decltype(&cuptiDeviceGetChipName) chipName = nullptr;
    decltype(&cuptiProfilerHostInitialize) hostInitialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) hostDeinitialize = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) addMetrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) configSize = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) config = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) passes = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
    decltype(&cuptiPmSamplingGetCounterAvailability) availability = nullptr;
    decltype(&cuptiPmSamplingEnable) enable = nullptr;
    decltype(&cuptiPmSamplingSetConfig) setConfig = nullptr;
    decltype(&cuptiPmSamplingGetCounterDataSize) counterDataSize = nullptr;
    decltype(&cuptiPmSamplingCounterDataImageInitialize) initializeCounterData = nullptr;
    decltype(&cuptiPmSamplingStart) start = nullptr;
    decltype(&cuptiPmSamplingStop) stop = nullptr;
    decltype(&cuptiPmSamplingDecodeData) decode = nullptr;
    decltype(&cuptiPmSamplingGetCounterDataInfo) counterDataInfo = nullptr;
    decltype(&cuptiPmSamplingCounterDataGetSampleInfo) sampleInfo = nullptr;

    /// Opens both, CUPTI where `findCupti` finds it or else in one of `folders`. On failure answers
    /// false and why, as a sentence. `LANESCOPE_CUDA`, for tests, names another driver.
    bool open(const std::vector<std::filesystem::path>& folders, std::string& problem);
    /// What a result means, in CUPTI's words.
    std::string describe(CUptiResult result) const;

  private:
    /// The name of the first function that is missing, or null. The library stays loaded.
    const char* findDriver(DynamicLibrary& driver);
    const char* findCuptiFunctions(DynamicLibrary& cupti);
};

}  // namespace lanescope::capture
