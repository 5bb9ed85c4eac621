#include "capture/cupti/ApiFilter.h"

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lanescope {

namespace {

/// Runtime calls that start nothing and wait for nothing, but are made thousands of times a second.
/// Names without the suffix that tells the version of the entry point.
constexpr std::string_view askingCalls[] = {
    "cudaGetDevice",
    "cudaSetDevice",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetErrorName",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaEventQuery",
    "cudaStreamQuery",
    "cudaDeviceGetAttribute",
    "cudaFuncGetAttributes",
    "cudaPointerGetAttributes",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyMaxActiveClusters",
    "cudaGetDeviceCount",
    "cudaDriverGetVersion",
    "cudaRuntimeGetVersion",
    "cudaThreadExchangeStreamCaptureMode",
};

/// How the names of runtime calls begin that start GPU work, wait for it, or tie streams together.
constexpr std::string_view launchingPrefixes[] = {
    "cudaLaunch",   "cudaGraphLaunch",       "cudaMemcpy",          "cudaMemset",
    "cudaMemPrefetch", "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
    "cudaEventRecord", "cudaStreamWaitEvent",
};

constexpr CUpti_driver_api_trace_cbid launchingCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2,
};

/// Without the suffix of a build where each thread has a default stream of its own.
std::string_view withoutVariant(std::string_view name) {
    for (const std::string_view variant : {std::string_view("_ptsz"), std::string_view("_ptds")}) {
        if (name.size() > variant.size() && name.substr(name.size() - variant.size()) == variant) {
            name.remove_suffix(variant.size());
        }
    }
    return name;
}

}  // namespace

std::string_view runtimeCallName(std::string_view callbackName) {
    const size_t at = callbackName.rfind("_v");
    const bool isVersion =
        at != std::string_view::npos && at + 2 < callbackName.size() &&
        callbackName.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
    return isVersion ? callbackName.substr(0, at) : callbackName;
}

bool wantsRuntimeCall(ApiCalls which, std::string_view callbackName) {
    const std::string_view name = withoutVariant(runtimeCallName(callbackName));
    switch (which) {
        case ApiCalls::All:
            return true;
        case ApiCalls::None:
            return false;
        case ApiCalls::Filtered:
            return std::find(std::begin(askingCalls), std::end(askingCalls), name) ==
                   std::end(askingCalls);
        case ApiCalls::Launch:
            break;
    }
    return std::any_of(
        std::begin(launchingPrefixes), std::end(launchingPrefixes),
        [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

int enableApiRecords(const CuptiLibrary& cupti, ApiCalls which, std::string& problems) {
    if (which == ApiCalls::None) return 0;
    if (const CUptiResult result = cupti.enable(CUPTI_ACTIVITY_KIND_RUNTIME);
        result != CUPTI_SUCCESS) {
        problems += "CUDA runtime calls: " + cupti.describe(result) + "; ";
    }
    int switchedOff = 0;
    if (which != ApiCalls::All && cupti.enableRuntimeApi && cupti.getCallbackName) {
        // The library may know more calls than the headers; it says so by an error for the first it
        // does not know.
        constexpr uint32_t wellPastTheLast = 2048;
        for (uint32_t id = 1; id < wellPastTheLast; ++id) {
            const char* name = nullptr;
            if (cupti.getCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) != CUPTI_SUCCESS)
                break;
            if (name && !wantsRuntimeCall(which, name) &&
                cupti.enableRuntimeApi(id, 0) == CUPTI_SUCCESS) {
                ++switchedOff;
            }
        }
    }
    if (cupti.enableDriverApi) {
        for (const CUpti_driver_api_trace_cbid id : launchingCalls) cupti.enableDriverApi(id, 1);
    }
    return switchedOff;
}

}  // namespace lanescope
