// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

    int (*deviceCount)(int*) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*deviceName)(char*, int, int) = nullptr;
    int (*deviceUuid)(unsigned char*, int) = nullptr;  ///< 16 bytes.
    int (*deviceAttribute)(int*, int, int) = nullptr;
    int (*canAccessPeer)(int*, int, int) = nullptr;
    int (*retainContext)(Handle*, int) = nullptr;
    int (*releaseContext)(int) = nullptr;
    int (*setContext)(Handle) = nullptr;
    int (*enablePeer)(Handle, unsigned) = nullptr;
    int (*memoryInfo)(size_t*, size_t*) = nullptr;
    int (*allocate)(Pointer*, size_t) = nullptr;
    int (*release)(Pointer) = nullptr;
    int (*allocateHost)(void**, size_t, unsigned) = nullptr;
    int (*releaseHost)(void*) = nullptr;
    int (*copyToDevice)(Pointer, const void*, size_t, Handle) = nullptr;
    int (*copyToHost)(void*, Pointer, size_t, Handle) = nullptr;
    int (*copyOnDevice)(Pointer, Pointer, size_t, Handle) = nullptr;
    int (*copyToPeer)(Pointer, Handle, Pointer, Handle, size_t, Handle) = nullptr;
    int (*createStream)(Handle*, unsigned) = nullptr;
    int (*destroyStream)(Handle) = nullptr;
    int (*synchronizeStream)(Handle) = nullptr;
    int (*createEvent)(Handle*, unsigned) = nullptr;
    int (*destroyEvent)(Handle) = nullptr;
    int (*recordEvent)(Handle, Handle) = nullptr;
    int (*elapsedMilliseconds)(float*, Handle, Handle) = nullptr;
    int (*setWords)(Pointer, unsigned, size_t, Handle) = nullptr;
    int (*loadModule)(Handle*, const void*) = nullptr;  ///< Compiles PTX.
    int (*unloadModule)(Handle) = nullptr;
    int (*findFunction)(Handle*, Handle, const char*) = nullptr;
    int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                  void**) = nullptr;

  private:
    CudaDriver() = default;
    void findAll(DynamicLibrary& library);
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
