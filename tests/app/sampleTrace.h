// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace lanescope {

/// Writes a small simulated trace: process 4242 with one thread, one GPU, `steps` NVTX ranges "step" of 1 ms, each with
/// a launch of kernel "gemm" of `kernelNs` and a pinned HtoD copy of 1,000,000 bytes in 20,000 ns, and a health
/// warning. Returns false if the file could not be written.
bool writeSampleTrace(const std::filesystem::path& path, int steps, long long kernelNs);

/// Writes an SQLite file that is no trace.
bool writeThirdPartyDatabase(const std::filesystem::path& path);

}  // namespace lanescope
