// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: names of CUDA functions in the libcupti stand-in, as far as tests use them.

#include <cupti.h>

#include <cstdint>
#include <map>

#define SIMULATED_EXPORT extern "C" __attribute__((visibility("default")))

SIMULATED_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
    const bool isDriver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    if (id >= (isDriver ? uint32_t{CUPTI_DRIVER_TRACE_CBID_SIZE} : uint32_t{CUPTI_RUNTIME_TRACE_CBID_SIZE})) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    // Used while the program's exit handlers run, so never destroyed.
    static const auto& driver =
        *new std::map<uint32_t, const char*>{{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "cuMemcpyAsync"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "cuMemsetD8Async"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, "cuStreamWaitEvent"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuEventRecord, "cuEventRecord"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "cuEventSynchronize"},
                                             {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize"}};
    static const auto& runtime = *new std::map<uint32_t, const char*>{
        {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice_v3020"}};
    const auto& names = isDriver ? driver : runtime;
    const auto found = names.find(id);
    *name = found == names.end() ? "simulatedCall" : found->second;
    return CUPTI_SUCCESS;
}
