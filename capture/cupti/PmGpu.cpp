// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmGpu.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

/// A metric of a trace, and the counters that can provide it, best first. The most important metrics come first. Each
/// adds to the processor time of a sample, so the list is short. Metrics that Nsight Systems has carry its names.
struct MetricChoice {
    const char* title;
    const char* names[4];
};
// Counters called pct_of_peak, and throughputs, are in percent.
constexpr MetricChoice metricChoices[] = {
    {"SMs Active [Throughput %]", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Read Bandwidth [Throughput %]",
     {"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Write Bandwidth [Throughput %]",
     {"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__write_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"PCIe Read Bytes [B]", {"pcie__read_bytes.sum"}},
    {"PCIe Write Bytes [B]", {"pcie__write_bytes.sum"}},
    // Sent data, without the protocol's overhead of 6 %.
    {"NVLink RX User Data Bytes [B]", {"nvlrx__bytes_data_user.sum", "nvlrx__bytes.sum"}},
    {"NVLink TX User Data Bytes [B]", {"nvltx__bytes_data_user.sum", "nvltx__bytes.sum"}},
    {"Compute Warps in Flight [Throughput %]",
     {"sm__warps_active.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active",
      "tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed"}},
    {"Tensor Active [Throughput %]",
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
};

}  // namespace

PmMetrics::~PmMetrics() { forget(host_); }

void PmMetrics::forget(CUpti_Profiler_Host_Object* host) const {
    if (host == nullptr) return;
    auto params =
        parameters<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
    params.pHostObject = host;
    library_.hostDeinitialize(&params);
}

CUptiResult PmMetrics::choose(size_t device) {
    auto chip = parameters<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
    chip.deviceIndex = device;
    if (const CUptiResult result = library_.chipName(&chip)) return result;
    chip_ = chip.pChipName;
    auto available = parameters<CUpti_PmSampling_GetCounterAvailability_Params>(
        CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
    available.deviceIndex = device;
    if (const CUptiResult result = library_.availability(&available)) return result;
    availability_.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability_.data();
    if (const CUptiResult result = library_.availability(&available)) return result;

    CUptiResult firstProblem = CUPTI_SUCCESS;
    for (const MetricChoice& metric : metricChoices) {
        for (const char* name : metric.names) {
            if (name == nullptr) break;
            std::vector<const char*> names = names_;
            names.push_back(name);
            std::vector<uint8_t> configuration;
            CUpti_Profiler_Host_Object* host = nullptr;
            size_t passes = 0;
            const CUptiResult result = tryWith(names, configuration, host, passes);
            if (result != CUPTI_SUCCESS || passes != 1) {
                if (firstProblem == CUPTI_SUCCESS) firstProblem = result;
                forget(host);
                continue;
            }
            forget(std::exchange(host_, host));
            names_ = std::move(names);
            configuration_ = std::move(configuration);
            titles_.emplace_back(metric.title);
            break;
        }
    }
    if (!names_.empty()) return CUPTI_SUCCESS;
    return firstProblem != CUPTI_SUCCESS ? firstProblem : CUPTI_ERROR_NOT_SUPPORTED;
}

/// `host` must be released after a failure too.
CUptiResult PmMetrics::tryWith(std::vector<const char*>& names, std::vector<uint8_t>& configuration,
                               CUpti_Profiler_Host_Object*& host, size_t& passes) const {
    auto made = parameters<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
    made.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    made.pChipName = chip_.c_str();
    made.pCounterAvailabilityImage = availability_.data();
    if (const CUptiResult result = library_.hostInitialize(&made)) return result;
    host = made.pHostObject;
    auto added = parameters<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
        CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
    added.pHostObject = host;
    added.ppMetricNames = names.data();
    added.numMetrics = names.size();
    if (const CUptiResult result = library_.addMetrics(&added)) return result;
    auto size = parameters<CUpti_Profiler_Host_GetConfigImageSize_Params>(
        CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
    size.pHostObject = host;
    if (const CUptiResult result = library_.configSize(&size)) return result;
    configuration.resize(size.configImageSize);
    auto image =
        parameters<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
    image.pHostObject = host;
    image.configImageSize = configuration.size();
    image.pConfigImage = configuration.data();
    if (const CUptiResult result = library_.config(&image)) return result;
    auto count =
        parameters<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
    count.configImageSize = configuration.size();
    count.pConfigImage = configuration.data();
    const CUptiResult result = library_.passes(&count);
    passes = count.numOfPasses;
    return result;
}

CUptiResult PmMetrics::evaluate(const std::vector<uint8_t>& counterData, size_t index, std::vector<double>& values) {
    values.resize(names_.size());
    auto params = parameters<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
        CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
    params.pHostObject = host_;
    params.pCounterDataImage = counterData.data();
    params.counterDataImageSize = counterData.size();
    params.rangeIndex = index;
    params.ppMetricNames = names_.data();
    params.numMetrics = names_.size();
    params.pMetricValues = values.data();
    return library_.evaluate(&params);
}

namespace {

constexpr size_t hardwareBufferBytes = 64u << 20, fastHardwareBufferBytes = 128u << 20;
constexpr double fastHz = 2000;
/// Samples that do not fit into the counter data are lost. Its room covers several decoding
/// periods, and 0.4 s, the longest pause on a busy machine. Each sample takes some 40 KB that have
/// to be initialized, so the room is used up before all of it is initialized again.
constexpr uint32_t minRoom = 256, maxRoom = 4096;
constexpr double roomForPeriods = 3, roomSeconds = 0.4;
constexpr double spareRoom = 1.25;
constexpr int maxDecodings = 64;  // at a time, so that one GPU does not delay the others

}  // namespace

CUptiResult PmGpu::prepare(double hz, int64_t takePeriodNs) {
    if (const CUptiResult result = metrics_.choose(device_)) return result;
    auto enabled = parameters<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
    enabled.deviceIndex = device_;
    if (const CUptiResult result = library_.enable(&enabled)) return result;
    sampling_ = enabled.pPmSamplingObject;
    return configure(hz, takePeriodNs);
}

CUptiResult PmGpu::configure(double hz, int64_t takePeriodNs) {
    auto config = parameters<CUpti_PmSampling_SetConfig_Params>(CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
    config.pPmSamplingObject = sampling_;
    config.configSize = metrics_.configuration().size();
    config.pConfig = metrics_.configuration().data();
    config.hardwareBufferSize = hz > fastHz ? fastHardwareBufferBytes : hardwareBufferBytes;
    periodNs_ = std::max<int64_t>(1, static_cast<int64_t>(1e9 / hz));
    config.samplingInterval = static_cast<uint64_t>(periodNs_);
    config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    if (const CUptiResult result = library_.setConfig(&config)) return result;
    auto size =
        parameters<CUpti_PmSampling_GetCounterDataSize_Params>(CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
    size.pPmSamplingObject = sampling_;
    size.pMetricNames = metrics_.names().data();
    size.numMetrics = metrics_.names().size();
    const double expected = hz * static_cast<double>(takePeriodNs) / 1e9;
    expected_ = static_cast<uint32_t>(std::clamp(expected, 1.0, static_cast<double>(maxRoom)));
    room_ = static_cast<uint32_t>(std::clamp(std::max(expected * roomForPeriods, hz * roomSeconds),
                                             static_cast<double>(minRoom), static_cast<double>(maxRoom)));
    size.maxSamples = room_;
    if (const CUptiResult result = library_.counterDataSize(&size)) return result;
    counterData_.resize(size.counterDataSize);
    return CUPTI_SUCCESS;
}

CUptiResult PmGpu::makeReady() {
    auto image = parameters<CUpti_PmSampling_CounterDataImage_Initialize_Params>(
        CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    image.pPmSamplingObject = sampling_;
    image.counterDataSize = counterData_.size();
    image.pCounterData = counterData_.data();
    const CUptiResult result = library_.initializeCounterData(&image);
    isReady_ = isFresh_ = result == CUPTI_SUCCESS;
    done_ = 0;
    return result;
}

/// Initializes the counter data, unless the next samples fit after the former ones: as many as
/// usual, or more after a late decoding.
CUptiResult PmGpu::makeRoom(int64_t nowNs) {
    const double left = static_cast<double>(room_) - static_cast<double>(done_);
    const double pending = static_cast<double>(nowNs - decodedNs_) / static_cast<double>(periodNs_);
    const double needed = spareRoom * std::max(pending, static_cast<double>(expected_));
    if (isReady_ && isAppending_ && left >= needed) return CUPTI_SUCCESS;
    return makeReady();
}

/// Finds the first of the `completed` samples in the counter data that was not taken yet.
CUptiResult PmGpu::firstNew(size_t completed, size_t& first) {
    first = 0;
    if (done_ == 0) return CUPTI_SUCCESS;
    if (completed >= done_) {
        int64_t endNs = 0;
        if (const CUptiResult result = endOf(done_ - 1, endNs)) return result;
        if (endNs == doneEndNs_) {
            first = done_;
            return CUPTI_SUCCESS;
        }
    }
    // This CUPTI begins each decoding at the front.
    isAppending_ = false;
    return CUPTI_SUCCESS;
}

CUptiResult PmGpu::start() {
    auto params = parameters<CUpti_PmSampling_Start_Params>(CUpti_PmSampling_Start_Params_STRUCT_SIZE);
    params.pPmSamplingObject = sampling_;
    startedNs_ = decodedNs_ = sampleTimeNs();
    isFirst_ = true;
    isReady_ = false;
    return library_.start(&params);
}

void PmGpu::stop() {
    if (sampling_ == nullptr) return;
    auto params = parameters<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
    params.pPmSamplingObject = sampling_;
    library_.stop(&params);
}

CUptiResult PmGpu::take(std::vector<uint64_t>& words) {
    words.clear();
    bool isMore = true;
    for (int round = 0; isMore && round < maxDecodings; ++round) {
        bool isFull = false;
        const CUptiResult result = decodeOnce(words, isMore, isFull);
        // CUPTI also returns this when the GPU's buffer is full.
        isFull = isFull || result == CUPTI_ERROR_OUT_OF_MEMORY;
        if (result != CUPTI_SUCCESS && !isFull) return result;
        if (!isFull) continue;
        // A full buffer accepts nothing more until sampling restarts.
        ++overflows_;
        stop();
        return start();
    }
    return CUPTI_SUCCESS;
}

CUptiResult PmGpu::decodeOnce(std::vector<uint64_t>& words, bool& isMore, bool& overflowed) {
    const int64_t begunNs = sampleTimeNs();
    if (const CUptiResult result = makeRoom(begunNs)) return result;
    decodedNs_ = begunNs;
    auto decoded = parameters<CUpti_PmSampling_DecodeData_Params>(CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
    decoded.pPmSamplingObject = sampling_;
    decoded.pCounterDataImage = counterData_.data();
    decoded.counterDataImageSize = counterData_.size();
    const bool isFresh = std::exchange(isFresh_, false);
    CUptiResult decodeResult = library_.decode(&decoded);
    if (decodeResult != CUPTI_SUCCESS && decodeResult != CUPTI_ERROR_OUT_OF_MEMORY && !isFresh) {
        // The CUPTI may reject counter data that were used before.
        isAppending_ = false;
        if (const CUptiResult result = makeReady()) return result;
        decodeResult = library_.decode(&decoded);
    }
    if (decodeResult != CUPTI_SUCCESS) {
        isReady_ = false;
        return decodeResult;
    }
    const int64_t nowNs = sampleTimeNs();
    overflowed = decoded.overflow != 0;
    auto info =
        parameters<CUpti_PmSampling_GetCounterDataInfo_Params>(CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
    info.pCounterDataImage = counterData_.data();
    info.counterDataImageSize = counterData_.size();
    if (const CUptiResult result = library_.counterDataInfo(&info)) return result;

    const size_t completed = info.numCompletedSamples;
    size_t first = 0;
    if (const CUptiResult result = firstNew(completed, first)) return result;
    const size_t count = completed - first;
    // The reason alone is not enough: CUPTI also ends at other bounds with more samples available.
    isMore = count > 0 &&
             (decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL || count >= room_ / 2);
    if (decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL) isReady_ = false;
    int64_t endNs = 0;
    if (count > 0) {
        if (const CUptiResult result = endOf(completed - 1, endNs)) return result;
        clock_.observe(nowNs, endNs);
        done_ = completed;
        doneEndNs_ = endNs;
    }
    for (size_t index = first; index < completed; ++index) {
        if (const CUptiResult result = endOf(index, endNs)) return result;
        // The first sample began before sampling did, the second one after.
        if (std::exchange(isFirst_, false)) {
            clock_.begin(startedNs_, endNs);
            continue;
        }
        if (const CUptiResult result = metrics_.evaluate(counterData_, index, values_)) return result;
        noticeGap(endNs, words);
        words.push_back(static_cast<uint64_t>(clock_.realtimeNs(endNs)));
        for (const double value : values_) words.push_back(std::bit_cast<uint64_t>(value));
    }
    return CUPTI_SUCCESS;
}

/// Adds a sample without values if samples are missing before the one that ends at `endNs`. Their
/// time is unknown and does not belong to that sample.
void PmGpu::noticeGap(int64_t endNs, std::vector<uint64_t>& words) {
    ++taken_;
    const int64_t sinceNs = endNs - std::exchange(lastEndNs_, endNs);
    if (sinceNs == endNs || 2 * sinceNs < 3 * periodNs_) return;
    lost_ += static_cast<uint64_t>((sinceNs + periodNs_ / 2) / periodNs_ - 1);
    words.push_back(static_cast<uint64_t>(clock_.realtimeNs(endNs) - periodNs_));
    words.insert(words.end(), values_.size(), std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN()));
}

CUptiResult PmGpu::endOf(size_t index, int64_t& endNs) const {
    auto sample = parameters<CUpti_PmSampling_CounterData_GetSampleInfo_Params>(
        CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
    sample.pPmSamplingObject = sampling_;
    sample.pCounterDataImage = counterData_.data();
    sample.counterDataImageSize = counterData_.size();
    sample.sampleIndex = index;
    const CUptiResult result = library_.sampleInfo(&sample);
    endNs = static_cast<int64_t>(sample.endTimestamp);
    return result;
}

}  // namespace lanescope::capture
