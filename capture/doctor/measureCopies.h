// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/machine/DynamicLibrary.h"
#include "capture/machine/MeasuredPeaks.h"
#include "model/format/Result.h"

namespace lanescope::capture {

// CUDA driver functions needed to measure copies, as its documentation declares them. The library
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

  private:
    CudaDriver() = default;
    void findAll(DynamicLibrary& library);
};

struct MeasureOptions {
    bool isForced = false;
    double secondsPerGpu = 3;
    /// Returns the utilization of a GPU, in percent, by UUID; nullopt if unknown.
    std::function<std::optional<unsigned>(const std::string& uuid)> utilization;
    /// Called before each kind of copy, "GPU 0: HtoD pinned"; false ends the measurement.
    std::function<bool(const std::string& what)> progress;
};

/// A GPU by CUDA's number, and the reason if it was not measured.
struct MeasuredGpu {
    int ordinal = 0;
    std::string name;
    std::string uuid;  ///< "GPU-...", as NVML reports it.
    /// Memory bandwidth by clock and width, in bytes per second; 0 if the driver does not report it.
    int64_t nominalMemoryBytesPerSecond = 0;
    std::string refusal;  ///< Reason why it was not measured; empty if it was.
};

struct Measurement {
    std::vector<MeasuredGpu> gpus;
    std::vector<MeasuredPeak> peaks;
};

/// Measures copies between pinned and pageable host memory and each GPU, within each GPU, and from it to each other
/// GPU. Uses sizes from 16 MiB to 1 GiB or a quarter of the free memory, and keeps the best rate by CUDA's events.
/// Skips a GPU in use unless forced. Fails if there is no GPU. Takes a little over `secondsPerGpu` per GPU.
Result<Measurement> measureCopies(const CudaDriver& driver, const MeasureOptions& options);

}  // namespace lanescope::capture
