// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/PmMetrics.h"

#include <utility>

namespace lanescope::capture {

namespace {

/// A metric of a trace, and the counters that it can be had from, the best first. Those at the
/// beginning matter most; each costs its part of the processor time of a sample, so there are no
/// more. Where Nsight Systems has the metric its name is used.
struct Wanted {
    const char* title;
    const char* names[4];
};
// What is called pct_of_peak comes in percent, throughputs as well.
constexpr Wanted wanted[] = {
    {"SMs Active [Throughput %]", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Read Bandwidth [Throughput %]",
     {"dram__read_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__read_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"DRAM Write Bandwidth [Throughput %]",
     {"dram__write_throughput.avg.pct_of_peak_sustained_elapsed",
      "dramc__write_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {"PCIe Read Bytes [B]", {"pcie__read_bytes.sum"}},
    {"PCIe Write Bytes [B]", {"pcie__write_bytes.sum"}},
    // What was sent, without the 6 % that the protocol adds.
    {"NVLink RX User Data Bytes [B]", {"nvlrx__bytes_data_user.sum", "nvlrx__bytes.sum"}},
    {"NVLink TX User Data Bytes [B]", {"nvltx__bytes_data_user.sum", "nvltx__bytes.sum"}},
    {"Compute Warps in Flight [Throughput %]",
     {"sm__warps_active.avg.pct_of_peak_sustained_elapsed",
      "sm__warps_active.avg.pct_of_peak_sustained_active",
      "tpc__warps_active_shader_cs_realtime.avg.pct_of_peak_sustained_elapsed"}},
    {"Tensor Active [Throughput %]",
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"}},
};

}  // namespace

PmMetrics::~PmMetrics() {
    forget(host_);
}

void PmMetrics::forget(CUpti_Profiler_Host_Object* host) const {
    if (host == nullptr) return;
    auto params = parameters<CUpti_Profiler_Host_Deinitialize_Params>(
        CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
    params.pHostObject = host;
    library_.hostDeinitialize(&params);
}

CUptiResult PmMetrics::choose(size_t device) {
    auto chip =
        parameters<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
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
    for (const Wanted& metric : wanted) {
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

/// `host` has to be forgotten also after a failure.
CUptiResult PmMetrics::tryWith(std::vector<const char*>& names, std::vector<uint8_t>& configuration,
                               CUpti_Profiler_Host_Object*& host, size_t& passes) const {
    auto made = parameters<CUpti_Profiler_Host_Initialize_Params>(
        CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
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
    auto image = parameters<CUpti_Profiler_Host_GetConfigImage_Params>(
        CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
    image.pHostObject = host;
    image.configImageSize = configuration.size();
    image.pConfigImage = configuration.data();
    if (const CUptiResult result = library_.config(&image)) return result;
    auto count = parameters<CUpti_Profiler_Host_GetNumOfPasses_Params>(
        CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
    count.configImageSize = configuration.size();
    count.pConfigImage = configuration.data();
    const CUptiResult result = library_.passes(&count);
    passes = count.numOfPasses;
    return result;
}

CUptiResult PmMetrics::evaluate(const std::vector<uint8_t>& counterData, size_t index,
                                std::vector<double>& values) {
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

}  // namespace lanescope::capture
