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

/// Returns parameters for one of CUPTI's functions, zeroed except for their size.
template <class Params>
Params parameters(size_t structSize) {
    Params params{};
    params.structSize = structSize;
    return params;
}

/// Functions of the driver and of CUPTI that sampling hardware counters needs, opened at run time
/// and never closed. CUPTI finds libnvperf_host and libnvperf_target in its own folder.
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

    /// Opens both libraries: CUPTI as `findCupti` does, or else from one of `folders`. On failure returns false and the
    /// reason, as a sentence. `LANESCOPE_CUDA`, for tests, names another driver.
    bool open(const std::vector<std::filesystem::path>& folders, std::string& problem);
    std::string describe(CUptiResult result) const;

  private:
    /// Looks up the driver's functions. Returns the name of the first missing one, or null. The library stays loaded.
    const char* findDriver(DynamicLibrary& driver);
    const char* findCuptiFunctions(DynamicLibrary& cupti);
};

}  // namespace lanescope::capture
