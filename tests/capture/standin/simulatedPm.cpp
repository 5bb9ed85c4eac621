// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a CUPTI that samples hardware counters of GPUs, for tests on machines without one. The
// value of every metric is the number of the sample, from 0. STANDIN_PM configures it,
// "name=value,name=value":
//   refuse=N   cuptiPmSamplingEnable returns N
//   restart=1  each decoding begins at the front of the counter data
//   fresh=1    decodes only into fresh counter data
//   lose=N     of each N samples the last two are lost
// STANDIN_PM_COUNT names a file that gets the number of counter data initializations.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr size_t devices = 8;
constexpr size_t imageBytes = 16;  // opaque content

struct Sampling {
    uint64_t intervalNs = 1'000'000, startedNs = 0;
    uint64_t given = 0;  ///< Number of samples since then.
    bool runs = false;
};
Sampling samplings[devices];

struct Sample {
    uint64_t startNs, endNs, number;
};
struct Image {
    uint64_t capacity, count, isUsed;
    Sample samples[1];
};

long setting(const char* name, long otherwise) {
    const char* text = std::getenv("STANDIN_PM");
    const std::string all = "," + std::string(text != nullptr ? text : "");
    const size_t at = all.find("," + std::string(name) + "=");
    return at == std::string::npos ? otherwise : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

uint64_t nowNs() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

Sampling& samplingOf(CUpti_PmSampling_Object* object) { return *reinterpret_cast<Sampling*>(object); }

size_t sizeFor(uint64_t samples) { return sizeof(Image) + sizeof(Sample) * samples; }

}  // namespace

EXPORTED CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
    *text = "SIMULATED_ERROR";
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
EXPORTED CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
    params->pChipName = "SIMULATED";
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
    params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(samplings);
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) { return CUPTI_SUCCESS; }
EXPORTED CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
    params->configImageSize = imageBytes;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
    params->numOfPasses = 1;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    const auto* image = reinterpret_cast<const Image*>(params->pCounterDataImage);
    if (params->rangeIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
    std::fill_n(params->pMetricValues, params->numMetrics,
                static_cast<double>(image->samples[params->rangeIndex].number));
    return CUPTI_SUCCESS;
}

EXPORTED CUptiResult cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
    params->counterAvailabilityImageSize = imageBytes;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
    if (const long refusal = setting("refuse", 0)) return static_cast<CUptiResult>(refusal);
    params->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&samplings[params->deviceIndex]);
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
    samplingOf(params->pPmSamplingObject).intervalNs = params->samplingInterval;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
    params->counterDataSize = sizeFor(params->maxSamples);
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult
cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
    auto* image = reinterpret_cast<Image*>(params->pCounterData);
    image->capacity = (params->counterDataSize - sizeof(Image)) / sizeof(Sample);
    image->count = image->isUsed = 0;
    static int count = 0;
    ++count;
    if (const char* path = std::getenv("STANDIN_PM_COUNT")) {
        if (FILE* file = std::fopen(path, "w")) {
            std::fprintf(file, "%d\n", count);
            std::fclose(file);
        }
    }
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
    Sampling& sampling = samplingOf(params->pPmSamplingObject);
    sampling.startedNs = nowNs();
    sampling.given = 0;
    sampling.runs = true;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params*) { return CUPTI_SUCCESS; }
EXPORTED CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
    auto* image = reinterpret_cast<Image*>(params->pCounterDataImage);
    Sampling& sampling = samplingOf(params->pPmSamplingObject);
    if (setting("fresh", 0) != 0 && image->isUsed != 0) return CUPTI_ERROR_INVALID_PARAMETER;
    if (setting("restart", 0) != 0) image->count = 0;
    image->isUsed = 1;
    params->overflow = 0;
    params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
    const uint64_t due = (nowNs() - sampling.startedNs) / sampling.intervalNs;
    while (sampling.given < due) {
        if (image->count == image->capacity) {
            params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
            break;
        }
        if (const auto each = static_cast<uint64_t>(setting("lose", 0));
            each > 2 && sampling.given % each >= each - 2) {
            ++sampling.given;
            continue;
        }
        const uint64_t beginNs = sampling.startedNs + sampling.given * sampling.intervalNs;
        image->samples[image->count++] = {beginNs, beginNs + sampling.intervalNs, sampling.given++};
    }
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
    const auto* image = reinterpret_cast<const Image*>(params->pCounterDataImage);
    params->numTotalSamples = image->capacity;
    params->numPopulatedSamples = params->numCompletedSamples = image->count;
    return CUPTI_SUCCESS;
}
EXPORTED CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
    const auto* image = reinterpret_cast<const Image*>(params->pCounterDataImage);
    if (params->sampleIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
    params->startTimestamp = image->samples[params->sampleIndex].startNs;
    params->endTimestamp = image->samples[params->sampleIndex].endNs;
    return CUPTI_SUCCESS;
}
