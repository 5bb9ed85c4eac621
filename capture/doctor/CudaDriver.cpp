// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/CudaDriver.h"

namespace lanescope::capture {

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const char* library) {
    DynamicLibrary opened(library);
    if (!opened) return fail("The CUDA driver is missing ({}). Install it, or start the container with GPUs.", library);
    std::unique_ptr<CudaDriver> driver(new CudaDriver);
    driver->findAll(opened);
    if (opened.missing() != nullptr)
        return fail("The CUDA driver {} is too old to measure (no {}).", library, opened.missing());
    int (*initialise)(unsigned) = nullptr;
    if (!opened.find(initialise, "cuInit")) return fail("{}: not a CUDA driver (no cuInit).", library);
    if (const int code = initialise(0); code != 0)
        return fail("The CUDA driver does not start (cuInit {}). Check nvidia-smi.", code);
    opened.stay();  // it keeps threads of its own
    return driver;
}

void CudaDriver::findAll(DynamicLibrary& library) {
    library.need(deviceCount, "cuDeviceGetCount");
    library.need(device, "cuDeviceGet");
    library.need(deviceName, "cuDeviceGetName");
    library.need(deviceUuid, "cuDeviceGetUuid");
    library.need(deviceAttribute, "cuDeviceGetAttribute");
    library.need(canAccessPeer, "cuDeviceCanAccessPeer");
    library.need(retainContext, "cuDevicePrimaryCtxRetain");
    library.need(releaseContext, "cuDevicePrimaryCtxRelease_v2");
    library.need(setContext, "cuCtxSetCurrent");
    library.need(enablePeer, "cuCtxEnablePeerAccess");
    library.need(memoryInfo, "cuMemGetInfo_v2");
    library.need(allocate, "cuMemAlloc_v2");
    library.need(release, "cuMemFree_v2");
    library.need(allocateHost, "cuMemHostAlloc");
    library.need(releaseHost, "cuMemFreeHost");
    library.need(copyToDevice, "cuMemcpyHtoDAsync_v2");
    library.need(copyToHost, "cuMemcpyDtoHAsync_v2");
    library.need(copyOnDevice, "cuMemcpyDtoDAsync_v2");
    library.need(copyToPeer, "cuMemcpyPeerAsync");
    library.need(createStream, "cuStreamCreate");
    library.need(destroyStream, "cuStreamDestroy_v2");
    library.need(synchronizeStream, "cuStreamSynchronize");
    library.need(createEvent, "cuEventCreate");
    library.need(destroyEvent, "cuEventDestroy_v2");
    library.need(recordEvent, "cuEventRecord");
    library.need(elapsedMilliseconds, "cuEventElapsedTime");
    library.need(setWords, "cuMemsetD32Async");
    library.need(loadModule, "cuModuleLoadData");
    library.need(unloadModule, "cuModuleUnload");
    library.need(findFunction, "cuModuleGetFunction");
    library.need(launch, "cuLaunchKernel");
}

}  // namespace lanescope::capture
