// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "capture/doctor/CublasLt.h"
#include "capture/doctor/CudaDriver.h"
#include "capture/machine/Machine.h"
#include "capture/machine/MeasuredPeaks.h"

namespace lanescope::capture {

/// A GPU with memory to measure with.
struct RoofPlace {
    const CudaDriver& driver;
    const GpuContext& gpu;
    std::string uuid;
    CudaDriver::Pointer first = 0, second = 0;  ///< Buffers of `bytes` each.
    size_t bytes = 0;
    std::chrono::duration<double> budget{};  ///< Time of all of it together.
    /// Reads the state of the GPU, by UUID; empty function if unknown.
    std::function<GpuState(const std::string& uuid)> state;
    /// Called with what was measured otherwise than meant, without the name of the GPU; may be empty.
    std::function<void(const std::string& what)> note;
    /// Called before each measurement with its name, "GEMM bf16 8192 x 8192 x 8192"; false ends it.
    std::function<bool(const std::string& what)> progress;
};

/// Measures how fast kernels read, write and copy the memory of the GPU: the best of warmed runs. A GPU that compiles
/// no PTX of compute capability 7.0 is not read. Returns what was measured.
std::vector<MeasuredRoof> measureMemory(const RoofPlace& place);

/// Measures matrix products of each precision that the library has for the GPU, on random numbers: two square ones and
/// a skinny one, with the best of the algorithms that the library recommends, the best of warmed runs.
std::vector<MeasuredRoof> measureProducts(const RoofPlace& place, CublasLt& library);

}  // namespace lanescope::capture
