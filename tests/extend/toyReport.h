// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/reports/Report.h"

namespace lanescope {

/// How many kernels each stream ran.
extern const Report toyReport;

}  // namespace lanescope
