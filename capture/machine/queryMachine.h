// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "capture/machine/Machine.h"

namespace lanescope::capture {

/// Asks the driver's management library (NVML) about this machine. Without a driver, or where it
/// refuses an answer, the machine comes back emptier; nothing fails. Takes some 10 ms with a
/// driver.
Machine queryMachine();

/// How much of the last second or so a GPU was busy, in percent; nothing where NVML does not tell.
/// By UUID, "GPU-...". Takes some 10 ms; any thread.
std::optional<unsigned> gpuUtilization(const std::string& uuid);

}  // namespace lanescope::capture
