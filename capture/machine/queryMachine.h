#pragma once

#include "capture/machine/Machine.h"

namespace lanescope::capture {

/// Asks the driver's management library (NVML) about this machine. Without a driver, or where it
/// refuses an answer, the machine comes back emptier; nothing fails. Takes some 10 ms with a
/// driver.
Machine queryMachine();

}  // namespace lanescope::capture
