// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "capture/machine/DynamicLibrary.h"
#include "model/format/Result.h"

namespace lanescope::capture {

// The few functions of the CUDA driver that measuring copies needs, as its documentation declares
// them. The library is opened at run time and its header is not needed to build. Every function
// returns 0 on success.

/// The CUDA driver (libcuda), opened and initialised. Stays loaded. One thread.
class CudaDriver {
  public:
    using Handle = void*;      ///< A context, stream or event.
    using Pointer = uint64_t;  ///< An address on a GPU.

    /// `library` is "libcuda.so.1", or what a test puts in its place.
    static Result<std::unique_ptr<CudaDriver>> open(const char* library = "libcuda.so.1");
    CudaDriver(const CudaDriver&) = delete;
    CudaDriver& operator=(const CudaDriver&) = delete;

    int (*deviceCount)(int*) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*deviceName)(char*, int, int) = nullptr;
    int (*deviceUuid)(unsigned char*, int) = nullptr;  ///< Of 16 bytes.
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

  private:
    CudaDriver() = default;
    void findAll(DynamicLibrary& library);
};

}  // namespace lanescope::capture
