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

#include "capture/doctor/CudaDriver.h"
#include "capture/machine/DynamicLibrary.h"
#include "model/format/Result.h"

namespace lanescope::capture {

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
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;

    /// Prepares the library on the GPU whose context is current. Returns false if it refuses.
    bool start();
    /// "cuBLASLt 13.1.0".
    const std::string& version() const { return version_; }

    /// A product that is ready to run with one of the algorithms that the library recommends for it.
    class Gemm {
      public:
        ~Gemm();
        Gemm(const Gemm&) = delete;
        Gemm& operator=(const Gemm&) = delete;
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
