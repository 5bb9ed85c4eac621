#include "capture/doctor/CudaDriver.h"

#include <dlfcn.h>

namespace lanescope::capture {

namespace {

template <class Function>
bool find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const char* library) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        return fail(
            "There is no CUDA driver ({}) to measure with: install it, or start the "
            "container with the GPUs.",
            library);
    std::unique_ptr<CudaDriver> driver(new CudaDriver(handle));
    if (!driver->findAll())
        return fail("The CUDA driver {} lacks a function that measuring needs; it is too old.",
                    library);
    int (*initialise)(unsigned) = nullptr;
    if (!find(handle, initialise, "cuInit"))
        return fail("{} is no CUDA driver: it has no cuInit.", library);
    if (const int code = initialise(0); code != 0)
        return fail("The CUDA driver does not start (cuInit {}): see whether nvidia-smi works.",
                    code);
    return driver;
}

bool CudaDriver::findAll() {
    void* const from = library_;
    return find(from, deviceCount, "cuDeviceGetCount") && find(from, device, "cuDeviceGet") &&
           find(from, deviceName, "cuDeviceGetName") && find(from, deviceUuid, "cuDeviceGetUuid") &&
           find(from, deviceAttribute, "cuDeviceGetAttribute") &&
           find(from, canAccessPeer, "cuDeviceCanAccessPeer") &&
           find(from, retainContext, "cuDevicePrimaryCtxRetain") &&
           find(from, releaseContext, "cuDevicePrimaryCtxRelease_v2") &&
           find(from, setContext, "cuCtxSetCurrent") &&
           find(from, enablePeer, "cuCtxEnablePeerAccess") &&
           find(from, memoryInfo, "cuMemGetInfo_v2") && find(from, allocate, "cuMemAlloc_v2") &&
           find(from, release, "cuMemFree_v2") && find(from, allocateHost, "cuMemHostAlloc") &&
           find(from, releaseHost, "cuMemFreeHost") &&
           find(from, copyToDevice, "cuMemcpyHtoDAsync_v2") &&
           find(from, copyToHost, "cuMemcpyDtoHAsync_v2") &&
           find(from, copyOnDevice, "cuMemcpyDtoDAsync_v2") &&
           find(from, copyToPeer, "cuMemcpyPeerAsync") &&
           find(from, createStream, "cuStreamCreate") &&
           find(from, destroyStream, "cuStreamDestroy_v2") &&
           find(from, synchronizeStream, "cuStreamSynchronize") &&
           find(from, createEvent, "cuEventCreate") &&
           find(from, destroyEvent, "cuEventDestroy_v2") &&
           find(from, recordEvent, "cuEventRecord") &&
           find(from, elapsedMilliseconds, "cuEventElapsedTime");
}

// Not unloaded: the driver keeps threads of its own.
CudaDriver::~CudaDriver() = default;

}  // namespace lanescope::capture
