// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope::standin {

/// Another tool of the program that records kernels by the libcupti stand-in at `cuptiPath`, as torch.profiler does.
/// Returns its result, 0 if it records.
int beginSecondTool(const std::string& cuptiPath);
/// Returns the kernels that it got.
long secondToolKernels();

}  // namespace lanescope::standin
