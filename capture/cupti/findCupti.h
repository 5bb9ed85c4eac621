// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::agent {

/// A CUPTI library that has been opened.
struct OpenedCupti {
    capture::DynamicLibrary handle;  ///< Not open if there is none.
    std::string path;                ///< Where it is, or the name it was found by.
    std::string searched;            ///< What was tried, for the message when there is none.
};

/// Opens the CUPTI that suits this process: the one already loaded if there is one, since two
/// copies fight over the driver; then `overridePath`; then those beside the CUDA runtime in use, in
/// CUDA_HOME and CUDA_PATH, and in the loader's cache, of the runtime's major first. Opens nothing
/// twice. Takes some milliseconds; any thread.
OpenedCupti findCupti(const std::string& overridePath);

}  // namespace lanescope::agent
