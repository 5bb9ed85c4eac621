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

/// Functions of the driver. An assignment from a library finds them, so the library is the first member.
struct PmDriver {
    DynamicLibrary driver{};
    decltype(&cuInit) init = driver.need("cuInit");
    decltype(&cuDeviceGetCount) deviceCount = driver.need("cuDeviceGetCount");
    decltype(&cuDeviceGet) device = driver.need("cuDeviceGet");
    decltype(&cuDeviceGetName) deviceName = driver.need("cuDeviceGetName");
    decltype(&cuDeviceGetUuid) deviceUuid = driver.need("cuDeviceGetUuid");
};

/// Functions of CUPTI, likewise.
struct PmCupti {
    DynamicLibrary cupti{};
    decltype(&cuptiGetResultString) resultString = cupti.need("cuptiGetResultString");
    decltype(&cuptiProfilerInitialize) initialize = cupti.need("cuptiProfilerInitialize");
    decltype(&cuptiDeviceGetChipName) chipName = cupti.need("cuptiDeviceGetChipName");
    decltype(&cuptiProfilerHostInitialize) hostInitialize = cupti.need("cuptiProfilerHostInitialize");
    decltype(&cuptiProfilerHostDeinitialize) hostDeinitialize = cupti.need("cuptiProfilerHostDeinitialize");
    decltype(&cuptiProfilerHostConfigAddMetrics) addMetrics = cupti.need("cuptiProfilerHostConfigAddMetrics");
    decltype(&cuptiProfilerHostGetConfigImageSize) configSize = cupti.need("cuptiProfilerHostGetConfigImageSize");
    decltype(&cuptiProfilerHostGetConfigImage) config = cupti.need("cuptiProfilerHostGetConfigImage");
    decltype(&cuptiProfilerHostGetNumOfPasses) passes = cupti.need("cuptiProfilerHostGetNumOfPasses");
    decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = cupti.need("cuptiProfilerHostEvaluateToGpuValues");
    decltype(&cuptiPmSamplingGetCounterAvailability) availability = cupti.need("cuptiPmSamplingGetCounterAvailability");
    decltype(&cuptiPmSamplingEnable) enable = cupti.need("cuptiPmSamplingEnable");
    decltype(&cuptiPmSamplingSetConfig) setConfig = cupti.need("cuptiPmSamplingSetConfig");
    decltype(&cuptiPmSamplingGetCounterDataSize) counterDataSize = cupti.need("cuptiPmSamplingGetCounterDataSize");
    decltype(&cuptiPmSamplingCounterDataImageInitialize) initializeCounterData =
        cupti.need("cuptiPmSamplingCounterDataImageInitialize");
    decltype(&cuptiPmSamplingStart) start = cupti.need("cuptiPmSamplingStart");
    decltype(&cuptiPmSamplingStop) stop = cupti.need("cuptiPmSamplingStop");
    decltype(&cuptiPmSamplingDecodeData) decode = cupti.need("cuptiPmSamplingDecodeData");
    decltype(&cuptiPmSamplingGetCounterDataInfo) counterDataInfo = cupti.need("cuptiPmSamplingGetCounterDataInfo");
    decltype(&cuptiPmSamplingCounterDataGetSampleInfo) sampleInfo =
        cupti.need("cuptiPmSamplingCounterDataGetSampleInfo");
};

/// Functions of the driver and of CUPTI that sampling hardware counters needs, opened at run time
/// and never closed. CUPTI finds libnvperf_host and libnvperf_target in its own folder.
struct PmLibrary : PmDriver, PmCupti {
    /// Opens both libraries: CUPTI as `findCupti` does, or else from one of `folders`. On failure returns false and the
    /// reason, as a sentence. `LANESCOPE_CUDA`, for tests, names another driver.
    bool open(const std::vector<std::filesystem::path>& folders, std::string& problem);
    std::string describe(CUptiResult result) const;
};

}  // namespace lanescope::capture
