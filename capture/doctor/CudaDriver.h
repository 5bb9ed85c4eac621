// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "capture/machine/DynamicLibrary.h"
#include "model/format/Result.h"

namespace lanescope::capture {

// CUDA driver functions needed to measure a GPU, as its documentation declares them. The library
// is opened at run time and its header is not needed to build. Every function returns 0 on success.

/// The CUDA driver (libcuda), opened and initialized. Stays loaded. One thread.
class CudaDriver {
  public:
    using Handle = void*;      ///< A context, stream or event.
    using Pointer = uint64_t;  ///< An address on a GPU.

    /// `library` is "libcuda.so.1", or a test's replacement.
    static Result<std::unique_ptr<CudaDriver>> open(const char* library = "libcuda.so.1");
    CudaDriver(const CudaDriver&) = delete;
    CudaDriver& operator=(const CudaDriver&) = delete;

  private:
    DynamicLibrary library_;  // before the functions, which it provides

  public:
    int (*deviceCount)(int*) = library_.need("cuDeviceGetCount");
    int (*device)(int*, int) = library_.need("cuDeviceGet");
    int (*deviceName)(char*, int, int) = library_.need("cuDeviceGetName");
    int (*deviceUuid)(unsigned char*, int) = library_.need("cuDeviceGetUuid");  ///< 16 bytes.
    int (*deviceAttribute)(int*, int, int) = library_.need("cuDeviceGetAttribute");
    int (*canAccessPeer)(int*, int, int) = library_.need("cuDeviceCanAccessPeer");
    int (*retainContext)(Handle*, int) = library_.need("cuDevicePrimaryCtxRetain");
    int (*releaseContext)(int) = library_.need("cuDevicePrimaryCtxRelease_v2");
    int (*setContext)(Handle) = library_.need("cuCtxSetCurrent");
    int (*enablePeer)(Handle, unsigned) = library_.need("cuCtxEnablePeerAccess");
    int (*memoryInfo)(size_t*, size_t*) = library_.need("cuMemGetInfo_v2");
    int (*allocate)(Pointer*, size_t) = library_.need("cuMemAlloc_v2");
    int (*release)(Pointer) = library_.need("cuMemFree_v2");
    int (*allocateHost)(void**, size_t, unsigned) = library_.need("cuMemHostAlloc");
    int (*releaseHost)(void*) = library_.need("cuMemFreeHost");
    int (*copyToDevice)(Pointer, const void*, size_t, Handle) = library_.need("cuMemcpyHtoDAsync_v2");
    int (*copyToHost)(void*, Pointer, size_t, Handle) = library_.need("cuMemcpyDtoHAsync_v2");
    int (*copyOnDevice)(Pointer, Pointer, size_t, Handle) = library_.need("cuMemcpyDtoDAsync_v2");
    int (*copyToPeer)(Pointer, Handle, Pointer, Handle, size_t, Handle) = library_.need("cuMemcpyPeerAsync");
    int (*createStream)(Handle*, unsigned) = library_.need("cuStreamCreate");
    int (*destroyStream)(Handle) = library_.need("cuStreamDestroy_v2");
    int (*synchronizeStream)(Handle) = library_.need("cuStreamSynchronize");
    int (*createEvent)(Handle*, unsigned) = library_.need("cuEventCreate");
    int (*destroyEvent)(Handle) = library_.need("cuEventDestroy_v2");
    int (*recordEvent)(Handle, Handle) = library_.need("cuEventRecord");
    int (*elapsedMilliseconds)(float*, Handle, Handle) = library_.need("cuEventElapsedTime");
    int (*setWords)(Pointer, unsigned, size_t, Handle) = library_.need("cuMemsetD32Async");
    int (*loadModule)(Handle*, const void*) = library_.need("cuModuleLoadData");  ///< Compiles PTX.
    int (*unloadModule)(Handle) = library_.need("cuModuleUnload");
    int (*findFunction)(Handle*, Handle, const char*) = library_.need("cuModuleGetFunction");
    int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                  void**) = library_.need("cuLaunchKernel");

  private:
    explicit CudaDriver(DynamicLibrary library) : library_(std::move(library)) {}
};

/// Context, stream, events and memory of a GPU during its measurement. Releases everything. One thread.
class GpuContext {
  public:
    GpuContext(const CudaDriver& driver, int device) : driver_(driver), device_(device) {
        isRetained_ = driver.retainContext(&context_, device) == 0;
        isReady_ = isRetained_ && driver.setContext(context_) == 0 &&
                   driver.createStream(&stream_, nonBlockingStream) == 0 && driver.createEvent(&before_, 0) == 0 &&
                   driver.createEvent(&after_, 0) == 0;
    }
    ~GpuContext() {
        if (isRetained_) driver_.setContext(context_);
        for (const CudaDriver::Pointer memory : memory_) driver_.release(memory);
        if (before_ != nullptr) driver_.destroyEvent(before_);
        if (after_ != nullptr) driver_.destroyEvent(after_);
        if (stream_ != nullptr) driver_.destroyStream(stream_);
        if (isRetained_) driver_.releaseContext(device_);
    }
    GpuContext(const GpuContext&) = delete;
    GpuContext& operator=(const GpuContext&) = delete;

    bool isReady() const { return isReady_; }
    CudaDriver::Handle context() const { return context_; }
    CudaDriver::Handle stream() const { return stream_; }
    bool enter() const { return driver_.setContext(context_) == 0; }

    size_t freeBytes() const {
        size_t free = 0, total = 0;
        return driver_.memoryInfo(&free, &total) == 0 ? free : 0;
    }
    CudaDriver::Pointer allocate(size_t bytes) {
        CudaDriver::Pointer memory = 0;
        if (driver_.allocate(&memory, bytes) != 0) return 0;
        memory_.push_back(memory);
        return memory;
    }

    /// Returns the time of the work that `enqueue` enqueues, by events, in ns; 0 if it fails. Calls `meanwhile` while
    /// the GPU works.
    template <class Enqueue, class Meanwhile>
    double timeNs(Enqueue enqueue, Meanwhile meanwhile) const {
        float milliseconds = 0;
        bool isDone =
            driver_.recordEvent(before_, stream_) == 0 && enqueue() == 0 && driver_.recordEvent(after_, stream_) == 0;
        if (isDone) meanwhile();
        isDone = driver_.synchronizeStream(stream_) == 0 && isDone &&
                 driver_.elapsedMilliseconds(&milliseconds, before_, after_) == 0;
        return isDone ? static_cast<double>(milliseconds) * 1e6 : 0;
    }
    template <class Enqueue>
    double timeNs(Enqueue enqueue) const {
        return timeNs(enqueue, [] {});
    }

  private:
    static constexpr unsigned nonBlockingStream = 1;

    const CudaDriver& driver_;
    int device_;
    CudaDriver::Handle context_ = nullptr, stream_ = nullptr, before_ = nullptr, after_ = nullptr;
    std::vector<CudaDriver::Pointer> memory_;
    bool isRetained_ = false, isReady_ = false;
};

}  // namespace lanescope::capture
