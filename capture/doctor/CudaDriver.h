// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
    CudaDriver& operator=(CudaDriver&&) = delete;

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
    GpuContext& operator=(GpuContext&&) = delete;

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
    double timeNs(auto enqueue, auto meanwhile) const {
        float milliseconds = 0;
        bool isDone =
            driver_.recordEvent(before_, stream_) == 0 && enqueue() == 0 && driver_.recordEvent(after_, stream_) == 0;
        if (isDone) meanwhile();
        isDone = driver_.synchronizeStream(stream_) == 0 && isDone &&
                 driver_.elapsedMilliseconds(&milliseconds, before_, after_) == 0;
        return isDone ? static_cast<double>(milliseconds) * 1e6 : 0;
    }
    double timeNs(auto enqueue) const {
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

/// Number format of a matrix product.
enum class GemmPrecision : uint8_t { Bf16, Fp16, Fp8, Tf32, Fp32, Fp64 };
inline constexpr std::array gemmPrecisions{GemmPrecision::Bf16, GemmPrecision::Fp16, GemmPrecision::Fp8,
                                           GemmPrecision::Tf32, GemmPrecision::Fp32, GemmPrecision::Fp64};
/// "bf16", "fp16", "fp8" (E4M3), "tf32", "fp32", "fp64".
std::string_view name(GemmPrecision precision);

/// Size of a product D (m x n) = A (m x k) x B (k x n): 2 m n k operations.
struct GemmShape {
    int64_t m = 0, n = 0, k = 0;
    double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// NVIDIA's library of matrix products, opened at run time as its documentation declares it. Stays loaded.
class CublasLt {
  public:
    /// Opens `file`, or if that is empty the first library found: of the Python packages of PyTorch and JAX
    /// below `sys.path` of `python3` on PATH, of the loader, of CUDA_HOME. Fails with the places searched.
    static Result<std::unique_ptr<CublasLt>> open(const std::string& file = {});
    CublasLt& operator=(CublasLt&&) = delete;

    /// Prepares the library on the GPU whose context is current. Returns false if it refuses.
    bool start();
    /// "cuBLASLt 13.1.0".
    const std::string& version() const { return version_; }

    /// A product that is ready to run with one of the algorithms that the library recommends for it.
    class Gemm {
      public:
        ~Gemm();
        Gemm& operator=(Gemm&&) = delete;
        size_t algorithmCount() const { return algorithms_.size(); }
        /// Enqueues the product; returns the library's status, 0 on success.
        int run(size_t algorithm, CudaDriver::Handle stream) const;

      private:
        friend class CublasLt;
        struct Algorithm {
            uint64_t data[8];
            size_t workspaceBytes;
            int state;
            float waves;
            int reserved[4];
        };
        explicit Gemm(const CublasLt& library) : library_(library) {}
        const CublasLt& library_;
        GemmPrecision precision_ = GemmPrecision::Bf16;
        void *description_ = nullptr, *a_ = nullptr, *b_ = nullptr, *d_ = nullptr;
        CudaDriver::Pointer aData_ = 0, bData_ = 0, dData_ = 0, workspace_ = 0;
        size_t workspaceBytes_ = 0;
        std::vector<Algorithm> algorithms_;
    };

    struct Buffers {
        CudaDriver::Pointer a = 0, b = 0, d = 0, workspace = 0;
        size_t workspaceBytes = 0;
    };
    /// Returns the product, or null if the library has none of that precision for the current GPU.
    std::unique_ptr<Gemm> makeGemm(GemmPrecision precision, GemmShape shape, const Buffers& buffers) const;
    static size_t inputBytes(GemmPrecision precision);
    static size_t outputBytes(GemmPrecision precision);

  private:
    explicit CublasLt(DynamicLibrary library) : library_(std::move(library)) {}

    DynamicLibrary library_;  // before the functions, which it provides
    size_t (*getVersion_)() = library_.need("cublasLtGetVersion");
    int (*create_)(void**) = library_.need("cublasLtCreate");
    int (*createDescription_)(void**, int compute, int scale) = library_.need("cublasLtMatmulDescCreate");
    int (*destroyDescription_)(void*) = library_.need("cublasLtMatmulDescDestroy");
    int (*setAttribute_)(void*, int, const void*, size_t) = library_.need("cublasLtMatmulDescSetAttribute");
    int (*createLayout_)(void**, int type, uint64_t rows, uint64_t columns,
                         int64_t stride) = library_.need("cublasLtMatrixLayoutCreate");
    int (*destroyLayout_)(void*) = library_.need("cublasLtMatrixLayoutDestroy");
    int (*createPreference_)(void**) = library_.need("cublasLtMatmulPreferenceCreate");
    int (*destroyPreference_)(void*) = library_.need("cublasLtMatmulPreferenceDestroy");
    int (*setPreference_)(void*, int, const void*, size_t) = library_.need("cublasLtMatmulPreferenceSetAttribute");
    int (*heuristics_)(void*, void*, void*, void*, void*, void*, void*, int, void*,
                       int*) = library_.need("cublasLtMatmulAlgoGetHeuristic");
    int (*matmul_)(void*, void*, const void*, const void*, void*, const void*, void*, const void*, const void*, void*,
                   void*, void*, const void*, void*, size_t, void*) = library_.need("cublasLtMatmul");
    void* handle_ = nullptr;  ///< Lives as long as the process, as its destruction would open a GPU again.
    std::string version_;
};

}  // namespace lanescope::capture
