// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::agent {

struct OpenedCupti {
    capture::DynamicLibrary handle;  ///< Not open if no CUPTI was found.
    std::string path;                ///< Path, or the name by which the loader found it.
    std::string searched;            ///< Searched places, for the error message.
};

/// Opens the CUPTI that suits this process. Takes the first of: one already loaded, since two copies conflict in the
/// driver; `overridePath`; libraries next to the CUDA runtime in use; CUDA_HOME and CUDA_PATH; the loader's cache.
/// Prefers the runtime's major version. Opens nothing twice. Takes some ms; any thread.
OpenedCupti findCupti(const std::string& overridePath);

}  // namespace lanescope::agent
